//! Messages under gzip. The server is asked first to refuse a request that did not come compressed
//! and says that it did: one that does not look would pass all the rest.

use bookend_client::{Code, Encoding, Response};
use bookend_conformance::interop::messages::{
    BoolValue, ResponseParameters, SimpleRequest, SimpleResponse, StreamingInputCallRequest,
    StreamingInputCallResponse, StreamingOutputCallRequest, StreamingOutputCallResponse,
};
use bookend_server::prost::Message;

use crate::Failure;
use crate::service::{
    LARGE_RESPONSE_BYTES, Service, check_code, check_equal, check_payload, decode, payload, single,
    stream_call, unary_call,
};
use crate::streaming::{check_end, received, send};
use crate::unary::large_request;

const YES: Option<BoolValue> = Some(BoolValue { value: true });
const NO: Option<BoolValue> = Some(BoolValue { value: false });

pub fn client_unary(service: &Service) -> Result<(), Failure> {
    let call = |encoding, expect_compressed| {
        let request = SimpleRequest { expect_compressed, ..large_request() };
        let mut call = unary_call("UnaryCall", &request);
        call.encoding = encoding;
        service.unary_with(call)
    };
    let probe = call(Encoding::Identity, YES);
    check_code(&probe.status, Code::InvalidArgument)?;
    check_large(&call(Encoding::Gzip, YES))?;
    check_large(&call(Encoding::Identity, NO))
}

pub fn server_unary(service: &Service) -> Result<(), Failure> {
    for (response_compressed, compressed) in [(YES, true), (NO, false)] {
        let request = SimpleRequest { response_compressed, ..large_request() };
        let answer = service.unary("UnaryCall", &request);
        check_large(&answer)?;
        check_equal("compressed", answer.was_compressed, compressed)?;
    }
    Ok(())
}

fn check_large(answer: &Response) -> Result<(), Failure> {
    let response: SimpleResponse = single(answer)?;
    check_payload(response.payload, LARGE_RESPONSE_BYTES)
}

pub fn client_streaming(service: &Service) -> Result<(), Failure> {
    let open = || {
        let mut call = stream_call("StreamingInputCall");
        call.encoding = Encoding::Gzip;
        service.open_with(call)
    };
    let request = |bytes, expect_compressed| StreamingInputCallRequest {
        payload: payload(bytes),
        expect_compressed,
    };
    let (mut requests, responses) = open();
    // What goes uncompressed on a call that might have compressed it.
    let sent = requests.send_uncompressed(&request(27_182, YES).encode_to_vec());
    sent.map_err(|error| error.to_string())?;
    requests.finish();
    check_code(&responses.into_response().status, Code::InvalidArgument)?;

    let (mut requests, responses) = open();
    send(&mut requests, &request(27_182, YES))?;
    let sent = requests.send_uncompressed(&request(45_904, NO).encode_to_vec());
    sent.map_err(|error| error.to_string())?;
    requests.finish();
    let response: StreamingInputCallResponse = single(&responses.into_response())?;
    check_equal("the sum", response.aggregated_payload_size, 73_086)
}

pub fn server_streaming(service: &Service) -> Result<(), Failure> {
    let wanted = [(31_415, YES), (92_653, NO)];
    let parameters = wanted.map(|(size, compressed)| ResponseParameters {
        size,
        compressed,
        ..Default::default()
    });
    let request = StreamingOutputCallRequest {
        response_parameters: parameters.to_vec(),
        ..Default::default()
    };
    let (mut requests, mut responses) = service.open("StreamingOutputCall");
    send(&mut requests, &request)?;
    requests.finish();
    for (bytes, compressed) in wanted {
        let message = received(&mut responses)?;
        let is_compressed = Some(message.was_compressed);
        check_equal("compressed", is_compressed, compressed.map(|flag| flag.value))?;
        let response: StreamingOutputCallResponse = decode(&message.bytes)?;
        check_payload(response.payload, bytes)?;
    }
    check_end(&mut responses)
}
