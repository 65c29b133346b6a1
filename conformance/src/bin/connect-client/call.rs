//! One call as the suite describes it, and what became of it.

use std::thread;
use std::time::Duration;

use bookend_client::{
    Channel, Code, Encoding, Metadata, Requests, Response, Responses, Status, StreamCall, UnaryCall,
};
use bookend_conformance::connect::messages::client_compat_request::cancel::CancelTiming;
use bookend_conformance::connect::messages::{
    ClientCompatRequest, ClientResponseResult, Compression, ConformancePayload, StreamType,
    UnaryResponse,
};
use bookend_conformance::connect::{Details, STATUS_DETAILS};
use bookend_server::prost::Message as _;

use crate::channels::Channels;
use crate::metadata::{of_headers, to_headers};

/// Makes the call. An error means that it could not even be begun.
pub fn make(
    channels: &Channels,
    request: ClientCompatRequest,
) -> Result<ClientResponseResult, String> {
    let channel = channels.to(&request).map_err(|error| error.to_string())?;
    let call = call(&request)?;
    match (request.stream_type(), &*request.request_messages) {
        (StreamType::Unspecified, _) => Err("a call of no kind".to_owned()),
        // A thread that waits in a unary call cannot cancel it.
        (StreamType::Unary, [message]) if request.cancel.is_none() => {
            Ok(unary(&channel, call, message.value.clone()))
        }
        _ => Ok(streaming(&channel, call, &request)),
    }
}

fn call(request: &ClientCompatRequest) -> Result<StreamCall, String> {
    let mut call = StreamCall::new(format!("/{}/{}", request.service(), request.method()));
    call.metadata = of_headers(&request.request_headers).map_err(|error| error.to_string())?;
    call.timeout = request.timeout_ms.map(|timeout_ms| Duration::from_millis(timeout_ms.into()));
    call.encoding = match request.compression() {
        Compression::Unspecified | Compression::Identity => Encoding::Identity,
        Compression::Gzip => Encoding::Gzip,
        other => {
            return Err(format!("{other:?} is not among the features of this client"));
        }
    };
    Ok(call)
}

fn unary(channel: &Channel, call: StreamCall, message: Vec<u8>) -> ClientResponseResult {
    let mut unary = UnaryCall::new(call.path, message);
    unary.metadata = call.metadata;
    unary.timeout = call.timeout;
    unary.encoding = call.encoding;
    of_answer(channel.unary(unary))
}

/// The result of a call that has one response message.
fn of_answer(answer: Response) -> ClientResponseResult {
    let (payloads, error) = match answer.single_message().and_then(payload) {
        Ok(payload) => (vec![payload], None),
        Err(status) => (Vec::new(), Some(status)),
    };
    let details = details_of(&answer.trailers);
    ClientResponseResult {
        response_headers: to_headers(&answer.head),
        payloads,
        error: error.map(|status| Details::read(status, details.as_deref()).into_error()),
        response_trailers: to_headers(&answer.trailers),
        ..Default::default()
    }
}

/// All messages that answers are made of have their payload in the field 1, but for the empty one
/// of the method that is not implemented.
fn payload(bytes: &[u8]) -> Result<ConformancePayload, Status> {
    let decoded = UnaryResponse::decode(bytes);
    decoded
        .map(|response| response.payload.unwrap_or_default())
        .map_err(|error| Status::new(Code::Internal, error.to_string()))
}

/// A call whose messages go one by one.
fn streaming(
    channel: &Channel,
    call: StreamCall,
    request: &ClientCompatRequest,
) -> ClientResponseResult {
    let timing = cancel_timing(request);
    let (mut requests, responses) = channel.open(call);
    let mut heard = Heard {
        responses,
        cancel_after: match timing {
            Some(CancelTiming::AfterNumResponses(count)) => Some(count as usize),
            _ => None,
        },
        payloads: Vec::new(),
        failure: None,
    };
    let unsent = send_all(&mut requests, request, &mut heard);
    if let Some(CancelTiming::BeforeCloseSend(())) = timing {
        requests.cancel();
    }
    let canceller = requests.canceller();
    requests.finish();
    if let Some(CancelTiming::AfterCloseSendMs(delay_ms)) = timing {
        thread::sleep(Duration::from_millis(delay_ms.into()));
        canceller.cancel();
    }
    let mut result = match request.stream_type() {
        StreamType::Unary | StreamType::ClientStream => of_answer(heard.responses.into_response()),
        _ => heard.end(),
    };
    result.num_unsent_requests = i32::try_from(unsent).unwrap_or(i32::MAX);
    result
}

/// When the call is to be cancelled; where that is left open, as soon as everything is sent.
fn cancel_timing(request: &ClientCompatRequest) -> Option<CancelTiming> {
    let cancel = request.cancel.as_ref()?;
    let at_once = CancelTiming::AfterCloseSendMs(0);
    Some(cancel.cancel_timing.unwrap_or(at_once))
}

/// Sends the messages, of a full-duplex call with an answer to each before the next. Returns how
/// many could not be sent.
fn send_all(requests: &mut Requests, request: &ClientCompatRequest, heard: &mut Heard) -> usize {
    let alternates = request.stream_type() == StreamType::FullDuplexBidiStream;
    let messages = &request.request_messages;
    for (sent, message) in messages.iter().enumerate() {
        thread::sleep(Duration::from_millis(request.request_delay_ms.into()));
        if requests.send(&message.value).is_err() {
            return messages.len() - sent;
        }
        if alternates && !heard.next() {
            return messages.len() - sent - 1;
        }
    }
    0
}

/// What has come of a call so far.
struct Heard {
    responses: Responses,
    /// Cancels the call after this many messages.
    cancel_after: Option<usize>,
    payloads: Vec<ConformancePayload>,
    failure: Option<Status>,
}

impl Heard {
    /// Waits for a message; false at the end.
    fn next(&mut self) -> bool {
        let message = match self.responses.next() {
            Some(message) => message.and_then(|message| payload(&message.bytes)),
            None => return false,
        };
        match message {
            Ok(payload) => self.payloads.push(payload),
            Err(status) => {
                self.responses.cancel();
                self.failure = Some(status);
                return false;
            }
        }
        if self.cancel_after == Some(self.payloads.len()) {
            self.responses.cancel();
        }
        true
    }

    fn end(mut self) -> ClientResponseResult {
        while self.next() {}
        let response_headers = to_headers(self.responses.head());
        let trailers = &self.responses.end().trailers;
        let details = details_of(trailers);
        let failure = self.failure.map(|status| Details::read(status, details.as_deref()));
        ClientResponseResult {
            response_headers,
            payloads: self.payloads,
            error: failure.map(Details::into_error),
            response_trailers: to_headers(trailers),
            ..Default::default()
        }
    }
}

/// The details of a status, where there are some that can be read.
fn details_of(trailers: &Metadata) -> Option<Vec<u8>> {
    trailers.find_binary(STATUS_DETAILS).ok().flatten()
}
