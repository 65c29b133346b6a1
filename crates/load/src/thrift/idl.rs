//! IDL files: read with all that they include.

mod constant;
mod resolve;

pub(super) use resolve::ResolvedIdl;

use super::error::ThriftError;
use crate::error_text::Unreadable;
use pilota_thrift_parser::{Error, File, FileParser, FileSource, Item};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A file that was read.
struct IdlFile {
    /// As errors name it.
    name: String,
    parsed: File,
    /// Those that it includes, by what it calls them: their names without `.thrift`.
    includes: HashMap<String, usize>,
}

/// A file and all that it includes; the file itself is the first.
struct IdlFiles {
    files: Vec<IdlFile>,
    /// By their real paths, so that a file which is included twice is read once.
    by_path: HashMap<PathBuf, usize>,
    import_paths: Vec<PathBuf>,
}

impl IdlFiles {
    fn read(file: &Path, import_paths: &[PathBuf]) -> Result<Self, ThriftError> {
        let import_paths = import_paths.to_vec();
        let mut files = Self { files: Vec::new(), by_path: HashMap::new(), import_paths };
        let mut found = vec![files.add(file)?];
        while let Some(including) = found.pop() {
            for include in included_by(&files.files[including].parsed) {
                let path = files
                    .find(file_of(including, &files.files, file), &include)
                    .ok_or_else(|| ThriftError::Include {
                        file: files.files[including].name.clone(),
                        include: include.clone(),
                    })?;
                let before = files.files.len();
                let included = files.add(&path)?;
                files.files[including].includes.insert(stem(&path), included);
                found.extend((included == before).then_some(included));
            }
        }
        Ok(files)
    }

    /// The number of a file, which is read if it is new.
    fn add(&mut self, file: &Path) -> Result<usize, ThriftError> {
        let name = file.display().to_string();
        let real = fs::canonicalize(file).map_err(|error| Unreadable::new(&name, &error))?;
        if let Some(number) = self.by_path.get(&real) {
            return Ok(*number);
        }
        let text = fs::read_to_string(file).map_err(|error| Unreadable::new(&name, &error))?;
        let parsed = FileParser::new(FileSource::new(&text)).parse().map_err(|error| {
            ThriftError::Syntax { file: name.clone(), reason: syntax_reason(&error) }
        })?;
        self.by_path.insert(real, self.files.len());
        self.files.push(IdlFile { name, parsed, includes: HashMap::new() });
        Ok(self.files.len() - 1)
    }

    /// An included file: beside the one that includes it, or in one of the folders.
    fn find(&self, including: &Path, include: &str) -> Option<PathBuf> {
        including
            .parent()
            .map(Path::to_path_buf)
            .into_iter()
            .chain(self.import_paths.iter().cloned())
            .map(|folder| folder.join(include))
            .find(|path| path.is_file())
    }
}

fn file_of<'a>(number: usize, files: &'a [IdlFile], first: &'a Path) -> &'a Path {
    if number == 0 { first } else { Path::new(&files[number].name) }
}

fn included_by(parsed: &File) -> Vec<String> {
    parsed
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Include(include) => Some(include.path.to_string()),
            _ => None,
        })
        .collect()
}

/// What an including file calls an included one.
fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The first thing that the parser says, in one line.
fn syntax_reason(error: &Error) -> String {
    let Error::Syntax { summary, .. } = error else {
        return error.to_string();
    };
    let first = match summary.split_once("\n  1. Line ") {
        Some((_, list)) => list.split("\n  2. ").next().unwrap_or(list),
        None => summary.split_once(" at line ").map_or(&**summary, |(_, said)| said),
    };
    let said = first.replacen(':', " column ", 1).replacen(" - ", ": ", 1);
    // The parser names line ends among what it expects, as they are.
    let letters: String =
        said.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    format!("line {letters}")
}
