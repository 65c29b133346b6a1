//! Whole rounds.
use crate::Test;
pub const TESTS: &[Test] = &[];
