//! Compressed messages that no compressor writes: blocks that cost more to begin than they hold.
//! Work is counted, since it is what a thread is held for.

use bookend_wire::grpc::GzipError;
use bookend_wire::grpc::gzip::{InflateLimits, decompress_within};

/// What the libraries allow by default.
const MESSAGE_BYTES: usize = 4 << 20;

/// Bits as deflate has them, the lowest of a byte first (RFC 1951 section 3.1.1).
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    used: u32,
}

impl Bits {
    fn put(&mut self, value: u32, count: u32) {
        for bit in 0..count {
            if self.used.is_multiple_of(8) {
                self.bytes.push(0);
            }
            let last = self.bytes.last_mut().expect("one was pushed");
            *last |= ((value >> bit & 1) as u8) << (self.used % 8);
            self.used += 1;
        }
    }

    /// Huffman codes come with their highest bit first.
    fn code(&mut self, code: u32, count: u32) {
        (0..count).rev().for_each(|bit| self.put(code >> bit, 1));
    }

    fn fixed(&mut self, write: impl FnOnce(&mut Self)) {
        self.put(0b010, 3);
        write(self);
        self.code(0, 7);
    }

    fn stored(&mut self, bytes: &[u8]) {
        self.put(0, 3);
        self.used = self.used.next_multiple_of(8);
        let length = bytes.len() as u16;
        self.bytes.extend(length.to_le_bytes());
        self.bytes.extend((!length).to_le_bytes());
        self.bytes.extend(bytes);
        self.used = 8 * self.bytes.len() as u32;
    }

    /// A block of nothing with all 286 codes for literals and lengths: 226 of eight bits and 60 of
    /// nine. It takes 35 bytes, and four times as long as one of few codes.
    fn dynamic_of_all_codes(&mut self) {
        self.put(0b100, 3);
        // 286 codes for literals and lengths, 1 for distances, 18 lengths of codes for lengths.
        self.put(29, 10);
        self.put(14, 4);
        for symbol in [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1] {
            self.put(if [1, 8, 9, 16].contains(&symbol) { 2 } else { 0 }, 3);
        }
        // Symbols 1, 8, 9 and 16, which repeats the one before, are 0 to 3.
        self.lengths(1, 226);
        self.lengths(2, 60);
        self.code(0, 2);
        // The end.
        self.code(482, 9);
    }

    fn lengths(&mut self, code: u32, count: u32) {
        self.code(code, 2);
        let mut left = count - 1;
        while left > 0 {
            let again = left.min(6);
            self.code(3, 2);
            self.put(again - 3, 2);
            left -= again;
        }
    }

    /// A block whose own tables know the literal 0 and the end, one bit each.
    fn dynamic(&mut self, literals: usize) {
        self.put(0b100, 3);
        // 257 codes for literals and lengths, 1 for distances, 18 lengths of codes for lengths.
        self.put(0, 10);
        self.put(14, 4);
        for symbol in [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1] {
            self.put(u32::from(symbol == 1 || symbol == 18), 3);
        }
        // Symbol 1 is 0 and symbol 18, a run of zeros, is 1. The literal 0, 255 that are not there,
        // the end, and a distance.
        self.put(0, 1);
        self.put(1 | (138 - 11) << 1, 8);
        self.put(1 | (117 - 11) << 1, 8);
        self.put(0, 2);
        (0..literals).for_each(|_| self.put(0, 1));
        self.put(1, 1);
    }
}

/// Writes a block.
type Shape = fn(&mut Bits);

const SHAPES: [(&str, Shape); 9] = [
    ("fixed, of nothing", |bits| bits.fixed(|_| ())),
    ("fixed, of a byte", |bits| bits.fixed(|bits| bits.code(0x30, 8))),
    ("fixed, of ten bytes that are those before", |bits| {
        bits.fixed(|bits| {
            // The literal only where nothing is before.
            if bits.used == 3 {
                bits.code(0x30, 8);
            }
            // A length of 10 and a distance of 1.
            bits.code(0b0001000, 7);
            bits.code(0, 5);
        });
    }),
    ("dynamic, of nothing", |bits| bits.dynamic(0)),
    ("dynamic, of a byte", |bits| bits.dynamic(1)),
    ("dynamic, of sixteen bytes", |bits| bits.dynamic(16)),
    ("dynamic, of nothing, with all codes", Bits::dynamic_of_all_codes),
    ("stored, of nothing", |bits| bits.stored(&[])),
    ("stored, of a byte", |bits| bits.stored(b"0")),
];

/// Compressed bytes of blocks of that shape and a last one. The checksum is wrong, where anything
/// comes of them.
fn message_of(shape: Shape, compressed_bytes: usize) -> Vec<u8> {
    let mut bits = Bits::default();
    while bits.bytes.len() < compressed_bytes {
        shape(&mut bits);
    }
    message(bits)
}

fn message(mut bits: Bits) -> Vec<u8> {
    bits.put(0b011, 3);
    bits.code(0, 7);
    [b"\x1f\x8b\x08\0\0\0\0\0\0\xff", &bits.bytes[..], &[0; 8]].concat()
}

fn work_of(message: &[u8]) -> (Result<(), GzipError>, usize) {
    let mut work_bytes = 0;
    let limits = InflateLimits::of_messages(MESSAGE_BYTES);
    (decompress_within(message, limits, &mut Vec::new(), &mut work_bytes), work_bytes)
}

#[test]
fn blocks_of_any_shape_are_taken_where_they_are_few() {
    for (name, shape) in SHAPES {
        let (result, work_bytes) = work_of(&message_of(shape, 300));
        let is_read = matches!(result, Ok(()) | Err(GzipError::Corrupt("the checksum is wrong")));
        assert!(is_read, "{name}: {result:?}");
        assert!(work_bytes < 100_000, "{name}: {work_bytes}");
    }
}

#[test]
fn blocks_cost_more_the_longer_their_tables_are() {
    let work_of_ten = |shape: Shape| {
        let mut bits = Bits::default();
        (0..10).for_each(|_| shape(&mut bits));
        let (result, work_bytes) = work_of(&message(bits));
        assert_eq!(result, Ok(()));
        work_bytes
    };
    let (few, all) = (work_of_ten(|bits| bits.dynamic(0)), work_of_ten(Bits::dynamic_of_all_codes));
    assert!(all > 10 * (35 - 2) * 16 && all > 3 * few / 2, "{few}, {all}");
}

#[test]
fn no_shape_of_blocks_takes_more_than_twice_the_work_of_the_largest_message() {
    for (name, shape) in SHAPES {
        let (result, work_bytes) = work_of(&message_of(shape, 1 << 20));
        let is_ended = matches!(result, Err(GzipError::TooMuchWork | GzipError::TooLarge { .. }));
        assert!(is_ended, "{name}: {result:?}");
        assert!(work_bytes <= 2 * MESSAGE_BYTES + (64 << 10), "{name}: {work_bytes}");
    }
}

#[test]
fn control_without_a_bound_of_work_they_are_inflated_to_their_end() {
    let (_, shape) = SHAPES[0];
    let limits = InflateLimits { message_bytes: MESSAGE_BYTES, work_bytes: usize::MAX };
    let mut work_bytes = 0;
    let message = message_of(shape, 1 << 20);
    let result = decompress_within(&message, limits, &mut Vec::new(), &mut work_bytes);
    assert_eq!(result, Ok(()));
    assert!(work_bytes > 10 * MESSAGE_BYTES, "{work_bytes}");
}
