//! Calls with one message either way, and the metadata around calls.

use bookend_client::Metadata;
use bookend_conformance::interop::messages::{
    Empty, PayloadType, ResponseParameters, SimpleRequest, SimpleResponse,
    StreamingOutputCallRequest,
};
use bookend_server::prost::Message;

use crate::Failure;
use crate::service::{
    LARGE_REQUEST_BYTES, LARGE_RESPONSE_BYTES, Service, check_code, check_equal, check_payload,
    payload, single, stream_call, unary_call,
};

const ECHOED_BEFORE: &str = "x-grpc-test-echo-initial";
const ECHOED_BEHIND: &str = "x-grpc-test-echo-trailing-bin";
const TEXT: &[u8] = b"test_initial_metadata_value";
const BYTES: &[u8] = &[0xab, 0xab, 0xab];

pub fn empty(service: &Service) -> Result<(), Failure> {
    let answer = service.unary("EmptyCall", &Empty {});
    let _: Empty = single(&answer)?;
    check_equal("the message", answer.message, Some(Vec::new()))
}

pub fn large(service: &Service) -> Result<(), Failure> {
    let answer = service.unary("UnaryCall", &large_request());
    let response: SimpleResponse = single(&answer)?;
    check_payload(response.payload, LARGE_RESPONSE_BYTES)
}

/// What most cases with one message send.
pub fn large_request() -> SimpleRequest {
    SimpleRequest {
        response_type: PayloadType::Compressable.into(),
        response_size: LARGE_RESPONSE_BYTES,
        payload: payload(LARGE_REQUEST_BYTES),
        ..Default::default()
    }
}

pub fn custom_metadata(service: &Service) -> Result<(), Failure> {
    let mut sent = Metadata::new();
    let pushed =
        sent.push(ECHOED_BEFORE, TEXT).and_then(|()| sent.push_binary(ECHOED_BEHIND, BYTES));
    pushed.map_err(|error| error.to_string())?;
    let mut call = unary_call("UnaryCall", &large_request());
    call.metadata = sent.clone();
    let answer = service.unary_with(call);
    let _: SimpleResponse = single(&answer)?;
    check_echo("a unary call", &answer.head, &answer.trailers)?;

    let mut call = stream_call("FullDuplexCall");
    call.metadata = sent;
    let (mut requests, mut responses) = service.open_with(call);
    let parameters = ResponseParameters { size: LARGE_RESPONSE_BYTES, ..Default::default() };
    let request = StreamingOutputCallRequest {
        response_parameters: vec![parameters],
        payload: payload(LARGE_REQUEST_BYTES),
        ..Default::default()
    };
    let sent = requests.send(&request.encode_to_vec());
    sent.map_err(|error| error.to_string())?;
    requests.finish();
    let head = responses.head().clone();
    let end = responses.end();
    check_code(&end.status, bookend_client::Code::Ok)?;
    check_echo("a full-duplex call", &head, &end.trailers)
}

fn check_echo(call: &str, head: &Metadata, trailers: &Metadata) -> Result<(), Failure> {
    check_equal(call, head.find(ECHOED_BEFORE), Some(TEXT))?;
    let echoed = trailers.find_binary(ECHOED_BEHIND);
    let echoed = echoed.map_err(|error| error.to_string())?;
    check_equal(call, echoed.as_deref(), Some(BYTES))
}
