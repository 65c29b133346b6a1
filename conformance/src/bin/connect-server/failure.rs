//! How calls fail that have to.

use bookend_conformance::connect::Details;
use bookend_conformance::connect::messages::Error;
use bookend_conformance::connect::messages::conformance_payload::RequestInfo;
use bookend_server::Code;

use crate::request_info::any;

/// Fails calls as their definitions say.
#[derive(Clone, Copy)]
pub struct Failures {
    /// Every code is wrong: the suite has to notice.
    pub end_with_wrong_codes: bool,
}

impl Failures {
    /// The status of a call, with the requests that were seen among the details.
    pub fn details(self, mut error: Error, seen: Option<RequestInfo>) -> Details {
        error.details.extend(seen.as_ref().map(any));
        let mut failure = Details::of_error(error);
        if self.end_with_wrong_codes {
            failure.status.code = Code::DataLoss;
        }
        failure
    }
}
