//! The files of one recorded cell.

use crate::cell_error::CellError;
use bookend_results::measurement::CellId;
use std::fs;
use std::path::Path;

/// Writes one file and gives its name back.
///
/// # Errors
/// The folder cannot be written to.
pub fn put(folder: &Path, name: &str, bytes: &[u8]) -> Result<String, CellError> {
    let file = folder.join(name);
    fs::write(&file, bytes)
        .map_err(|error| CellError::failed(format!("cannot write {}: {error}", file.display())))?;
    Ok(name.to_owned())
}

/// What the files of a cell are called: `rust-tonic-C1-S100`.
pub fn cell_name(cell: &CellId, names_instrument: bool) -> String {
    let case = cell.case.to_string().replace('=', "");
    let instrument = match names_instrument {
        true => format!(" via {}", cell.instrument),
        false => String::new(),
    };
    format!("{} {case}{instrument}", cell.subject).replace([' ', '/'], "-")
}
