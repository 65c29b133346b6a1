//! `grpc.testing.TestService`, with which gRPC's implementations are tested against each other.

use std::time::Duration;

use bookend_server::{
    Code, Context, Metadata, PoolContext, Replies, ReplySender, RequestReceiver, Status,
    StreamHandler,
};

use messages::{
    BoolValue, EchoStatus, Empty, Payload, PayloadType, ResponseParameters, SimpleRequest,
    SimpleResponse, StreamingInputCallRequest, StreamingInputCallResponse,
    StreamingOutputCallRequest, StreamingOutputCallResponse, TestService, TestServiceServer,
};

mod messages {
    bookend_server::include_proto!("grpc.testing");
}

const ECHOED_HEADER: &str = "x-grpc-test-echo-initial";
const ECHOED_TRAILER: &str = "x-grpc-test-echo-trailing-bin";

/// The largest payload that a request can ask for: thirteen times what the tests ask for, and as
/// much as clients take by default.
const MAX_PAYLOAD_BYTES: usize = 4 << 20;

/// The longest pause that a request can ask for: each holds a thread of the pool.
const MAX_INTERVAL: Duration = Duration::from_secs(10);

/// All the pauses that the requests of a call can ask for. The tests ask for a few seconds.
const MAX_INTERVALS: Duration = Duration::from_secs(60);

/// Parameters that `HalfDuplexCall` keeps until its client has ended; the tests send four.
const MAX_KEPT_PARAMETERS: usize = 10_000;

/// `grpc.testing.TestService`.
pub fn service() -> TestServiceServer<Interop> {
    TestServiceServer::new(Interop)
}

/// Does what its requests ask for.
#[derive(Debug)]
pub struct Interop;

impl TestService for Interop {
    fn empty_call(&self, _: Empty, context: &Context<'_>) -> Result<Empty, Status> {
        echo_metadata(context)?;
        Ok(Empty {})
    }

    fn unary_call(
        &self,
        request: SimpleRequest,
        context: &Context<'_>,
    ) -> Result<SimpleResponse, Status> {
        echo_metadata(context)?;
        check_compression(request.expect_compressed, context.request_was_compressed())?;
        fail_as_asked(request.response_status)?;
        if is_true(request.response_compressed) {
            context.compress_replies();
        }
        let payload = payload(request.response_type, request.response_size)?;
        Ok(SimpleResponse { payload: Some(payload) })
    }

    fn cacheable_unary_call(
        &self,
        request: SimpleRequest,
        context: &Context<'_>,
    ) -> Result<SimpleResponse, Status> {
        self.unary_call(request, context)
    }

    fn streaming_input_call(
        &self,
        context: &Context<'_>,
    ) -> Box<dyn StreamHandler<StreamingInputCallRequest, StreamingInputCallResponse>> {
        Box::new(PayloadSum { metadata: echo_metadata(context), sum_bytes: 0 })
    }

    fn streaming_output_call(
        &self,
        request: StreamingOutputCallRequest,
        replies: ReplySender<StreamingOutputCallResponse>,
        context: &PoolContext,
    ) -> Result<(), Status> {
        begin(context)?;
        answer(request, &replies, context, &mut Pauses::default())
    }

    fn full_duplex_call(
        &self,
        requests: RequestReceiver<StreamingOutputCallRequest>,
        replies: ReplySender<StreamingOutputCallResponse>,
        context: &PoolContext,
    ) -> Result<(), Status> {
        begin(context)?;
        let mut pauses = Pauses::default();
        for request in requests {
            answer(request?, &replies, context, &mut pauses)?;
        }
        Ok(())
    }

    fn half_duplex_call(
        &self,
        requests: RequestReceiver<StreamingOutputCallRequest>,
        replies: ReplySender<StreamingOutputCallResponse>,
        context: &PoolContext,
    ) -> Result<(), Status> {
        begin(context)?;
        let mut kept = Vec::new();
        let mut parameters = 0;
        for request in requests {
            let mut request = request?;
            // It is not needed again, and may be large.
            request.payload = None;
            parameters += 1 + request.response_parameters.len();
            if parameters > MAX_KEPT_PARAMETERS {
                let text = format!("more than {MAX_KEPT_PARAMETERS} responses were asked for");
                return Err(Status::new(Code::ResourceExhausted, text));
            }
            kept.push(request);
        }
        let mut pauses = Pauses::default();
        kept.into_iter().try_for_each(|request| answer(request, &replies, context, &mut pauses))
    }
}

/// Sends what a request of the streaming methods asks for.
fn answer(
    request: StreamingOutputCallRequest,
    replies: &ReplySender<StreamingOutputCallResponse>,
    context: &PoolContext,
    pauses: &mut Pauses,
) -> Result<(), Status> {
    fail_as_asked(request.response_status)?;
    let intervals = request.response_parameters.iter().map(|asked| pauses.next(asked.interval_us));
    let intervals = intervals.collect::<Result<Vec<_>, _>>()?;
    for (parameters, interval) in request.response_parameters.into_iter().zip(intervals) {
        let ResponseParameters { size, compressed, .. } = parameters;
        context.sleep(interval)?;
        let payload = payload(request.response_type, size)?;
        replies.compress(is_true(compressed));
        replies.send(&StreamingOutputCallResponse { payload: Some(payload) })?;
    }
    Ok(())
}

/// The pauses of a call so far.
#[derive(Default)]
struct Pauses {
    sum: Duration,
}

impl Pauses {
    /// The next one.
    fn next(&mut self, interval_us: i32) -> Result<Duration, Status> {
        let interval = Duration::from_micros(u64::try_from(interval_us).unwrap_or(0));
        self.sum += interval;
        if interval > MAX_INTERVAL || self.sum > MAX_INTERVALS {
            let (one, all) = (MAX_INTERVAL.as_secs(), MAX_INTERVALS.as_secs());
            let text = format!("an interval is at most {one} s, and all of a call are {all} s");
            return Err(Status::new(Code::InvalidArgument, text));
        }
        Ok(interval)
    }
}

/// Adds up the size of the payloads.
struct PayloadSum {
    /// The result of echoing the metadata: an error ends the call with the first message.
    metadata: Result<(), Status>,
    sum_bytes: usize,
}

type Sum = StreamingInputCallResponse;

impl StreamHandler<StreamingInputCallRequest, Sum> for PayloadSum {
    fn on_message(
        &mut self,
        request: StreamingInputCallRequest,
        replies: &mut Replies<'_, '_, Sum>,
    ) -> Result<(), Status> {
        self.metadata.clone()?;
        check_compression(request.expect_compressed, replies.request_was_compressed())?;
        self.sum_bytes += request.payload.map_or(0, |payload| payload.body.len());
        Ok(())
    }

    fn on_end(&mut self, replies: &mut Replies<'_, '_, Sum>) -> Result<(), Status> {
        self.metadata.clone()?;
        let sum = i32::try_from(self.sum_bytes).unwrap_or(i32::MAX);
        replies.send(&StreamingInputCallResponse { aggregated_payload_size: sum });
        Ok(())
    }
}

fn echo_metadata(context: &Context<'_>) -> Result<(), Status> {
    echo(
        context.metadata(),
        |value| context.add_header(ECHOED_HEADER, value),
        |bytes| context.add_binary_trailer(ECHOED_TRAILER, bytes),
    )
}

/// What each call on the pool begins with.
fn begin(context: &PoolContext) -> Result<(), Status> {
    echo(
        context.metadata(),
        |value| context.add_header(ECHOED_HEADER, value),
        |bytes| context.add_binary_trailer(ECHOED_TRAILER, bytes),
    )?;
    context.compress_replies();
    Ok(())
}

fn echo(
    metadata: &Metadata,
    add_header: impl Fn(&[u8]),
    add_trailer: impl Fn(&[u8]),
) -> Result<(), Status> {
    metadata.find_all(ECHOED_HEADER).for_each(add_header);
    for bytes in metadata.find_all_binary(ECHOED_TRAILER) {
        add_trailer(&bytes?);
    }
    Ok(())
}

fn fail_as_asked(status: Option<EchoStatus>) -> Result<(), Status> {
    let Some(EchoStatus { code, message }) = status.filter(|status| status.code != 0) else {
        return Ok(());
    };
    let known = usize::try_from(code).ok().and_then(|code| Code::ALL.get(code));
    Err(Status::new(*known.unwrap_or(&Code::Unknown), message))
}

fn check_compression(expected: Option<BoolValue>, was_compressed: bool) -> Result<(), Status> {
    match expected {
        Some(expected) if expected.value != was_compressed => {
            let text = if was_compressed {
                "the request came compressed"
            } else {
                "the request did not come compressed"
            };
            Err(Status::new(Code::InvalidArgument, text))
        }
        _ => Ok(()),
    }
}

fn is_true(value: Option<BoolValue>) -> bool {
    value.is_some_and(|value| value.value)
}

fn payload(kind: i32, size: i32) -> Result<Payload, Status> {
    if kind != PayloadType::Compressable as i32 {
        let text = format!("there is no payload of type {kind}");
        return Err(Status::new(Code::InvalidArgument, text));
    }
    let bytes = usize::try_from(size).ok().filter(|bytes| *bytes <= MAX_PAYLOAD_BYTES);
    let Some(bytes) = bytes else {
        let text = format!("a payload has between 0 and {MAX_PAYLOAD_BYTES} bytes, not {size}");
        return Err(Status::new(Code::InvalidArgument, text));
    };
    Ok(Payload { r#type: kind, body: vec![0; bytes] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_what_was_asked_for() {
        let ask = |code: i32| {
            let message = "as asked".to_owned();
            fail_as_asked(Some(EchoStatus { code, message }))
        };
        assert_eq!(fail_as_asked(None), Ok(()));
        assert_eq!(ask(0), Ok(()));
        assert_eq!(ask(2), Err(Status::new(Code::Unknown, "as asked")));
        assert_eq!(ask(16), Err(Status::new(Code::Unauthenticated, "as asked")));
        for unknown in [17, -1, i32::MAX] {
            assert_eq!(ask(unknown).unwrap_err().code, Code::Unknown);
        }
    }

    #[test]
    fn the_probe_for_compression_fails_unless_it_is_as_expected() {
        for (expected, was_compressed, good) in [
            (None, true, true),
            (None, false, true),
            (Some(true), true, true),
            (Some(true), false, false),
            (Some(false), true, false),
            (Some(false), false, true),
        ] {
            let expected = expected.map(|value| BoolValue { value });
            let result = check_compression(expected, was_compressed);
            assert_eq!(result.is_ok(), good, "{expected:?} {was_compressed}");
        }
    }

    #[test]
    fn nobody_holds_a_thread_for_half_an_hour() {
        let mut pauses = Pauses::default();
        assert_eq!(pauses.next(0), Ok(Duration::ZERO));
        assert_eq!(pauses.next(-1), Ok(Duration::ZERO));
        assert_eq!(pauses.next(1_000), Ok(Duration::from_millis(1)));
        assert_eq!(pauses.next(i32::MAX).unwrap_err().code, Code::InvalidArgument);
        let mut pauses = Pauses::default();
        let mut taken = Duration::ZERO;
        while let Ok(interval) = pauses.next(10_000_000) {
            taken += interval;
        }
        assert_eq!(taken, MAX_INTERVALS, "nor by many pauses that are short enough");
    }

    #[test]
    fn a_payload_is_as_large_as_was_asked_for_within_reason() {
        assert_eq!(payload(0, 314_159).unwrap().body, vec![0; 314_159]);
        assert!(payload(0, 0).unwrap().body.is_empty());
        for (kind, size) in [(0, -1), (0, i32::MAX), (1, 1)] {
            let status = payload(kind, size).unwrap_err();
            assert_eq!(status.code, Code::InvalidArgument);
        }
    }
}
