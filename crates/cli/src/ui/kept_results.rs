//! The file of results that is shown, opened anew for each page: a run may be writing it.

use super::gate::Token;
use bookend_report::stored::{ListedRun, StorePages};
use bookend_results::store::{Run, Store, StoreError};
use std::path::{Path, PathBuf};

/// The store, and the addresses of its pages.
pub struct KeptResults {
    file: PathBuf,
    token: Token,
    pages: StorePages,
}

impl KeptResults {
    /// The results of that file, below the token's address.
    pub fn new(file: PathBuf, token: Token) -> Self {
        let pages = StorePages::below(token.root());
        Self { file, token, pages }
    }

    /// The newest run, if there is one that can be read.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn newest(&self) -> Result<Option<ListedRun>, StoreError> {
        let store = self.store()?;
        let newest = match store.latest_run() {
            Err(StoreError::Damaged { .. }) => store.runs()?.into_iter().flatten().next_back(),
            newest => newest?,
        };
        newest.map(|run| listed(&store, run)).transpose()
    }

    /// The file of the store.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Its pages.
    pub fn pages(&self) -> &StorePages {
        &self.pages
    }

    /// What every address begins with.
    pub fn token(&self) -> &Token {
        &self.token
    }

    /// The store as it is now.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn store(&self) -> Result<Store, StoreError> {
        Store::open_existing(&self.file)
    }
}

/// A run with the number of its rounds that are stored.
///
/// # Errors
/// When the store cannot be read.
pub fn listed(store: &Store, run: Run) -> Result<ListedRun, StoreError> {
    let rounds = match run.finished {
        Some(_) => run.new.plan.rounds as usize,
        None => store.complete_rounds(run.id)?.len(),
    };
    Ok(ListedRun { run, rounds })
}
