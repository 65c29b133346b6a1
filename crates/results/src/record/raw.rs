//! What foreign instruments printed, kept beside a record: a file a cell.

use super::paths::without_folders;
use crate::raw_output::RawOutput;
use crate::suite::Extent;
use std::io;
use std::path::{Path, PathBuf};

/// The folder beside a suite's record for what its instruments printed.
pub fn raw_folder(records: &Path, suite: &str, extent: Extent) -> PathBuf {
    let name = match extent {
        Extent::Full => "raw",
        Extent::Quick => "raw-quick",
    };
    records.join(suite).join(name)
}

/// Writes a file for each; those of an earlier record are removed. Folders of the machine are cut.
///
/// # Errors
/// When the folder cannot be written.
pub fn write_raw(folder: &Path, outputs: &[RawOutput]) -> io::Result<()> {
    if folder.is_dir() {
        std::fs::remove_dir_all(folder)?;
    }
    if outputs.is_empty() {
        return Ok(());
    }
    std::fs::create_dir_all(folder)?;
    for output in outputs {
        std::fs::write(folder.join(output.file_name()), without_folders(&output.text))?;
    }
    Ok(())
}
