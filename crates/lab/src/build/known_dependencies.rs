//! Which subjects of a plan depend on something that is not here.

use super::missing_dependencies;
use crate::cell_error::CellError;
use crate::spawner::Spawner;
use crate::subject::Subject;
use bookend_results::suite::Plan;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What is known of the subjects in a folder, each looked at once.
#[derive(Debug)]
pub struct KnownDependencies<'a> {
    subjects: &'a Path,
    spawner: Spawner,
    /// Whether something is missing, by the folder of a subject.
    is_missing: BTreeMap<String, bool>,
}

impl<'a> KnownDependencies<'a> {
    /// Nothing is known yet.
    pub fn new(subjects: &'a Path, spawner: Spawner) -> KnownDependencies<'a> {
        KnownDependencies { subjects, spawner, is_missing: BTreeMap::new() }
    }

    /// The subjects and instruments of a plan that depend on something that is not here, or cannot
    /// be read.
    ///
    /// # Errors
    /// It was interrupted.
    pub fn missing(&mut self, plan: &Plan) -> Result<Vec<String>, CellError> {
        let cells = plan.cells();
        let names = cells.iter().flat_map(|cell| [&cell.id.subject, &cell.id.instrument]);
        let folder = |name: &String| name.split('/').next().unwrap_or(name).to_owned();
        let folders: BTreeSet<String> = names.map(folder).collect();
        let mut missing = Vec::new();
        for folder in folders {
            if self.is_missing(&folder)? {
                missing.push(folder);
            }
        }
        Ok(missing)
    }

    fn is_missing(&mut self, folder: &str) -> Result<bool, CellError> {
        if let Some(is_missing) = self.is_missing.get(folder) {
            return Ok(*is_missing);
        }
        let is_missing = match Subject::read(&self.subjects.join(folder)) {
            Ok(subject) => !missing_dependencies(&self.spawner, &subject)?.is_empty(),
            Err(_) => true,
        };
        self.is_missing.insert(folder.to_owned(), is_missing);
        Ok(is_missing)
    }
}
