//! `.proto` files and what they import.

use super::budget::{DescriptorBudget, NotAdmitted};
use super::checked::{NotChecked, checked};
use super::error::{SchemaError, one_line};
use super::files::{DescriptorFiles, well_known};
use super::set::is_compiled;
use bookend_contract::input;
use prost::Message as _;
use prost_reflect::DescriptorPool;
use prost_types::FileDescriptorProto;
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The text of all files of one schema. As structs it takes up to 150 times as much; the
/// largest file that googleapis has is of 3 MB.
const TEXT_MAX_BYTES: u64 = 8 << 20;
/// Positions of one file that errors may name: each error looks for its own among all of them.
const POSITIONS_MAX: usize = 20_000;
/// The field of `FileDescriptorProto` with the imports.
const DEPENDENCY: i32 = 3;

/// The pool of a file and everything that it imports.
///
/// # Errors
/// [`SchemaError`].
pub(super) fn pool(file: &Path, import_paths: &[PathBuf]) -> Result<DescriptorPool, SchemaError> {
    let path = find(file, import_paths)?;
    let mut sources = ProtoSources {
        folders: search_path(&path, import_paths),
        names: HashMap::new(),
        paths: HashMap::new(),
        bytes_left: TEXT_MAX_BYTES,
        budget: DescriptorBudget::default(),
        files: DescriptorFiles::default(),
    };
    let name = sources.name(path.clone());
    sources.read(&name, &path)?;
    while let Some(import) = sources.files.next_missing() {
        if let Some(path) = sources.paths.get(&import.name).cloned() {
            sources.read(&import.name, &path)?;
        } else if let Some(file) = well_known(&import.name) {
            sources.insert(&import.name, file)?;
        }
    }
    sources.files.into_pool().map_err(|error| not_checked(&name, error))
}

/// Where imports are looked for, in ghz's order: what the user gave, the file's folder, the working
/// directory.
pub fn search_path(file: &Path, import_paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut folders = import_paths.to_vec();
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        folders.push(folder.to_owned());
    }
    folders.push(PathBuf::from("."));
    folders
}

/// A file is named from here or, as the official compiler has it, from an import path.
fn find(file: &Path, import_paths: &[PathBuf]) -> Result<PathBuf, SchemaError> {
    let error = match fs::metadata(file) {
        Ok(facts) if facts.is_dir() => return Err(SchemaError::IsAFolder(file.to_owned())),
        Ok(_) => return Ok(file.to_owned()),
        Err(error) => error,
    };
    let mut paths = import_paths.iter().map(|folder| folder.join(file));
    let found = paths.find(|path| error.kind() == io::ErrorKind::NotFound && is_file(path));
    found.ok_or_else(|| SchemaError::not_found(file, &error, import_paths))
}

/// Also a device or a pipe.
fn is_file(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|facts| !facts.is_dir())
}

struct ProtoSources {
    folders: Vec<PathBuf>,
    /// What files are called, by their real paths: one file may be reached in several ways.
    names: HashMap<PathBuf, String>,
    /// Where they are, by these names.
    paths: HashMap<String, PathBuf>,
    bytes_left: u64,
    budget: DescriptorBudget,
    files: DescriptorFiles,
}

impl ProtoSources {
    fn read(&mut self, name: &str, path: &Path) -> Result<(), SchemaError> {
        let unreadable = |error: io::Error| SchemaError::unreadable(path, &error);
        let bytes = fs::File::open(path)
            .and_then(|file| input::bytes(file, TEXT_MAX_BYTES))
            .map_err(unreadable)?;
        self.bytes_left = self.bytes_left.checked_sub(bytes.len() as u64).ok_or_else(|| {
            let most = format!("more than {} MiB of source text", TEXT_MAX_BYTES >> 20);
            SchemaError::too_much(name, most)
        })?;
        if is_compiled(&bytes) {
            return Err(SchemaError::SetGivenAsProto(name.to_owned()));
        }
        let text = input::decoded(bytes).map_err(unreadable)?;
        let parsed = protox::file::File::from_source(name, &text)
            .map_err(|error| SchemaError::not_compiled(name, &text, &error))?;
        self.insert(name, parsed.into())
    }

    fn insert(&mut self, name: &str, mut file: FileDescriptorProto) -> Result<(), SchemaError> {
        file.name = Some(name.to_owned());
        for place in 0..file.dependency.len() {
            let Some(found) = self.locate(&file.dependency[place]) else {
                return Err(self.missing(&file, place));
            };
            file.dependency[place] = found;
        }
        let positions = file.source_code_info.take();
        self.budget.admit(&file.encode_to_vec()).map_err(|error| match error {
            NotAdmitted::TooMuch(excess) => SchemaError::too_much(name, excess),
            NotAdmitted::Malformed(error) => SchemaError::NotCompiled(error.to_string()),
        })?;
        file.source_code_info = positions.filter(|it| it.location.len() <= POSITIONS_MAX);
        let file = checked(file, &mut self.budget).map_err(|error| not_checked(name, error))?;
        self.files.insert(file);
        Ok(())
    }

    /// What an imported file is called, if there is such a file.
    fn locate(&mut self, import: &str) -> Option<String> {
        let paths = self.folders.iter().map(|folder| folder.join(import));
        if let Some(path) = paths.into_iter().find(|path| is_file(path)) {
            return Some(self.name(path));
        }
        well_known(import).map(|_| import.to_owned())
    }

    fn name(&mut self, path: PathBuf) -> String {
        let real = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
        let shown = path.strip_prefix(".").unwrap_or(&path);
        let name = self.names.entry(real).or_insert_with(|| shown.display().to_string());
        self.paths.entry(name.clone()).or_insert(path);
        name.clone()
    }

    fn missing(&self, file: &FileDescriptorProto, place: usize) -> SchemaError {
        let path = [DEPENDENCY, i32::try_from(place).unwrap_or(i32::MAX)];
        let positions = file.source_code_info.iter().flat_map(|info| &info.location);
        let position = positions.filter(|location| location.path == path).find_map(|location| {
            let [line, column, ..] = location.span[..] else { return None };
            Some(format!(":{}:{}", line.saturating_add(1), column.saturating_add(1)))
        });
        let folders: Vec<_> = self.folders.iter().map(|it| it.display().to_string()).collect();
        SchemaError::ImportMissing {
            place: format!("{}{}", file.name(), position.unwrap_or_default()),
            import: file.dependency[place].clone(),
            folders: folders.join(", "),
        }
    }
}

fn not_checked(name: &str, error: NotChecked) -> SchemaError {
    match error {
        NotChecked::Wrong(reason) => SchemaError::NotCompiled(one_line(&reason)),
        NotChecked::TooMuch(excess) => SchemaError::too_much(name, excess),
    }
}
