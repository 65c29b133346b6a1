//! The modules of a crate as files, and which file takes names from which.
//!
//! A name that a module only passes on (`pub use`) is taken from the file that defines it, so a
//! front page ties nobody to anybody.

use crate::rust_source::RustSource;
use std::collections::{BTreeMap, BTreeSet};

/// The way to a name, from the root of the crate: `["record", "figures", "Figures"]`.
type Path = Vec<String>;

/// The files of one crate that are not for tests alone.
pub struct Crate {
    modules: BTreeMap<Path, Module>,
}

#[derive(Default)]
struct Module {
    file: String,
    /// What it defines.
    own: BTreeSet<String>,
    /// What it imports or passes on, by the name that it has here.
    imports: BTreeMap<String, Path>,
    /// Of these, what it passes on.
    passed_on: BTreeSet<String>,
    /// Every word that stands in it, outside imports.
    words: BTreeSet<String>,
    /// Modules of which it imports everything.
    globs: Vec<Path>,
    /// Every other path that stands in it, as written.
    mentions: Vec<Path>,
}

impl Crate {
    /// Reads the sources of a crate: the path of each relative to `src`, with its text.
    pub fn read<'a>(sources: impl IntoIterator<Item = (&'a str, &'a str)>) -> Crate {
        let mut modules = BTreeMap::new();
        let mut for_tests = Vec::new();
        for (file, text) in sources {
            let at = module_path(file);
            let (module, tests) = Module::parse(file, &at, text);
            for_tests.extend(tests);
            modules.insert(at, module);
        }
        modules.retain(|at, _| !for_tests.iter().any(|tests: &Path| at.starts_with(tests)));
        Crate { modules }
    }

    /// For every file the files from which it takes names.
    pub fn edges(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let edges = self.modules.iter().map(|(at, module)| {
            let named = module.mentions.iter().chain(module.needed_imports());
            let mut files: BTreeSet<&str> =
                named.filter_map(|path| self.file_of(&self.rooted(at, path), 0)).collect();
            files.remove(module.file.as_str());
            (module.file.as_str(), files)
        });
        edges.collect()
    }

    /// A path as it is written in module `at`, from the root. What is not of this crate leads
    /// nowhere later.
    fn rooted(&self, at: &[String], path: &[String]) -> Path {
        let mut root = at.to_vec();
        let mut rest = path;
        match path.first().map(String::as_str) {
            Some("crate") => {
                root.clear();
                rest = &rest[1..];
            }
            Some("self") => rest = &rest[1..],
            _ => {}
        }
        while rest.first().is_some_and(|part| part == "super") {
            root.pop();
            rest = &rest[1..];
        }
        root.extend_from_slice(rest);
        root
    }

    /// The file that defines what `path` leads to; `None` for a module itself, for what the crate
    /// does not define, and for passing on in circles.
    fn file_of(&self, path: &[String], depth: usize) -> Option<&str> {
        const PASSED_ON_MAX: usize = 8;
        let known = (0..path.len()).rev();
        let length = known.into_iter().find(|&n| self.modules.contains_key(&path[..n]))?;
        let at = &path[..length];
        let module = &self.modules[at];
        let name = &path[length];
        if self.modules.contains_key(&path[..=length]) || depth > PASSED_ON_MAX {
            return None;
        }
        if module.own.contains(name) {
            return Some(&module.file);
        }
        let follow = |target: &Path| {
            let mut onward = self.rooted(at, target);
            onward.extend_from_slice(&path[length + 1..]);
            self.file_of(&onward, depth + 1)
        };
        if let Some(target) = module.imports.get(name) {
            return follow(target);
        }
        let mut globs = module.globs.iter();
        globs.find_map(|glob| {
            let mut onward = self.rooted(at, glob);
            onward.extend_from_slice(&path[length..]);
            self.file_of(&onward, depth + 1)
        })
    }
}

impl Module {
    /// The module and the modules that it declares for tests alone.
    fn parse(file: &str, at: &[String], text: &str) -> (Module, Vec<Path>) {
        let code = RustSource::parse(text).code();
        let tokens = tokens(&code);
        let mut module = Module { file: file.to_owned(), ..Module::default() };
        let mut for_tests = Vec::new();
        let mut reader = Reader { tokens: &tokens, next: 0 };
        let mut depth = 0;
        while let Some(token) = reader.take() {
            match token {
                "{" => depth += 1,
                "}" => depth -= 1,
                "#" if reader.begins(&["[", "cfg", "(", "test", ")", "]"]) => {
                    reader.next += 6;
                    if reader.begins(&["mod"]) && reader.peek(2) == Some(";") {
                        let name = reader.peek(1).expect("a module has a name");
                        for_tests.push([at, &[name.to_owned()]].concat());
                    } else {
                        reader.skip_item();
                    }
                }
                "use" => {
                    let passes_on = reader.stands_after_pub();
                    let mut used = Vec::new();
                    reader.use_tree(&mut Vec::new(), &mut used);
                    for (name, path) in used {
                        module.import(name, path, passes_on);
                    }
                }
                "struct" | "enum" | "trait" | "type" | "fn" | "const" | "static" | "union"
                    if depth == 0 =>
                {
                    let name = reader.tokens[reader.next..].iter().find(|name| **name != "fn");
                    module.own.extend(name.map(|name| (*name).to_owned()));
                }
                word if is_word(word) => {
                    module.words.insert(word.to_owned());
                    if reader.peek(0) == Some("::") {
                        module.mentions.push(reader.path(word));
                    }
                }
                _ => {}
            }
        }
        (module, for_tests)
    }

    fn import(&mut self, name: String, path: Path, passes_on: bool) {
        if name == "*" {
            self.globs.push(path);
            return;
        }
        if passes_on {
            self.passed_on.insert(name.clone());
        }
        self.imports.insert(name, path);
    }

    /// The imports but those that are only passed on.
    fn needed_imports(&self) -> impl Iterator<Item = &Path> {
        let needed = |name: &String| !self.passed_on.contains(name) || self.words.contains(name);
        self.imports.iter().filter(move |(name, _)| needed(name)).map(|(_, path)| path)
    }
}

struct Reader<'a> {
    tokens: &'a [&'a str],
    next: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self) -> Option<&'a str> {
        let token = self.peek(0);
        self.next += 1;
        token
    }

    fn peek(&self, ahead: usize) -> Option<&'a str> {
        self.tokens.get(self.next + ahead).copied()
    }

    /// Whether the token that was taken last follows `pub` or `pub(...)`.
    fn stands_after_pub(&self) -> bool {
        let before = &self.tokens[..self.next - 1];
        matches!(before, [.., "pub"] | [.., "pub", "(", _, ")"])
    }

    fn begins(&self, with: &[&str]) -> bool {
        self.tokens[self.next.min(self.tokens.len())..].starts_with(with)
    }

    /// Up to the end of the item that begins here: its semicolon or its last brace.
    fn skip_item(&mut self) {
        let mut depth = 0;
        while let Some(token) = self.take() {
            match token {
                "{" => depth += 1,
                "}" if depth <= 1 => return,
                "}" => depth -= 1,
                ";" if depth == 0 => return,
                _ => {}
            }
        }
    }

    /// The path of which `first` was taken: `first::second::third`.
    fn path(&mut self, first: &str) -> Path {
        let mut path = vec![first.to_owned()];
        while self.peek(0) == Some("::") && self.peek(1).is_some_and(is_word) {
            path.push(self.tokens[self.next + 1].to_owned());
            self.next += 2;
        }
        path
    }

    /// What follows `use`, or a part of it: pairs of the name here and the path there.
    fn use_tree(&mut self, prefix: &mut Path, used: &mut Vec<(String, Path)>) {
        let length = prefix.len();
        loop {
            match self.take() {
                Some("{") => {
                    while self.peek(0).is_some_and(|token| token != "}") {
                        self.use_tree(prefix, used);
                    }
                    self.next += 1;
                }
                Some("*") => used.push(("*".to_owned(), prefix.clone())),
                Some("self") if !prefix.is_empty() => {
                    let name = prefix.last().expect("self stands in braces").clone();
                    used.push((name, prefix.clone()));
                }
                Some("::") => continue,
                Some("as") => {
                    let alias = self.take().unwrap_or("_").to_owned();
                    if let Some(last) = used.last_mut() {
                        last.0 = alias;
                    }
                }
                Some(word) if is_word(word) => {
                    prefix.push(word.to_owned());
                    if self.peek(0) == Some("::") {
                        continue;
                    }
                    used.push((word.to_owned(), prefix.clone()));
                }
                _ => break,
            }
            if self.peek(0) != Some("as") {
                break;
            }
        }
        prefix.truncate(length);
        if self.peek(0) == Some(",") {
            self.next += 1;
        }
    }
}

/// `record/figures.rs` is the module `record::figures`; `lib.rs` and `main.rs` are the root.
fn module_path(file: &str) -> Path {
    let stem = file.strip_suffix(".rs").unwrap_or(file);
    let stem = stem.strip_suffix("/mod").unwrap_or(stem);
    match stem {
        "lib" | "main" => Vec::new(),
        stem => stem.split('/').map(str::to_owned).collect(),
    }
}

/// Words, `::` and single characters.
fn tokens(code: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            _ if rest.starts_with("::") => 2,
            c if is_word_character(c) => rest.find(|c| !is_word_character(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        tokens.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    tokens
}

fn is_word(token: &str) -> bool {
    token.starts_with(is_word_character)
}

fn is_word_character(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn edges(sources: &[(&str, &str)]) -> Vec<(String, String)> {
    let known = Crate::read(sources.iter().copied());
    let edges = known.edges();
    let pairs = edges.iter().flat_map(|(from, to)| {
        let to = to.iter();
        to.map(|to| ((*from).to_owned(), (*to).to_owned()))
    });
    pairs.collect()
}

fn one(from: &str, to: &str) -> Vec<(String, String)> {
    vec![(from.to_owned(), to.to_owned())]
}

#[test]
fn a_name_is_taken_from_the_file_that_defines_it() {
    for text in [
        "use crate::b::Thing;",
        "use crate::{b::{Thing, other}};",
        "use super::b::Thing as Renamed;",
        "use crate::b; fn f(_: b::Thing) {}",
        "fn f() { crate::b::make() }",
        "use crate::Thing;",
    ] {
        let sources = [
            ("lib.rs", "mod a; mod b; pub use b::Thing;"),
            ("a.rs", text),
            ("b.rs", "pub struct Thing; pub fn make() {} pub fn other() {}"),
        ];
        assert_eq!(edges(&sources), one("a.rs", "b.rs"), "{text}");
    }
}

#[test]
fn what_stands_in_tests_ties_no_files() {
    let sources = [
        ("lib.rs", "mod a; mod b; #[cfg(test)] mod stories;"),
        ("a.rs", "#[cfg(test)] mod tests { use crate::b::Thing; }"),
        ("b.rs", "pub struct Thing;"),
        ("stories.rs", "use crate::b::Thing;"),
    ];
    assert_eq!(edges(&sources), []);
}

#[test]
fn children_and_parents_are_files_like_others() {
    let sources = [
        ("a.rs", "mod b; pub struct Parent; fn f() { b::run() }"),
        ("a/b.rs", "use super::Parent; pub fn run() {}"),
    ];
    let both = [one("a.rs", "a/b.rs"), one("a/b.rs", "a.rs")].concat();
    assert_eq!(edges(&sources), both);
}
