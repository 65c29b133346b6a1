//! The code of a writer.

use super::message::{BorrowedMessage, FieldPlace, FieldValue, MessageField};

/// The writer of a message.
pub fn of(message: &BorrowedMessage) -> String {
    let BorrowedMessage { name, proto_name, .. } = message;
    let functions: String = message.fields.iter().map(function_code).collect();
    format!(
        "    /// Writes a `{proto_name}` in place.\n\
         \x20   #[derive(Debug)]\n\
         \x20   pub struct {name}Writer<'w>(&'w mut ::std::vec::Vec<u8>);\n\
         \x20   impl<'w> support::MessageWriter<'w> for {name}Writer<'w> {{\n\
         \x20       #[inline]\n\
         \x20       fn over(output: &'w mut ::std::vec::Vec<u8>) -> Self {{\n\
         \x20           Self(output)\n\
         \x20       }}\n\
         \x20   }}\n\
         \x20   impl {name}Writer<'_> {{\n\
         {functions}\
         \x20   }}\n"
    )
}

fn function_code(field: &MessageField) -> String {
    let (name, key) = (&field.name, field.key());
    let presence = match field.place {
        FieldPlace::Implicit => "support::Presence::Implicit",
        FieldPlace::Optional | FieldPlace::Repeated | FieldPlace::OneOf(_) => {
            "support::Presence::Explicit"
        }
    };
    let is_repeated = field.place == FieldPlace::Repeated;
    let (parameter, call) = match &field.value {
        FieldValue::Number(number) if is_repeated => (
            format!("values: impl ::core::iter::IntoIterator<Item = {}>", number.rust),
            format!("put_numbers::<support::{}>(self.0, {key}, values)", number.kind),
        ),
        FieldValue::Number(number) => (
            format!("value: {}", number.rust),
            format!("put_number::<support::{}>(self.0, {key}, value, {presence})", number.kind),
        ),
        FieldValue::Text => (
            "value: impl support::Text".to_owned(),
            format!("put_text(self.0, {key}, value, {presence})"),
        ),
        FieldValue::Bytes => {
            ("value: &[u8]".to_owned(), format!("put_bytes(self.0, {key}, value, {presence})"))
        }
        FieldValue::Message(message) => (
            format!("write: impl ::core::ops::FnOnce(&mut {message}Writer<'_>)"),
            format!("put_message(self.0, {key}, |output| write(&mut {message}Writer(output)))"),
        ),
    };
    let what = match (is_repeated, &field.value) {
        (true, FieldValue::Number(_)) | (false, _) => "Writes",
        (true, _) => "Adds one to",
    };
    format!(
        "        /// {what} `{name}`.\n\
         \x20       #[inline]\n\
         \x20       pub fn {name}(&mut self, {parameter}) -> &mut Self {{\n\
         \x20           support::{call};\n\
         \x20           self\n\
         \x20       }}\n"
    )
}
