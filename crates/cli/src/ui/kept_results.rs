//! The file of results that is shown, opened anew for each page: a run may be writing it.

use super::gate::Token;
use bookend_contract::timestamp::Timestamp;
use bookend_report::stored::{ListedRun, RunOutcome, StorePages};
use bookend_results::store::{Run, RunId, Store, StoreError};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// What is known of runs that have ended. Another run of a number started at another time.
type Outcomes = BTreeMap<(RunId, Timestamp), RunOutcome>;

/// The store, and the addresses of its pages.
pub struct KeptResults {
    file: PathBuf,
    token: Token,
    pages: StorePages,
    /// A run that has ended stays as it is, and reading its rows takes long.
    outcomes: Mutex<Outcomes>,
}

impl KeptResults {
    /// The results of that file, below the token's address.
    pub fn new(file: PathBuf, token: Token) -> Self {
        let pages = StorePages::below(token.root());
        Self { file, token, pages, outcomes: Mutex::default() }
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

    /// What came of a run. `None`: it goes on, or its rows cannot be read.
    pub fn outcome(&self, store: &Store, run: &Run) -> Option<RunOutcome> {
        run.finished?;
        let key = (run.id, run.new.started);
        let mut known = self.outcomes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(outcome) = known.get(&key) {
            return Some(outcome.clone());
        }
        let outcome = RunOutcome::of(run, &store.rows(run.id).ok()?);
        known.insert(key, outcome.clone());
        Some(outcome)
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
    Ok(ListedRun { run, rounds, outcome: None })
}
