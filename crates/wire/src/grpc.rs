//! gRPC over HTTP/2: messages in bodies, status in trailers, deadlines and metadata in headers. The
//! specification is "gRPC over HTTP2" (PROTOCOL-HTTP2.md).

pub mod base64;
pub mod encoding;
pub mod gzip;
pub mod message;
pub mod metadata;
pub mod percent;
pub mod request;
pub mod reserved;
pub mod response;
pub mod status;
pub mod timeout;

pub use encoding::{ACCEPTED_ENCODINGS, Encoding};
pub use gzip::GzipError;
pub use message::{Assembler, MessageError};
pub use metadata::{MalformedBinary, Metadata, MetadataError};
pub use status::{Code, Status};
