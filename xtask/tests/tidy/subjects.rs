//! Equal terms for what is compared: Rust subjects are built alike, pinned, and small.

use crate::offence::Offence;
use crate::tree::File;
use std::collections::BTreeMap;
use toml::Table;

/// The release profile of every Rust subject: the best that the compiler does without being told of
/// this machine's processor, and enough debugging information to say where the time goes.
const RELEASE_PROFILE: &str = r#"
lto = "fat"
codegen-units = 1
panic = "unwind"
debug = "line-tables-only"
"#;

/// Variants that are built with another one, with the reason.
const OTHER_PROFILES: [(&str, &str); 1] = [(
    "rust-pajamax/0.3.3-frames",
    "its flame graph has the functions that fat LTO folds into one; its rate is compared with none",
)];

/// A subject does as little as its library lets it.
const SUBJECT_LINES: usize = 300;

/// Subjects that may be longer, with the reason.
const LONG_SUBJECTS: [(&str, &str); 2] = [
    ("rust-floor", "both ends of a call without a library: the zero of the scale, not a subject"),
    ("rust-clockwork", "the witness that the instrument is held against: never measured"),
];

/// Endings of the names of files that are programs.
const SOURCES: [&str; 14] =
    ["c", "cc", "cpp", "cs", "go", "h", "hpp", "java", "js", "kt", "mjs", "py", "rs", "ts"];

/// Folders that are no subject: the contract in C++, in Go for both subjects in Go, and in Java.
const NO_SUBJECT: [&str; 3] =
    ["subjects/cpp-grpc/contract/", "subjects/go-contract/", "subjects/java-grpc/src/contract/"];

/// The contract in Python, which every subject in Python has the same copy of: no part of what the
/// library asks for.
const SHARED: [[&str; 2]; 2] = [
    ["subjects/python-grpcio/contract.py", "subjects/python-grpclib/contract.py"],
    ["subjects/python-grpcio/phases.py", "subjects/python-grpclib/phases.py"],
];

/// Programs besides a subject's own, and source folders in place of another: for other versions of
/// a library, which no program can have next to this one, and for a client that is a program of its
/// own.
const OTHER_PROGRAMS: [&str; 7] = [
    "cpp-grpc/cpp_client",
    "go-grpc/oldest",
    "go-thrift/oldest",
    "java-grpc/src/jdk21",
    "java-grpc/src/today",
    "rust-tonic/0.11",
    "rust-tonic/client",
];

/// Whether a path is the manifest of a Rust subject, or of a program next to one.
pub fn is_subject_manifest(path: &str) -> bool {
    program(path).is_some_and(|name| path == format!("subjects/{name}/Cargo.toml"))
}

/// Manifests with a release profile of their own, or that are drawn into the workspace.
pub fn unequal_builds(path: &str, text: &str) -> Vec<Offence> {
    let parse = |text: &str| -> Table {
        text.parse().unwrap_or_else(|error| panic!("{path} is not TOML: {error}"))
    };
    let manifest = parse(text);
    let profiles = manifest.get("profile");
    let release = profiles.and_then(|all| all.get("release")).and_then(|value| value.as_table());
    let mut offences = Vec::new();
    if release != Some(&parse(RELEASE_PROFILE)) {
        offences.push(Offence::of_file(path, "its release profile is not the subjects' own"));
    }
    if !manifest.contains_key("workspace") {
        offences.push(Offence::of_file(path, "is no workspace of its own"));
    }
    offences
}

/// The flags of cargo besides the manifest: frame pointers for all, a processor for none.
pub fn unequal_flags(path: &str, text: &str) -> Vec<Offence> {
    let complaints = [
        (!text.contains("force-frame-pointers=yes"), "frame pointers are not kept"),
        (text.contains("target-cpu"), "is built for one processor"),
    ];
    let found = complaints.into_iter().filter(|(holds, _)| *holds);
    found.map(|(_, what)| Offence::of_file(path, what)).collect()
}

/// Commands that build a Rust subject with another profile than its manifest has.
pub fn unequal_commands(path: &str, text: &str) -> Vec<Offence> {
    let declared: Table =
        text.parse().unwrap_or_else(|error| panic!("{path} is not TOML: {error}"));
    let name = subject(path).unwrap_or_default();
    let variants = declared.get("variants").and_then(|all| all.as_array()).into_iter().flatten();
    let named = variants.filter_map(|variant| {
        let own = variant.get("name")?.as_str()?;
        Some((format!("{name}/{own}"), variant.get("build")?))
    });
    let all = declared.get("build").map(|build| (name.to_owned(), build)).into_iter().chain(named);
    let changes = |build: &toml::Value| {
        let build = build.to_string().to_lowercase();
        ["profile", "rustflags", "--config"].iter().any(|word| build.contains(word))
    };
    let excused = |name: &str| OTHER_PROFILES.iter().any(|(known, _)| *known == name);
    all.filter(|(name, build)| changes(build) && !excused(name))
        .map(|(name, _)| Offence::of_file(path, format!("{name} is built with another profile")))
        .collect()
}

/// Rust subjects whose lockfile or flags are not in the tree.
pub fn missing_files(files: &[File]) -> Vec<Offence> {
    let present = |path: &str| files.iter().any(|file| file.path == path);
    let manifests = files.iter().filter(|file| is_subject_manifest(&file.path));
    let missing = manifests.flat_map(|manifest| {
        let folder = manifest.path.trim_end_matches("Cargo.toml");
        // Its flags hold for programs in folders below as well.
        let subject = subject(&manifest.path).unwrap_or_default();
        let flags = format!("subjects/{subject}/.cargo/config.toml");
        [format!("{folder}Cargo.lock"), flags].into_iter().filter(|path| !present(path))
    });
    missing.map(|path| Offence::of_file(&path, "is missing")).collect()
}

/// Subjects with more lines than they may have, whatever the language.
pub fn long_subjects(files: &[File]) -> Vec<Offence> {
    let mut lines = BTreeMap::<&str, usize>::new();
    for file in files.iter().filter(|file| is_counted(&file.path)) {
        if let Some(name) = program(&file.path) {
            *lines.entry(name).or_default() += file.text().map_or(0, |text| text.lines().count());
        }
    }
    let excused = |name: &str| LONG_SUBJECTS.iter().any(|(long, _)| *long == name);
    let long = lines.into_iter().filter(|(name, lines)| *lines > SUBJECT_LINES && !excused(name));
    long.map(|(name, lines)| {
        Offence::of_file(&format!("subjects/{name}"), format!("{lines} lines"))
    })
    .collect()
}

/// What somebody wrote and the subject runs: neither generated code nor tests nor what builds it.
fn is_counted(path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let aside = ["generated", "test", "tests"];
    let is_aside = folder.split('/').any(|part| aside.contains(&part));
    let is_test = stem.ends_with("_test") || stem.starts_with("test_");
    let is_build = name == "build.rs";
    let is_shared = SHARED.iter().flatten().any(|known| *known == path);
    let is_excused = is_shared || NO_SUBJECT.iter().any(|folder| path.starts_with(folder));
    SOURCES.contains(&ending) && !(is_aside || is_test || is_build || is_excused)
}

/// Copies that differ, or of which one is gone: then it is no shared file.
pub fn unequal_copies(files: &[File]) -> Vec<Offence> {
    let bytes = |path: &str| {
        let file = files.iter().find(|file| file.path == path);
        file.map(|file| &file.bytes)
    };
    let unequal = SHARED.iter().filter(|[first, second]| {
        let first = bytes(first);
        first.is_none() || first != bytes(second)
    });
    unequal
        .map(|[first, second]| Offence::of_file(first, format!("is not the same as {second}")))
        .collect()
}

/// The name of what a file is a part of: of the subject, or of another program next to it.
fn program(path: &str) -> Option<&str> {
    let inner = path.strip_prefix("subjects/")?;
    let is_in =
        |folder: &&str| inner.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    OTHER_PROGRAMS.into_iter().find(is_in).or_else(|| subject(path))
}

fn subject(path: &str) -> Option<&str> {
    let (name, _) = path.strip_prefix("subjects/")?.split_once('/')?;
    Some(name)
}

#[cfg(test)]
fn file(path: &str, text: &str) -> File {
    File { path: path.to_owned(), bytes: text.as_bytes().to_owned() }
}

#[test]
fn a_profile_of_ones_own_is_an_offence() {
    let equal = format!("[workspace]\n[profile.release]{RELEASE_PROFILE}");
    assert_eq!(unequal_builds("subjects/a/Cargo.toml", &equal), []);
    for unequal in [
        equal.replace("\"fat\"", "\"thin\""),
        format!("{equal}opt-level = 2"),
        equal.replace("[workspace]", ""),
        "[workspace]".to_owned(),
    ] {
        assert_eq!(unequal_builds("subjects/a/Cargo.toml", &unequal).len(), 1, "{unequal}");
    }
}

#[test]
fn a_build_command_may_not_change_the_profile_but_where_that_is_listed() {
    let of = |variant: &str, command: &str| {
        let text = format!("[[variants]]\nname = \"{variant}\"\nbuild = [[{command}]]");
        unequal_commands("subjects/rust-pajamax/subject.toml", &text).len()
    };
    let thin = r#""env", "CARGO_PROFILE_RELEASE_LTO=off", "cargo", "build""#;
    assert_eq!(of("0.3.3", r#""cargo", "build", "--release", "--locked""#), 0);
    assert_eq!((of("0.3.3-frames", thin), of("0.3.3", thin)), (0, 1));
    for other in [r#""cargo", "build", "--profile=dev""#, r#""cargo", "--config", "x.toml""#] {
        assert_eq!(of("0.3.3", other), 1, "{other}");
    }
    let of_all = "build = [[\"env\", \"RUSTFLAGS=-O\", \"cargo\"]]";
    assert_eq!(unequal_commands("subjects/rust-floor/subject.toml", of_all).len(), 1);
}

#[test]
fn flags_for_one_processor_are_an_offence() {
    let flags = "rustflags = [\"-C\", \"force-frame-pointers=yes\"]";
    assert_eq!(unequal_flags("a", flags), []);
    assert_eq!(unequal_flags("a", &flags.replace("yes", "no")).len(), 1);
    assert_eq!(unequal_flags("a", &format!("{flags} # target-cpu=native")).len(), 1);
}

#[test]
fn a_subject_without_a_lockfile_is_an_offence() {
    let (manifest, flags) = ("subjects/a/Cargo.toml", "subjects/a/.cargo/config.toml");
    let lockfile = "subjects/a/Cargo.lock";
    let with = |paths: &[&str]| {
        missing_files(&paths.iter().map(|path| file(path, "")).collect::<Vec<_>>()).len()
    };
    assert_eq!(with(&[manifest, flags, lockfile]), 0);
    assert_eq!(with(&[manifest, flags]), 1);
    assert_eq!(with(&[manifest]), 2);

    let program = "subjects/rust-tonic/0.11";
    let (manifest, lockfile) = (format!("{program}/Cargo.toml"), format!("{program}/Cargo.lock"));
    let flags = "subjects/rust-tonic/.cargo/config.toml";
    assert_eq!(with(&[&manifest, &lockfile, flags]), 0);
    assert_eq!(with(&[&manifest, flags]), 1);
    assert_eq!(with(&[&manifest, &lockfile]), 1);
}

#[test]
fn a_subject_is_measured_over_all_its_files() {
    let half = "a\n".repeat(SUBJECT_LINES / 2);
    let main = file("subjects/a/src/main.rs", &half);
    let with = |path: &str, text: &str| long_subjects(&[file(path, text), file(&main.path, &half)]);
    assert_eq!(with("subjects/a/src/b.rs", &half), []);
    assert_eq!(with("subjects/a/src/b.rs", &format!("{half}a\n")).len(), 1);
    assert_eq!(with("subjects/a/build.rs", &half.repeat(2)), []);
}

#[test]
fn the_length_of_a_subject_is_counted_in_every_language() {
    let long = "a\n".repeat(SUBJECT_LINES + 1);
    let count = |path: &str| long_subjects(&[file(path, &long)]).len();
    for path in [
        "subjects/a/main.go",
        "subjects/a/src/main/java/com/example/Main.java",
        "subjects/a/server/server.cc",
        "subjects/a/server.py",
        "subjects/a/oldest/main.go",
    ] {
        assert_eq!(count(path), 1, "{path}");
    }
    for path in [
        "subjects/a/main_test.go",
        "subjects/a/tests/test_server.py",
        "subjects/a/src/test/java/com/example/MainTest.java",
        "subjects/a/generated/a/a.pb.go",
        "subjects/a/requirements.txt",
        "subjects/a/README.md",
        "subjects/cpp-grpc/contract/tally.cc",
        "subjects/go-contract/load.go",
        "subjects/java-grpc/src/contract/java/Load.java",
        SHARED[0][1],
    ] {
        assert_eq!(count(path), 0, "{path}");
    }
}

#[test]
fn a_program_beside_a_subject_is_measured_for_itself() {
    let half = "a\n".repeat(SUBJECT_LINES / 2 + 1);
    for program in OTHER_PROGRAMS {
        let own = format!("subjects/{program}/main.go");
        let (name, _) = program.split_once('/').expect("a folder below its subject's");
        let main = format!("subjects/{name}/main.go");
        let with = |path: &str| long_subjects(&[file(&main, &half), file(path, &half)]);
        assert_eq!(with(&format!("subjects/{name}/server.go")).len(), 1);
        assert_eq!(with(&own), []);
        assert_eq!(long_subjects(&[file(&own, &half.repeat(2))]).len(), 1);
    }
}

#[test]
fn a_shared_file_that_changed_in_one_place_is_an_offence() {
    let all = || SHARED.as_flattened().iter().map(|path| file(path, "same"));
    let all = || all().collect::<Vec<File>>();
    assert_eq!(unequal_copies(&all()), []);
    assert_eq!(unequal_copies(&all()[1..]).len(), 1);
    let mut changed = all();
    changed[2].bytes.push(b'x');
    assert_eq!(unequal_copies(&changed).len(), 1);
}
