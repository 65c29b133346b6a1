//! The claims of the published documents, each with a verdict.
//!
//! `claims.toml` in a suite's folder lists what a document states, sentence by sentence
//! (docs/extend/claims-format.md). Each claim is computed from the document's own table and from
//! our record of the suite, and answered: does it replicate with the published client, and is it so
//! with one that is not the limit? Besides the claims, the [audit](bookend_results::audit) checks
//! the document itself, and a [model] predicts some of its runs. [`JudgedSuites::markdown`] is
//! docs/measure/claims.md.

mod agreement;
mod answer;
mod audit_page;
mod beside;
mod changes_page;
mod claim;
mod declared;
mod error;
mod evaluation;
mod failed_beside;
mod failed_calls;
mod figures_text;
mod finding;
mod formula;
mod judged;
mod known;
mod marked;
mod metric;
pub mod model;
mod outcome;
mod page;
mod printed;
mod probed;
mod probed_page;
mod quantity;
mod repeated_page;
mod repeated_ratios;
mod series;
mod shown;
mod statement;
mod subject_name;
mod told;
mod verdict;

pub use claim::{Bounds, Claim, EarlierVerdict, JudgedBy, Refutation, SHORT_MAX, SuiteClaims};
pub use error::ClaimsError;
pub use failed_calls::FailedCells;
pub use finding::{ClaimFinding, Explanation};
pub use judged::{CLAIMS_FILE, JudgedSuite, JudgedSuites, kept_profile, read_record};
pub use outcome::ClaimOutcome;
pub use page::CLAIMS_PAGE;
pub use probed_page::{PROBED_PAGE, probed_page};
pub use quantity::{Over, Quantity, Take};
pub use shown::{PrintedUnit, printed_numbers};
pub use statement::{Favour, Statement, TOLERANCE};
pub use subject_name::SubjectName;
pub use verdict::{Answer, Judgement, OtherRun};
