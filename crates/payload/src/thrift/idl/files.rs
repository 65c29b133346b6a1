//! A file and all that it includes.

use super::document::{Definition, Document, WrittenName};
use super::parser::{self, ELEMENTS_MAX, ParseError, Parser};
use crate::error_text::Unreadable;
use crate::thrift::error::ThriftError;
use bookend_contract::input;
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Files that one file includes, and those include. As many as a reflected schema may have.
const FILES_MAX: usize = 10_000;

/// A file that was read.
#[derive(Debug, Default)]
pub(super) struct IdlFile {
    /// As errors name it.
    pub name: String,
    path: PathBuf,
    pub document: Document,
    /// Those that it includes, by what it calls them: their names without `.thrift`. Several may
    /// be called alike.
    pub includes: HashMap<String, Vec<usize>>,
    /// Those that are nowhere, by what it calls them.
    pub missing: BTreeMap<String, ThriftError>,
}

/// A file and all that it includes; the file itself is the first.
#[derive(Debug)]
pub(super) struct IdlFiles {
    pub files: Vec<IdlFile>,
    /// By their real paths, so that a file which is included twice is read once.
    by_path: HashMap<PathBuf, usize>,
    import_paths: Vec<PathBuf>,
    files_left: usize,
    bytes_left: u64,
    elements_left: usize,
}

impl IdlFiles {
    fn new(import_paths: &[PathBuf]) -> Self {
        Self {
            files: Vec::new(),
            by_path: HashMap::new(),
            import_paths: import_paths.to_vec(),
            files_left: FILES_MAX,
            bytes_left: input::MAX_BYTES,
            elements_left: ELEMENTS_MAX,
        }
    }

    /// One file that was read already. What it includes is missing.
    pub fn of_text(name: &str, text: &str) -> Result<Self, ThriftError> {
        let mut files = Self::new(&[]);
        files.add_text(name.to_owned(), PathBuf::new(), text)?;
        for WrittenName { path, line } in files.take_includes(0) {
            files.add_missing(0, &path, line);
        }
        Ok(files)
    }

    pub fn read(file: &Path, import_paths: &[PathBuf]) -> Result<Self, ThriftError> {
        let mut files = Self::new(import_paths);
        files.add_all(file)?;
        Ok(files)
    }

    fn add_all(&mut self, file: &Path) -> Result<(), ThriftError> {
        let mut found = vec![self.add(file)?];
        while let Some(including) = found.pop() {
            for WrittenName { path: include, line } in self.take_includes(including) {
                let Some(path) = self.find(&self.files[including].path, &include) else {
                    self.add_missing(including, &include, line);
                    continue;
                };
                let before = self.files.len();
                let included = match self.add(&path) {
                    // As little as one that is nowhere is it needed before something names it.
                    Err(ThriftError::Unreadable(error)) if error.is_of_system() => {
                        let missing = &mut self.files[including].missing;
                        missing.insert(stem(&path), error.into());
                        continue;
                    }
                    added => added?,
                };
                let alike = self.files[including].includes.entry(stem(&path)).or_default();
                if !alike.contains(&included) {
                    alike.push(included);
                }
                found.extend((included == before).then_some(included));
            }
        }
        Ok(())
    }

    fn take_includes(&mut self, number: usize) -> Vec<WrittenName> {
        std::mem::take(&mut self.files[number].document.includes)
    }

    /// The compiler only warns of a file that is nowhere; so it may be missing until it is needed.
    fn add_missing(&mut self, number: usize, include: &str, line: u32) {
        let including = &mut self.files[number];
        let stem = stem(Path::new(include));
        let include = include.escape_debug().to_string();
        let error = ThriftError::Include { file: including.name.clone(), line, include };
        including.missing.insert(stem, error);
    }

    /// The number of a file, which is read if it is new.
    fn add(&mut self, file: &Path) -> Result<usize, ThriftError> {
        let name = file.display().to_string();
        // A pipe has no path of its own.
        let real = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
        if let Some(number) = self.by_path.get(&real) {
            return Ok(*number);
        }
        let too_many = |what| ThriftError::TooMany { file: name.clone(), what };
        self.files_left = self.files_left.checked_sub(1).ok_or_else(|| too_many("10000 files"))?;
        let text = File::open(file)
            .and_then(|opened| input::text(opened, input::MAX_BYTES))
            .map_err(|error| Unreadable::new(&name, &error))?;
        let bytes = text.len() as u64;
        self.bytes_left = self.bytes_left.checked_sub(bytes).ok_or_else(|| too_many("64 MiB"))?;
        self.by_path.insert(real, self.files.len());
        self.add_text(name, file.to_owned(), &text)?;
        Ok(self.files.len() - 1)
    }

    fn add_text(&mut self, name: String, path: PathBuf, text: &str) -> Result<(), ThriftError> {
        let (document, elements_left) = Parser::parse(text, self.elements_left)
            .map_err(|error| syntax_error(name.clone(), error))?;
        self.elements_left = elements_left;
        self.files.push(IdlFile { name, path, document, ..IdlFile::default() });
        Ok(())
    }

    /// An included file: next to the one that includes it, or in one of the folders.
    fn find(&self, including: &Path, include: &str) -> Option<PathBuf> {
        including
            .parent()
            .map(Path::to_path_buf)
            .into_iter()
            .chain(self.import_paths.iter().cloned())
            .map(|folder| folder.join(include))
            .find(|path| path.is_file())
    }

    pub fn definition(&self, file: usize, definition: usize) -> &Definition {
        &self.files[file].document.definitions[definition]
    }

    /// The first thing that makes a file less than it could be: a definition that is not known,
    /// or an included file that is nowhere.
    pub fn gap(&self) -> Option<ThriftError> {
        self.files.iter().find_map(|file| {
            let unknown = file.document.unknown.first();
            let unknown = unknown.map(|unknown| file.unknown(parser::not_thrift(unknown)));
            unknown.or_else(|| file.missing.values().next().cloned())
        })
    }
}

impl IdlFile {
    /// Why a name may not be there: it is of a file that is nowhere, or was passed over.
    pub fn gap_of(&self, path: &str) -> Option<ThriftError> {
        let is_of = |stem: &str| path.strip_prefix(stem).is_some_and(|name| name.starts_with('.'));
        let missing = self.missing.iter().find(|(stem, _)| is_of(stem)).map(|(_, error)| error);
        missing.cloned().or_else(|| {
            let unknown = self.document.unknown.iter().find(|unknown| unknown.name == path)?;
            Some(self.unknown(parser::not_thrift(unknown)))
        })
    }

    fn unknown(&self, error: ParseError) -> ThriftError {
        syntax_error(self.name.clone(), error)
    }
}

fn syntax_error(file: String, error: ParseError) -> ThriftError {
    let ParseError { line, column, what, is_limit } = error;
    if is_limit {
        ThriftError::Meaning { file, line, what }
    } else {
        ThriftError::Syntax { file, reason: format!("line {line} column {column}: {what}") }
    }
}

/// What an including file calls an included one.
fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    fn refused(files: &mut IdlFiles, folder: &tempfile::TempDir) -> String {
        let error = files.add_all(&folder.path().join("a.thrift")).unwrap_err().to_string();
        error.replace(&folder.path().display().to_string(), "")
    }

    #[test]
    fn each_file_is_read_once_whoever_includes_it() {
        let folder = folder(&[
            ("a.thrift", "include 'a.thrift'\ninclude 'b/b.thrift' include './b/../b/b.thrift'"),
            ("b/b.thrift", "include \"../a.thrift\"; include 'b.thrift'"),
        ]);
        let files = IdlFiles::read(&folder.path().join("a.thrift"), &[]).unwrap();
        assert_eq!(files.files.len(), 2);
        assert!(files.gap().is_none());
    }

    #[test]
    fn a_file_that_cannot_be_read_is_missed_where_it_is_needed() {
        let folder = folder(&[("a.thrift", "include '/proc/self/mem'\nservice S {}")]);
        let files = IdlFiles::read(&folder.path().join("a.thrift"), &[]).unwrap();
        assert_eq!(files.files.len(), 1);
        let said = "cannot read /proc/self/mem: input/output error";
        assert_eq!(files.files[0].gap_of("mem.T").unwrap().to_string(), said);
        assert_eq!(files.gap().unwrap().to_string(), said);
    }

    #[test]
    fn files_and_their_bytes_have_a_bound_together() {
        let folder = folder(&[("a.thrift", "include 'b.thrift'"), ("b.thrift", "//")]);
        let mut few = IdlFiles { files_left: 1, ..IdlFiles::new(&[]) };
        let said = "/b.thrift is one too many: a file may include 10000 files in all";
        assert_eq!(refused(&mut few, &folder), said);
        let mut small = IdlFiles { bytes_left: 19, ..IdlFiles::new(&[]) };
        let said = "/b.thrift is one too many: a file may include 64 MiB in all";
        assert_eq!(refused(&mut small, &folder), said);
        let mut plain = IdlFiles { elements_left: 0, ..IdlFiles::new(&[]) };
        let said = "/a.thrift, line 1: there are more than 1000000 definitions, fields and values";
        assert_eq!(refused(&mut plain, &folder), said);
        let mut enough = IdlFiles { files_left: 2, bytes_left: 20, ..IdlFiles::new(&[]) };
        enough.add_all(&folder.path().join("a.thrift")).unwrap();
    }

    #[test]
    fn a_file_is_text_in_utf_8_behind_its_mark() {
        let folder = folder(&[("a.thrift", "\u{feff}include 'b.thrift'"), ("b.thrift", "")]);
        IdlFiles::read(&folder.path().join("a.thrift"), &[]).unwrap();
        fs::write(folder.path().join("b.thrift"), b"\xff\xfes\0").unwrap();
        let said = "cannot read /b.thrift: it is text in UTF-16: save it in UTF-8";
        assert_eq!(refused(&mut IdlFiles::new(&[]), &folder), said);
    }
}
