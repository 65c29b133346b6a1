//! Making a request message larger without making it another request.

use prost::Message as _;
use prost_reflect::{DynamicMessage, FieldDescriptor, Kind, MessageDescriptor, Value};

/// Larger than two DATA frames of 16,384 bytes, smaller than the window of 65,535 that every
/// connection begins with: a server need give no credit for it.
const LARGE_BYTES: usize = 40_000;

/// The largest field number there is. No message declares it, so parsers must skip it.
const UNDECLARED_FIELD: u32 = 536_870_911;

/// The message with a text or byte field of its own made long; `None` if it has none.
pub(super) fn by_own_field(message: &[u8], shape: &MessageDescriptor) -> Option<Vec<u8>> {
    let field = shape.fields().find(can_be_long)?;
    let mut decoded = DynamicMessage::decode(shape.clone(), message).ok()?;
    let long = match decoded.get_field(&field).into_owned() {
        Value::String(mut text) => {
            let missing = LARGE_BYTES.saturating_sub(text.len());
            text.extend(std::iter::repeat_n('x', missing));
            Value::String(text)
        }
        Value::Bytes(bytes) => {
            let mut bytes = bytes.to_vec();
            bytes.resize(bytes.len().max(LARGE_BYTES), b'x');
            Value::Bytes(bytes.into())
        }
        _ => return None,
    };
    decoded.set_field(&field, long);
    Some(decoded.encode_to_vec())
}

/// Setting a member of a oneof would unset another one.
fn can_be_long(field: &FieldDescriptor) -> bool {
    let is_single = !field.is_list() && !field.is_map();
    let is_free = field.containing_oneof().is_none();
    is_single && is_free && matches!(field.kind(), Kind::String | Kind::Bytes)
}

/// The message followed by a long field that no parser knows.
pub(super) fn by_undeclared_field(message: &[u8]) -> Vec<u8> {
    let mut large = message.to_vec();
    let filling = vec![b'x'; LARGE_BYTES];
    prost::encoding::bytes::encode(UNDECLARED_FIELD, &filling, &mut large);
    large
}

#[cfg(test)]
mod tests {
    use super::*;
    use prost_reflect::DescriptorPool;
    use protox::file::{File, FileResolver};

    struct Source(&'static str);

    impl FileResolver for Source {
        fn open_file(&self, name: &str) -> Result<File, protox::Error> {
            File::from_source(name, self.0)
        }
    }

    fn pool(source: &'static str) -> DescriptorPool {
        let mut compiler = protox::Compiler::with_file_resolver(Source(source));
        compiler.open_file("a.proto").unwrap();
        compiler.descriptor_pool()
    }

    const SHAPES: &str = r#"
        syntax = "proto3";
        message Text { int32 number = 1; repeated string many = 2; string name = 3; }
        message Bytes { bytes content = 1; }
        message None { oneof choice { string one = 1; } repeated bytes many = 2; Text inner = 3; }
    "#;

    fn decoded(bytes: &[u8], shape: &MessageDescriptor) -> DynamicMessage {
        DynamicMessage::decode(shape.clone(), bytes).unwrap()
    }

    #[test]
    fn the_first_single_text_field_becomes_long_and_the_rest_stays() {
        let shape = pool(SHAPES).get_message_by_name("Text").unwrap();
        let message = b"\x08\x05\x12\x01a\x1a\x02ab";
        let large = by_own_field(message, &shape).unwrap();
        let decoded = decoded(&large, &shape);
        let name = decoded.get_field_by_name("name").unwrap().as_str().unwrap().to_owned();
        assert!(name.starts_with("abxx") && name.len() == LARGE_BYTES);
        assert_eq!(decoded.get_field_by_name("number").unwrap().as_i32(), Some(5));
    }

    #[test]
    fn bytes_do_as_well_and_choices_lists_and_inner_messages_do_not() {
        let pool = pool(SHAPES);
        let bytes = pool.get_message_by_name("Bytes").unwrap();
        assert!(by_own_field(b"", &bytes).unwrap().len() > LARGE_BYTES);
        let none = pool.get_message_by_name("None").unwrap();
        assert_eq!(by_own_field(b"", &none), None);
    }

    #[test]
    fn an_undeclared_field_changes_nothing_for_parsers_that_skip_it() {
        let shape = pool(SHAPES).get_message_by_name("Bytes").unwrap();
        let large = by_undeclared_field(b"\x0a\x02ab");
        assert!(large.len() > LARGE_BYTES);
        let mut decoded = decoded(&large, &shape);
        assert_eq!(decoded.unknown_fields().count(), 1);
        decoded.take_unknown_fields().for_each(drop);
        assert_eq!(decoded.encode_to_vec(), b"\x0a\x02ab");
    }
}
