//! What a run by Thrift calls: from the flags to encoded requests.

use super::error::{ThriftCallError, ThriftError};
use super::idl::ResolvedIdl;
use super::json;
use super::request::EncodedRequest;
use super::schema::{ThriftMethod, ThriftSchema};
use super::spoken::{ThriftProtocol, ThriftTransport};
use super::value::ThriftValue;
use crate::data::{DataSource, PayloadError, Templates};
use crate::error_text::word;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A method, with what every call of it sends and has to get back.
#[derive(Clone, Debug)]
pub struct ThriftCall {
    pub(super) schema: ThriftSchema,
    pub(super) method: ThriftMethod,
    pub(super) protocol: ThriftProtocol,
    pub(super) transport: ThriftTransport,
    /// Drawn in turn; there is at least one.
    requests: Vec<EncodedRequest>,
    /// `Service.method`, as it was asked for.
    name: String,
}

impl ThriftCall {
    /// Reads the IDL, finds the method, and encodes the calls of the data. `input` is standard
    /// input.
    ///
    /// # Errors
    /// [`ThriftCallError`]: the IDL gives no method, or the data no arguments.
    pub fn read(
        file: &Path,
        import_paths: &[PathBuf],
        method: &str,
        (protocol, transport): (ThriftProtocol, ThriftTransport),
        data: &ThriftData<'_>,
        input: &mut impl Read,
    ) -> Result<Self, ThriftCallError> {
        let mut idl = ResolvedIdl::read(file, import_paths)?;
        let found = idl.method(method)?;
        let schema = idl.schema;
        let calls = arguments(data, &schema, found.arguments, input)?;
        let encode = |arguments: &ThriftValue| {
            EncodedRequest::new(&found.name, found.is_oneway, arguments, protocol, transport)
        };
        let requests = calls.iter().map(encode).collect();
        let name = method.to_owned();
        Ok(Self { schema, method: found, protocol, transport, requests, name })
    }

    /// `Service.method`, as it was asked for.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How values are written.
    pub fn protocol(&self) -> ThriftProtocol {
        self.protocol
    }

    /// How messages follow each other.
    pub fn transport(&self) -> ThriftTransport {
        self.transport
    }

    /// Whether calls get no reply.
    #[inline]
    pub fn is_oneway(&self) -> bool {
        self.method.is_oneway
    }

    /// Bytes of the longest request, with everything before it.
    pub fn request_max_bytes(&self) -> usize {
        self.requests.iter().map(EncodedRequest::len).max().unwrap_or(0)
    }

    /// What the server is expected to speak, in words.
    pub fn spoken(&self) -> String {
        let (transport, protocol) = (word(&self.transport), word(&self.protocol));
        format!("the {transport} transport and the {protocol} protocol")
    }

    /// Appends the request of the call with that number.
    #[inline]
    pub fn write(&self, number: u64, sequence_id: u32, output: &mut Vec<u8>) {
        let index = match self.requests.len() {
            1 => 0,
            count => (number % count as u64) as usize,
        };
        self.requests[index].write(sequence_id, output);
    }
}

/// Where arguments come from.
#[derive(Clone, Copy, Debug)]
pub struct ThriftData<'a> {
    /// The JSON.
    pub source: &'a DataSource,
    /// What `{{` in it means.
    pub templates: Templates,
}

fn arguments(
    data: &ThriftData<'_>,
    schema: &ThriftSchema,
    arguments: usize,
    input: &mut impl Read,
) -> Result<Vec<ThriftValue>, ThriftCallError> {
    let (text, place) = text(data.source, input)?;
    if data.templates.are_in(&text) {
        return Err(ThriftError::Template.into());
    }
    let read = json::arguments(&text, schema, arguments);
    Ok(read.map_err(|error| PayloadError::Data { place, error })?)
}

/// The JSON, and the place that it is from.
fn text(source: &DataSource, input: &mut impl Read) -> Result<(String, String), ThriftCallError> {
    match source {
        DataSource::Nothing => Ok(("{}".to_owned(), "-d {}".to_owned())),
        DataSource::Json(text) => Ok((text.clone(), "-d".to_owned())),
        DataSource::JsonFile(_) | DataSource::JsonInput => Ok(source.read_text(input)?),
        DataSource::BinaryFile(_) => {
            Err(ThriftError::Meaningless("--binary-file", "; data is JSON").into())
        }
        DataSource::BinaryInput => {
            Err(ThriftError::Meaningless("--binary", "; data is JSON").into())
        }
    }
}
