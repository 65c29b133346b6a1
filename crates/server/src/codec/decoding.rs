use bookend_wire::grpc::Status;
use prost::Message;

use crate::large_request::DecodedRequest;
use crate::status;

/// Decodes a request ahead of its handler, on any thread: [`crate::Service::decoder`].
///
/// # Errors
/// The status that ends the call.
pub fn decode<Q: Message + Default + 'static>(request: &[u8]) -> Result<DecodedRequest, Status> {
    match Q::decode(request) {
        Ok(request) => Ok(DecodedRequest::new(request)),
        Err(error) => Err(status::undecodable(&error)),
    }
}
