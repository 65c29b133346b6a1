//! The files of a schema while it is put together: which there are, which of their imports are
//! missing, and the pool that they make.

use super::budget::{Excess, IMPORTS_MAX_BYTES};
use super::checked::{NotChecked, check_pool};
use super::error::one_line;
use prost_reflect::DescriptorPool;
use prost_types::FileDescriptorProto;
use protox::file::{FileResolver as _, GoogleFileResolver};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::rc::Rc;

/// What each import takes in memory besides its letters.
const IMPORT_BYTES: usize = 24;
/// Files that an error lists.
const NAMES_SHOWN_MAX: usize = 5;

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
    /// How the files do not fit together, in one line, or that they are too much.
    pub fn into_pool(mut self) -> Result<DescriptorPool, NotChecked> {
        let order = self.order()?;
        self.flatten_imports()?;
        let mut pool = DescriptorPool::new();
        // One by one: the library holds what it adds three times, and what it has added twice.
        for file in order.iter().filter_map(|name| self.files.remove(name)) {
            pool.add_file_descriptor_proto(file)
                .map_err(|error| one_line(&format!("{error:?}")))?;
        }
        check_pool(&pool)?;
        Ok(pool)
    }

    /// The names of all files, each behind those that it imports.
    fn order(&self) -> Result<Vec<String>, String> {
        let mut importers: HashMap<&str, Vec<&str>> = HashMap::new();
        let mut waits_for: HashMap<&str, usize> = HashMap::new();
        for (name, file) in &self.files {
            waits_for.insert(name, file.dependency.len());
            for import in &file.dependency {
                importers.entry(import).or_default().push(name);
            }
        }
        let is_first = |name: &&str| waits_for[name] == 0;
        let mut order: Vec<&str> = self.files.keys().map(String::as_str).filter(is_first).collect();
        let mut at = 0;
        while let Some(name) = order.get(at) {
            at += 1;
            for importer in importers.remove(name).unwrap_or_default() {
                let imports = waits_for.entry(importer).or_default();
                *imports -= 1;
                if *imports == 0 {
                    order.push(importer);
                }
            }
        }
        if order.len() < self.files.len() {
            waits_for.retain(|_, imports| *imports > 0);
            return Err(self.circle(&waits_for));
        }
        Ok(order.into_iter().map(str::to_owned).collect())
    }

    /// Says how one of these files imports itself: each waits for another of them.
    fn circle(&self, waiting: &HashMap<&str, usize>) -> String {
        let next = |name: &str| {
            let imports = self.files.get(name).map(|file| &file.dependency);
            imports.into_iter().flatten().find(|import| waiting.contains_key(import.as_str()))
        };
        let mut way: Vec<&str> = waiting.keys().min().copied().into_iter().collect();
        while let Some(import) = way.last().and_then(|name| next(name)) {
            if let Some(start) = way.iter().position(|name| name == import) {
                let through: Vec<_> =
                    way[start + 1..].iter().copied().take(NAMES_SHOWN_MAX).collect();
                return match &through[..] {
                    [] => format!("{import} imports itself"),
                    _ => format!("{import} imports itself, by way of {}", through.join(", ")),
                };
            }
            way.push(import);
        }
        "files import themselves".to_owned()
    }

    /// Gives every file the public imports of its imports as imports of its own. The library looks
    /// for them itself only one file deep, and without end where they go in a circle.
    fn flatten_imports(&mut self) -> Result<(), Excess> {
        let mut bytes = 0;
        let mut imports_of = Vec::with_capacity(self.files.len());
        for file in self.files.values() {
            let mut known = HashSet::from([file.name()]);
            let mut found: Vec<&str> = Vec::new();
            let mut next: Vec<&str> = file.dependency.iter().map(String::as_str).collect();
            while let Some(name) = next.pop() {
                bytes += name.len() + IMPORT_BYTES;
                if bytes > IMPORTS_MAX_BYTES {
                    return Err(Excess::Imports);
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
