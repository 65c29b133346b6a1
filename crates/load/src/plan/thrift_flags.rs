//! What the flags mean where calls go by Thrift.

use crate::flags::LoadFlags;
use crate::options::CallOptions;
use bookend_payload::thrift::{ThriftCall, ThriftCallError, ThriftData, ThriftError};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Reads the call.
///
/// # Errors
/// [`ThriftCallError`].
pub(super) fn read(
    file: &Path,
    flags: &LoadFlags,
    call: &CallOptions,
    input: &mut impl Read,
) -> Result<Arc<ThriftCall>, ThriftCallError> {
    let folders = flags.call.import_folders();
    let spoken =
        (flags.thrift.protocol.unwrap_or_default(), flags.thrift.transport.unwrap_or_default());
    let data = ThriftData { source: &call.data, templates: call.templates };
    ThriftCall::read(file, &folders, &call.method, spoken, &data, input).map(Arc::new)
}

/// Checks that every flag means something, with Thrift or without it.
///
/// # Errors
/// [`ThriftError`] naming the flag to leave out.
pub(super) fn check(flags: &LoadFlags) -> Result<(), ThriftError> {
    if flags.thrift.file.is_none() {
        let thrift = &flags.thrift;
        let given = [
            ("--thrift-transport", thrift.transport.is_some()),
            ("--thrift-protocol", thrift.protocol.is_some()),
            ("--thrift-pipelining", thrift.is_pipelined),
        ];
        return match given.into_iter().find(|(_, is_given)| *is_given) {
            Some((flag, _)) => Err(ThriftError::WithoutThrift(flag)),
            None => Ok(()),
        };
    }
    match meaningless(flags).into_iter().find(|(_, is_given, _)| *is_given) {
        Some((flag, _, instead)) => Err(ThriftError::Meaningless(flag, instead)),
        None if flags.pacing.is_async && !flags.thrift.is_pipelined => Err(ThriftError::Async),
        None => Ok(()),
    }
}

/// Flags of gRPC and of HTTP/2, whether they are given, and what to do instead.
fn meaningless(flags: &LoadFlags) -> [(&'static str, bool, &'static str); 17] {
    const NO_METADATA: &str = "; it has no metadata";
    const NO_STREAMS: &str = "; it has no streams";
    let (call, streaming) = (&flags.call, &flags.streaming);
    let has_capacity = flags.find_capacity.is_some() && !flags.thrift.is_pipelined;
    [
        ("--proto", call.proto.is_some(), "; --thrift names the IDL"),
        ("--protoset", call.protoset.is_some(), "; --thrift names the IDL"),
        ("--binary", call.binary, "; its data is JSON"),
        ("--binary-file", call.binary_file.is_some(), "; its data is JSON"),
        ("--metadata", call.metadata.is_some(), NO_METADATA),
        ("--metadata-file", call.metadata_file.is_some(), NO_METADATA),
        ("--reflect-metadata", call.reflect_metadata.is_some(), NO_METADATA),
        ("--varying-metadata", flags.varying_metadata.is_some(), NO_METADATA),
        ("--authority", call.authority.is_some(), "; --cname is the name for TLS"),
        ("--enable-compression", flags.enable_compression, ""),
        ("--keepalive", !flags.keepalive.is_zero(), "; it has no PING"),
        ("--first-stream-id", flags.first_stream_id != 1, NO_STREAMS),
        ("--stream-interval", !streaming.stream_interval.is_zero(), NO_STREAMS),
        ("--stream-call-duration", !streaming.stream_call_duration.is_zero(), NO_STREAMS),
        ("--stream-call-count", streaming.stream_call_count > 0, NO_STREAMS),
        ("--stream-dynamic-messages", streaming.stream_dynamic_messages, NO_STREAMS),
        ("--find-capacity", has_capacity, ", or add --thrift-pipelining"),
    ]
}

/// How many connections there are: a connection carries one call at a time, unless calls are sent
/// behind each other. `None` where the flags say it as for gRPC.
///
/// # Errors
/// [`ThriftError::Pipelining`].
pub(super) fn connections(flags: &LoadFlags, concurrency: u32) -> Result<Option<u32>, ThriftError> {
    if flags.thrift.file.is_none() || flags.thrift.is_pipelined {
        return Ok(None);
    }
    match flags.connections {
        1 => Ok(Some(concurrency)),
        connections if connections == concurrency => Ok(Some(concurrency)),
        connections => Err(ThriftError::Pipelining { connections, concurrency }),
    }
}
