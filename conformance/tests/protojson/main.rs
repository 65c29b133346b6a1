//! JSON to messages, compared with Go's protojson: in both directions, over messages of every kind
//! of field in proto2, proto3 and an edition, and over texts that are nearly messages.
#![forbid(unsafe_code)]

mod differences;
mod mutation;
mod reference;

use differences::DIFFERENCES;
use mutation::{Random, mutated, odd_values};
use reference::{ALL_FIELDS, Comparison, KINDS, Kind, Outcome, PROTO2, Reference};
use std::fs;
use std::path::Path;

/// Random messages of each type.
const MESSAGES: u64 = 400;
/// Texts made of each random message by a small change.
const MUTATIONS: u64 = 4;
/// Most failures that are printed.
const SHOWN: usize = 20;

/// Fails with what is wrong, if anything is, and where fewer cases were checked than there are.
#[track_caller]
fn assert_none(wrong: &[String], checked: usize, expected: usize) {
    let shown = wrong.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join("\n\n");
    assert!(wrong.is_empty(), "{} of {checked}:\n{shown}", wrong.len());
    assert_eq!(checked, expected, "cases");
}

fn described(kind: Kind, comparison: &Comparison) -> String {
    let Comparison { text, ours, go, .. } = comparison;
    format!("{}: {text}\nours: {ours:?}\nGo:   {go:?}", kind.message)
}

/// What both sides make of a text, where they differ and no known difference explains it.
fn unexplained(reference: &Reference, kind: Kind, text: &str) -> Option<String> {
    let comparison = reference.compare(kind, text);
    let explained = || DIFFERENCES.iter().any(|known| (known.explains)(&comparison));
    (!comparison.agree && !explained()).then(|| described(kind, &comparison))
}

#[test]
fn a_message_that_go_writes_in_json_has_the_same_bytes_again() {
    let reference = Reference::start();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (kind, seed) in KINDS.iter().flat_map(|kind| (0..MESSAGES).map(move |seed| (*kind, seed))) {
        let (json, bytes) = reference.random_message(kind, seed);
        // In an array there are several messages for us.
        if json.starts_with('[') {
            continue;
        }
        count += 1;
        let ours = reference.ours(kind, &json);
        let is_same =
            matches!(&ours, Outcome::Taken(ours) if reference.are_same(kind, ours, &bytes));
        if !is_same {
            wrong.push(format!("{} {seed}: {json}\n{ours:?}", kind.message));
        }
    }
    assert_none(&wrong, count, 3_142);
}

#[test]
fn what_is_nearly_a_message_is_taken_or_refused_as_go_does() {
    let reference = Reference::start();
    let odd_values = odd_values();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (kind, seed) in KINDS.iter().flat_map(|kind| (0..MESSAGES).map(move |seed| (*kind, seed))) {
        let (json, _) = reference.random_message(kind, seed);
        let mut random = Random::new(seed + 1);
        for _ in 0..MUTATIONS {
            let text = mutated(&json, &odd_values, &mut random);
            if !text.starts_with('[') {
                wrong.extend(unexplained(&reference, kind, &text));
                count += 1;
            }
        }
    }
    assert_none(&wrong, count, 12_568);
}

/// The names of the fields in `proto/json/fields.txt`.
fn field_names() -> Vec<String> {
    let fields = committed("fields.txt");
    let name = |line: &str| Some(line.split_once(" = ")?.0.rsplit(' ').next()?.to_owned());
    fields.lines().filter_map(name).collect()
}

fn committed(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("proto/json").join(name);
    fs::read_to_string(path).expect("it is committed")
}

#[test]
fn every_field_takes_and_refuses_the_values_that_it_does_in_go() {
    let reference = Reference::start();
    let (names, odd_values) = (field_names(), odd_values());
    assert!(names.len() > 100, "{names:?}");
    let mut wrong = Vec::new();
    let mut count = 0;
    for kind in ALL_FIELDS {
        let own = ["extension_int32", "extension_packed", "extension_message"];
        let package = kind.message.trim_end_matches(".All");
        let extensions = own.map(|name| format!("[{package}.{name}]"));
        // The same kinds of fields again tell nothing new.
        let names = names.iter().filter(|name| !name.contains("ame1") && !name.contains("wrapper"));
        for name in names.chain(&extensions) {
            for value in &odd_values {
                let text = format!("{{\"{name}\":{value}}}");
                wrong.extend(unexplained(&reference, kind, &text));
                count += 1;
            }
        }
    }
    assert_none(&wrong, count, 78_435);
}

#[test]
fn the_inputs_of_protobufs_own_suite_are_taken_and_refused() {
    let reference = Reference::start();
    let inputs = committed("inputs.txt");
    let (mut wrong, mut count) = (Vec::new(), 0);
    for line in inputs.lines().filter(|line| !line.starts_with('#')) {
        let (sign, rest) = line.split_once(' ').expect("a sign");
        let (name, text) = rest.split_once(' ').expect("a name and an input");
        for kind in ALL_FIELDS {
            // The others have no such extension.
            if name == "FieldNameExtension" && kind.message != PROTO2.message {
                continue;
            }
            let ours = reference.ours(kind, text);
            if matches!(ours, Outcome::Taken(_)) != (sign == "+") {
                wrong.push(format!("{name} of {}: {text}\n{ours:?}", kind.message));
            }
            wrong.extend(unexplained(&reference, kind, text));
            count += 1;
        }
    }
    for (levels, is_taken) in [(25, true), (200, false)] {
        let [objects, lists] = [("{\"n\":", "}"), ("[", "]")]
            .map(|(open, close)| format!("{}1{}", open.repeat(levels), close.repeat(levels)));
        for text in [
            format!("{{\"optionalStruct\":{objects}}}"),
            format!("{{\"optionalValue\":{objects}}}"),
            format!("{{\"optionalValue\":{lists}}}"),
        ] {
            let ours = reference.ours(PROTO2, &text);
            if matches!(ours, Outcome::Taken(_)) != is_taken {
                wrong.push(format!("{levels} levels: {ours:?}"));
            }
            count += 1;
        }
    }
    assert_none(&wrong, count, 1_000);
}

#[test]
fn other_bytes_are_another_message() {
    let reference = Reference::start();
    let taken = |text: &str| match reference.ours(PROTO2, text) {
        Outcome::Taken(bytes) => bytes,
        Outcome::Refused(reason) => panic!("{reason}"),
    };
    let one = taken(r#"{"optionalDouble":0.0,"optionalInt32":1}"#);
    for other in [
        r#"{"optionalDouble":-0.0,"optionalInt32":1}"#,
        r#"{"optionalDouble":0.0,"optionalInt32":2}"#,
        r#"{"optionalDouble":0.0}"#,
    ] {
        assert!(!reference.are_same(PROTO2, &one, &taken(other)), "{other}");
    }
    // The same fields in another order are the same message.
    let (head, tail) = one.split_at(2);
    assert!(reference.are_same(PROTO2, &one, &[tail, head].concat()));
}

#[test]
fn every_known_difference_is_still_there() {
    let reference = Reference::start();
    for known in DIFFERENCES {
        let (kind, text) = (known.example)();
        let comparison = reference.compare(kind, &text);
        let is_there = !comparison.agree && (known.explains)(&comparison);
        assert!(is_there, "{} is gone: {}", known.name, described(kind, &comparison));
    }
}
