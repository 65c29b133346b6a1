//! Errors as the suite writes them, and as gRPC does: the details go in a field of their own.

use bookend_client::{Code, Status};
use bookend_server::prost::Message;
use bookend_server::prost_types::Any;

use super::messages::Error;
use super::rpc;

/// The metadata that carries a status with its details.
pub const STATUS_DETAILS: &str = "grpc-status-details-bin";

/// A status with details.
#[derive(Clone, Debug, PartialEq)]
pub struct Details {
    /// What every client understands.
    pub status: Status,
    /// What only those understand who know the messages.
    pub details: Vec<Any>,
}

impl Details {
    /// As the suite's response definitions write it.
    pub fn of_error(error: Error) -> Self {
        Details {
            status: Status::new(code(error.code), error.message.unwrap_or_default()),
            details: error.details,
        }
    }

    /// As the suite's results write it.
    pub fn into_error(self) -> Error {
        Error {
            code: self.status.code as i32,
            message: Some(self.status.message),
            details: self.details,
        }
    }

    /// A status as it came, with what came in [`STATUS_DETAILS`].
    pub fn read(status: Status, bytes: Option<&[u8]>) -> Self {
        let message = bytes.and_then(|bytes| rpc::Status::decode(bytes).ok());
        Details { status, details: message.map(|message| message.details).unwrap_or_default() }
    }

    /// The value of [`STATUS_DETAILS`]; `None` where there are no details.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let message = rpc::Status {
            code: self.status.code as i32,
            message: self.status.message.clone(),
            details: self.details.clone(),
        };
        (!self.details.is_empty()).then(|| message.encode_to_vec())
    }
}

/// The suite's codes are those of gRPC.
fn code(number: i32) -> Code {
    let known = usize::try_from(number).ok();
    let known = known.and_then(|number| Code::ALL.get(number));
    known.copied().unwrap_or(Code::Unknown)
}

#[test]
fn details_survive_the_way_through_metadata() {
    let error = Error {
        code: 14,
        message: Some("later".to_owned()),
        details: vec![Any { type_url: "a/b".to_owned(), value: vec![1, 2] }],
    };
    let sent = Details::of_error(error.clone());
    assert_eq!(sent.status.code, Code::Unavailable);
    let bytes = sent.to_bytes();
    let received = Details::read(sent.status, bytes.as_deref());
    assert_eq!(received.into_error(), error);
}
