//! The record of a suite that tells what to expect of it.

use crate::record::{Facts, Record, file_in};
use crate::suite::Extent;
use std::fs;
use std::path::{Path, PathBuf};

/// How deep the folder of a suite lies at most: `history/HOST/SUITE`.
const DEPTH: usize = 3;

/// The newest record of a suite in a folder of records, on whatever host it was made.
pub fn newest(records: &Path, suite: &str, extent: Extent) -> Option<Facts> {
    folders_called(suite, records, DEPTH)
        .iter()
        .filter_map(|folder| Record::read_facts(&file_in(folder, extent)?).ok())
        .max_by_key(|facts| facts.started.unix_ms())
}

fn folders_called(name: &str, folder: &Path, depth: usize) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.map(|entry| entry.path()).filter(|path| path.is_dir());
    let found = folders.flat_map(|path| match path.file_name().is_some_and(|last| last == name) {
        true => vec![path],
        false if depth > 1 => folders_called(name, &path, depth - 1),
        false => Vec::new(),
    });
    found.collect()
}
