//! Header compression: blocks that no encoder wrote, and blocks that ours did.

use crate::bounds::{assert_memory, assert_work};
use arbitrary::{Arbitrary, Unstructured};
use bookend_wire::Indexing;
use bookend_wire::hpack::{Decoder, Encoder, FIELD_OVERHEAD_BYTES, HeaderList};

const LIST_BYTES: usize = 2_048;
const LIST_FIELDS: usize = 20;
const TABLE_BYTES: usize = 1_024;
/// The arena of a list doubles at most and holds one field of the table beyond what is kept, and so
/// does the table; the rest is counted and forgotten.
const MEMORY_BYTES: u64 = 32 << 10;
/// The first field beyond four times the limit is the last: Huffman code makes of a byte 8/5.
const COUNTED_BYTES: usize = 5 * LIST_BYTES + TABLE_BYTES;

/// Blocks, each behind a byte with its length; a decoder goes on until it meets an error.
pub fn hpack_decode(input: &[u8]) {
    assert_memory(input, MEMORY_BYTES, 0, || {
        let mut decoder = Decoder::new(TABLE_BYTES);
        let mut list = HeaderList::new(LIST_BYTES, LIST_FIELDS);
        let mut rest = input;
        while let Some((&length, behind)) = rest.split_first() {
            // One long block in place of many short ones, if the length says so.
            let bytes = if length == 255 { behind.len() } else { usize::from(length) };
            let (block, behind) = behind.split_at(bytes.min(behind.len()));
            rest = behind;
            let result = decoder.decode(block, &mut list);
            check_list(&decoder, &list);
            assert_work("bytes of fields", list.size_bytes(), COUNTED_BYTES, 2, block);
            if result.is_err() {
                return;
            }
        }
    });
}

fn check_list(decoder: &Decoder, list: &HeaderList) {
    let counted = |name: &[u8], value: &[u8]| name.len() + value.len() + FIELD_OVERHEAD_BYTES;
    let stored: usize = list.iter().map(|field| counted(field.name, field.value)).sum();
    assert!(stored <= LIST_BYTES && list.len() <= LIST_FIELDS);
    let entries = decoder.table_fields().map(|field| counted(field.name, field.value));
    let table_bytes: usize = entries.sum();
    assert!(table_bytes == decoder.table_bytes() && table_bytes <= TABLE_BYTES);
}

#[derive(Arbitrary, Debug)]
enum Step<'a> {
    Field {
        name: &'a [u8],
        value: &'a [u8],
        how: u8,
    },
    /// A name and a value that are likely to come again.
    Known {
        name: u8,
        value: u8,
        how: u8,
    },
    EndBlock,
    Limit(u16),
}

/// Names that the static table has, and names that it has not.
const NAMES: [&[u8]; 6] = [b":path", b"te", b":authority", b"grpc-status", b"x", b""];

/// What an encoder writes, a decoder reads as it was, and both end up with the same table.
pub fn hpack_round_trip(input: &[u8]) {
    let mut source = Unstructured::new(input);
    let mut pair = Pair::new();
    while !source.is_empty() {
        match Step::arbitrary(&mut source) {
            Ok(Step::Field { name, value, how }) => pair.field(name, value, how),
            Ok(Step::Known { name, value, how }) => {
                pair.field(NAMES[usize::from(name) % NAMES.len()], &[value & 7], how);
            }
            Ok(Step::EndBlock) => pair.end_block(),
            Ok(Step::Limit(bytes)) => pair.limit(usize::from(bytes) % 5_000),
            Err(_) => break,
        }
    }
    pair.end_block();
}

type Fields = Vec<(Vec<u8>, Vec<u8>, bool)>;

struct Pair {
    encoder: Encoder,
    decoder: Decoder,
    list: HeaderList,
    block: Vec<u8>,
    said: Fields,
}

impl Pair {
    fn new() -> Self {
        let mut encoder = Encoder::new(4_096);
        let mut block = Vec::new();
        encoder.begin_block(&mut block);
        Self {
            encoder,
            decoder: Decoder::new(4_096),
            list: HeaderList::new(usize::MAX, usize::MAX),
            block,
            said: Vec::new(),
        }
    }

    fn field(&mut self, name: &[u8], value: &[u8], how: u8) {
        let indexing = [Indexing::Incremental, Indexing::Without, Indexing::Never];
        let indexing = indexing[usize::from(how) % 3];
        self.encoder.field(name, value, indexing, &mut self.block);
        self.said.push((name.to_vec(), value.to_vec(), indexing == Indexing::Never));
    }

    fn end_block(&mut self) {
        self.decoder.decode(&self.block, &mut self.list).expect("our own block");
        let heard = self.list.iter();
        let heard: Fields = heard
            .map(|field| (field.name.to_vec(), field.value.to_vec(), field.never_indexed))
            .collect();
        assert_eq!(heard, self.said);
        assert!(self.encoder.table_fields().eq(self.decoder.table_fields()), "the tables differ");
        self.block.clear();
        self.said.clear();
        self.encoder.begin_block(&mut self.block);
    }

    /// SETTINGS take effect between blocks.
    fn limit(&mut self, bytes: usize) {
        self.end_block();
        self.block.clear();
        self.decoder.set_limit(bytes);
        self.encoder.set_peer_limit(bytes);
        self.encoder.begin_block(&mut self.block);
    }
}
