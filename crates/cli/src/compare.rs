//! `bookend compare`: two results against each other.

use crate::failure::Failure;
use clap::Args;
use std::path::PathBuf;

/// What stands after `bookend compare`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The result to compare with
    #[arg(value_name = "A")]
    before: String,
    /// The result that is compared
    #[arg(value_name = "B")]
    after: String,
    /// End with status 3 if this is so, such as "requests_per_cpu_second < 0.95"
    #[arg(long, value_name = "EXPR")]
    fail_if: Option<String>,
    /// Where results are kept
    #[arg(long, value_name = "FILE", default_value = crate::report::STORE)]
    store: PathBuf,
}

/// Compares two results.
///
/// # Errors
/// [`Failure`] when a result is not there.
pub fn start(arguments: &Arguments) -> Result<u8, Failure> {
    let Arguments {
        before,
        after,
        fail_if,
        store,
    } = arguments;
    Err(Failure::nothing_measured(format!(
        "not built yet ({before}, {after}, fail if {fail_if:?}, store {})",
        store.display()
    )))
}
