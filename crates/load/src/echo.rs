//! The flags as ghz writes them into its report, under its names and in nanoseconds; ours stand
//! after them.

use crate::flags::LoadFlags;
use crate::options::{CallOptions, SchemaSource};
use crate::pace::ArrivalProcess;
use crate::plan::pacing::OpenLoop;
use crate::plan::{Connecting, LoadPlan};
use bookend_client::targets::LoadBalancingPolicy;
use bookend_contract::duration::nanoseconds;
use bookend_contract::secrets;
use bookend_io::Wait;
use bookend_payload::data::DataSource;
use bookend_payload::error_text::word;
use bookend_payload::schema;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// ghz's stand-in for "as many as the duration lets through".
const TOTAL_WITHOUT_LIMIT: u64 = i32::MAX as u64;

/// What ghz writes even where it is zero.
const WRITTEN_AS_ZERO: [&str; 10] = [
    "load-start",
    "load-end",
    "load-step",
    "load-step-duration",
    "load-max-duration",
    "concurrency-start",
    "concurrency-end",
    "concurrency-step",
    "concurrency-step-duration",
    "concurrency-max-duration",
];

/// The options for [`LoadReport::options`](bookend_contract::report::LoadReport::options).
pub fn echo(flags: &LoadFlags, call: &CallOptions, plan: &LoadPlan) -> Value {
    let parts = [
        echo_call(flags, call, plan),
        echo_files(flags, call),
        echo_load(flags, plan),
        echo_ours(flags, plan),
    ];
    let mut fields: Map<_, _> =
        parts.into_iter().flat_map(into_fields).filter(|(_, value)| !is_unset(value)).collect();
    for name in WRITTEN_AS_ZERO {
        fields.entry(name).or_insert(json!(0));
    }
    let options = Value::Object(fields);
    if flags.call.show_secrets { options } else { secrets::in_options(&options) }
}

/// The files that the flags name, under the names of the flags.
pub fn echo_files(flags: &LoadFlags, call: &CallOptions) -> Value {
    let (proto, import_paths, protoset) = match &call.schema {
        SchemaSource::Proto { file, import_paths } => {
            let folders = schema::search_path(file, import_paths);
            let folders: Vec<_> = folders.iter().map(|folder| path(folder)).collect();
            (Some(path(file)), Some(folders), None)
        }
        SchemaSource::Protoset(file) => (None, None, Some(path(file))),
        SchemaSource::Reflection => (None, None, None),
    };
    let tls = |file: &Option<PathBuf>| {
        // With plain text they mean nothing.
        file.as_deref().filter(|_| !flags.call.insecure).map(path)
    };
    let data_file = flags.call.data_file.as_deref().or(flags.call.binary_file.as_deref());
    json!({
        "proto": proto,
        "import-paths": import_paths,
        "protoset": protoset,
        "data-file": data_file.map(path),
        "cacert": tls(&flags.call.cacert),
        "cert": tls(&flags.call.cert),
        "key": tls(&flags.call.key),
        "rate-file": flags.pacing.rate_file.as_deref().map(path),
        "thrift": flags.thrift.file.as_deref().map(path),
    })
}

fn echo_call(flags: &LoadFlags, call: &CallOptions, plan: &LoadPlan) -> Value {
    let data = match &call.data {
        DataSource::Json(text) => Some(json_or_text(text)),
        _ => None,
    };
    let grpc = plan.call.grpc();
    let constant = grpc.into_iter().flat_map(|call| &call.metadata);
    let constant = constant.map(|(name, value)| (utf8(name), json!(utf8(value))));
    let templates = call.metadata.templates.iter().map(|(name, text)| (name.clone(), json!(text)));
    let metadata = Value::Object(constant.chain(templates).collect());
    json!({
        "call": call.method,
        "host": call.targets.to_string(),
        "authority": call.authority,
        "insecure": flags.call.insecure,
        "cname": flags.call.cname.as_ref().filter(|_| !flags.call.insecure),
        "skipTLS": (!flags.call.insecure).then_some(flags.call.skip_tls),
        "binary": flags.call.binary || flags.call.binary_file.is_some(),
        "data": data,
        "metadata": metadata,
    })
}

fn echo_load(flags: &LoadFlags, plan: &LoadPlan) -> Value {
    let steps = !plan.concurrency_steps.is_empty();
    json!({
        "lb-strategy": flags.lb_strategy.map(LoadBalancingPolicy::name),
        "rps": number(flags.pacing.rps),
        "load-schedule": word(&flags.pacing.load_schedule),
        "load-start": number(flags.pacing.load_start),
        "load-end": number(flags.pacing.load_end),
        "load-step": number(flags.pacing.load_step),
        "load-step-duration": nanoseconds(flags.pacing.load_step_duration),
        "load-max-duration": nanoseconds(flags.pacing.load_max_duration),
        "concurrency-schedule": word(&flags.pacing.concurrency_schedule),
        "concurrency-start": flags.pacing.concurrency_start,
        "concurrency-end": flags.pacing.concurrency_end,
        "concurrency-step": steps.then_some(flags.pacing.concurrency_step),
        "concurrency-step-duration": nanoseconds(flags.pacing.concurrency_step_duration),
        "concurrency-max-duration": nanoseconds(flags.pacing.concurrency_max_duration),
        "concurrency": flags.concurrency.max(plan.connections),
        "connections": plan.connections,
        "total": plan.calls.unwrap_or(TOTAL_WITHOUT_LIMIT),
        "async": flags.pacing.is_async,
        "stream-interval": nanoseconds(flags.streaming.stream_interval),
        "stream-call-duration": nanoseconds(flags.streaming.stream_call_duration),
        "stream-call-count": flags.streaming.stream_call_count,
        "stream-dynamic-messages": only_if_true(flags.streaming.stream_dynamic_messages),
        "enable-compression": only_if_true(flags.enable_compression),
        "max-recv-message-size": flags.max_recv_message_size,
        "max-send-message-size": flags.max_send_message_size,
        "skipFirst": plan.calls_skipped,
        "duration": plan.window_ns,
        "timeout": plan.timeout_ns,
        "dial-timeout": nanoseconds(flags.call.connect_timeout),
        "keepalive": nanoseconds(flags.keepalive),
        "name": flags.name,
        "count-errors": flags.count_errors,
        "CPUs": plan.threads,
    })
}

fn echo_ours(flags: &LoadFlags, plan: &LoadPlan) -> Value {
    let open_loop = plan.pacing.open();
    let is_random = |open_loop: &&OpenLoop| open_loop.arrivals == ArrivalProcess::Poisson;
    let random = open_loop.filter(is_random);
    let varying = plan.call.grpc().and_then(|call| call.varying_metadata.as_deref());
    let thrift = plan.call.thrift().map(|run| &run.call);
    json!({
        "duration-stop": word(&flags.duration_stop),
        "io": flags.io.name(),
        "warmup": plan.warmup_ns,
        "wait": (flags.wait == Wait::Spin).then(|| flags.wait.name()),
        "connects-in-window": only_if_true(plan.connecting == Connecting::InRun),
        "one-shot": only_if_true(plan.connecting == Connecting::PerCall),
        "arrivals": random.map(|open_loop| word(&open_loop.arrivals)),
        "seed": random.map(|open_loop| open_loop.seed),
        "varying-metadata": varying.map(utf8),
        "thrift-transport": thrift.map(|call| word(&call.transport())),
        "thrift-protocol": thrift.map(|call| word(&call.protocol())),
        "thrift-pipelining": only_if_true(flags.thrift.is_pipelined),
    })
}

/// A path as people read it: JSON is text, and the name of a file may be none.
fn path(path: &Path) -> String {
    path.display().to_string()
}

fn only_if_true(is_so: bool) -> Option<bool> {
    is_so.then_some(true)
}

/// Whole numbers as ghz writes them.
fn number(number: f64) -> Value {
    if number.fract() == 0.0 { json!(number as i64) } else { json!(number) }
}

fn json_or_text(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| json!(text))
}

fn utf8(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn into_fields(object: Value) -> Map<String, Value> {
    match object {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// ghz leaves out what is empty or zero, but not what is false.
fn is_unset(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Number(number) => number.as_u64() == Some(0),
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) => false,
    }
}
