//! Messages that are read and written in place are those that prost reads and writes.

use bookend_server::borrowed::{MessageWriter, read};
use bookend_server::prost::Message;
use bookend_server::{Code, Limits};
use bookend_wire::ConnectionConfig;

use crate::every::borrowed::{RecordView, RecordWriter};
use crate::every::record::part::Leaf;
use crate::every::record::{Choice, Flag, Nothing, Part};
use crate::every::{EveryServer, Mirror, Record};
use crate::pair::{Pair, head};

const ECHO: &str = "/every.v1.Every/Echo";
const COPY: &str = "/every.v1.Every/Copy";

const RECORDS: usize = 2_000;

/// SplitMix64: the same records on every run.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// Small, large and negative ones alike.
    fn number(&mut self) -> u64 {
        let shift = self.below(64);
        match self.below(3) {
            0 => 0,
            1 => self.next() >> shift,
            _ => (self.next() as i64 >> shift) as u64,
        }
    }

    fn text(&mut self) -> String {
        // Lengths of one byte and of two.
        let length = if self.below(8) == 0 { 120 + self.below(20) } else { self.below(9) };
        (0..length).map(|_| ['a', 'ß', '本', '🦀', ' '][self.below(5)]).collect()
    }

    fn bytes(&mut self) -> Vec<u8> {
        (0..self.below(9)).map(|_| self.next() as u8).collect()
    }

    fn some<T>(&mut self, one: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.below(2) == 0).then(|| one(self))
    }

    fn several<T>(&mut self, one: impl Fn(&mut Self) -> T) -> Vec<T> {
        (0..self.below(4)).map(|_| one(self)).collect()
    }

    fn part(&mut self) -> Part {
        let leaf = |dice: &mut Self| Leaf { lifetime: dice.number() as u32 };
        Part { label: self.text(), leaves: self.several(leaf) }
    }

    fn record(&mut self) -> Record {
        Record {
            a_double: self.number() as i64 as f64 / 8.0,
            a_float: self.number() as i64 as f32 / 8.0,
            an_int32: self.number() as i32,
            an_int64: self.number() as i64,
            a_uint32: self.number() as u32,
            a_uint64: self.number(),
            a_sint32: self.number() as i32,
            a_sint64: self.number() as i64,
            a_fixed32: self.number() as u32,
            a_fixed64: self.number(),
            a_sfixed32: self.number() as i32,
            a_sfixed64: self.number() as i64,
            a_bool: self.below(2) == 0,
            r#type: self.text(),
            blob: self.bytes(),
            color: self.number() as i32,
            part: self.some(Self::part),
            maybe_number: self.some(|dice| dice.number() as i32),
            maybe_text: self.some(Self::text),
            names: self.several(Self::text),
            blobs: self.several(Self::bytes),
            parts: self.several(Self::part),
            numbers: self.several(|dice| dice.number() as i32),
            doubles: self.several(|dice| dice.number() as i64 as f64),
            colors: self.several(|dice| dice.number() as i32),
            by_name: self.several(|dice| (dice.text(), dice.part())).into_iter().collect(),
            nothing: self.some(|_| Nothing {}),
            far: self.number() as i32,
            choice: self.some(|dice| match dice.below(3) {
                0 => Choice::Note(dice.text()),
                1 => Choice::Agreed(dice.below(2) == 0),
                _ => Choice::SparePart(dice.part()),
            }),
            flag: self.some(|dice| match dice.below(2) {
                0 => Flag::NumberFlag(dice.number() as i32),
                _ => Flag::BoolFlag(dice.below(2) == 0),
            }),
        }
    }

    /// An encoded record with a mistake, or with something unusual: a bit, a byte or the end is
    /// another one, or two records stand one after the other and are one.
    fn unusual(&mut self) -> Vec<u8> {
        let mut bytes = self.record().encode_to_vec();
        let at = self.below(bytes.len() + 1);
        match self.below(5) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, self.next() as u8),
            2 => bytes.extend(self.record().encode_to_vec()),
            3 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
            _ if at < bytes.len() => bytes[at] = self.next() as u8,
            _ => {}
        }
        bytes
    }
}

/// What a view writes of an encoded record, if it can hold it.
fn copied(bytes: &[u8]) -> Option<Vec<u8>> {
    let view = read::<RecordView<'_>>(bytes).ok()?;
    let mut output = Vec::new();
    view.copy_to(&mut RecordWriter::over(&mut output));
    Some(output)
}

/// The same record as prost writes it: so that NaN equals itself.
fn of_prost(bytes: &[u8]) -> Option<Vec<u8>> {
    Some(Record::decode(bytes).ok()?.encode_to_vec())
}

fn mirror() -> Pair {
    Pair::over(EveryServer::new(Mirror))
}

#[derive(Debug, PartialEq)]
struct Answer {
    code: Code,
    status_message: String,
    messages: Vec<Vec<u8>>,
}

fn answer(pair: &mut Pair, path: &str, message: &[u8]) -> Answer {
    let stream = pair.client.sender.request(&mut head(path), &[], message).unwrap();
    pair.pump_with_threads();
    let heard = pair.heard(stream);
    let messages = heard.messages.iter().map(|message| of_prost(message).unwrap()).collect();
    Answer { code: heard.code(), status_message: heard.status_message(), messages }
}

#[test]
fn a_view_holds_every_record_that_prost_writes() {
    let mut dice = Dice(1);
    for number in 0..RECORDS {
        let record = dice.record();
        let bytes = record.encode_to_vec();
        let copied = copied(&bytes).expect("a view of what prost writes");
        assert_eq!(Record::decode(&*copied).unwrap(), record, "record {number}");
        assert_eq!(copied.len(), bytes.len(), "record {number}: not a byte more or less");
    }
}

#[test]
fn a_view_holds_nothing_that_prost_refuses_and_reads_the_rest_alike() {
    let mut dice = Dice(2);
    let mut held = 0;
    for number in 0..10 * RECORDS {
        let bytes = dice.unusual();
        if let Some(copied) = copied(&bytes) {
            assert_eq!(of_prost(&copied), of_prost(&bytes), "record {number}: {bytes:?}");
            held += 1;
        }
    }
    assert!((RECORDS..9 * RECORDS).contains(&held), "{held}: neither all nor none");
}

#[test]
fn a_client_cannot_tell_whether_its_messages_are_borrowed() {
    let (mut dice, mut pair) = (Dice(3), mirror());
    for number in 0..RECORDS / 4 {
        let bytes = dice.unusual();
        let [echo, copy] = [ECHO, COPY].map(|path| answer(&mut pair, path, &bytes));
        assert_eq!(echo, copy, "record {number}: {bytes:?}");
    }
}

#[test]
fn a_message_that_comes_in_pieces_is_joined() {
    let part =
        |label: &str, lifetime| Part { label: label.into(), leaves: vec![Leaf { lifetime }] };
    let of = |part| Record { part: Some(part), ..Record::default() }.encode_to_vec();
    let pieces = [of(part("first", 1)), of(part("second", 2))].concat();
    assert_eq!(copied(&pieces), None, "a view has no room for it");
    let answer = answer(&mut mirror(), ECHO, &pieces);
    let joined =
        Part { label: "second".into(), leaves: vec![Leaf { lifetime: 1 }, Leaf { lifetime: 2 }] };
    assert_eq!(answer.messages, [of(joined)]);
}

#[test]
fn what_comes_twice_and_is_no_message_counts_the_second_time() {
    let of = |r#type: &str| Record { r#type: r#type.into(), ..Record::default() }.encode_to_vec();
    let answer = answer(&mut mirror(), ECHO, &[of("first"), of("second")].concat());
    assert_eq!(answer.messages, [of("second")]);
}

fn named(r#type: &str) -> Vec<u8> {
    Record { r#type: r#type.into(), ..Record::default() }.encode_to_vec()
}

#[test]
fn nothing_of_a_reply_goes_out_if_its_handler_fails() {
    let mut pair = mirror();
    let refused = answer(&mut pair, ECHO, &named("refuse"));
    assert_eq!((refused.code, refused.messages.len()), (Code::NotFound, 0));
    assert_eq!(refused.status_message, "as it was asked to");
    let panicked = answer(&mut pair, ECHO, &named("panic"));
    assert_eq!((panicked.code, panicked.messages.len()), (Code::Internal, 0));
    assert_eq!(answer(&mut pair, ECHO, &named("fine")).messages, [named("fine")]);
}

#[test]
fn a_handler_may_add_headers_after_it_has_written() {
    let mut pair = mirror();
    let stream = pair.client.sender.request(&mut head(ECHO), &[], &named("header")).unwrap();
    pair.pump();
    let heard = pair.heard(stream);
    assert_eq!(heard.field("x-mirror"), Some("late"));
    assert_eq!(heard.messages, [named("header")]);
}

#[test]
fn an_empty_message_is_a_message() {
    assert_eq!(answer(&mut mirror(), ECHO, b"").messages, [b""]);
}

/// Large requests are read by another thread first: see the tests of `large`.
#[test]
fn large_requests_are_borrowed_too() {
    let mut pair = Pair::over_with(EveryServer::new(Mirror), &ConnectionConfig::trusted());
    let record = Record { names: vec!["a name".into(); 40_000], ..Record::default() };
    let bytes = record.encode_to_vec();
    assert!(bytes.len() < Limits::internet().max_message_bytes);
    let whole = answer(&mut pair, ECHO, &bytes);
    assert!(whole.messages == [bytes.clone()], "{:?}", whole.code);
    let part = Record { part: Some(Part::default()), ..Record::default() }.encode_to_vec();
    let pieces = [&bytes[..], &part, &part].concat();
    let joined = answer(&mut pair, ECHO, &pieces);
    assert!(joined.messages == [of_prost(&pieces).unwrap()], "{:?}", joined.code);
    let broken = answer(&mut pair, ECHO, &bytes[..bytes.len() - 1]);
    assert_eq!(broken, answer(&mut pair, COPY, &bytes[..bytes.len() - 1]));
    assert_eq!(broken.code, Code::Internal);
}
