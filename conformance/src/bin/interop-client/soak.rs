//! Large calls, one after the other.

use crate::service::Service;
use crate::{Failure, unary};

/// As many as other clients make where nothing is said.
const ITERATIONS: usize = 10;

/// All by one channel.
pub fn calls(service: &Service) -> Result<(), Failure> {
    (0..ITERATIONS).try_for_each(|_| unary::large(service))
}

/// Each by a channel of its own.
pub fn channels(service: &Service) -> Result<(), Failure> {
    (0..ITERATIONS).try_for_each(|_| unary::large(&service.again()?))
}
