//! Blocks that no encoder writes: whatever comes, there is an answer and it is bounded.

use bookend_wire::hpack::{Decoder, Encoder, HeaderList, HpackError, Indexing};

const ROUNDS: u64 = 100_000;
const LIST_BYTES: usize = 2048;
const LIST_FIELDS: usize = 20;
const TABLE_BYTES: usize = 1024;

/// A vector doubles at most, and may hold one field of the table beyond what the list keeps.
const ARENA_BYTES: usize = 2 * (LIST_BYTES + 2 * TABLE_BYTES);

/// Xorshift64*: the same garbage on every run.
struct Garbage(u64);

impl Garbage {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() >> 32) as usize % end
    }

    fn bytes(&mut self, most: usize) -> Vec<u8> {
        (0..self.below(most + 1)).map(|_| self.next() as u8).collect()
    }

    /// Representations whose first bytes and lengths make sense, with anything inside.
    fn plausible(&mut self) -> Vec<u8> {
        let mut block = Vec::new();
        for _ in 0..self.below(12) {
            let pattern = [0x80, 0x40, 0x40, 0x20, 0x10, 0x00][self.below(6)];
            let index = [0, 1 + self.below(61) as u8, 62][self.below(3)];
            block.push(pattern | index);
            for _ in 0..self.below(3) {
                let text = self.bytes(100);
                block.push(text.len() as u8 | [0, 0x80][self.below(2)]);
                block.extend(text);
            }
        }
        block
    }

    /// A sound block with some bytes changed, taken out or put in.
    fn damaged(&mut self) -> Vec<u8> {
        let mut block = Vec::new();
        let mut encoder = Encoder::new(TABLE_BYTES);
        for _ in 0..1 + self.below(8) {
            let (name, value) = (self.bytes(12), self.bytes(60));
            encoder.field(&name, &value, Indexing::Incremental, &mut block);
        }
        for _ in 0..self.below(4) {
            let place = self.below(block.len());
            match self.below(3) {
                0 => block[place] = self.next() as u8,
                1 => block.truncate(place + 1),
                _ => block.insert(place, self.next() as u8),
            }
        }
        block
    }

    /// One byte a field, many of them the newest in the table.
    fn repetitive(&mut self) -> Vec<u8> {
        (0..self.below(200)).map(|_| 0x80 | [1 + self.below(61) as u8, 62][self.below(2)]).collect()
    }

    fn block(&mut self) -> Vec<u8> {
        match self.below(4) {
            0 => self.bytes(64),
            1 => self.plausible(),
            2 => self.repetitive(),
            _ => self.damaged(),
        }
    }
}

fn check_bounds(decoder: &Decoder, list: &HeaderList) {
    let stored: usize = list.iter().map(|field| field.name.len() + field.value.len() + 32).sum();
    assert!(stored <= LIST_BYTES && list.len() <= LIST_FIELDS);
    assert!(list.overflowed() || stored == list.size_bytes());
    assert!(list.allocated_bytes() <= ARENA_BYTES, "{}", list.allocated_bytes());
    let entries: usize =
        decoder.table_fields().map(|field| field.name.len() + field.value.len() + 32).sum();
    assert!(entries == decoder.table_bytes() && entries <= TABLE_BYTES);
}

#[test]
fn garbage_is_answered_within_bounds() {
    let mut garbage = Garbage(0x600d_5eed);
    let mut list = HeaderList::new(LIST_BYTES, LIST_FIELDS);
    let mut decoder = Decoder::new(TABLE_BYTES);
    let (mut accepted, mut refused, mut overflowed, mut unfolded) = (0, 0, 0, 0);
    for _ in 0..ROUNDS {
        let block = garbage.block();
        let result = decoder.decode(&block, &mut list);
        check_bounds(&decoder, &list);
        accepted += u64::from(result.is_ok());
        overflowed += u64::from(result.is_ok() && list.overflowed());
        // A real connection ends here. Going on with a table out of step is one more test.
        refused += u64::from(result.is_err());
        unfolded += u64::from(result == Err(HpackError::TooLarge));
        if garbage.below(50) == 0 {
            decoder = Decoder::new(TABLE_BYTES);
        }
    }
    assert!(accepted > ROUNDS / 10 && refused > ROUNDS / 10, "{accepted} {refused}");
    assert!(overflowed > 500 && unfolded > 500, "{overflowed} {unfolded}");
}

#[test]
fn long_strings_that_fit_nowhere_are_counted_without_being_kept() {
    let mut decoder = Decoder::new(TABLE_BYTES);
    let mut list = HeaderList::new(LIST_BYTES, LIST_FIELDS);
    // 4,000 bytes, plain and as Huffman code of the digit 0 (five zero bits each: 6,400 digits).
    for (first, byte) in [(0x7f, b'v'), (0xff, 0)] {
        let length = [first, 0xa1, 0x1e];
        let block = [&[0x40, 1, b'n'][..], &length, &[byte; 4000]].concat();
        decoder.decode(&block, &mut list).expect("less than four times the limit");
        assert!(list.overflowed() && list.is_empty());
        check_bounds(&decoder, &list);
    }
    assert_eq!(list.size_bytes(), 1 + 6400 + 32);
}

#[test]
fn enormous_strings_take_no_memory() {
    let mut list = HeaderList::new(LIST_BYTES, LIST_FIELDS);
    // A million bytes, plain and as Huffman code.
    for (first, byte) in [(0x7f, b'v'), (0xff, 0)] {
        let mut decoder = Decoder::new(TABLE_BYTES);
        let length = [first, 0xc1, 0x83, 0x3d];
        let block = [&[0x40, 1, b'n'][..], &length, &vec![byte; 1_000_000]].concat();
        assert_eq!(decoder.decode(&block, &mut list), Err(HpackError::TooLarge));
        check_bounds(&decoder, &list);
    }
}
