//! No faults: the stand-in for the injector without the feature `faults`.

use super::{Operation, RingCompletion};
use rustix::io::Errno;

#[derive(Debug, Default)]
pub(super) struct NoFaults {}

impl NoFaults {
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        true
    }

    #[inline(always)]
    pub fn pop(&mut self) -> Option<RingCompletion> {
        None
    }

    #[inline(always)]
    pub fn fail(&mut self, _: Operation, _: Errno) {}

    #[inline(always)]
    pub fn accept(&mut self) {}

    #[inline(always)]
    pub fn divert(&mut self, completion: RingCompletion) -> (Option<RingCompletion>, bool) {
        (Some(completion), false)
    }
}
