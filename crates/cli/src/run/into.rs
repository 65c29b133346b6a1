//! `bookend run SUITE --subjects LIST --into RECORD`: some subjects of a record, measured anew, in
//! all of their cases or in those of `--case`.

use crate::lab;
use crate::terminal::{Failure, print_line};
use bookend_lab::machine::this_machine;
use bookend_results::join::{JoinedCells, check, join, subjects_to_join};
use bookend_results::record::{Record, add_raw, raw_folder};
use bookend_results::store::{RunId, Store};
use bookend_results::suite::{LapSetting, Overrides, Plan, Selection, Suite};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A record, and the cells whose rows are to be replaced.
#[derive(Debug)]
pub struct RecordedSubjects {
    file: PathBuf,
    record: Record,
    cells: JoinedCells,
}

impl RecordedSubjects {
    /// Reads the record.
    ///
    /// # Errors
    /// [`Failure`] when it cannot be read.
    pub fn read(
        file: &Path,
        subjects: &[String],
        cases: &[String],
    ) -> Result<RecordedSubjects, Failure> {
        let unreadable = |error| Failure::usage(format!("{}: {error}", file.display()));
        let record = Record::read(file).map_err(unreadable)?;
        let cells = JoinedCells { subjects: subjects.to_vec(), cases: cases.to_vec() };
        Ok(RecordedSubjects { file: file.to_owned(), record, cells })
    }

    /// What is to be measured: the record's own plan, of the named subjects and the control rows.
    ///
    /// # Errors
    /// [`Failure`] when the suite, the machine or the names do not fit the record.
    pub fn plan(&self, suite: &Suite) -> Result<Plan, Failure> {
        let recorded = &self.record.facts.plan;
        let own_limit = recorded.limits.server_processes;
        let subjects = subjects_to_join(&self.record, &self.cells.subjects);
        let cases = &self.cells.cases;
        let selection = Selection {
            extent: recorded.extent,
            subjects: Some(subjects.map_err(Failure::usage)?),
            cases: Some(cases.clone()).filter(|cases| !cases.is_empty()),
            rounds: Some(recorded.rounds),
            laps: Some(recorded.lap_ms.map_or(LapSetting::Off, |length_ms| {
                LapSetting::Length(Duration::from_millis(length_ms))
            })),
            server_processes: own_limit.filter(|_| own_limit != suite.limits.server_processes),
        };
        let overrides = Overrides::from_environment(&recorded.variables).map_err(Failure::usage)?;
        let plan = suite.plan(&selection, &overrides, lab::cpus()).map_err(Failure::usage)?;
        check(&self.record, &plan, &this_machine(), &self.cells).map_err(Failure::usage)?;
        Ok(plan)
    }

    /// Puts the rows of a finished run into the record.
    ///
    /// # Errors
    /// [`Failure`] when the run does not fit, or the file cannot be written. The run is kept.
    pub fn put(mut self, store: &Store, id: RunId) -> Result<(), Failure> {
        let run = store.run(id).map_err(Failure::nothing_measured)?;
        let rows = store.rows(id).map_err(Failure::nothing_measured)?;
        let skips = store.skips(&run).map_err(Failure::nothing_measured)?;
        join(&mut self.record, &run, &rows, skips, &self.cells)
            .map_err(|error| Failure::not_delivered(format!("run {id} is kept, but {error}")))?;
        let file = self.file.display();
        let unwritten = |error| Failure::not_delivered(format!("cannot write {file}: {error}"));
        self.record.write(&self.file).map_err(unwritten)?;
        let mut raw = store.raw_outputs(id).map_err(Failure::nothing_measured)?;
        raw.retain(|output| self.cells.have(&output.cell));
        let records = self.file.parent().and_then(Path::parent).unwrap_or(Path::new("."));
        let plan = &run.new.plan;
        add_raw(&raw_folder(records, &plan.suite, plan.extent), &raw).map_err(unwritten)?;
        print_line(&format!("{} of run {id} stand in {file}", self.cells))
    }
}
