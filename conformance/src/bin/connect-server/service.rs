//! The suite's service: its requests define what they are answered with.

use std::thread;
use std::time::Duration;

use bookend_conformance::connect::messages::conformance_payload::RequestInfo;
use bookend_conformance::connect::messages::unary_response_definition::Response;
use bookend_conformance::connect::messages::{
    BidiStreamRequest, BidiStreamResponse, ClientStreamRequest, ClientStreamResponse,
    ConformancePayload, ConformanceService, IdempotentUnaryRequest, IdempotentUnaryResponse,
    ServerStreamRequest, ServerStreamResponse, UnaryRequest, UnaryResponse,
    UnaryResponseDefinition, UnimplementedRequest, UnimplementedResponse,
};
use bookend_conformance::connect::{Details, STATUS_DETAILS};
use bookend_server::{Code, Context, PoolContext, ReplySender, RequestReceiver, Responder, Status};

use crate::failure::Failures;
use crate::replying::{Replying, add_metadata, pairs, status_of};
use crate::request_info::{any, of_call, of_context, of_requests};

/// `connectrpc.conformance.v1.ConformanceService`.
pub struct Conformance {
    pub failures: Failures,
}

impl ConformanceService for Conformance {
    /// Deferred, so that the suite sees answers from other threads as well.
    fn unary(
        &self,
        request: UnaryRequest,
        context: &Context<'_>,
        responder: Responder<UnaryResponse>,
    ) {
        let info = of_context(context, vec![any(&request)]);
        let definition = request.response_definition.unwrap_or_default();
        for (name, value) in pairs(&definition.response_headers) {
            context.add_header(&name, value);
        }
        for (name, value) in pairs(&definition.response_trailers) {
            context.add_trailer(&name, value);
        }
        if context.request_was_compressed() {
            context.compress_replies();
        }
        let delay = Duration::from_millis(definition.response_delay_ms.into());
        let result = self.unary_result(definition, info).map_err(|failure| {
            if let Some(bytes) = failure.to_bytes() {
                context.add_binary_trailer(STATUS_DETAILS, &bytes);
            }
            failure.status
        });
        thread::spawn(move || {
            thread::sleep(delay);
            responder.send(result.map(|payload| UnaryResponse { payload: Some(payload) }));
        });
    }

    fn server_stream(
        &self,
        request: ServerStreamRequest,
        replies: ReplySender<ServerStreamResponse>,
        context: &PoolContext,
    ) -> Result<(), Status> {
        let seen = vec![any(&request)];
        mirror_compression(context);
        let mut replying = Replying::new(self.failures, context, replies, |payload| {
            ServerStreamResponse { payload: Some(payload) }
        });
        if let Some(definition) = request.response_definition {
            replying.define(definition);
            replying.replies.send_head();
        }
        replying.reply_with_all(|| of_call(context, seen.clone()))?;
        replying.finish(of_call(context, seen))
    }

    fn client_stream(
        &self,
        requests: RequestReceiver<ClientStreamRequest>,
        context: &PoolContext,
    ) -> Result<ClientStreamResponse, Status> {
        let mut seen = Vec::new();
        let mut definition = None;
        for request in requests {
            let request = request?;
            if seen.is_empty() {
                mirror_compression(context);
                definition = request.response_definition.clone();
            }
            seen.push(any(&request));
        }
        let definition = definition.unwrap_or_default();
        add_metadata(context, &definition.response_headers, &definition.response_trailers);
        context.sleep(Duration::from_millis(definition.response_delay_ms.into()))?;
        let result = self.unary_result(definition, of_call(context, seen));
        let result = result.map_err(|failure| status_of(context, failure));
        result.map(|payload| ClientStreamResponse { payload: Some(payload) })
    }

    fn bidi_stream(
        &self,
        requests: RequestReceiver<BidiStreamRequest>,
        replies: ReplySender<BidiStreamResponse>,
        context: &PoolContext,
    ) -> Result<(), Status> {
        let mut replying = Replying::new(self.failures, context, replies, |payload| {
            BidiStreamResponse { payload: Some(payload) }
        });
        let mut seen = Vec::new();
        let mut alternates = false;
        for (number, request) in requests.enumerate() {
            let request = request?;
            seen.push(any(&request));
            if number == 0 {
                mirror_compression(context);
                alternates = request.full_duplex;
                replying.define(request.response_definition.unwrap_or_default());
                if alternates {
                    replying.replies.send_head();
                }
            }
            if !alternates {
                continue;
            }
            let info = match replying.is_first() {
                true => of_call(context, seen.clone()),
                false => of_requests(seen.clone()),
            };
            if !replying.reply(Some(info))? {
                break;
            }
            seen.clear();
        }
        replying.replies.send_head();
        replying.reply_with_all(|| of_call(context, seen.clone()))?;
        replying.finish(of_call(context, seen))
    }

    fn unimplemented(
        &self,
        _: UnimplementedRequest,
        _: &Context<'_>,
    ) -> Result<UnimplementedResponse, Status> {
        Err(Status::new(Code::Unimplemented, "as its name says"))
    }

    fn idempotent_unary(
        &self,
        _: IdempotentUnaryRequest,
        _: &Context<'_>,
    ) -> Result<IdempotentUnaryResponse, Status> {
        Err(Status::new(Code::Unimplemented, "gRPC has no GET"))
    }
}

impl Conformance {
    /// The one reply that is defined, or the error, which then says what was seen.
    fn unary_result(
        &self,
        definition: UnaryResponseDefinition,
        seen: RequestInfo,
    ) -> Result<ConformancePayload, Details> {
        match definition.response {
            Some(Response::Error(error)) => Err(self.failures.details(error, Some(seen))),
            Some(Response::ResponseData(data)) => Ok(payload(data, seen)),
            None => Ok(payload(Vec::new(), seen)),
        }
    }
}

fn payload(data: Vec<u8>, seen: RequestInfo) -> ConformancePayload {
    ConformancePayload { data, request_info: Some(seen) }
}

/// A client that compresses wants compressed responses.
fn mirror_compression(context: &PoolContext) {
    if context.request_was_compressed() {
        context.compress_replies();
    }
}
