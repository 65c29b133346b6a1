//! Stories of the sending end: what enters the table, size updates, blocks that may be copied.

use bookend_wire::hpack::{DEFAULT_TABLE_BYTES, Decoder, Encoder, HeaderList, Indexing};

fn block(encoder: &mut Encoder, fields: &[(&str, &str, Indexing)]) -> Vec<u8> {
    let mut out = Vec::new();
    encoder.begin_block(&mut out);
    for (name, value, indexing) in fields {
        encoder.field(name.as_bytes(), value.as_bytes(), *indexing, &mut out);
    }
    out
}

fn one(encoder: &mut Encoder, name: &str, value: &str, indexing: Indexing) -> Vec<u8> {
    block(encoder, &[(name, value, indexing)])
}

#[test]
fn a_field_is_spelled_once_and_named_by_index_from_then_on() {
    let mut encoder = Encoder::new(DEFAULT_TABLE_BYTES);
    let first = one(&mut encoder, "te", "trailers", Indexing::Incremental);
    assert_eq!(first[0], 0x40);
    assert_eq!(one(&mut encoder, "te", "trailers", Indexing::Incremental), [0x80 | 62]);
    assert_eq!(one(&mut encoder, "te", "trailers", Indexing::Without), [0x80 | 62]);
    let other_value = one(&mut encoder, "te", "x", Indexing::Incremental);
    assert_eq!(other_value, [0x40 | 62, 0x01, b'x'], "the name is known");
    assert_eq!(one(&mut encoder, "te", "trailers", Indexing::Without), [0x80 | 63], "older now");
}

#[test]
fn static_fields_and_names_come_before_dynamic_ones() {
    let mut encoder = Encoder::new(DEFAULT_TABLE_BYTES);
    assert_eq!(one(&mut encoder, ":method", "POST", Indexing::Incremental), [0x83]);
    one(&mut encoder, ":path", "/a", Indexing::Incremental);
    assert_eq!(one(&mut encoder, ":path", "/a", Indexing::Incremental), [0x80 | 62]);
    assert_eq!(one(&mut encoder, ":path", "0", Indexing::Without), [4, 1, b'0']);
}

#[test]
fn a_field_without_indexing_leaves_no_trace() {
    let mut encoder = Encoder::new(DEFAULT_TABLE_BYTES);
    let first = one(&mut encoder, "x-request", "1", Indexing::Without);
    assert_eq!(first[0], 0x00);
    assert_eq!(one(&mut encoder, "x-request", "1", Indexing::Without), first);
    assert_eq!(encoder.table_bytes(), 0);
}

#[test]
fn a_secret_is_spelled_out_even_where_a_table_has_it() {
    let mut encoder = Encoder::new(DEFAULT_TABLE_BYTES);
    one(&mut encoder, "x-key", "1", Indexing::Incremental);
    assert_eq!(one(&mut encoder, "x-key", "1", Indexing::Never), [0x1f, 62 - 15, 1, b'1']);
    let status = one(&mut encoder, ":status", "204", Indexing::Never);
    assert_eq!(status, [0x19, 0x82, 0x10, 0x1a], "only the name by its index");
    let unknown = one(&mut encoder, "!", "!", Indexing::Never);
    assert_eq!(unknown, [0x10, 1, b'!', 1, b'!']);
}

#[test]
fn a_field_larger_than_the_table_does_not_empty_it() {
    let mut encoder = Encoder::new(60);
    one(&mut encoder, "small", "1", Indexing::Incremental);
    let large = one(&mut encoder, "large", &"#".repeat(24), Indexing::Incremental);
    assert_eq!(large[0], 0x00, "without indexing");
    assert_eq!(encoder.table_fields().count(), 1);
}

#[test]
fn a_small_table_is_announced_once() {
    let mut encoder = Encoder::new(10);
    assert_eq!(block(&mut encoder, &[]), [0x20 | 10]);
    assert_eq!(block(&mut encoder, &[]), []);
    assert_eq!(block(&mut Encoder::new(DEFAULT_TABLE_BYTES), &[]), [], "the default needs no word");
}

#[test]
fn the_peers_limit_counts_only_below_our_own() {
    let mut encoder = Encoder::new(DEFAULT_TABLE_BYTES);
    encoder.set_peer_limit(65_536);
    assert_eq!(block(&mut encoder, &[]), [], "we want no more than the default");
    encoder.set_peer_limit(20);
    assert_eq!(block(&mut encoder, &[]), [0x20 | 20]);
    let mut ambitious = Encoder::new(65_536);
    assert_eq!(block(&mut ambitious, &[]), [], "not allowed yet");
    ambitious.set_peer_limit(8192);
    assert_eq!(block(&mut ambitious, &[]), [0x3f, 0xe1, 0x3f]);
}

#[test]
fn of_several_limits_the_lowest_and_the_last_are_told() {
    let mut encoder = Encoder::new(DEFAULT_TABLE_BYTES);
    one(&mut encoder, "a", "1", Indexing::Incremental);
    for limit in [20, 0, 100, 30] {
        encoder.set_peer_limit(limit);
    }
    assert_eq!(block(&mut encoder, &[]), [0x20, 0x20 | 30]);
    assert_eq!(encoder.table_fields().count(), 0, "evicted by the lowest");

    encoder.set_peer_limit(0);
    encoder.set_peer_limit(30);
    assert_eq!(block(&mut encoder, &[]), [0x20, 0x20 | 30], "even back at the old size");
}

#[test]
fn a_copied_block_means_the_same_while_the_generation_stays() {
    let mut encoder = Encoder::new(DEFAULT_TABLE_BYTES);
    let fields = [
        (":method", "POST", Indexing::Incremental),
        ("te", "trailers", Indexing::Incremental),
        ("x-request", "17", Indexing::Without),
    ];
    let first = block(&mut encoder, &fields);
    let before = encoder.generation();
    let second = block(&mut encoder, &fields);
    assert_eq!(encoder.generation(), before);

    let mut decoder = Decoder::new(DEFAULT_TABLE_BYTES);
    let mut list = HeaderList::new(1000, 10);
    for copied in [&first, &second, &second, &second] {
        decoder.decode(copied, &mut list).expect("in order");
        assert!(list.iter().map(|field| field.value).eq([&b"POST"[..], b"trailers", b"17"]));
    }
}

#[test]
fn the_generation_changes_with_every_reason_not_to_copy() {
    let mut encoder = Encoder::new(DEFAULT_TABLE_BYTES);
    let mut generations = vec![encoder.generation()];
    one(&mut encoder, "a", "1", Indexing::Incremental);
    generations.push(encoder.generation());
    encoder.set_peer_limit(100);
    generations.push(encoder.generation());
    block(&mut encoder, &[]);
    generations.push(encoder.generation());
    for value in ["2", "3", "4"] {
        one(&mut encoder, "a", value, Indexing::Incremental);
        generations.push(encoder.generation());
    }
    let length = generations.len();
    generations.dedup();
    assert_eq!(generations.len(), length, "{generations:?}");
}

#[test]
fn strings_are_huffman_coded_only_where_that_is_shorter() {
    let mut encoder = Encoder::new(DEFAULT_TABLE_BYTES);
    let coded = one(&mut encoder, "!", "www.example.com", Indexing::Without);
    assert_eq!(coded[3], 0x80 | 12);
    let plain = one(&mut encoder, "!", "\x00\x01", Indexing::Without);
    assert_eq!(plain[3..], [2, 0, 1]);
}
