//! The findings of the audit.

use super::rule::Rule;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A rule that a row breaks, with the figures that show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The rule that is broken.
    pub rule: Rule,
    /// The figures, in one clause.
    pub evidence: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.evidence)
    }
}

/// Makes a finding of that rule.
pub fn finding(rule: Rule, evidence: String) -> Finding {
    Finding { rule, evidence }
}
