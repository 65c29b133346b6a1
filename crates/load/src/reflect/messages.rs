//! The messages of server reflection, as far as they are used here.

use super::error::FetchError;
use crate::schema::reflection::ReflectionQuery;
use prost::Message;

/// `grpc.reflection.v1.ServerReflectionRequest`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ReflectionRequest {
    #[prost(oneof = "ReflectionQuery", tags = "3, 4, 7")]
    pub query: Option<ReflectionQuery>,
}

/// `grpc.reflection.v1.ServerReflectionResponse`, as far as it answers those requests.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ReflectionResponse {
    #[prost(message, optional, tag = "4")]
    file_descriptor_response: Option<FileDescriptorResponse>,
    #[prost(message, optional, tag = "6")]
    list_services_response: Option<ListServiceResponse>,
    #[prost(message, optional, tag = "7")]
    error_response: Option<ErrorResponse>,
}

#[derive(Clone, PartialEq, Message)]
struct FileDescriptorResponse {
    #[prost(bytes = "vec", repeated, tag = "1")]
    file_descriptor_proto: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
struct ListServiceResponse {
    #[prost(message, repeated, tag = "1")]
    service: Vec<ServiceResponse>,
}

#[derive(Clone, PartialEq, Message)]
struct ServiceResponse {
    #[prost(string, tag = "1")]
    name: String,
}

#[derive(Clone, PartialEq, Message)]
struct ErrorResponse {
    #[prost(int32, tag = "1")]
    error_code: i32,
    #[prost(string, tag = "2")]
    error_message: String,
}

impl ReflectionResponse {
    /// The files, or the names of services, that the response carries.
    pub fn items(self) -> Result<Vec<Vec<u8>>, FetchError> {
        match (self.file_descriptor_response, self.list_services_response, self.error_response) {
            (Some(files), _, _) => Ok(files.file_descriptor_proto),
            (_, Some(services), _) => {
                Ok(services.service.into_iter().map(|service| service.name.into_bytes()).collect())
            }
            (_, _, Some(error)) => {
                Err(FetchError::Refused { code: error.error_code, message: error.error_message })
            }
            (None, None, None) => {
                Err(FetchError::Malformed("it has neither files nor names".into()))
            }
        }
    }
}
