//! The messages of server reflection, as far as they are used here.

use super::error::FetchError;
use bookend_payload::schema::reflection::ReflectionQuery;
use bookend_payload::schema::wire::{fields, payloads};
use prost::{DecodeError, Message};

/// `grpc.reflection.v1.ServerReflectionRequest`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ReflectionRequest {
    #[prost(oneof = "ReflectionQuery", tags = "3, 4, 7")]
    pub query: Option<ReflectionQuery>,
}

/// The fields of `grpc.reflection.v1.ServerReflectionResponse` that answer those requests.
const FILES: u32 = 4;
const SERVICES: u32 = 6;
const ERROR: u32 = 7;
/// The one field of each of their messages that is of use: the serialized files, the services, and
/// the service's name.
const ONLY: u32 = 1;

/// Files or services of one response. An entry of two bytes would be a struct of more than ten
/// times that size.
const ITEMS_MAX: usize = 10_000;

#[derive(Clone, PartialEq, Message)]
struct ErrorResponse {
    #[prost(int32, tag = "1")]
    error_code: i32,
    #[prost(string, tag = "2")]
    error_message: String,
}

/// The files, or the names of services, that a serialized `ServerReflectionResponse` carries.
pub(super) fn items(response: &[u8]) -> Result<Vec<Vec<u8>>, FetchError> {
    for field in fields(response) {
        let field = field.map_err(malformed)?;
        let Some(payload) = field.payload else { continue };
        match field.number {
            FILES => return Ok(entries(payload)?.into_iter().map(<[u8]>::to_vec).collect()),
            SERVICES => return entries(payload)?.into_iter().map(name).collect(),
            ERROR => {
                let error = ErrorResponse::decode(payload).map_err(malformed)?;
                let ErrorResponse { error_code: code, error_message: message } = error;
                return Err(FetchError::Refused { code, message });
            }
            _ => {}
        }
    }
    Err(FetchError::Malformed("has neither files nor names".into()))
}

fn entries(list: &[u8]) -> Result<Vec<&[u8]>, FetchError> {
    let entries: Vec<_> = payloads(list, ONLY).take(ITEMS_MAX + 1).collect();
    if entries.len() > ITEMS_MAX {
        return Err(FetchError::Malformed(format!("has more than {ITEMS_MAX} files or names")));
    }
    entries.into_iter().map(|entry| entry.map_err(malformed)).collect()
}

fn name(service: &[u8]) -> Result<Vec<u8>, FetchError> {
    let name = payloads(service, ONLY).next().unwrap_or(Ok(b""));
    name.map(<[u8]>::to_vec).map_err(malformed)
}

fn malformed(error: DecodeError) -> FetchError {
    FetchError::Malformed(format!("is not a message of reflection ({error})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_have_files_or_names_or_an_error() {
        assert_eq!(items(b"\x22\x06\x0a\x01a\x0a\x01b").unwrap(), [b"a", b"b"]);
        assert_eq!(items(b"\x32\x05\x0a\x03\x0a\x01s").unwrap(), [b"s"]);
        let error = items(b"\x3a\x06\x08\x05\x12\x02no").unwrap_err();
        assert_eq!(error, FetchError::Refused { code: 5, message: "no".to_owned() });
        for wrong in [&b""[..], b"\x22\x05a", b"\x22\x02\x0a\x05"] {
            assert!(matches!(items(wrong), Err(FetchError::Malformed(_))), "{wrong:?}");
        }
    }

    #[test]
    fn a_response_of_entries_without_anything_is_not_read_to_its_end() {
        let list = b"\x0a\x00".repeat(ITEMS_MAX + 1);
        let mut response = b"\x22".to_vec();
        prost::encoding::encode_varint(list.len() as u64, &mut response);
        response.extend(list);
        let error = items(&response).unwrap_err().to_string();
        assert!(error.contains("more than 10000 files or names"), "{error}");
    }
}
