//! The request message of a suite: protobuf JSON becomes bytes here, as the lab knows no protobuf.

use crate::failure::Failure;
use bookend_load::payload::{Payload, Templates};
use bookend_load::schema::Schema;
use bookend_results::suite::{Request, RequestMessage, Suite};

/// The message's bytes where the suite gives it as JSON.
///
/// # Errors
/// [`Failure`] naming the file that is wrong.
pub fn encode(suite: &Suite, request: &Request) -> Result<Option<Vec<u8>>, Failure> {
    let RequestMessage::Json(file) = &request.message else {
        return Ok(None);
    };
    let schema = Schema::from_proto(&suite.path(&request.proto), &[]).map_err(Failure::usage)?;
    let method = schema.method(&request.method).map_err(Failure::usage)?;
    let file = suite.path(file);
    let place = file.display().to_string();
    let text = std::fs::read_to_string(&file)
        .map_err(|error| Failure::usage(format!("cannot read {place}: {error}")))?;
    let payload = Payload::from_json(&text, &place, &method.input, Templates::Literal)
        .map_err(Failure::usage)?;
    match payload.messages() {
        [only] => Ok(Some(only.clone())),
        many => Err(Failure::usage(format!(
            "{place} has {} messages, and a suite sends one",
            many.len()
        ))),
    }
}
