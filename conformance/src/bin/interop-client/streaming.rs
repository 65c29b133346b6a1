//! Calls whose messages go one by one.

use bookend_client::{Code, ReceivedMessage, Requests, Responses, Status};
use bookend_conformance::interop::messages::{
    ResponseParameters, StreamingInputCallRequest, StreamingInputCallResponse,
    StreamingOutputCallRequest, StreamingOutputCallResponse,
};
use bookend_server::prost::Message;

use crate::Failure;
use crate::service::{Service, check_code, check_equal, check_payload, decode, payload, single};

const REQUEST_BYTES: [usize; 4] = [27_182, 8, 1_828, 45_904];
const RESPONSE_BYTES: [i32; 4] = [31_415, 9, 2_653, 58_979];

pub fn client(service: &Service) -> Result<(), Failure> {
    let (mut requests, responses) = service.open("StreamingInputCall");
    for bytes in REQUEST_BYTES {
        let request = StreamingInputCallRequest { payload: payload(bytes), ..Default::default() };
        send(&mut requests, &request)?;
    }
    requests.finish();
    let response: StreamingInputCallResponse = single(&responses.into_response())?;
    check_equal("the sum", response.aggregated_payload_size, 74_922)
}

pub fn server(service: &Service) -> Result<(), Failure> {
    let (mut requests, mut responses) = service.open("StreamingOutputCall");
    send(&mut requests, &request(&RESPONSE_BYTES, 0))?;
    requests.finish();
    for bytes in RESPONSE_BYTES {
        check_payload(next(&mut responses)?.payload, bytes)?;
    }
    check_end(&mut responses)
}

pub fn ping_pong(service: &Service) -> Result<(), Failure> {
    let (mut requests, mut responses) = service.open("FullDuplexCall");
    for (request_bytes, response_bytes) in REQUEST_BYTES.into_iter().zip(RESPONSE_BYTES) {
        send(&mut requests, &request(&[response_bytes], request_bytes))?;
        check_payload(next(&mut responses)?.payload, response_bytes)?;
    }
    requests.finish();
    check_end(&mut responses)
}

pub fn empty(service: &Service) -> Result<(), Failure> {
    let (requests, mut responses) = service.open("FullDuplexCall");
    requests.finish();
    check_end(&mut responses)
}

/// Asks for responses of these sizes, with `bytes` bytes of its own.
pub fn request(response_bytes: &[i32], bytes: usize) -> StreamingOutputCallRequest {
    let parameters =
        response_bytes.iter().map(|size| ResponseParameters { size: *size, ..Default::default() });
    StreamingOutputCallRequest {
        response_parameters: parameters.collect(),
        payload: payload(bytes),
        ..Default::default()
    }
}

pub fn send(requests: &mut Requests, request: &impl Message) -> Result<(), Failure> {
    let sent = requests.send(&request.encode_to_vec());
    sent.map_err(|error| error.to_string())
}

/// The next response, of a call that still has one.
pub fn next(responses: &mut Responses) -> Result<StreamingOutputCallResponse, Failure> {
    decode(&received(responses)?.bytes)
}

/// As [`next`], as it came.
pub fn received(responses: &mut Responses) -> Result<ReceivedMessage, Failure> {
    let ended = |status: Status| format!("ended with {status} where a response was due");
    let message = responses.next().ok_or("ended where a response was due")?;
    message.map_err(ended)
}

/// That nothing more comes but a good end.
pub fn check_end(responses: &mut Responses) -> Result<(), Failure> {
    match responses.next() {
        None => check_code(&responses.end().status, Code::Ok),
        Some(Ok(_)) => Err("a response more than was asked for".to_owned()),
        Some(Err(status)) => Err(format!("ended with {status}")),
    }
}
