//! The claims of the published documents, each with a verdict.
//!
//! `claims.toml` in a suite's folder lists what a document states, sentence by sentence
//! (docs/extend/claims-format.md). Each claim is computed twice, from the document's own table and
//! from our record of the suite, and judged: held, did not hold, cannot tell here. Besides the
//! claims, the [audit](bookend_results::audit) checks the document itself, and a [model] predicts
//! some of its runs. [`JudgedSuites::markdown`] is docs/measure/claims.md.

mod claim;
mod declared;
mod error;
mod evaluation;
mod formula;
mod judged;
mod marked;
mod metric;
pub mod model;
mod page;
mod printed;
mod quantity;
mod series;
mod subject_name;
mod verdict;

pub use claim::{Claim, HeldCondition, JudgedBy, Refutation, SuiteClaims};
pub use error::ClaimsError;
pub use judged::{CLAIMS_FILE, JudgedSuite, JudgedSuites, kept_profile};
pub use quantity::{Over, Quantity, Take};
pub use subject_name::SubjectName;
pub use verdict::{ClaimVerdict, Judgement};
