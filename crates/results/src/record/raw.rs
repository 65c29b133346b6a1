//! What foreign instruments printed, kept next to a record: a file a cell.

use super::paths::without_folders;
use super::suite_folder;
use crate::raw_output::RawOutput;
use crate::suite::Extent;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

/// The folder next to a suite's record for what its instruments printed.
pub fn raw_folder(records: &Path, suite: &str, extent: Extent) -> PathBuf {
    let name = match extent {
        Extent::Full => "raw",
        Extent::Quick => "raw-quick",
    };
    suite_folder(records, suite).join(name)
}

/// The text of a file there, before it is compressed: folders of the machine are cut.
pub fn raw_text(output: &RawOutput) -> String {
    without_folders(&output.text)
}

/// The end of files that were cut, which no longer happens.
const CUT_OFF: &[u8] = b"\n(cut off here)\n";

/// The names of the files in such a folder that were cut when they were written, sorted. They are
/// not compressed.
///
/// # Errors
/// When a file cannot be read.
pub fn cut_off_raw_files(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if ends_cut_off(&entry.path())? {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

fn ends_cut_off(file: &Path) -> io::Result<bool> {
    let mut file = File::open(file)?;
    let before = file.metadata()?.len().saturating_sub(CUT_OFF.len() as u64);
    file.seek(SeekFrom::Start(before))?;
    let mut end = Vec::new();
    file.take(CUT_OFF.len() as u64).read_to_end(&mut end)?;
    Ok(end == CUT_OFF)
}
