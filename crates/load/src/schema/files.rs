//! The files of a schema while it is put together: which there are, which of their imports are
//! missing, and the pool that they make.

use super::checked::check_pool;
use super::error::one_line;
use prost_reflect::DescriptorPool;
use prost_types::FileDescriptorProto;
use protox::file::{FileResolver as _, GoogleFileResolver};
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::rc::Rc;

/// What the names of all imports may take, with those that files have through public imports, bytes.
/// Those of all of googleapis take 5 MB.
const IMPORTS_MAX_BYTES: usize = 16 << 20;
/// Of each of them, besides its letters.
const IMPORT_BYTES: usize = 24;

/// Files by their names, each of them checked.
#[derive(Debug, Default)]
pub(super) struct DescriptorFiles {
    files: BTreeMap<String, FileDescriptorProto>,
    imports: VecDeque<MissingImport>,
}

/// A file that another imports, and that is not there yet.
#[derive(Clone, Debug)]
pub(super) struct MissingImport {
    pub name: String,
    pub importer: Rc<str>,
}

impl DescriptorFiles {
    /// Adds a file. Of those with one name the first stays.
    pub fn insert(&mut self, file: FileDescriptorProto) {
        if self.files.contains_key(file.name()) {
            return;
        }
        let importer: Rc<str> = Rc::from(file.name());
        let missing =
            |name: &String| MissingImport { name: name.clone(), importer: Rc::clone(&importer) };
        self.imports.extend(file.dependency.iter().map(missing));
        self.files.insert(file.name().to_owned(), file);
    }

    /// The file of that name.
    pub fn get(&self, name: &str) -> Option<&FileDescriptorProto> {
        self.files.get(name)
    }

    /// The next import that is not among the files; each comes once.
    pub fn next_missing(&mut self) -> Option<MissingImport> {
        while let Some(import) = self.imports.pop_front() {
            if !self.files.contains_key(&import.name) {
                return Some(import);
            }
        }
        None
    }

    /// The pool of all files.
    ///
    /// # Errors
    /// How the files do not fit together, in one line.
    pub fn into_pool(mut self) -> Result<DescriptorPool, String> {
        self.flatten_imports()?;
        let mut pool = DescriptorPool::new();
        pool.add_file_descriptor_protos(self.files.into_values())
            .map_err(|error| one_line(&format!("{error:?}")))?;
        check_pool(&pool)?;
        Ok(pool)
    }

    /// Gives every file the public imports of its imports as imports of its own. The library looks
    /// for them itself only one file deep, and without end where they go in a circle.
    fn flatten_imports(&mut self) -> Result<(), String> {
        let mut bytes = 0;
        let mut imports_of = Vec::with_capacity(self.files.len());
        for file in self.files.values() {
            let mut known = HashSet::from([file.name()]);
            let mut found: Vec<&str> = Vec::new();
            let mut next: Vec<&str> = file.dependency.iter().map(String::as_str).collect();
            while let Some(name) = next.pop() {
                bytes += name.len() + IMPORT_BYTES;
                if bytes > IMPORTS_MAX_BYTES {
                    return Err("its files have too many imports".to_owned());
                }
                if !known.insert(name) {
                    continue;
                }
                found.push(name);
                next.extend(self.files.get(name).into_iter().flat_map(public_imports));
            }
            imports_of.push(found.into_iter().map(str::to_owned).collect());
        }
        for (file, imports) in self.files.values_mut().zip(imports_of) {
            file.dependency = imports;
            file.public_dependency.clear();
            file.weak_dependency.clear();
        }
        Ok(())
    }
}

/// One of the files that every compiler brings along, and that many servers do not serve.
pub(super) fn well_known(name: &str) -> Option<FileDescriptorProto> {
    let file = GoogleFileResolver::new().open_file(name).ok()?;
    Some(file.file_descriptor_proto().clone())
}

fn public_imports(file: &FileDescriptorProto) -> impl Iterator<Item = &str> {
    let at = |&place: &i32| file.dependency.get(usize::try_from(place).ok()?);
    file.public_dependency.iter().filter_map(at).map(String::as_str)
}
