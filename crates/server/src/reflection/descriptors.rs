//! An index of file descriptors by what they declare.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use prost::Message;
use prost_types::{DescriptorProto, EnumDescriptorProto, FieldDescriptorProto};
use prost_types::{FileDescriptorProto, ServiceDescriptorProto};

/// The position of a file in [`Descriptors`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FileIndex(usize);

/// All files that the services of a server were compiled from.
#[derive(Debug, Default)]
pub(super) struct Descriptors {
    files: Vec<File>,
    by_name: HashMap<String, FileIndex>,
    by_symbol: HashMap<String, FileIndex>,
    by_extension: BTreeMap<(String, i32), FileIndex>,
}

#[derive(Debug)]
struct File {
    /// As the compiler wrote it: encoding it again would lose custom options.
    encoded: Vec<u8>,
    imports: Vec<String>,
}

/// A `FileDescriptorSet` whose files stay encoded.
#[derive(Clone, PartialEq, Message)]
struct EncodedSet {
    #[prost(bytes = "vec", repeated, tag = "1")]
    file: Vec<Vec<u8>>,
}

impl Descriptors {
    /// An index of encoded `FileDescriptorSet`s. Of files with one name the first is taken; what
    /// cannot be decoded is left out.
    pub fn new<'a>(sets: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut index = Descriptors::default();
        for set in sets {
            let set = EncodedSet::decode(set).unwrap_or_default();
            set.file.into_iter().for_each(|file| index.add_file(file));
        }
        index
    }

    pub fn file_named(&self, name: &str) -> Option<FileIndex> {
        self.by_name.get(name).copied()
    }

    /// The file that declares `symbol`, a full name without a leading dot.
    pub fn file_of_symbol(&self, symbol: &str) -> Option<FileIndex> {
        self.by_symbol.get(symbol).copied()
    }

    pub fn file_of_extension(&self, message: &str, number: i32) -> Option<FileIndex> {
        self.by_extension.get(&(message.to_owned(), number)).copied()
    }

    pub fn extensions_of(&self, message: &str) -> Vec<i32> {
        let of_message = (message.to_owned(), i32::MIN)..=(message.to_owned(), i32::MAX);
        self.by_extension.range(of_message).map(|((_, number), _)| *number).collect()
    }

    /// The file and everything that it imports, directly or not; the file first.
    pub fn with_imports(&self, file: FileIndex) -> Vec<Vec<u8>> {
        let mut seen = BTreeSet::from([file]);
        let mut order = vec![file];
        let mut next = 0;
        while let Some(&FileIndex(at)) = order.get(next) {
            next += 1;
            let imports = self.files[at].imports.iter();
            for import in imports.filter_map(|name| self.file_named(name)) {
                if seen.insert(import) {
                    order.push(import);
                }
            }
        }
        order.iter().map(|&FileIndex(at)| self.files[at].encoded.clone()).collect()
    }

    fn add_file(&mut self, encoded: Vec<u8>) {
        let Ok(file) = FileDescriptorProto::decode(&*encoded) else {
            return;
        };
        if self.by_name.contains_key(file.name()) {
            return;
        }
        let index = FileIndex(self.files.len());
        self.by_name.insert(file.name().to_owned(), index);
        let mut declared = Declared { index, symbols: self, scope: file.package().to_owned() };
        declared.file(&file);
        self.files.push(File { encoded, imports: file.dependency });
    }
}

/// Walks through what one file declares.
struct Declared<'a> {
    index: FileIndex,
    symbols: &'a mut Descriptors,
    /// The full name of what is being walked through.
    scope: String,
}

impl Declared<'_> {
    fn file(&mut self, file: &FileDescriptorProto) {
        file.message_type.iter().for_each(|message| self.message(message));
        file.enum_type.iter().for_each(|declared| self.enumeration(declared));
        file.service.iter().for_each(|service| self.service(service));
        file.extension.iter().for_each(|extension| self.extension(extension));
    }

    fn message(&mut self, message: &DescriptorProto) {
        self.symbol(message.name());
        self.within(message.name(), |inner| {
            message.field.iter().for_each(|field| inner.symbol(field.name()));
            message.oneof_decl.iter().for_each(|oneof| inner.symbol(oneof.name()));
            message.nested_type.iter().for_each(|nested| inner.message(nested));
            message.enum_type.iter().for_each(|declared| inner.enumeration(declared));
            message.extension.iter().for_each(|extension| inner.extension(extension));
        });
    }

    /// Values of an enum are declared next to it, not in it.
    fn enumeration(&mut self, declared: &EnumDescriptorProto) {
        self.symbol(declared.name());
        declared.value.iter().for_each(|value| self.symbol(value.name()));
    }

    fn service(&mut self, service: &ServiceDescriptorProto) {
        self.symbol(service.name());
        self.within(service.name(), |inner| {
            service.method.iter().for_each(|method| inner.symbol(method.name()));
        });
    }

    fn extension(&mut self, extension: &FieldDescriptorProto) {
        self.symbol(extension.name());
        let message = extension.extendee().trim_start_matches('.').to_owned();
        self.symbols.by_extension.insert((message, extension.number()), self.index);
    }

    fn symbol(&mut self, name: &str) {
        let full_name = self.full_name(name);
        self.symbols.by_symbol.entry(full_name).or_insert(self.index);
    }

    fn within(&mut self, name: &str, walk: impl FnOnce(&mut Declared<'_>)) {
        let scope = self.full_name(name);
        walk(&mut Declared { index: self.index, symbols: self.symbols, scope });
    }

    fn full_name(&self, name: &str) -> String {
        if self.scope.is_empty() { name.to_owned() } else { format!("{}.{name}", self.scope) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prost_types::FileDescriptorSet;

    fn file(name: &str, imports: &[&str], message: DescriptorProto) -> FileDescriptorProto {
        FileDescriptorProto {
            name: Some(name.into()),
            package: Some("p".into()),
            dependency: imports.iter().map(|&import| import.into()).collect(),
            message_type: vec![message],
            ..FileDescriptorProto::default()
        }
    }

    fn message(name: &str) -> DescriptorProto {
        DescriptorProto { name: Some(name.into()), ..DescriptorProto::default() }
    }

    fn extension(of: &str, number: i32) -> FieldDescriptorProto {
        FieldDescriptorProto {
            name: Some(format!("e{number}")),
            extendee: Some(of.into()),
            number: Some(number),
            ..FieldDescriptorProto::default()
        }
    }

    fn indexed(files: Vec<FileDescriptorProto>) -> Descriptors {
        let set = FileDescriptorSet { file: files }.encode_to_vec();
        Descriptors::new([&set[..], b"\xff not a set"].into_iter())
    }

    fn names(files: &[Vec<u8>]) -> Vec<String> {
        let name = |file: &Vec<u8>| FileDescriptorProto::decode(&**file).unwrap().name().to_owned();
        files.iter().map(name).collect()
    }

    #[test]
    fn imports_come_along_once_even_in_a_circle() {
        let index = indexed(vec![
            file("a", &["b", "c"], message("A")),
            file("b", &["c", "missing"], message("B")),
            file("c", &["a"], message("C")),
            file("d", &[], message("D")),
        ]);
        let of_a = index.with_imports(index.file_of_symbol("p.A").unwrap());
        assert_eq!(names(&of_a), ["a", "b", "c"]);
        let of_d = index.with_imports(index.file_named("d").unwrap());
        assert_eq!(names(&of_d), ["d"]);
        assert_eq!(index.file_of_symbol("p.E"), None);
    }

    #[test]
    fn what_is_nested_is_found_by_its_full_name() {
        let mut outer = message("Outer");
        outer.nested_type.push(message("Inner"));
        outer.field.push(extension("", 1));
        let index = indexed(vec![file("a", &[], outer)]);
        for symbol in ["p.Outer", "p.Outer.Inner", "p.Outer.e1"] {
            assert!(index.file_of_symbol(symbol).is_some(), "{symbol}");
        }
    }

    #[test]
    fn extensions_are_found_by_type_and_number() {
        let mut extending = file("b", &["a"], message("B"));
        extending.extension = vec![extension(".p.A", 9), extension(".p.A", 7)];
        let index = indexed(vec![file("a", &[], message("A")), extending]);
        assert_eq!(index.extensions_of("p.A"), [7, 9]);
        assert_eq!(index.file_of_extension("p.A", 9), index.file_named("b"));
        assert_eq!(index.file_of_extension("p.A", 8), None);
        assert_eq!(index.extensions_of("p.B"), [] as [i32; 0]);
    }
}
