//! What a server saw of a call: it sends that back.

use std::time::Duration;

use bookend_conformance::connect::messages::Header;
use bookend_conformance::connect::messages::conformance_payload::RequestInfo;
use bookend_server::prost::Name;
use bookend_server::prost_types::Any;
use bookend_server::{Context, Metadata, PoolContext};

/// Of a call that is handled where it came in.
pub fn of_context(context: &Context<'_>, requests: Vec<Any>) -> RequestInfo {
    info(context.metadata(), context.remaining(), requests)
}

/// Of a call on the pool.
pub fn of_call(context: &PoolContext, requests: Vec<Any>) -> RequestInfo {
    info(context.metadata(), context.remaining(), requests)
}

/// The requests only: what else there is to say has been said.
pub fn of_requests(requests: Vec<Any>) -> RequestInfo {
    RequestInfo { requests, ..Default::default() }
}

/// A request as it is sent back.
pub fn any<M: Name>(request: &M) -> Any {
    Any::from_msg(request).expect("a buffer that grows has room for every message")
}

fn info(metadata: &Metadata, remaining: Option<Duration>, requests: Vec<Any>) -> RequestInfo {
    let timeout_ms = remaining.map(|time| i64::try_from(time.as_millis()).unwrap_or(i64::MAX));
    RequestInfo { request_headers: headers(metadata), timeout_ms, requests, ..Default::default() }
}

/// The values of a name together; those of `-bin` names are base64 on the wire and here.
fn headers(metadata: &Metadata) -> Vec<Header> {
    let mut headers: Vec<Header> = Vec::new();
    for (name, value) in metadata.iter() {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let (name, value) = (text(name), text(value));
        match headers.iter_mut().find(|header| header.name == name) {
            Some(header) => header.value.push(value),
            None => headers.push(Header { name, value: vec![value] }),
        }
    }
    headers
}
