//! The commands, a file each, and what they share: failures, files, and names of suites.

pub mod claims;
pub mod kept;
pub mod readme;
pub mod record;
pub mod results;
pub mod site;
pub mod sittings;

use bookend_contract::{exit, input};
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

/// The default folder of suites.
pub const SUITES: &str = "suites";

/// The default folder of records.
pub const RECORDS: &str = "records";

/// Why nothing was made: one line, and the exit status.
#[derive(Debug)]
pub struct NoPage {
    /// What is wrong, and where.
    pub message: String,
    /// One of [`exit`].
    pub status: u8,
}

impl NoPage {
    /// What was given cannot be used.
    pub fn given(message: impl ToString) -> NoPage {
        NoPage { message: message.to_string(), status: exit::USAGE }
    }

    /// That file cannot be used.
    pub fn unreadable(file: &Path, error: impl ToString) -> NoPage {
        NoPage::given(format!("{}: {}", file.display(), error.to_string()))
    }

    fn unwritten(file: &Path, error: impl ToString) -> NoPage {
        let message = format!("cannot write {}: {}", file.display(), error.to_string());
        NoPage { message, status: exit::NOT_DELIVERED }
    }
}

/// The text of a file that is not too large.
///
/// # Errors
/// [`NoPage`] naming the file.
pub fn read(file: &Path, max_bytes: u64) -> Result<String, NoPage> {
    let read = File::open(file).and_then(|opened| input::text(opened, max_bytes));
    read.map_err(|error| NoPage::unreadable(file, error))
}

/// Writes a text to a file, or to standard output.
///
/// # Errors
/// [`NoPage`] naming where it could not be written.
pub fn write(text: &str, file: Option<&Path>) -> Result<(), NoPage> {
    let output = Path::new("standard output");
    match file {
        Some(file) => fs::write(file, text).map_err(|error| NoPage::unwritten(file, error)),
        None => std::io::stdout()
            .write_all(text.as_bytes())
            .map_err(|error| NoPage::unwritten(output, error)),
    }
}

/// A line on standard output.
///
/// # Errors
/// [`NoPage`] when it cannot be written.
pub fn say(line: &str) -> Result<(), NoPage> {
    write(&format!("{line}\n"), None)
}

/// The names of the suites in a folder, sorted.
///
/// # Errors
/// [`NoPage`] when the folder cannot be read.
pub fn suites(folder: &Path) -> Result<Vec<String>, NoPage> {
    let unreadable = |error: std::io::Error| NoPage::unreadable(folder, error);
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        if entry.path().join("suite.toml").is_file() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}
