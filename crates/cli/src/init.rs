//! `bookend init`: a suite and its subjects to begin with, for servers of one's own. They can be
//! measured at once, because Bookend's own server stands where theirs will.

use crate::shell::quoted;
use crate::terminal::{Failure, print, program};
use bookend_contract::exit;
use bookend_payload::error_text::reason;
use clap::Args;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf, absolute};

/// Each file with its text.
const FILES: [(&str, &str); 7] = [
    ("README.md", include_str!("init/README.md")),
    ("suites/my-question/suite.toml", include_str!("init/suite.toml")),
    ("subjects/my-server/subject.toml", include_str!("init/my-server.toml")),
    ("subjects/other-server/subject.toml", include_str!("init/other-server.toml")),
    ("subjects/bookend-load/subject.toml", include_str!("init/bookend-load.toml")),
    ("proto/helloworld.proto", include_str!("../../../proto/helloworld.proto")),
    ("proto/helloworld.json", include_str!("../../../proto/helloworld.json")),
];

const EXAMPLES: &str = r"Examples:
  bookend init lab";

/// Arguments of `bookend init`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct InitArguments {
    /// Folder to write into, which is made if it is not there
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

/// Writes the files, and says what to type next.
///
/// # Errors
/// [`Failure`] when one of them is there already, or cannot be written.
pub fn start(arguments: &InitArguments) -> Result<u8, Failure> {
    let folder = &arguments.folder;
    let files = FILES.map(|(name, text)| (folder.join(name), text));
    let is_there = |(file, _): &&(PathBuf, &str)| file.symlink_metadata().is_ok();
    let there: Vec<_> =
        files.iter().filter(is_there).map(|(file, _)| file.display().to_string()).collect();
    if !there.is_empty() {
        let (all, verb) = (there.join(", "), if there.len() == 1 { "is" } else { "are" });
        return Err(Failure::usage(format!(
            "{all} {verb} there already, and nothing is overwritten: name another folder"
        )));
    }
    for (file, _) in &files {
        let parent = file.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(|error| {
            let (parent, reason) = (parent.display(), reason(&error));
            Failure::usage(format!("cannot make the folder {parent}: {reason}"))
        })?;
    }
    write_all(&files)?;
    print(&next(folder))?;
    Ok(exit::MEASURED)
}

/// Writes all of them, or leaves none.
fn write_all(files: &[(PathBuf, &str)]) -> Result<(), Failure> {
    for (at, (file, text)) in files.iter().enumerate() {
        let written = write_new(file, text);
        if let Err(error) = written {
            // One that somebody else has made in the meantime stays theirs.
            let is_ours = error.kind() != io::ErrorKind::AlreadyExists;
            for (ours, _) in &files[..at + usize::from(is_ours)] {
                let _ = fs::remove_file(ours);
            }
            let (file, reason) = (file.display(), reason(&error));
            return Err(Failure::nothing_measured(format!("cannot write {file}: {reason}")));
        }
    }
    Ok(())
}

fn write_new(file: &Path, text: &str) -> io::Result<()> {
    File::create_new(file)?.write_all(text.as_bytes())
}

/// What to type for a first table.
fn next(folder: &Path) -> String {
    let mut bookend = program();
    let mut enter = String::new();
    if folder != Path::new(".") {
        enter = format!("  cd {}\n", quoted(&folder.to_string_lossy()));
        // A path that begins here would lead nowhere from there.
        if bookend.contains('/')
            && let Ok(path) = absolute(&bookend)
        {
            bookend = path.to_string_lossy().into_owned();
        }
    }
    let bookend = quoted(&bookend);
    format!(
        "The suite my-question compares two servers, which are Bookend's own until you name yours \
         (README.md).\nFor a first table, in a minute:\n{enter}  {bookend} run my-question --quick\n"
    )
}
