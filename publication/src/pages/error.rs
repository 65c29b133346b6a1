//! Why there is no page.

use crate::published::PublishedError;
use bookend_results::declaration::DeclarationError;
use std::path::PathBuf;
use thiserror::Error;

/// The file in a suite's folder that describes its page.
pub const RESULTS_FILE: &str = "results.toml";

/// The page in a suite's folder.
pub const PAGE_FILE: &str = "RESULTS.md";

/// Why there is no page.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PageError {
    /// `suite.toml` or `results.toml` is wrong.
    #[error("{_0}")]
    Declaration(DeclarationError),
    /// A published table is wrong.
    #[error("{}: {error}", file.display())]
    Published {
        /// Which file.
        file: PathBuf,
        /// What is wrong with it.
        error: PublishedError,
    },
    /// The suite names no published table.
    #[error(
        "suite {_0} has no published table: write `published = \"published.csv\"` into its suite.toml"
    )]
    NothingPublished(String),
    /// `results.toml` shows a table that the published file does not have.
    #[error("{RESULTS_FILE}: the published file has no table `{_0}`")]
    NoTable(String),
    /// `results.toml` does not show a table that the published file has.
    #[error("{RESULTS_FILE}: the published table `{_0}` is not shown: add it to [[tables]]")]
    Unshown(String),
    /// `results.toml` shows a figure that the published table does not have.
    #[error("{RESULTS_FILE}: the published file has no column `{_0}`")]
    NoColumn(String),
}
