//! Files that somebody names, and standard input. They are read no further than there is a use for
//! what is in them; text comes without a byte order mark.

use crate::error_text::Unreadable;
use bookend_contract::input;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Most bytes of request data. In memory its messages take several times as many, and a server
/// takes one of 4 MiB by default (gRPC's default).
pub const DATA_MAX_BYTES: u64 = 256 << 20;

/// And a result that is read again: each call that it lists takes a hundred bytes, and a million
/// are listed by default.
pub const RESULT_MAX_BYTES: u64 = 1 << 30;

/// A race that is read again: a kept lap takes a hundred and sixty bytes at most, so this is a race
/// of a day and more by laps of the default length.
pub const RACE_MAX_BYTES: u64 = 256 << 20;

/// The bytes of a file.
///
/// # Errors
/// [`Unreadable`]: what the system says, or that there are more.
pub fn bytes(file: &Path, max_bytes: u64) -> Result<Vec<u8>, Unreadable> {
    let read = File::open(file).and_then(|opened| input::bytes(opened, max_bytes));
    read.map_err(|error| Unreadable::new(&file.display().to_string(), &error))
}

/// The text of a file.
///
/// # Errors
/// As [`bytes`], and that it is not text in UTF-8.
pub fn text(file: &Path, max_bytes: u64) -> Result<String, Unreadable> {
    input::decoded(bytes(file, max_bytes)?)
        .map_err(|error| Unreadable::new(&file.display().to_string(), &error))
}

/// The data of requests in a file, or on standard input, with what errors call the place.
pub(crate) fn data(
    file: Option<&Path>,
    standard_input: &mut impl Read,
) -> Result<(Vec<u8>, String), Unreadable> {
    if let Some(file) = file {
        return Ok((bytes(file, DATA_MAX_BYTES)?, file.display().to_string()));
    }
    let place = "standard input".to_owned();
    match input::bytes(standard_input, DATA_MAX_BYTES) {
        Ok(bytes) => Ok((bytes, place)),
        Err(error) => Err(Unreadable::new(&place, &error)),
    }
}
