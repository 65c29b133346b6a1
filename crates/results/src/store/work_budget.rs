//! What a file may cost whoever opens it. Files come from others, and a schema is SQL that runs
//! when its tables are read: see "Defense Against The Dark Arts" in SQLite's documentation.

use bookend_contract::input;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// No value has more bytes: the largest is the text of a suite, which is a file that somebody
/// writes. SQLite's own limit is a gigabyte.
const VALUE_MAX_BYTES: i32 = input::MAX_BYTES as i32;

/// Instructions of SQLite's machine after which it looks at what is left.
const LOOK_INSTRUCTIONS: u16 = 1_000;

/// Instructions that every operation may take, which is less than a second: a round has some
/// thousand rows, and each takes a hundred.
const INSTRUCTIONS_MIN: u64 = 10_000_000;

/// Instructions on top of those for each byte of the file. A row that is read takes about five for
/// each of its columns, and has more bytes than columns.
const INSTRUCTIONS_PER_BYTE: u64 = 64;

/// A query yields what is in its file once; columns that an old row lacks have a default.
const YIELDED_MIN_BYTES: u64 = 64 << 10;
const YIELDED_PER_BYTE: u64 = 2;

/// What one operation on a file may still take, in instructions: there is an end to it, also where
/// pages refer to each other in circles.
#[derive(Clone, Debug)]
pub(super) struct WorkBudget(Arc<AtomicU64>);

impl WorkBudget {
    /// Limits all that is done on a connection by the size of that file. What only a schema asks
    /// for is not done: ours has neither views nor triggers.
    ///
    /// # Errors
    /// SQLite cannot be limited.
    pub fn on(connection: &mut Connection, file: &Path) -> rusqlite::Result<WorkBudget> {
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_MAX_BYTES)?;
        for (setting, is_on) in [
            (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
            (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        ] {
            connection.set_db_config(setting, is_on)?;
        }
        let budget = WorkBudget(Arc::default());
        budget.renew(file.metadata().map_or(0, |metadata| metadata.len()));
        let left = Arc::clone(&budget.0);
        let is_used_up = move || {
            let rest = left.load(Ordering::Relaxed).checked_sub(LOOK_INSTRUCTIONS.into());
            left.store(rest.unwrap_or(0), Ordering::Relaxed);
            rest.is_none()
        };
        connection.progress_handler(LOOK_INSTRUCTIONS.into(), Some(is_used_up))?;
        Ok(budget)
    }

    /// Another operation begins.
    pub fn renew(&self, file_bytes: u64) {
        let more = file_bytes.saturating_mul(INSTRUCTIONS_PER_BYTE);
        self.0.store(INSTRUCTIONS_MIN.saturating_add(more), Ordering::Relaxed);
    }
}

/// The bytes that all rows of a query may have in a file of that size.
pub(super) fn yielded_max_bytes(file_bytes: u64) -> u64 {
    YIELDED_MIN_BYTES.saturating_add(file_bytes.saturating_mul(YIELDED_PER_BYTE))
}

/// The bytes that a row takes in its file at the least.
pub(super) fn row_bytes(row: &Row<'_>) -> rusqlite::Result<u64> {
    let columns = row.as_ref().column_count();
    (0..columns).try_fold(columns as u64, |sum, column| {
        Ok(sum
            + match row.get_ref(column)? {
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len() as u64,
                _ => 0,
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::ErrorCode;

    const ENDLESS: &str = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) \
                           SELECT max(i) FROM n";

    #[test]
    fn what_has_no_end_is_left_and_the_next_operation_has_its_own_budget() {
        let mut connection = Connection::open_in_memory().unwrap();
        let budget = WorkBudget::on(&mut connection, Path::new("")).unwrap();
        let number = |statement: &str| connection.query_row(statement, [], |row| row.get(0));
        let error: rusqlite::Result<i64> = number(ENDLESS);
        let code = error.unwrap_err().sqlite_error_code();
        assert_eq!(code, Some(ErrorCode::OperationInterrupted));
        budget.renew(0);
        let counted = ENDLESS.replace("FROM n)", "FROM n WHERE i < 100000)");
        assert_eq!(number(&counted), Ok(100_000_i64));
    }

    #[test]
    fn no_value_is_larger_than_what_is_stored() {
        let mut connection = Connection::open_in_memory().unwrap();
        WorkBudget::on(&mut connection, Path::new("")).unwrap();
        let large = connection.query_row("SELECT zeroblob(900000000)", [], |_| Ok(()));
        assert_eq!(large.unwrap_err().sqlite_error_code(), Some(ErrorCode::TooBig));
    }

    #[test]
    fn a_larger_file_may_take_more_and_no_size_wraps() {
        let budget = WorkBudget(Arc::default());
        budget.renew(u64::MAX);
        assert_eq!(budget.0.load(Ordering::Relaxed), u64::MAX);
        assert_eq!(yielded_max_bytes(u64::MAX), u64::MAX);
        assert_eq!(yielded_max_bytes(1_000), YIELDED_MIN_BYTES + 2_000);
    }
}
