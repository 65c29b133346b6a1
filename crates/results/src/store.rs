//! A store of results: one SQLite file, written round by round. A crash loses at most the running
//! round.
//!
//! The file uses SQLite's rollback journal. A write-ahead log would allow reports to read during a
//! write, but a run writes for only some milliseconds a round, and the log is kept in two more
//! files that people forget to copy with the result.

mod error;
mod run_id;
mod schema;
mod work_budget;

pub use bookend_contract::timestamp::Timestamp;
pub use error::{StoreError, UnreadableRun};
pub use run_id::RunId;
pub use schema::SCHEMA_VERSION;

use crate::measurement::{CellId, Row};
use crate::provenance::{self, Provenance};
use crate::raw_output::RawOutput;
use crate::suite::{Case, Plan, Scope};
use bookend_contract::machine::MachineFacts;
use error::{explain, reason};
use rusqlite::types::Type;
use rusqlite::{Connection, OpenFlags, params};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;
use work_budget::{WorkBudget, row_bytes, yielded_max_bytes};

/// How long a write waits for another process. Reports read for milliseconds, so a process that
/// holds the file longer will not release it soon.
pub const BUSY_TIMEOUT: Duration = Duration::from_secs(2);

/// The facts that are known when a run starts.
#[derive(Clone, Debug, PartialEq)]
pub struct NewRun {
    /// When it started.
    pub started: Timestamp,
    /// What the run does.
    pub plan: Plan,
    /// The text of `suite.toml`.
    pub suite_text: String,
    /// Seed of the order of cells.
    pub seed: u64,
    /// The machine on which it is measured.
    pub machine: MachineFacts,
    /// The version that each program reported: `rust-tonic` -> `tonic 0.14.2`.
    pub versions: BTreeMap<String, String>,
    /// The command that makes this run.
    pub command: String,
    /// The last commit that changed anything but what is generated, in the repository in which the
    /// lab ran, shortened, with `-dirty` behind it where other files had been changed. `None`: the
    /// folder is in no repository.
    pub revision: Option<String>,
    /// The builds, and what speaks against the revision. `None`: of a version that kept neither.
    pub provenance: Option<Provenance>,
}

impl NewRun {
    /// The machine, the revision and the builds, a fact a line.
    pub fn provenance_text(&self) -> String {
        provenance::text(&self.machine, self.revision.as_deref(), self.provenance.as_ref())
    }
}

/// A run as it is stored, without its rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Its number.
    pub id: RunId,
    /// The facts that were known when it started.
    pub new: NewRun,
    /// When its last round ended. `None`: unfinished; the run can be resumed.
    pub finished: Option<Timestamp>,
    /// Events during the run, a sentence each, in addition to the notes of the plan.
    pub notes: Vec<String>,
}

impl Run {
    /// How much of its suite it did.
    pub fn scope(&self) -> Scope {
        Scope::of(&self.new.plan, &self.new.suite_text)
    }
}

/// An open file of results.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    file: PathBuf,
    budget: WorkBudget,
}

impl Store {
    /// Opens a file of results, creating it if it does not exist and migrating an older one.
    ///
    /// # Errors
    /// When the file is locked, is not a file of results, or was written by a newer version.
    pub fn open(file: &Path) -> Result<Self, StoreError> {
        let (mut connection, budget) = connected(Connection::open(file), file)?;
        schema::bring_up_to_date(&mut connection, file)?;
        Ok(Self { connection, file: file.to_owned(), budget })
    }

    /// Opens an existing file of results to read it, as reports do. An older one is migrated in
    /// memory: the file stays as it is, and may be one that cannot be written.
    ///
    /// # Errors
    /// As [`Store::open`], and when the file does not exist.
    pub fn open_existing(file: &Path) -> Result<Self, StoreError> {
        if !file.exists() {
            return Err(StoreError::Absent(file.to_owned()));
        }
        // With write access, where there is some: what a crash has left half written is undone.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = connected(Connection::open_with_flags(file, flags), file)?;
        let (connection, budget) = schema::for_reading(opened, file)?;
        Ok(Self { connection, file: file.to_owned(), budget })
    }

    /// A store in memory, which is lost when it is dropped.
    ///
    /// # Errors
    /// When there is not enough memory.
    pub fn in_memory() -> Result<Self, StoreError> {
        Self::open(Path::new(":memory:"))
    }

    /// Records that a run has started.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn begin_run(&mut self, run: &NewRun) -> Result<RunId, StoreError> {
        let statement = "INSERT INTO runs (started_ms, suite, suite_text, plan, seed, machine, \
                         versions, command, revision, provenance, notes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '[]')";
        let values = params![
            run.started.unix_ms(),
            run.plan.suite,
            run.suite_text,
            json(&run.plan),
            // SQLite's integers are signed; only the bits matter.
            run.seed.cast_signed(),
            json(&run.machine),
            json(&run.versions),
            run.command,
            run.revision,
            run.provenance.as_ref().map(json),
        ];
        self.execute(statement, values)?;
        Ok(RunId(self.connection.last_insert_rowid()))
    }

    /// Stores a whole round, or nothing on an error. A round that is already stored is replaced.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_round(&mut self, run: RunId, round: u32, rows: &[Row]) -> Result<(), StoreError> {
        let file = self.file.clone();
        self.renewed_bytes()?;
        self.insert_round(run, round, rows).map_err(|error| explain(&file, &error))
    }

    fn insert_round(&mut self, run: RunId, round: u32, rows: &[Row]) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction()?;
        transaction
            .execute("DELETE FROM rounds WHERE run = ? AND round = ?", params![run.0, round])?;
        transaction
            .execute("INSERT INTO rounds (run, round) VALUES (?, ?)", params![run.0, round])?;
        {
            let mut insert = transaction.prepare(
                "INSERT INTO rows (run, round, subject, case_name, instrument, outcome, served, \
                 probe_calls, ends) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            )?;
            for row in rows {
                insert.execute(params![
                    run.0,
                    round,
                    row.cell.subject,
                    row.cell.case.to_string(),
                    row.cell.instrument,
                    json(&row.outcome),
                    row.served.map(u64::cast_signed),
                    row.probe_calls.cast_signed(),
                    json(&Ends::of(row)),
                ])?;
            }
            insert_raw_outputs(&transaction, run, rows)?;
        }
        transaction.commit()
    }

    /// Records that a run is over.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn finish_run(&mut self, run: RunId, finished: Timestamp) -> Result<(), StoreError> {
        let values = params![finished.unix_ms(), run.0];
        self.execute("UPDATE runs SET finished_ms = ? WHERE id = ?", values)
    }

    /// Adds a sentence to the notes that are printed above the run's table.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn add_note(&mut self, run: RunId, note: &str) -> Result<(), StoreError> {
        let values = params![note, run.0];
        self.execute("UPDATE runs SET notes = json_insert(notes, '$[#]', ?) WHERE id = ?", values)
    }

    /// Replaces what is known of the builds and of the revision: a run was resumed.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_provenance(
        &mut self,
        run: RunId,
        provenance: &Provenance,
    ) -> Result<(), StoreError> {
        let values = params![json(provenance), run.0];
        self.execute("UPDATE runs SET provenance = ? WHERE id = ?", values)
    }

    /// Stores the findings of the semantics check for one version of a subject, as JSON.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_semantics(
        &mut self,
        subject: &str,
        version: &str,
        findings: &serde_json::Value,
    ) -> Result<(), StoreError> {
        let statement = "INSERT OR REPLACE INTO semantics (subject, version, findings) \
                         VALUES (?, ?, ?)";
        self.execute(statement, params![subject, version, json(findings)])
    }

    /// The findings of the semantics check for that version, if it ran.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn semantics(
        &self,
        subject: &str,
        version: &str,
    ) -> Result<Option<serde_json::Value>, StoreError> {
        let statement = "SELECT findings FROM semantics WHERE subject = ? AND version = ?";
        let read = |row: &rusqlite::Row<'_>| json_of(row, "findings");
        Ok(self.query(statement, params![subject, version], read)?.pop())
    }

    /// The features that each server of a run lacks, by subject, where its version was checked.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn skips(&self, run: &Run) -> Result<BTreeMap<String, Vec<String>>, StoreError> {
        let mut skips = BTreeMap::new();
        for (subject, version) in &run.new.versions {
            let Some(findings) = self.semantics(subject, version)? else {
                continue;
            };
            let listed = findings["skips"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|skip| skip.as_str().map(str::to_owned))
                .collect();
            skips.insert(subject.clone(), listed);
        }
        Ok(skips)
    }

    /// Forgets a run with all its rows.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn remove_run(&mut self, id: RunId) -> Result<(), StoreError> {
        self.execute("DELETE FROM runs WHERE id = ?", params![id.0])
    }

    /// A run by its number.
    ///
    /// # Errors
    /// When there is no such run, or the file cannot be read.
    pub fn run(&self, id: RunId) -> Result<Run, StoreError> {
        self.select_run("WHERE id = ?", params![id.0])?.ok_or(StoreError::NoSuchRun(id))
    }

    /// All runs, oldest first. One that cannot be read does not hide the others.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn runs(&self) -> Result<Vec<Result<Run, UnreadableRun>>, StoreError> {
        self.select_runs("ORDER BY id", params![])
    }

    /// The run that was started most recently.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn latest_run(&self) -> Result<Option<Run>, StoreError> {
        self.select_run("ORDER BY id DESC LIMIT 1", params![])
    }

    /// The latest unfinished run of a suite, which can be resumed.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn latest_unfinished(&self, suite: &str) -> Result<Option<Run>, StoreError> {
        let which = "WHERE suite = ? AND finished_ms IS NULL ORDER BY id DESC LIMIT 1";
        self.select_run(which, params![suite])
    }

    /// The rounds of a run that are stored completely.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn complete_rounds(&self, run: RunId) -> Result<BTreeSet<u32>, StoreError> {
        let statement = "SELECT round FROM rounds WHERE run = ?";
        Ok(self.query(statement, params![run.0], |row| row.get(0))?.into_iter().collect())
    }

    /// What foreign instruments printed: of each cell in the first of its rounds that was stored.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn raw_outputs(&self, run: RunId) -> Result<Vec<RawOutput>, StoreError> {
        let statement = "SELECT round, subject, case_name, instrument, text FROM raw_outputs \
                         WHERE run = ? ORDER BY subject, case_name, instrument";
        let read = |row: &rusqlite::Row<'_>| {
            Ok(RawOutput { cell: cell_of(row)?, round: row.get("round")?, text: row.get("text")? })
        };
        self.query(statement, params![run.0], read)
    }

    /// All rows of a run, ordered by round and then as they were written.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn rows(&self, run: RunId) -> Result<Vec<Row>, StoreError> {
        let statement = "SELECT round, subject, case_name, instrument, outcome, served, \
                         probe_calls, ends FROM rows WHERE run = ? ORDER BY round, rowid";
        self.query(statement, params![run.0], row_of)
    }

    /// The rows of one cell of a run, ordered by round.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn rows_of_cell(&self, run: RunId, cell: &CellId) -> Result<Vec<Row>, StoreError> {
        let statement = "SELECT round, subject, case_name, instrument, outcome, served, \
                         probe_calls, ends FROM rows WHERE run = ? AND subject = ? AND \
                         case_name = ? AND instrument = ? ORDER BY round";
        let case = cell.case.to_string();
        self.query(statement, params![run.0, cell.subject, case, cell.instrument], row_of)
    }

    fn select_run(
        &self,
        which: &str,
        values: impl rusqlite::Params,
    ) -> Result<Option<Run>, StoreError> {
        let run = self.select_runs(which, values)?.pop();
        run.transpose().map_err(|unreadable| StoreError::Damaged {
            file: self.file.clone(),
            reason: unreadable.to_string(),
        })
    }

    fn select_runs(
        &self,
        which: &str,
        values: impl rusqlite::Params,
    ) -> Result<Vec<Result<Run, UnreadableRun>>, StoreError> {
        let statement = format!(
            "SELECT id, started_ms, finished_ms, suite_text, plan, seed, machine, versions, \
             command, revision, COALESCE(provenance, 'null') AS provenance, notes FROM runs {which}"
        );
        self.query(&statement, values, run_of)
    }

    fn query<T>(
        &self,
        statement: &str,
        values: impl rusqlite::Params,
        read: fn(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let mut left = yielded_max_bytes(self.renewed_bytes()?);
        let explained = |error: rusqlite::Error| self.explain(&error);
        let mut query = self.connection.prepare(statement).map_err(explained)?;
        let mut rows = query.query(values).map_err(explained)?;
        let mut all = Vec::new();
        while let Some(row) = rows.next().map_err(explained)? {
            let bytes = row_bytes(row).map_err(explained)?;
            left = left.checked_sub(bytes).ok_or_else(|| StoreError::Damaged {
                file: self.file.clone(),
                reason: "a table has more than its file".to_owned(),
            })?;
            all.push(read(row).map_err(explained)?);
        }
        Ok(all)
    }

    /// The size of the file, for which an operation has a budget from here on.
    fn renewed_bytes(&self) -> Result<u64, StoreError> {
        let number = |pragma| {
            let number = self.connection.pragma_query_value(None, pragma, |row| row.get(0));
            number.map(|number: u32| u64::from(number)).map_err(|error| self.explain(&error))
        };
        self.budget.renew(0);
        let bytes = number("page_count")? * number("page_size")?;
        self.budget.renew(bytes);
        Ok(bytes)
    }

    fn execute(&self, statement: &str, values: impl rusqlite::Params) -> Result<(), StoreError> {
        self.renewed_bytes()?;
        self.connection
            .execute(statement, values)
            .map(|_rows| ())
            .map_err(|error| self.explain(&error))
    }

    fn explain(&self, error: &rusqlite::Error) -> StoreError {
        explain(&self.file, error)
    }
}

fn connected(
    opened: rusqlite::Result<Connection>,
    file: &Path,
) -> Result<(Connection, WorkBudget), StoreError> {
    let explained = |error: rusqlite::Error| explain(file, &error);
    let mut connection = opened.map_err(explained)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(explained)?;
    let budget = WorkBudget::on(&mut connection, file).map_err(explained)?;
    Ok((connection, budget))
}

fn run_of(row: &rusqlite::Row<'_>) -> rusqlite::Result<Result<Run, UnreadableRun>> {
    let id = RunId(row.get("id")?);
    Ok(read_run(id, row).map_err(|error| UnreadableRun { id, reason: reason(&error) }))
}

fn read_run(id: RunId, row: &rusqlite::Row<'_>) -> rusqlite::Result<Run> {
    Ok(Run {
        id,
        new: NewRun {
            started: Timestamp::from_unix_ms(row.get("started_ms")?),
            plan: json_of::<StoredPlan>(row, "plan")?.0,
            suite_text: row.get("suite_text")?,
            seed: row.get::<_, i64>("seed")?.cast_unsigned(),
            machine: json_of(row, "machine")?,
            versions: json_of(row, "versions")?,
            command: row.get("command")?,
            revision: row.get("revision")?,
            provenance: json_of(row, "provenance")?,
        },
        finished: row.get::<_, Option<i64>>("finished_ms")?.map(Timestamp::from_unix_ms),
        notes: json_of(row, "notes")?,
    })
}

#[derive(Deserialize)]
struct StoredPlan(#[serde(deserialize_with = "Plan::deserialize_stored")] Plan);

/// A failed row's window has the output, too; of a cell that has one, later ones are left out.
fn insert_raw_outputs(
    transaction: &rusqlite::Transaction<'_>,
    run: RunId,
    rows: &[Row],
) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare(
        "INSERT OR IGNORE INTO raw_outputs (run, round, subject, case_name, instrument, text) \
         VALUES (?, ?, ?, ?, ?, ?)",
    )?;
    for row in rows {
        let raw = row.outcome.window().and_then(|window| window.raw_output.as_ref());
        if let Some(text) = raw {
            let CellId { subject, case, instrument } = &row.cell;
            insert.execute(params![
                run.0,
                row.round,
                subject,
                case.to_string(),
                instrument,
                text
            ])?;
        }
    }
    Ok(())
}

fn cell_of(row: &rusqlite::Row<'_>) -> rusqlite::Result<CellId> {
    Ok(CellId {
        subject: row.get("subject")?,
        case: parsed(row, "case_name", str::parse::<Case>)?,
        instrument: row.get("instrument")?,
    })
}

fn row_of(row: &rusqlite::Row<'_>) -> rusqlite::Result<Row> {
    let cell = cell_of(row)?;
    let ends: Ends = json_of(row, "ends")?;
    Ok(Row {
        served: row.get::<_, Option<i64>>("served")?.map(i64::cast_unsigned),
        probe_calls: row.get::<_, i64>("probe_calls")?.cast_unsigned(),
        has_own_server: ends.has_own_server,
        server_life: ends.server_life,
        cells_before: ends.cells_before,
        server_notes: ends.server_notes,
        backend_notes: ends.backend_notes,
        backend_served: ends.backend_served,
        ..Row::new(row.get("round")?, cell, json_of(row, "outcome")?)
    })
}

fn json_of<T: DeserializeOwned>(row: &rusqlite::Row<'_>, column: &str) -> rusqlite::Result<T> {
    parsed(row, column, |text| serde_json::from_str(text))
}

/// A value that is stored as text.
fn parsed<T, E: Error + Send + Sync + 'static>(
    row: &rusqlite::Row<'_>,
    column: &str,
    read: impl FnOnce(&str) -> Result<T, E>,
) -> rusqlite::Result<T> {
    let damaged = |error| {
        let index = row.as_ref().column_index(column).unwrap_or_default();
        rusqlite::Error::FromSqlConversionFailure(index, Type::Text, Box::new(error))
    };
    read(&row.get::<_, String>(column)?).map_err(damaged)
}

/// The column `ends`: the reports of servers and backends at their end beyond the server's
/// `served N`, and which life of the server it was.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Ends {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    has_own_server: bool,
    server_life: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    cells_before: Option<u32>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    server_notes: BTreeMap<String, f64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    backend_notes: BTreeMap<String, f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    backend_served: Option<u64>,
}

impl Ends {
    fn of(row: &Row) -> Ends {
        Ends {
            has_own_server: row.has_own_server,
            server_life: row.server_life,
            cells_before: row.cells_before,
            server_notes: row.server_notes.clone(),
            backend_notes: row.backend_notes.clone(),
            backend_served: row.backend_served,
        }
    }
}

fn json(value: &impl Serialize) -> String {
    // Writing to a string fails only for maps whose keys are not strings; stored values have none.
    serde_json::to_string(value).expect("stored values have string keys")
}
