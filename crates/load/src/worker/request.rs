//! The request of a call: which message it carries, and what varies from call to call.

use crate::plan::GrpcCall;
use bookend_payload::data::{DataError, DataTemplate};
use bookend_payload::metadata::varying_value;
use bookend_payload::template::{CallFacts, CallTemplateError, MetadataTemplate};
use bookend_wire::grpc::gzip;
use bookend_wire::grpc::metadata::is_binary;
use bookend_wire::{CannotOpen, ErrorCode, ExtraField, HeaderBlock, Indexing, Sender, StreamKey};
use std::sync::Arc;

/// From what the requests of a worker are made.
#[derive(Clone, Debug)]
pub(super) struct RequestSource {
    pub call: Arc<GrpcCall>,
    /// Workers of the run, which take turns in the numbers of its calls.
    pub threads: u32,
}

/// Why a request was not written.
#[derive(Debug)]
pub(super) enum NotWritten {
    /// The connection takes no further stream.
    CannotOpen(CannotOpen),
    /// The template of the call gave nothing that can be sent: why.
    Template(String),
}

impl From<CannotOpen> for NotWritten {
    fn from(why: CannotOpen) -> Self {
        Self::CannotOpen(why)
    }
}

impl From<DataError> for NotWritten {
    fn from(error: DataError) -> Self {
        Self::Template(format!("the data of a call{error}"))
    }
}

impl From<CallTemplateError> for NotWritten {
    fn from(error: CallTemplateError) -> Self {
        Self::Template(format!("the metadata of a call, {error}"))
    }
}

/// The message of call `number`: messages are drawn in turn. A stream may have none.
#[inline]
pub(super) fn message_index(call: &GrpcCall, number: u64) -> usize {
    match call.messages.len() {
        0 | 1 => 0,
        many => (number % many as u64) as usize,
    }
}

/// Whether requests with the same message are the same, and all messages together no larger than
/// `max_bytes`: then they are prepared once.
pub(super) fn can_be_prepared(call: &GrpcCall, max_bytes: usize) -> bool {
    let total_bytes: usize = call.messages.iter().map(Vec::len).sum();
    let is_stream = call.streaming.is_some_and(|streaming| streaming.client);
    let varies = call.varying_metadata.is_some() || has_templates(call);
    !varies && !is_stream && !call.is_compressed && total_bytes <= max_bytes
}

fn has_templates(call: &GrpcCall) -> bool {
    call.template.is_some() || !call.metadata_templates.is_empty()
}

/// What the call `number` of its worker is, for templates.
pub(super) fn facts(
    source: &RequestSource,
    number: u64,
    connection: u32,
    stream: StreamKey,
) -> CallFacts<'_> {
    let (worker, own) = crate::pace::worker_and_index(number);
    CallFacts {
        number: own * u64::from(source.threads) + worker,
        run_name: &source.call.run_name,
        connection,
        place: stream.index,
    }
}

/// Writes the request of call `number`, which was not prepared.
#[inline]
pub(super) fn write(
    sender: &mut Sender,
    head: &mut HeaderBlock,
    source: &RequestSource,
    number: u64,
    connection: u32,
) -> Result<StreamKey, NotWritten> {
    let call = &*source.call;
    if has_templates(call) || call.is_compressed {
        return write_rendered(sender, head, source, number, connection);
    }
    let message = &call.messages[message_index(call, number)];
    let Some(name) = &call.varying_metadata else {
        return Ok(sender.request(head, &[], message)?);
    };
    let value = varying_value(number);
    let extra = ExtraField { name, value: &value, indexing: Indexing::Never };
    Ok(sender.request(head, &[extra], message)?)
}

fn write_rendered(
    sender: &mut Sender,
    head: &mut HeaderBlock,
    source: &RequestSource,
    number: u64,
    connection: u32,
) -> Result<StreamKey, NotWritten> {
    let call = &*source.call;
    let stream = sender.open()?;
    let facts = facts(source, number, connection, stream);
    write_head(sender, stream, head, call, number, &facts)?;
    let mut written = Ok(());
    sender.flagged_message(stream, call.is_compressed, true, |bytes| match &call.template {
        Some(template) => written = write_templated(template, call, &facts, bytes),
        None => bytes.extend_from_slice(&call.messages[message_index(call, number)]),
    });
    written?;
    Ok(stream)
}

fn write_templated(
    template: &DataTemplate,
    call: &GrpcCall,
    facts: &CallFacts<'_>,
    bytes: &mut Vec<u8>,
) -> Result<(), DataError> {
    if !call.is_compressed {
        return template.write(facts, bytes);
    }
    let mut message = Vec::new();
    template.write(facts, &mut message)?;
    gzip::compress(&message, bytes);
    Ok(())
}

/// All messages of a call with a template, as they go over the wire.
pub(super) fn templated_messages(
    template: &DataTemplate,
    call: &GrpcCall,
    facts: &CallFacts<'_>,
) -> Result<Vec<Vec<u8>>, DataError> {
    let messages = template.messages(facts)?;
    if !call.is_compressed {
        return Ok(messages);
    }
    let compressed = |message: &Vec<u8>| {
        let mut compressed = Vec::new();
        gzip::compress(message, &mut compressed);
        compressed
    };
    Ok(messages.iter().map(compressed).collect())
}

/// Writes the head of a request on a stream that was opened for it.
pub(super) fn write_head(
    sender: &mut Sender,
    stream: StreamKey,
    head: &mut HeaderBlock,
    call: &GrpcCall,
    number: u64,
    facts: &CallFacts<'_>,
) -> Result<(), NotWritten> {
    if call.metadata_templates.is_empty() && call.varying_metadata.is_none() {
        sender.headers(stream, head, false);
        return Ok(());
    }
    let varying = varying_value(number);
    let values = match templated_values(call, facts) {
        Ok(values) => values,
        Err(error) => {
            // The stream is open for us only: the server has to hear of it before its end.
            sender.headers(stream, head, false);
            sender.reset(stream, ErrorCode::CANCEL);
            return Err(error.into());
        }
    };
    let field = |name, value| ExtraField { name, value, indexing: Indexing::Never };
    let templated = call
        .metadata_templates
        .iter()
        .zip(&values)
        .map(|(template, value)| field(template.name.as_slice(), value));
    let extra: Vec<ExtraField<'_>> = call
        .varying_metadata
        .iter()
        .map(|name| field(name.as_slice(), &varying[..]))
        .chain(templated)
        .collect();
    sender.headers_with(stream, head, &extra, false);
    Ok(())
}

fn templated_values(
    call: &GrpcCall,
    facts: &CallFacts<'_>,
) -> Result<Vec<Vec<u8>>, CallTemplateError> {
    let value = |template: &MetadataTemplate| {
        let mut value = Vec::new();
        template.write(facts, &mut value)?;
        if is_binary(&template.name) {
            // The base64 of the wire has no padding.
            let padding = value.iter().rev().take_while(|byte| **byte == b'=').count();
            value.truncate(value.len() - padding);
        }
        Ok(value)
    };
    call.metadata_templates.iter().map(value).collect()
}
