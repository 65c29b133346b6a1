//! The tables of the store, and the migration of older files.

use super::error::{StoreError, explain};
use super::work_budget::WorkBudget;
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, TransactionBehavior};
use std::path::Path;

/// Identifies a SQLite file as a Bookend store: "BKND".
const APPLICATION_ID: i64 = 0x424b_4e44;

/// Each step migrates the version that equals its index to the next. Once released, steps are never
/// changed, only added.
const STEPS: [&str; 6] = [FIRST_TABLES, SEMANTICS, ENDS, RAW_OUTPUTS, REVISION, PROVENANCE];

/// The version that this program writes.
pub const SCHEMA_VERSION: i64 = STEPS.len() as i64;

const FIRST_TABLES: &str = "
CREATE TABLE runs (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    started_ms  INTEGER NOT NULL,
    finished_ms INTEGER,
    suite       TEXT NOT NULL,
    suite_text  TEXT NOT NULL,
    plan        TEXT NOT NULL,
    seed        INTEGER NOT NULL,
    machine     TEXT NOT NULL,
    versions    TEXT NOT NULL,
    command     TEXT NOT NULL,
    notes       TEXT NOT NULL
) STRICT;
CREATE TABLE rounds (
    run   INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    round INTEGER NOT NULL,
    PRIMARY KEY (run, round)
) STRICT;
CREATE TABLE rows (
    run        INTEGER NOT NULL,
    round      INTEGER NOT NULL,
    subject    TEXT NOT NULL,
    case_name  TEXT NOT NULL,
    instrument TEXT NOT NULL,
    outcome    TEXT NOT NULL,
    served     INTEGER,
    UNIQUE (run, round, subject, case_name, instrument),
    FOREIGN KEY (run, round) REFERENCES rounds (run, round) ON DELETE CASCADE
) STRICT;
";

const SEMANTICS: &str = "
CREATE TABLE semantics (
    subject  TEXT NOT NULL,
    version  TEXT NOT NULL,
    findings TEXT NOT NULL,
    PRIMARY KEY (subject, version)
) STRICT;
ALTER TABLE rows ADD COLUMN probe_calls INTEGER NOT NULL DEFAULT 0;
";

/// The reports of servers and backends at their end in addition to `served N`, as one JSON object a
/// row.
const ENDS: &str = "
ALTER TABLE rows ADD COLUMN ends TEXT NOT NULL DEFAULT '{}';
";

/// What foreign instruments printed, of one round a cell.
const RAW_OUTPUTS: &str = "
CREATE TABLE raw_outputs (
    run        INTEGER NOT NULL,
    round      INTEGER NOT NULL,
    subject    TEXT NOT NULL,
    case_name  TEXT NOT NULL,
    instrument TEXT NOT NULL,
    text       TEXT NOT NULL,
    PRIMARY KEY (run, subject, case_name, instrument),
    FOREIGN KEY (run, round) REFERENCES rounds (run, round) ON DELETE CASCADE
) STRICT;
";

/// The commit of the repository in which the lab ran.
const REVISION: &str = "
ALTER TABLE runs ADD COLUMN revision TEXT;
";

/// The builds, and why the revision does not say what was measured, as JSON.
const PROVENANCE: &str = "
ALTER TABLE runs ADD COLUMN provenance TEXT;
";

/// Checks that the file is a store, then applies the missing steps, either all or none.
pub(super) fn bring_up_to_date(connection: &mut Connection, file: &Path) -> Result<(), StoreError> {
    let sqlite = |error: rusqlite::Error| explain(file, &error);
    connection.pragma_update(None, "foreign_keys", true).map_err(sqlite)?;
    if version(connection, file)? == SCHEMA_VERSION {
        return Ok(());
    }
    // Immediate: if two processes find an old file, the second must see what the first has done.
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(sqlite)?;
    let found = version(&transaction, file)?;
    for step in STEPS.iter().skip(usize::try_from(found).unwrap_or(0)) {
        transaction.execute_batch(step).map_err(sqlite)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(sqlite)?;
    transaction.pragma_update(None, "user_version", SCHEMA_VERSION).map_err(sqlite)?;
    transaction.commit().map_err(sqlite)
}

/// The file as this version reads it: itself, or a copy in memory to which the missing steps were
/// applied.
pub(super) fn for_reading(
    (connection, budget): (Connection, WorkBudget),
    file: &Path,
) -> Result<(Connection, WorkBudget), StoreError> {
    if version(&connection, file)? == SCHEMA_VERSION {
        return Ok((connection, budget));
    }
    let (mut copied, budget) = copy(&connection, file)?;
    bring_up_to_date(&mut copied, file)?;
    Ok((copied, budget))
}

fn copy(connection: &Connection, file: &Path) -> Result<(Connection, WorkBudget), StoreError> {
    /// Meaning all of them.
    const PAGES: i32 = -1;
    let sqlite = |error: rusqlite::Error| explain(file, &error);
    let mut copied = Connection::open_in_memory().map_err(sqlite)?;
    let budget = WorkBudget::on(&mut copied, file).map_err(sqlite)?;
    let step = Backup::new(connection, &mut copied)
        .and_then(|backup| backup.step(PAGES))
        .map_err(sqlite)?;
    match step {
        StepResult::Done => Ok((copied, budget)),
        _ => Err(StoreError::Locked(file.to_owned())),
    }
}

/// The version of an open file; 0 for an empty one.
fn version(connection: &Connection, file: &Path) -> Result<i64, StoreError> {
    let number = |statement| {
        connection
            .query_row(statement, [], |row| row.get::<_, i64>(0))
            .map_err(|error| explain(file, &error))
    };
    let tables = number("SELECT count(*) FROM sqlite_schema")?;
    let version = number("PRAGMA user_version")?;
    let ours = number("PRAGMA application_id")? == APPLICATION_ID;
    match (ours, tables) {
        (false, 0) if version == 0 => Ok(0),
        (false, _) => Err(StoreError::Foreign(file.to_owned())),
        (true, _) if !(1..=SCHEMA_VERSION).contains(&version) => {
            Err(StoreError::Newer { file: file.to_owned(), found: version, known: SCHEMA_VERSION })
        }
        (true, _) => check_tables(connection, version, file),
    }
}

/// The version, if each of its tables is in the file as its steps make it. To read from a view, a
/// virtual table or a generated column would be to run what somebody else has written. Tables of
/// others are left alone.
fn check_tables(connection: &Connection, version: i64, file: &Path) -> Result<i64, StoreError> {
    let sqlite = |error: rusqlite::Error| explain(file, &error);
    let own = Connection::open_in_memory().map_err(sqlite)?;
    for step in STEPS.iter().take(usize::try_from(version).unwrap_or(0)) {
        own.execute_batch(step).map_err(sqlite)?;
    }
    for (name, sql) in tables(&own, None).map_err(sqlite)? {
        let found = tables(connection, Some(&name)).map_err(sqlite)?;
        if found != [(name.clone(), sql)] {
            let reason = format!("its table {name} is not as bookend makes it");
            return Err(StoreError::Damaged { file: file.to_owned(), reason });
        }
    }
    Ok(version)
}

/// The tables of that name, or all of them, with the statement that makes each.
fn tables(connection: &Connection, name: Option<&str>) -> rusqlite::Result<Vec<(String, String)>> {
    let statement = "SELECT name, sql FROM sqlite_schema WHERE type = 'table' \
                     AND (?1 IS NULL OR name = ?1)";
    let mut query = connection.prepare(statement)?;
    query.query_map([name], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use rusqlite::OpenFlags;

    /// A file as the first version created it.
    pub(crate) fn first_version(file: &Path) -> Connection {
        let connection = Connection::open(file).expect("opened");
        connection.execute_batch(FIRST_TABLES).expect("made");
        let id = APPLICATION_ID;
        connection.pragma_update(None, "application_id", id).expect("set");
        connection.pragma_update(None, "user_version", 1).expect("set");
        connection
    }

    #[test]
    fn a_file_of_the_first_version_is_migrated_with_its_rows() {
        use crate::store::{RunId, Store};
        let home = tempfile::tempdir().expect("a temporary folder");
        let file = home.path().join("old.db");
        let old = first_version(&file);
        old.execute_batch(
            "INSERT INTO runs VALUES (1, 0, NULL, 's', '', '{}', 0, '{}', '{}', '', '[]');
             INSERT INTO rounds VALUES (1, 0);
             INSERT INTO rows VALUES (1, 0, 'a', 'C=1 S=1', 'i',
                 '{\"outcome\":\"missing\",\"reason\":\"no go\"}', 7);",
        )
        .expect("filled");
        drop(old);

        let mut store = Store::open(&file).expect("migrated");
        let rows = store.rows(RunId(1)).expect("readable");
        assert_eq!((rows[0].served, rows[0].probe_calls), (Some(7), 0));
        assert!(rows[0].server_notes.is_empty() && rows[0].backend_served.is_none());
        store.write_semantics("a", "1", &serde_json::json!([])).expect("the new table");
        drop(store);
        Store::open(&file).expect("a second time");
    }

    /// The connection is one as SQLite makes it to a file that cannot be written: tests may run as
    /// a superuser, whom no mode of a file stops.
    #[test]
    fn an_old_file_that_cannot_be_written_is_read() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let file = home.path().join("old.db");
        let old = first_version(&file);
        old.execute_batch("INSERT INTO runs VALUES (1, 0, NULL, 's', '', '', 0, '', '', '', '')")
            .expect("filled");
        drop(old);
        let read_only = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let mut connection = Connection::open_with_flags(&file, read_only).expect("opened");
        let budget = WorkBudget::on(&mut connection, &file).expect("limited");
        let (migrated, _) = for_reading((connection, budget), &file).expect("readable");
        let revisions = "SELECT count(*) FROM runs WHERE revision IS NULL";
        let runs: i64 = migrated.query_row(revisions, [], |row| row.get(0)).expect("migrated");
        assert_eq!(runs, 1);
    }

    #[test]
    fn a_file_that_is_only_read_stays_as_it_is() {
        use crate::store::Store;
        let home = tempfile::tempdir().expect("a temporary folder");
        let file = home.path().join("old.db");
        drop(first_version(&file));
        let before = std::fs::read(&file).expect("readable");
        let store = Store::open_existing(&file).expect("opened");
        assert!(store.runs().expect("readable").is_empty());
        assert!(std::fs::read(&file).expect("readable") == before, "the file was written");
    }

    #[test]
    fn a_migration_that_fails_leaves_the_file_as_it_was() {
        use crate::store::Store;
        let home = tempfile::tempdir().expect("a temporary folder");
        let file = home.path().join("old.db");
        let old = first_version(&file);
        // This conflicts with the second step.
        old.execute_batch("CREATE TABLE semantics (x)").expect("made");
        Store::open(&file).expect_err("the step must fail");
        let version: i64 =
            old.query_row("PRAGMA user_version", [], |row| row.get(0)).expect("readable");
        assert_eq!(version, 1);
    }
}
