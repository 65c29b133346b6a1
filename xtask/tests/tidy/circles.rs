//! Files that take names from each other can only be read together. A few pairs are meant to be.

use crate::offence::Offence;
use crate::rust_modules::Crate;
use crate::tree::File;
use std::collections::{BTreeMap, BTreeSet};

/// A crate, files in the order of their names, and why they may take names from each other.
type MeantCircle = (&'static str, &'static [&'static str], &'static str);

const MEANT: [MeantCircle; 3] = [
    (
        "io",
        &["context.rs", "shard.rs"],
        "a shard is called with the context, and the context speaks of the shard's connections",
    ),
    (
        "io",
        &["faults.rs", "kernel.rs"],
        "each system call asks whether it is to fail, and a fault names a system call",
    ),
    (
        "report",
        &["chart.rs", "chart/drawing.rs"],
        "a chart is drawn in a theme, and a theme is a property of the chart",
    ),
];

/// Every circle of files in a crate's `src` that is not meant, and what is meant and is gone.
pub fn circles_of_files(tree: &[File]) -> Vec<Offence> {
    let mut offences = Vec::new();
    let mut found = BTreeSet::new();
    for (name, sources) in sources_by_crate(tree) {
        let known = Crate::read(sources);
        for circle in circles(&known.edges()) {
            let is_meant = MEANT.iter().any(|(of, files, _)| *of == name && *files == circle);
            if is_meant {
                found.insert((name, circle[0].to_owned()));
                continue;
            }
            let path = format!("crates/{name}/src/{}", circle[0]);
            offences.push(Offence::of_file(&path, ties(&circle, &known.edges())));
        }
    }
    let gone = MEANT.iter().filter(|(of, files, _)| !found.contains(&(*of, files[0].to_owned())));
    offences.extend(gone.map(|(of, files, _)| {
        let path = format!("crates/{of}/src/{}", files[0]);
        Offence::of_file(&path, "the circle that is named here as meant is gone")
    }));
    offences
}

fn sources_by_crate(tree: &[File]) -> BTreeMap<&str, Vec<(&str, &str)>> {
    let mut crates: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for file in tree {
        let inside = file.path.strip_prefix("crates/").unwrap_or(&file.path);
        let parts = inside.split_once("/src/").filter(|(name, _)| !name.contains('/'));
        if let (Some((name, source)), Some(text)) = (parts, file.text())
            && source.ends_with(".rs")
        {
            crates.entry(name).or_default().push((source, text));
        }
    }
    crates
}

/// Sets of two and more files that reach each other, each in order of names.
fn circles<'a>(edges: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> Vec<Vec<&'a str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        edges.keys().map(|from| (*from, reachable(from, edges))).collect();
    let mut circles: BTreeSet<Vec<&str>> = BTreeSet::new();
    for (file, others) in &reached {
        let back = others.iter().filter(|other| reached[**other].contains(file));
        let circle: Vec<&str> = back.copied().collect();
        if circle.len() > 1 {
            circles.insert(circle);
        }
    }
    circles.into_iter().collect()
}

fn reachable<'a>(from: &str, edges: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<&str> = edges[from].iter().copied().collect();
    while let Some(file) = open.pop() {
        if seen.insert(file) {
            open.extend(&edges[file]);
        }
    }
    seen
}

fn ties(circle: &[&str], edges: &BTreeMap<&str, BTreeSet<&str>>) -> String {
    let inside = circle.iter().map(|from| {
        let to: Vec<&str> = edges[from].iter().copied().filter(|to| circle.contains(to)).collect();
        format!("{from} -> {}", to.join(", "))
    });
    let lines: Vec<String> = inside.collect();
    format!("a circle of {} files: {}", circle.len(), lines.join("; "))
}

#[test]
fn files_that_take_names_from_each_other_are_a_circle() {
    let text = |path: &str, text: &str| File {
        path: format!("crates/extra/src/{path}"),
        bytes: text.as_bytes().to_vec(),
    };
    let straight = [
        text("lib.rs", "mod a; mod b; mod c;"),
        text("a.rs", "use crate::b::B; pub struct A;"),
        text("b.rs", "use crate::c::C; pub struct B;"),
        text("c.rs", "pub struct C;"),
    ];
    let of_extra = |tree: &[File]| {
        let found = circles_of_files(tree).into_iter().map(|each| each.to_string());
        found.filter(|each| each.contains("extra")).collect::<Vec<_>>()
    };
    assert_eq!(of_extra(&straight), [""; 0]);
    let mut round = straight;
    round[3] = text("c.rs", "use crate::a::A; pub struct C;");
    let found = of_extra(&round);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("3 files"), "{found:?}");
}
