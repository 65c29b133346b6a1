//! The table of how servers stand attacks: it sees how our own server ends them, and says so where
//! there is nothing to attack.
#![forbid(unsafe_code)]

use std::fs;
use std::path::Path;

use bookend_conformance::{Ended, bookend, run};

fn attacks(words: &[&str]) -> Ended {
    run(Path::new(env!("CARGO_BIN_EXE_attacks")), words)
}

/// The cells of the row of that attack.
fn row(attack: &str) -> Vec<String> {
    let tls =
        "${BOOKEND_TLS_KEY:+--tls-certificate $BOOKEND_TLS_CERTIFICATE --tls-key $BOOKEND_TLS_KEY}";
    let server = format!("ours={} serve --port 0 {tls}", bookend().display());
    let ended = attacks(&["--seconds", "0.5", "--only", attack, &server]);
    assert!(ended.succeeded, "{}", ended.text);
    let begins = format!("| {attack} | ours |");
    let line = ended.text.lines().find(|line| line.starts_with(&begins));
    let line = line.unwrap_or_else(|| panic!("no row in\n{}", ended.text));
    line.split('|').map(|cell| cell.trim().to_owned()).collect()
}

#[test]
fn a_flood_is_ended_and_somebody_else_is_answered_meanwhile() {
    // Those that a few frames end, however slow the machine.
    for attack in ["CONTINUATION flood", "HPACK bomb"] {
        let cells = row(attack);
        let [.., memory, calls, _, ends, _] = &cells[..] else {
            panic!("{cells:?}");
        };
        assert!(ends.contains("ENHANCE_YOUR_CALM"), "{attack}: {ends}");
        assert_eq!(memory.split('/').count(), 3, "{memory}");
        assert!(calls.ends_with(", 0"), "calls failed under {attack}: {calls}");
    }
}

#[test]
fn where_nobody_attacks_nothing_is_ended() {
    for attack in ["nothing", "nothing inside TLS"] {
        assert_eq!(row(attack)[6], "not ended 4");
    }
}

#[test]
fn records_without_data_end_a_connection() {
    for attack in ["ClientHellos in bytes", "KeyUpdates", "empty records"] {
        let cells = row(attack);
        assert!(cells[6].starts_with("closed"), "{attack}: {}", cells[6]);
        assert!(cells[4].ends_with(", 0"), "calls failed under {attack}: {}", cells[4]);
    }
}

#[test]
fn a_server_without_tls_has_no_row_of_it() {
    let server = format!("ours={} serve --port 0", bookend().display());
    let ended = attacks(&["--seconds", "0.1", "--only", "KeyUpdates", &server]);
    assert!(ended.text.contains("KeyUpdates, ours: it has no /helloworld"), "{}", ended.text);
}

#[test]
fn a_server_that_does_not_start_is_named_with_what_it_said() {
    let ended = attacks(&["--seconds", "0.1", "--only", "nothing", "absent=/nonexistent"]);
    assert!(ended.text.contains("nothing, absent: it said \"\""), "{}", ended.text);
}

#[test]
fn without_a_server_or_with_another_attack_nothing_is_begun() {
    for (words, complaint) in [
        (&[][..], "name a server"),
        (&["--only", "kindness", "a=b"], "--only is one of"),
        (&["127.0.0.1:80"], "a server is NAME=COMMAND"),
    ] {
        let ended = attacks(words);
        assert!(!ended.succeeded && ended.text.contains(complaint), "{}", ended.text);
    }
}

#[test]
fn the_page_has_the_table_of_the_record() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let record = root.join("records/experiments/attacks.csv");
    let text = fs::read_to_string(root.join("records/experiments/attacks.md")).expect("the page");
    if !record.exists() {
        assert!(!text.contains("| PING flood |"), "figures without a record");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("page.md");
    fs::write(&page, &text).expect("a copy");
    let words = [record.as_path(), &page].map(|path| path.to_str().expect("UTF-8"));
    let ended = attacks(&["--table", words[0], words[1]]);
    assert!(ended.succeeded, "{}", ended.text);
    assert_eq!(fs::read_to_string(&page).expect("it"), text, "see scripts/attacks");
}
