//! The committed subjects are well-formed, and what suites name as instruments are instruments.

use bookend_contract::environment::Role;
use bookend_lab::subject::{SUBJECT_FILE, Subject};
use bookend_results::suite::Suite;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn subjects() -> Vec<Subject> {
    let entries = std::fs::read_dir(root().join("subjects")).expect("the subjects folder");
    let folders = entries.map(|entry| entry.expect("an entry").path());
    let declared = folders.filter(|folder| folder.join(SUBJECT_FILE).is_file());
    let read = |folder: PathBuf| Subject::read(&folder).unwrap_or_else(|error| panic!("{error}"));
    declared.map(read).collect()
}

#[test]
fn every_committed_subject_can_be_read_and_says_what_it_is() {
    let subjects = subjects();
    assert!(subjects.len() >= 3, "only {} subjects were found", subjects.len());
    for subject in subjects {
        assert!(!subject.description.is_empty(), "{}", subject.name);
        assert!(!subject.source_files().expect("readable").is_empty(), "{}", subject.name);
    }
}

#[test]
fn what_makes_the_load_of_a_suite_is_an_instrument() {
    let subjects = subjects();
    for name in ["pajamax-tonic", "helloworld-profile"] {
        let suite = Suite::read(&root().join("suites").join(name)).expect("well-formed");
        for instrument in &suite.instruments {
            let found = subjects.iter().find(|subject| subject.name == *instrument);
            let has_role = found.is_some_and(|subject| subject.has_role(Role::Instrument));
            assert!(has_role, "{instrument} of {name} is no instrument");
        }
    }
}

#[test]
fn a_server_as_it_is_needs_the_seven_lines_of_the_guide() {
    let guide =
        std::fs::read_to_string(root().join("docs/extend/adding-a-subject.md")).expect("the guide");
    let block =
        guide.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a block");
    assert_eq!(block.lines().count(), 7, "{block}");
    let subject =
        Subject::parse(Path::new("my-server"), block).unwrap_or_else(|error| panic!("{error}"));
    assert!(subject.variants[0].has_role(Role::Server));
    let error = Subject::parse(Path::new("mine"), "name = \"mine\"\n").expect_err("half of one");
    assert!(error.to_string().ends_with("missing fields `language`, `description`"), "{error}");
}
