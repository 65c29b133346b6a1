//! Details of statuses (`google.rpc`): what went wrong, for programs.
//!
//! ```
//! use bookend_server::rpc::{BadRequest, DetailedStatus, bad_request::FieldViolation};
//! use bookend_server::{Code, Status};
//!
//! fn refuse() -> Result<(), Status> {
//!     let violation = FieldViolation { field: "age".into(), description: "is negative".into() };
//!     let detail = BadRequest { field_violations: vec![violation] };
//!     Err(DetailedStatus::new(Code::InvalidArgument, "no such person").with(&detail).into())
//! }
//!
//! let status = refuse().unwrap_err();
//! let detail: BadRequest = DetailedStatus::of(&status).unwrap().find().unwrap();
//! assert_eq!(detail.field_violations[0].field, "age");
//! ```

#[allow(missing_docs, reason = "prost's code has no comments on what it adds")]
mod generated {
    crate::include_proto!("google.rpc");
}

use prost::{Message, Name};
use prost_types::Any;

use crate::{Code, Status};
pub use generated::{
    BadRequest, DebugInfo, ErrorInfo, Help, LocalizedMessage, PreconditionFailure, QuotaFailure,
    RequestInfo, ResourceInfo, RetryInfo, bad_request, help, precondition_failure, quota_failure,
};

/// A status with details: messages of any types, above all those of this module.
#[derive(Clone, Debug, PartialEq)]
pub struct DetailedStatus {
    code: Code,
    message: String,
    details: Vec<Any>,
}

impl DetailedStatus {
    /// A status without details.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        DetailedStatus { code, message: message.into(), details: Vec::new() }
    }

    /// Adds a detail.
    pub fn with<M: Message + Name>(mut self, detail: &M) -> Self {
        let type_url = format!("type.googleapis.com/{}", M::full_name());
        self.details.push(Any { type_url, value: detail.encode_to_vec() });
        self
    }

    /// The status with its details, as another server has sent it; `None` if it has none that can
    /// be read.
    pub fn of(status: &Status) -> Option<Self> {
        if status.details().is_empty() {
            return None;
        }
        let details = generated::Status::decode(status.details()).ok()?.details;
        Some(DetailedStatus { code: status.code, message: status.message.clone(), details })
    }

    /// The first detail of this type.
    pub fn find<M: Message + Name + Default>(&self) -> Option<M> {
        let name = M::full_name();
        let is_wanted = |any: &&Any| any.type_url.rsplit('/').next() == Some(name.as_str());
        M::decode(&*self.details.iter().find(is_wanted)?.value).ok()
    }
}

impl From<DetailedStatus> for Status {
    fn from(status: DetailedStatus) -> Self {
        let DetailedStatus { code, message, details } = status;
        let encoded = generated::Status { code: code as i32, message: message.clone(), details }
            .encode_to_vec();
        Status::with_details(code, message, encoded)
    }
}
