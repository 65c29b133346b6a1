//! One name, one thing: what a reader learned in one crate holds in the next.

use crate::offence::Offence;
use crate::rust_source::RustSource;
use crate::tree::File;
use std::collections::BTreeMap;

/// Public types of the workspace whose name stands more than once, in private modules as well.
pub fn names_that_stand_twice(tree: &[File]) -> Vec<Offence> {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let of_crates = tree.iter().filter(|file| is_crate_source(&file.path));
    for file in of_crates {
        for (line, name) in public_types(file.text().unwrap_or_default()) {
            let place = format!("{}:{line}", file.path);
            places.entry(name).or_default().push(place);
        }
    }
    let twice = places.into_iter().filter(|(_, places)| places.len() > 1);
    twice
        .map(|(name, places)| {
            let text = format!("{name} stands {} times: {}", places.len(), places.join(", "));
            Offence::of_file(&places[0], text)
        })
        .collect()
}

fn is_crate_source(path: &str) -> bool {
    let is_member =
        ["crates/", "publication/", "xtask/"].iter().any(|folder| path.starts_with(folder));
    is_member && path.contains("/src/") && path.ends_with(".rs")
}

/// Line and name of every `pub struct`, `enum`, `trait` and `type`; a type that belongs to a trait
/// has no `pub`.
fn public_types(text: &str) -> Vec<(usize, String)> {
    let code = RustSource::parse(text).code();
    let found = code.lines().zip(1..).filter_map(|(line, number)| {
        let mut words = line.split_whitespace().skip_while(|word| *word != "pub").skip(1);
        let kind = words.next()?;
        if !["struct", "enum", "trait", "type"].contains(&kind) {
            return None;
        }
        let name: String = words.next()?.chars().take_while(|c| c.is_alphanumeric()).collect();
        Some((number, name))
    });
    found.collect()
}

#[test]
fn a_name_in_two_crates_is_an_offence() {
    let file =
        |path: &str, text: &str| File { path: path.to_owned(), bytes: text.as_bytes().to_vec() };
    let tree = [
        file("crates/a/src/lib.rs", "pub struct Plan<'a>(&'a str);\nstruct Own;"),
        file("crates/b/src/deep/c.rs", "mod d { pub enum Plan { A } }\nstruct Own;"),
        file("crates/b/tests/story.rs", "pub struct Plan;"),
    ];
    let found = names_that_stand_twice(&tree);
    assert_eq!(found.len(), 1);
    let text = found[0].to_string();
    assert!(text.contains("Plan stands 2 times"), "{text}");
    assert_eq!(names_that_stand_twice(&tree[1..]).len(), 0);
}
