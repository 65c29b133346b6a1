//! Files in which any field may have any value, also one that is there and empty: the library that
//! makes a pool of them looks most of them up without a doubt.

use super::{by_reflection, decode, everything, field, file, message, use_all_of};
use fastrand::Rng;
use prost::Message as _;
use prost_reflect::{DescriptorPool, DynamicMessage, FieldDescriptor, Kind, ReflectMessage, Value};
use prost_types::field_descriptor_proto::Type;
use prost_types::{
    FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet, descriptor_proto::ExtensionRange,
};

const TEXTS: [&str; 18] = [
    "",
    ".",
    "..",
    "a",
    "M",
    ".a.M",
    ".a.M.s",
    ".a.M.EEntry",
    ".a.O",
    ".a.O.A",
    ".a.S",
    ".a.x",
    ".google.protobuf.MessageOptions",
    "google.protobuf",
    "proto3",
    "editions",
    "o.proto",
    "\u{e9} \0",
];

const NUMBERS: [i32; 12] =
    [0, 1, 2, 3, 7, 8, -1, 19_000, 536_870_911, 536_870_912, i32::MAX, i32::MIN];

/// A set with something of every kind, and options of messages of its own.
fn set() -> DynamicMessage {
    let mut options = message("MessageOptions", vec![field("map_entry", 7, Type::Bool)]);
    options.extension_range =
        vec![ExtensionRange { start: Some(1_000), end: Some(2_000), options: None }];
    let own = FileDescriptorProto {
        name: Some("o.proto".into()),
        package: Some("google.protobuf".into()),
        service: vec![],
        extension: vec![FieldDescriptorProto {
            extendee: Some(".google.protobuf.MessageOptions".into()),
            ..field("y", 1_000, Type::Int32)
        }],
        ..file(vec![options])
    };
    let mut all = everything();
    all.dependency.push("o.proto".into());
    let set = FileDescriptorSet { file: vec![own, all] };
    let kind = DescriptorPool::global().get_message_by_name("google.protobuf.FileDescriptorSet");
    let mut read = DynamicMessage::new(kind.expect("it is known"));
    read.merge(&set.encode_to_vec()[..]).unwrap();
    read
}

/// Gives a field somewhere in a message another value, or takes its value.
fn change(message: &mut DynamicMessage, random: &mut Rng) {
    let fields: Vec<_> = message.descriptor().fields().collect();
    let has_more = |field: &&FieldDescriptor| {
        matches!(field.kind(), Kind::Message(_)) && message.has_field(field)
    };
    let deeper: Vec<_> = fields.iter().filter(has_more).collect();
    if !deeper.is_empty() && random.usize(..5) > 0 {
        let field = deeper[random.usize(..deeper.len())];
        match message.get_field_mut(field) {
            Value::Message(inner) => return change(inner, random),
            Value::List(values) => {
                let place = random.usize(..values.len());
                let again = values[place].clone();
                match random.usize(..6) {
                    0 => values.push(again),
                    1 => drop(values.remove(place)),
                    _ => {
                        let Value::Message(inner) = &mut values[place] else { return };
                        change(inner, random);
                    }
                }
                return;
            }
            _ => return,
        }
    }
    let field = &fields[random.usize(..fields.len())];
    let value = any_value(&field.kind(), random);
    match message.get_field_mut(field) {
        Value::List(values) => values.push(value),
        _ if random.usize(..5) == 0 => message.clear_field(field),
        one => *one = value,
    }
}

fn any_value(kind: &Kind, random: &mut Rng) -> Value {
    let number = NUMBERS[random.usize(..NUMBERS.len())];
    match kind {
        Kind::Bool => Value::Bool(random.bool()),
        Kind::Int32 => Value::I32(number),
        Kind::Enum(_) => Value::EnumNumber(random.i32(0..20)),
        Kind::String => Value::String(TEXTS[random.usize(..TEXTS.len())].to_owned()),
        kind => kind.default_value(),
    }
}

#[test]
fn no_value_of_a_field_ends_with_a_panic() {
    let whole = set();
    use_all_of(&decode_all(&whole).unwrap());
    let mut random = Rng::with_seed(11);
    let mut read = 0;
    for _ in 0..3_000 {
        let mut set = whole.clone();
        for _ in 0..=random.usize(..3) {
            change(&mut set, &mut random);
        }
        if let Ok(schema) = decode_all(&set) {
            use_all_of(&schema);
            read += 1;
        }
        let files = FileDescriptorSet::decode(&set.encode_to_vec()[..]).unwrap().file;
        let _ = by_reflection(|_| files.iter().map(|file| file.encode_to_vec()).collect());
    }
    assert!(read > 300, "{read}");
}

fn decode_all(set: &DynamicMessage) -> Result<bookend_payload::schema::Schema, String> {
    decode(FileDescriptorSet::decode(&set.encode_to_vec()[..]).unwrap().file)
}
