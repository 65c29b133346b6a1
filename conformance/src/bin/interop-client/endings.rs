//! Calls that do not end well, as they are meant to.

use std::time::Duration;

use bookend_client::{Code, Responses, Status};
use bookend_conformance::interop::messages::{Empty, SimpleRequest, StreamingOutputCallRequest};

use crate::Failure;
use crate::service::{Service, check_code, check_equal, echo_status, single, stream_call};
use crate::streaming::{next, request, send};

/// Shorter than any answer takes that has to be asked for.
const SHORT: Duration = Duration::from_millis(1);

pub fn status_code_and_message(service: &Service) -> Result<(), Failure> {
    let wanted = Status::new(Code::Unknown, "test status message");
    check_unary(service, &wanted)?;

    let (mut requests, mut responses) = service.open("FullDuplexCall");
    let request =
        StreamingOutputCallRequest { response_status: echo_status(&wanted), ..Default::default() };
    send(&mut requests, &request)?;
    requests.finish();
    check_equal("a full-duplex call", end(&mut responses), wanted)
}

pub fn special_status_message(service: &Service) -> Result<(), Failure> {
    let text = "\t\ntest with whitespace\r\nand Unicode BMP \u{263a} and non-BMP \u{1f608}\t\n";
    check_unary(service, &Status::new(Code::Unknown, text))
}

fn check_unary(service: &Service, wanted: &Status) -> Result<(), Failure> {
    let request = SimpleRequest { response_status: echo_status(wanted), ..Default::default() };
    let answer = service.unary("UnaryCall", &request);
    check_equal("a unary call", &answer.status, wanted)
}

pub fn unimplemented_method(service: &Service) -> Result<(), Failure> {
    let answer = service.unary("UnimplementedCall", &Empty {});
    check_code(&answer.status, Code::Unimplemented)
}

pub fn unimplemented_service(service: &Service) -> Result<(), Failure> {
    let answer = service.unary("UnimplementedService/UnimplementedCall", &Empty {});
    check_code(&answer.status, Code::Unimplemented)
}

pub fn cancel_after_begin(service: &Service) -> Result<(), Failure> {
    check_there(service)?;
    let (requests, mut responses) = service.open("StreamingInputCall");
    requests.cancel();
    check_code(&end(&mut responses), Code::Cancelled)
}

pub fn cancel_after_first_response(service: &Service) -> Result<(), Failure> {
    let (mut requests, mut responses) = service.open("FullDuplexCall");
    send(&mut requests, &request(&[31_415], 27_182))?;
    next(&mut responses)?;
    requests.cancel();
    check_code(&end(&mut responses), Code::Cancelled)
}

pub fn timeout_on_sleeping_server(service: &Service) -> Result<(), Failure> {
    check_there(service)?;
    let mut call = stream_call("FullDuplexCall");
    call.timeout = Some(SHORT);
    let (mut requests, mut responses) = service.open_with(call);
    // The call may be over by then.
    let _ = send(&mut requests, &request(&[], 27_182));
    check_code(&end(&mut responses), Code::DeadlineExceeded)
}

/// A call that nobody hears of ends in the same way as one that is given up.
fn check_there(service: &Service) -> Result<(), Failure> {
    single(&service.unary("EmptyCall", &Empty {})).map(|Empty {}| ())
}

fn end(responses: &mut Responses) -> Status {
    responses.end().status.clone()
}
