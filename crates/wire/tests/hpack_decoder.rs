//! Stories of the receiving end: size updates, limits, generations, blocks that are wrong.

use bookend_wire::hpack::{DEFAULT_TABLE_BYTES, Decoder, Field, HeaderList, HpackError};

/// `a: 1`, inserted into the table.
const INSERT_A: &[u8] = b"\x40\x01a\x011";
/// The newest field of the dynamic table.
const NEWEST: u8 = 0x80 | 62;

type Pair = (Vec<u8>, Vec<u8>);

fn roomy_list() -> HeaderList {
    HeaderList::new(64 * 1024, 1000)
}

fn decode(decoder: &mut Decoder, block: &[u8]) -> Result<Vec<Pair>, HpackError> {
    let mut list = roomy_list();
    decoder.decode(block, &mut list)?;
    Ok(list.iter().map(|field| (field.name.to_vec(), field.value.to_vec())).collect())
}

fn decode_alone(block: &[u8]) -> Result<usize, HpackError> {
    decode(&mut Decoder::new(DEFAULT_TABLE_BYTES), block).map(|fields| fields.len())
}

fn pair(name: &str, value: &str) -> Pair {
    (name.into(), value.into())
}

/// A literal with both strings plain and shorter than 127 bytes.
fn literal(pattern: u8, name: &[u8], value: &[u8]) -> Vec<u8> {
    [&[pattern, name.len() as u8], name, &[value.len() as u8], value].concat()
}

/// A table size update to a size below 31 + 128.
fn size_update(bytes: usize) -> Vec<u8> {
    if bytes < 31 { vec![0x20 | bytes as u8] } else { vec![0x3f, (bytes - 31) as u8] }
}

#[test]
fn an_empty_block_has_no_fields() {
    assert_eq!(decode_alone(b""), Ok(0));
}

#[test]
fn a_block_shows_what_it_holds_and_not_what_the_last_one_held() {
    let mut decoder = Decoder::new(DEFAULT_TABLE_BYTES);
    let mut list = roomy_list();
    decoder.decode(&[0x82, 0x84], &mut list).expect("two static fields");
    decoder.decode(&[0x87], &mut list).expect("one static field");
    let fields: Vec<Field<'_>> = list.iter().collect();
    assert_eq!(fields, [Field { name: b":scheme", value: b"https", never_indexed: false }]);
}

#[test]
fn bytes_behind_a_field_begin_the_next_one() {
    assert_eq!(decode_alone(&[INSERT_A, &[NEWEST]].concat()), Ok(2));
    assert_eq!(decode_alone(&[INSERT_A, &[0x00]].concat()), Err(HpackError::Truncated));
    assert_eq!(decode_alone(&[INSERT_A, &[0x20]].concat()), Err(HpackError::SizeUpdateMisplaced));
}

#[test]
fn an_index_must_name_an_entry() {
    assert_eq!(decode_alone(&[0x80]), Err(HpackError::InvalidIndex), "index 0");
    assert_eq!(decode_alone(&[0x80 | 61]), Ok(1), "the last static one");
    assert_eq!(decode_alone(&[NEWEST]), Err(HpackError::InvalidIndex), "an empty table");
    assert_eq!(decode_alone(&[INSERT_A, &[NEWEST + 1]].concat()), Err(HpackError::InvalidIndex));
    assert_eq!(decode_alone(&[0x7f, 0x00, 0x00]), Err(HpackError::InvalidIndex), "as a name");
    assert_eq!(decode_alone(&[0xff, 0xff, 0xff, 0xff, 0xff, 0x07]), Err(HpackError::InvalidIndex));
}

#[test]
fn a_length_beyond_the_block_is_refused_before_anything_is_reserved() {
    let mut list = roomy_list();
    let four_gigabytes = [0x00, 0x7f, 0x80, 0xff, 0xff, 0xff, 0x0f];
    let result = Decoder::new(DEFAULT_TABLE_BYTES).decode(&four_gigabytes, &mut list);
    assert_eq!((result, list.allocated_bytes()), (Err(HpackError::Truncated), 0));
}

#[test]
fn integers_and_huffman_strings_must_be_well_formed() {
    let endless = [0xff, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00];
    assert_eq!(decode_alone(&endless), Err(HpackError::IntegerTooLong));
    assert_eq!(decode_alone(b"\x00\x81\x1f\x00"), Ok(1), "a, padded with ones");
    assert_eq!(decode_alone(b"\x00\x81\x18\x00"), Err(HpackError::InvalidHuffman), "with zeros");
    assert_eq!(
        decode_alone(b"\x00\x81\xff\x00"),
        Err(HpackError::InvalidHuffman),
        "nothing but ones"
    );
    assert_eq!(decode_alone(b"\x00\x80\x80"), Ok(1), "empty strings, Huffman-coded");
}

#[test]
fn a_name_may_come_from_the_entry_that_its_own_insertion_evicts() {
    let mut decoder = Decoder::new(40);
    decode(&mut decoder, &literal(0x40, b"name", b"1")).expect("fits");
    let renewed = decode(&mut decoder, &[0x40 | 62, 1, b'2']);
    assert_eq!(renewed, Ok(vec![pair("name", "2")]));
    assert_eq!(decode(&mut decoder, &[NEWEST]), Ok(vec![pair("name", "2")]));
    assert_eq!(decode(&mut decoder, &[NEWEST + 1]), Err(HpackError::InvalidIndex));
}

#[test]
fn a_field_larger_than_the_table_is_delivered_and_empties_it() {
    let mut decoder = Decoder::new(50);
    decode(&mut decoder, INSERT_A).expect("fits");
    let large = decode(&mut decoder, &literal(0x40, b"name", b"a value of 18 bytes"));
    assert_eq!(large, Ok(vec![pair("name", "a value of 18 bytes")]));
    assert_eq!(decoder.table_bytes(), 0);
    assert_eq!(decode(&mut decoder, &[NEWEST]), Err(HpackError::InvalidIndex));
}

#[test]
fn size_updates_stand_first_and_within_the_limit() {
    let mut decoder = Decoder::new(100);
    assert_eq!(decode(&mut decoder, &size_update(100)), Ok(vec![]));
    assert_eq!(decode(&mut decoder, &size_update(101)), Err(HpackError::SizeUpdateTooLarge));
    let misplaced = [&[0x82][..], &size_update(0)].concat();
    assert_eq!(decode_alone(&misplaced), Err(HpackError::SizeUpdateMisplaced));
}

#[test]
fn a_size_update_evicts_and_a_second_one_makes_room_again() {
    let mut decoder = Decoder::new(DEFAULT_TABLE_BYTES);
    decode(&mut decoder, INSERT_A).expect("fits");
    let emptied = [&size_update(0)[..], &size_update(100), INSERT_A].concat();
    decode(&mut decoder, &emptied).expect("both updates come first");
    assert_eq!(decoder.table_fields().count(), 1, "the first was evicted, the second inserted");
}

#[test]
fn a_larger_limit_lets_the_peer_grow_its_table_when_it_likes() {
    let mut decoder = Decoder::new(100);
    decoder.set_limit(150);
    decode(&mut decoder, INSERT_A).expect("no update is due");
    decode(&mut decoder, &size_update(150)).expect("within the new limit");
    assert_eq!(decoder.table_fields().count(), 1);
}

#[test]
fn a_lowered_limit_must_be_answered_in_the_next_block() {
    let lowered = || {
        let mut decoder = Decoder::new(DEFAULT_TABLE_BYTES);
        decode(&mut decoder, INSERT_A).expect("fits");
        decoder.set_limit(100);
        decoder
    };
    assert_eq!(decode(&mut lowered(), &[0x82]), Err(HpackError::SizeUpdateMissing));
    assert_eq!(decode(&mut lowered(), &[]), Err(HpackError::SizeUpdateMissing));
    assert_eq!(decode(&mut lowered(), &size_update(101)), Err(HpackError::SizeUpdateTooLarge));

    let mut decoder = lowered();
    let answered = [&size_update(100)[..], &[NEWEST]].concat();
    assert_eq!(decode(&mut decoder, &answered), Ok(vec![pair("a", "1")]));
    assert_eq!(decode(&mut decoder, &[0x82]), Ok(vec![pair(":method", "GET")]), "once is enough");
}

#[test]
fn of_several_limits_the_lowest_must_be_answered_first() {
    let lowered_and_raised = || {
        let mut decoder = Decoder::new(DEFAULT_TABLE_BYTES);
        decoder.set_limit(0);
        decoder.set_limit(150);
        decoder
    };
    let only_the_last = size_update(150);
    assert_eq!(
        decode(&mut lowered_and_raised(), &only_the_last),
        Err(HpackError::SizeUpdateTooLarge)
    );
    let both = [size_update(0), size_update(150)].concat();
    assert_eq!(decode(&mut lowered_and_raised(), &both), Ok(vec![]));
}

#[test]
fn a_limit_that_the_table_already_keeps_needs_no_answer() {
    let mut decoder = Decoder::new(DEFAULT_TABLE_BYTES);
    decode(&mut decoder, &size_update(60)).expect("the peer wants little");
    decoder.set_limit(100);
    assert_eq!(decode(&mut decoder, &[0x82]), Ok(vec![pair(":method", "GET")]));
}

#[test]
fn the_generation_stays_while_a_block_means_the_same() {
    let mut decoder = Decoder::new(DEFAULT_TABLE_BYTES);
    decode(&mut decoder, INSERT_A).expect("fits");
    let before = decoder.generation();
    let constant = [&[0x82, NEWEST][..], &literal(0x00, b"b", b"2")].concat();
    let first = decode(&mut decoder, &constant);
    assert_eq!(decode(&mut decoder, &constant), first);
    assert_eq!(decoder.generation(), before);
}

#[test]
fn the_generation_changes_when_the_table_or_its_limit_does() {
    let mut decoder = Decoder::new(DEFAULT_TABLE_BYTES);
    let mut generations = vec![decoder.generation()];
    for block in [INSERT_A, INSERT_A, &size_update(40), INSERT_A, &size_update(0)] {
        decode(&mut decoder, block).expect("allowed");
        generations.push(decoder.generation());
    }
    decoder.set_limit(100);
    generations.push(decoder.generation());
    let length = generations.len();
    generations.dedup();
    assert_eq!(generations.len(), length, "{generations:?}");
}

#[test]
fn what_the_list_cannot_hold_still_enters_the_table() {
    let mut decoder = Decoder::new(DEFAULT_TABLE_BYTES);
    let mut list = HeaderList::new(50, 10);
    let block = [INSERT_A, &literal(0x40, b"large", b"too large for it"), &[0x82]].concat();
    decoder.decode(&block, &mut list).expect("only too large for the list");
    assert!(list.overflowed());
    assert_eq!(list.len(), 1, "what fitted");
    assert_eq!(list.size_bytes(), 34 + 53 + 42, "everything is counted");
    let next = decode(&mut decoder, &[NEWEST, NEWEST + 1]);
    assert_eq!(next, Ok(vec![pair("large", "too large for it"), pair("a", "1")]));
}

#[test]
fn a_huffman_string_too_large_for_list_and_table_is_counted_exactly() {
    let mut decoder = Decoder::new(40);
    decode(&mut decoder, INSERT_A).expect("fits");
    let mut list = HeaderList::new(60, 10);
    // The code of the digit 0 is five zero bits: 256 of them are 51 digits and a bit too many.
    let zeros = [&b"\x40\x01n\xa0"[..], &[0; 32]].concat();
    assert_eq!(
        decoder.decode(&zeros, &mut list),
        Err(HpackError::InvalidHuffman),
        "padded with a zero"
    );
    let sixty_four = [&b"\x40\x01n\xa8"[..], &[0; 40]].concat();
    decoder.decode(&sixty_four, &mut list).expect("forty bytes are sixty-four digits");
    assert_eq!((list.len(), list.size_bytes(), list.overflowed()), (0, 1 + 64 + 32, true));
    assert_eq!(decoder.table_bytes(), 0, "larger than the table");
}

#[test]
fn a_block_that_unfolds_without_end_is_given_up() {
    let mut decoder = Decoder::new(DEFAULT_TABLE_BYTES);
    let mut list = HeaderList::new(1000, 100);
    let value = [b'v'; 100];
    decoder.decode(&literal(0x40, b"n", &value), &mut list).expect("fits");
    let bomb = [NEWEST; 100_000];
    assert_eq!(decoder.decode(&bomb, &mut list), Err(HpackError::TooLarge));
    assert_eq!(list.len(), 7, "as many as the limit allows");
    assert_eq!(list.size_bytes(), 31 * 133, "the first to exceed four times the limit");
}

#[test]
fn errors_name_the_rule() {
    let said = HpackError::SizeUpdateMissing.to_string();
    assert!(said.contains("RFC 7541, 4.2") && said.contains("peer"), "{said}");
    let all = [
        HpackError::Truncated,
        HpackError::IntegerTooLong,
        HpackError::InvalidIndex,
        HpackError::InvalidHuffman,
        HpackError::SizeUpdateTooLarge,
        HpackError::SizeUpdateMisplaced,
        HpackError::SizeUpdateMissing,
        HpackError::TooLarge,
    ];
    for error in all {
        assert!(error.rule().contains("RFC "), "{error:?}");
    }
}
