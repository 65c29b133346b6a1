//! The same blocks, decoded and encoded by another implementation (loona-hpack).

use bookend_wire::hpack::{Decoder, Encoder, HeaderList, Indexing};
use std::ops::Range;

const SEED: u64 = 0xb00c_e2d0;
const CONNECTIONS: u64 = 200;
const BLOCKS_PER_CONNECTION: usize = 16;

/// Table sizes to choose from: none, one small field, a few fields, the default, more than that.
const TABLE_BYTES: [usize; 6] = [0, 40, 200, 1000, 4096, 20_000];

type Pair = (Vec<u8>, Vec<u8>);

/// SplitMix64: the same stories on every run.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn within(&mut self, range: Range<usize>) -> usize {
        range.start + self.next() as usize % range.len()
    }

    fn one_in(&mut self, chances: usize) -> bool {
        self.within(0..chances) == 0
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.within(0..choices.len())]
    }

    fn bytes(&mut self, length: Range<usize>) -> Vec<u8> {
        (0..self.within(length)).map(|_| self.next() as u8).collect()
    }

    fn letters(&mut self, length: Range<usize>) -> Vec<u8> {
        (0..self.within(length))
            .map(|_| self.pick(b"abcdefghijklmnopqrstuvwxyz0123456789-/._"))
            .collect()
    }

    fn name(&mut self) -> Vec<u8> {
        const KNOWN: [&str; 12] = [
            ":authority",
            ":method",
            ":path",
            ":scheme",
            ":status",
            "accept-encoding",
            "content-type",
            "www-authenticate",
            "te",
            "grpc-status",
            "grpc-timeout",
            "x-trace",
        ];
        match self.within(0..10) {
            0 => self.bytes(0..40),
            1 => self.letters(1..80),
            _ => self.pick(&KNOWN).as_bytes().to_vec(),
        }
    }

    fn value(&mut self) -> Vec<u8> {
        const KNOWN: [&str; 12] = [
            "",
            "GET",
            "POST",
            "/",
            "https",
            "200",
            "404",
            "gzip, deflate",
            "trailers",
            "application/grpc",
            "/helloworld.Greeter/SayHello",
            "0",
        ];
        match self.within(0..100) {
            0 => self.letters(1000..6000),
            1 => (0..=255).collect(),
            2..5 => self.bytes(0..100),
            5..20 => self.letters(0..60),
            _ => self.pick(&KNOWN).as_bytes().to_vec(),
        }
    }

    fn fields(&mut self) -> Vec<Pair> {
        (0..self.within(1..20)).map(|_| (self.name(), self.value())).collect()
    }

    fn indexing(&mut self) -> Indexing {
        self.pick(&[
            Indexing::Incremental,
            Indexing::Incremental,
            Indexing::Without,
            Indexing::Never,
        ])
    }
}

fn roomy_list() -> HeaderList {
    HeaderList::new(1 << 20, 1000)
}

fn pairs(list: &HeaderList) -> Vec<Pair> {
    assert!(!list.overflowed());
    list.iter().map(|field| (field.name.to_vec(), field.value.to_vec())).collect()
}

/// An integer as RFC 7541, section 5.1 describes it, written without the code under test.
fn write_integer(mut value: usize, prefix_bits: u32, pattern: u8, block: &mut Vec<u8>) {
    let most = (1 << prefix_bits) - 1;
    if value < most {
        return block.push(pattern | value as u8);
    }
    block.push(pattern | most as u8);
    value -= most;
    while value >= 128 {
        block.push((value % 128) as u8 + 128);
        value /= 128;
    }
    block.push(value as u8);
}

fn write_plain(text: &[u8], block: &mut Vec<u8>) {
    write_integer(text.len(), 7, 0, block);
    block.extend_from_slice(text);
}

#[test]
fn what_we_encode_both_decode() {
    for connection in 0..CONNECTIONS {
        let mut dice = Dice(SEED + connection);
        let own_limit = dice.pick(&TABLE_BYTES);
        let mut encoder = Encoder::new(own_limit);
        let mut decoder = Decoder::new(4096);
        let mut reference = loona_hpack::Decoder::new();
        let mut list = roomy_list();
        for _ in 0..BLOCKS_PER_CONNECTION {
            while dice.one_in(4) {
                let limit = dice.pick(&TABLE_BYTES);
                encoder.set_peer_limit(limit);
                decoder.set_limit(limit);
                reference.set_max_allowed_table_size(limit);
            }
            let mut block = Vec::new();
            let fields: Vec<(Pair, Indexing)> =
                dice.fields().into_iter().map(|pair| (pair, dice.indexing())).collect();
            encoder.begin_block(&mut block);
            for ((name, value), indexing) in &fields {
                encoder.field(name, value, *indexing, &mut block);
            }
            let sent: Vec<Pair> = fields.iter().map(|(pair, _)| pair.clone()).collect();
            assert_eq!(reference.decode(&block).expect("the reference decodes"), sent);
            decoder.decode(&block, &mut list).expect("we decode");
            assert_eq!(pairs(&list), sent);
            for (field, (_, indexing)) in list.iter().zip(&fields) {
                assert_eq!(field.never_indexed, *indexing == Indexing::Never);
            }
            assert!(decoder.table_fields().eq(encoder.table_fields()), "the tables agree");
            assert_eq!(decoder.table_bytes(), encoder.table_bytes());
        }
    }
}

#[test]
fn what_the_reference_encodes_we_decode() {
    for connection in 0..CONNECTIONS {
        let mut dice = Dice(!SEED + connection);
        let mut encoder = loona_hpack::Encoder::new();
        let mut decoder = Decoder::new(20_000);
        let mut list = roomy_list();
        for _ in 0..BLOCKS_PER_CONNECTION {
            let mut block = Vec::new();
            if dice.one_in(4) {
                // The reference changes its table but does not say so: say it in its place.
                let table_bytes = dice.pick(&TABLE_BYTES);
                encoder.set_max_table_size(table_bytes);
                write_integer(table_bytes, 5, 0x20, &mut block);
            }
            let sent = dice.fields();
            let borrowed = sent.iter().map(|(name, value)| (&name[..], &value[..]));
            encoder.encode_into(borrowed, &mut block).expect("a vector takes everything");
            decoder.decode(&block, &mut list).expect("we decode");
            assert_eq!(pairs(&list), sent);
        }
    }
}

/// Appends a representation of any kind that is allowed with `entries` in the dynamic table, and
/// returns how many are there at most afterwards.
fn write_any(dice: &mut Dice, entries: usize, block: &mut Vec<u8>) {
    let last_index = 61 + entries;
    let index = if dice.one_in(2) { dice.within(1..62) } else { dice.within(1..last_index + 1) };
    let (prefix_bits, pattern) = dice.pick(&[(7, 0x80), (6, 0x40), (6, 0x40), (4, 0x10), (4, 0)]);
    if prefix_bits == 7 {
        return write_integer(index, 7, 0x80, block);
    }
    if dice.one_in(3) {
        write_integer(0, prefix_bits, pattern, block);
        write_plain(&dice.name(), block);
    } else {
        write_integer(index, prefix_bits, pattern, block);
    }
    write_plain(&dice.value(), block);
}

/// A block of one to three representations: short, so that every index is still there when used.
fn any_block(dice: &mut Dice, decoder: &Decoder) -> Vec<u8> {
    let mut block = Vec::new();
    let mut entries = decoder.table_fields().count();
    if dice.one_in(6) {
        write_integer(dice.pick(&TABLE_BYTES), 5, 0x20, &mut block);
        entries = 0;
    }
    write_any(dice, entries, &mut block);
    for _ in 0..dice.within(0..3) {
        // Anything may have been evicted by now: only the static table is certain.
        write_any(dice, 0, &mut block);
    }
    block
}

#[test]
fn representations_that_no_encoder_here_chooses_decode_alike() {
    for connection in 0..CONNECTIONS {
        let mut dice = Dice(SEED << 8 | connection);
        let mut decoder = Decoder::new(20_000);
        let mut reference = loona_hpack::Decoder::new();
        let mut list = roomy_list();
        for _ in 0..4 * BLOCKS_PER_CONNECTION {
            let block = any_block(&mut dice, &decoder);
            let expected = reference.decode(&block).expect("the reference decodes");
            decoder.decode(&block, &mut list).expect("we decode");
            assert_eq!(pairs(&list), expected, "{block:x?}");
        }
    }
}

#[test]
fn damaged_blocks_that_both_accept_decode_alike() {
    let (mut accepted, mut refused) = (0, 0);
    for round in 0..4000 {
        let mut dice = Dice(SEED << 16 | round);
        let mut block = Vec::new();
        let mut encoder = Encoder::new(4096);
        for (name, value) in dice.fields().into_iter().take(3) {
            encoder.field(&name, &value, dice.indexing(), &mut block);
        }
        let place = dice.within(0..block.len());
        block[place] ^= 1 << dice.within(0..8);
        let mut list = roomy_list();
        let ours = Decoder::new(4096).decode(&block, &mut list);
        match loona_hpack::Decoder::new().decode(&block) {
            Ok(expected) if ours.is_ok() => {
                assert_eq!(pairs(&list), expected, "{block:x?}");
                accepted += 1;
            }
            _ => refused += 1,
        }
    }
    assert!(accepted > 400 && refused > 400, "both happen: {accepted}, {refused}");
}
