//! README.md and the pages that cite records: every figure is of a record, and every record that is
//! cited has its day, its extent and its machine next to it.

use bookend_publication::claims::JudgedSuites;
use bookend_publication::pages::{ReadMe, ReadMeSources, circumstances};
use bookend_results::record::{Record, file_of};
use bookend_results::suite::Extent;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn readme() -> String {
    fs::read_to_string(root().join("README.md")).expect("README.md")
}

#[test]
fn the_parts_of_the_readme_are_what_its_records_give() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_publication"));
    let checked = command.current_dir(root()).args(["readme", "--check"]).output().expect("runs");
    let said = String::from_utf8_lossy(&checked.stderr);
    assert_eq!(checked.status.code(), Some(0), "{said}");
}

#[test]
fn a_part_that_somebody_edited_is_found_and_made_again() {
    let home = tempfile::tempdir().expect("a folder");
    let [file, parts] = ["README.md", "parts.toml"].map(|name| home.path().join(name));
    let declared = "[[parts]]\nname = \"a\"\n[[parts.findings]]\nsuite = \"instruments\"\n\
                    title = \"Generators\"\ntext = \"Found {ghz}.\"\n";
    fs::write(&parts, declared).expect("written");
    let page =
        "# T\n\n<!-- made by publication readme: a -->\n<!-- end of what is made -->\n\nEnd.\n";
    fs::write(&file, page).expect("written");
    let run = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_publication"));
        command.current_dir(root()).arg("readme").arg(&file).arg("--parts").arg(&parts);
        command.args(words).output().expect("runs").status.code()
    };
    let is = || fs::read_to_string(&file).expect("readable");
    assert_eq!((run(&["--check"]), is().as_str()), (Some(3), page));
    assert_eq!(run(&[]), Some(0));
    let made = is();
    assert!(
        made.contains("\n| [Generators](suites/instruments/RESULTS.md) | Found 12.6k (12.5k"),
        "{made}"
    );
    assert!(made.starts_with("# T\n\n") && made.ends_with("\n\nEnd.\n"), "{made}");
    let edited = made.replacen("Found", "Wanted", 1);
    fs::write(&file, &edited).expect("written");
    assert_eq!((run(&["--check"]), is()), (Some(3), edited));
    assert_eq!((run(&[]), is()), (Some(0), made));
}

/// Figures in prose that no record gives: `4 %`, `1.4 to 3.1`, `48,265`.
fn typed_figures(page: &str) -> Vec<String> {
    let (mut is_made, mut is_code) = (false, false);
    let mut typed = Vec::new();
    for line in page.lines() {
        is_made = (is_made || line.starts_with("<!-- made by")) && !line.starts_with("<!-- end of");
        is_code ^= line.starts_with("```");
        if is_made || is_code {
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        for (at, word) in words.iter().enumerate() {
            let number = word.trim_matches(|c: char| !c.is_ascii_digit());
            let is_number = number.starts_with(|c: char| c.is_ascii_digit())
                && number.chars().all(|c| c.is_ascii_digit() || ",._%".contains(c))
                && !word.contains(['`', '/']);
            let is_share = words.get(at + 1).is_some_and(|unit| unit.starts_with('%'));
            let is_figure = number.len() > 2 || is_share;
            // The oldest Rust, and the licence.
            if is_number && is_figure && !["1.89", "2.0"].contains(&number) {
                typed.push(line.to_owned());
            }
        }
    }
    typed
}

#[test]
fn no_figure_of_the_readme_is_typed() {
    assert_eq!(typed_figures(&readme()), [""; 0]);
    for offence in ["is 1.4 to 3.1 times", "gives 48,265 requests", "up to 4 % cheaper"] {
        assert!(!typed_figures(offence).is_empty(), "{offence}");
        let made = format!("<!-- made by x -->\n{offence}\n<!-- end of what is made -->\n");
        assert_eq!(typed_figures(&made), [""; 0]);
    }
}

#[test]
fn every_published_benchmark_is_in_the_readme() {
    let judged = JudgedSuites::read(&root().join("suites"), &root().join("records"));
    let page = readme();
    let suites = judged.expect("suites").suites.into_iter();
    for suite in suites.filter(|one| !one.claims.document.are_expectations) {
        let row = format!("](suites/{}/RESULTS.md) | ", suite.suite);
        assert!(page.contains(&row), "{row}");
    }
}

fn filled(parts: &str) -> Result<String, String> {
    filled_of("records", parts)
}

/// The part of a page that is made of the records in this folder.
fn filled_of(records: &str, parts: &str) -> Result<String, String> {
    let home = tempfile::tempdir().expect("a folder");
    let file = home.path().join("readme.toml");
    fs::write(&file, parts).expect("written");
    let parts = ReadMe::read(&file).map_err(|error| error.to_string())?;
    let (suites, records) = (root().join("suites"), root().join(records));
    let sources = ReadMeSources { suites: &suites, records: &records };
    let page = "<!-- made by publication readme: a -->\n<!-- end of what is made -->\n";
    parts.filled(page, sources).map_err(|error| error.to_string())
}

#[test]
fn a_sentence_without_its_figures_is_refused() {
    let part = |suite: &str, text: &str| {
        format!(
            "[[parts]]\nname = \"a\"\n[[parts.findings]]\nsuite = \"{suite}\"\ntitle = \"T\"\n\
             text = \"{text}\"\n"
        )
    };
    let page = filled(&part("pajamax-tonic", "It is {thousand} times.")).expect("a page");
    // What failed stands in the same breath.
    assert!(
        page.contains("It is 13.6 (12.2 to 15.0; 27.7 % of the calls failed) times."),
        "{page}"
    );
    let unknown = filled(&part("pajamax-tonic", "It is {x} times.")).expect_err("refused");
    assert_eq!(unknown, "pajamax-tonic has no figure `x`");
    let of_two = part("clients-of-servers", "Of {ours_load} and {tonic_load}.");
    let of_two = filled_of("records/history", &of_two).expect_err("refused");
    assert!(
        of_two.starts_with("clients-of-servers has no finding: its figures are of"),
        "{of_two}"
    );
    let other = part("pajamax-tonic", "It is {own} times.").replace("\"a\"", "\"b\"");
    let other = filled(&other).expect_err("refused");
    assert!(other.contains("have not the same parts"), "{other}");
}

#[test]
fn a_figure_that_names_no_instrument_is_of_the_subjects_own_client() {
    // The record has them first with our generator: 2.34.
    let part = "[[parts]]\nname = \"a\"\n[[parts.findings]]\nsuite = \"grpc-thrift-go\"\n\
                title = \"T\"\ntext = \"It is {long}.\"\n";
    let page = filled(part).expect("a page");
    assert!(page.contains("It is 1.73 (1.60 to 1.80)."), "{page}");
}

#[test]
fn a_table_without_one_of_its_figures_is_refused() {
    let table = |subject: &str| {
        format!(
            "[[parts]]\nname = \"a\"\n[parts.table]\nsuite = \"pajamax-tonic\"\n\
             via = \"bookend-load\"\nsubjects = [\"{subject}\"]\n\
             columns = [{{ case = \"C=1 S=100\", heading = \"many\" }}]\n"
        )
    };
    let page = filled(&table("rust-tonic")).expect("a page");
    assert!(
        page.contains("| CPU time per call | many |\n|---|---:|\n| tonic 0.14.9 | 11.3 µs |\n")
    );
    let missing = filled(&table("rust-toinc")).expect_err("refused");
    assert_eq!(missing, "pajamax-tonic has no figure `rust-toinc`");
}

/// The links of a page to pages of suites, each with the words behind it.
fn cited(page: &str) -> Vec<(String, String)> {
    let text = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let links = text.split("suites/").skip(1);
    links
        .filter_map(|rest| {
            let (name, rest) = rest.split_once("/RESULTS.md)")?;
            (!name.contains([' ', '/'])).then(|| (name.to_owned(), rest.to_owned()))
        })
        .collect()
}

#[test]
fn who_cites_a_record_says_its_day_its_extent_and_its_machine() {
    let mut count = 0;
    for page in ["docs/measure/performance.md", "docs/measure/methodology.md"] {
        let text = fs::read_to_string(root().join(page)).expect("readable");
        for (name, behind) in cited(&text) {
            let expected = format!(" ({})", circumstances(&recorded(&name)));
            assert!(behind.starts_with(&expected), "{page}: {name} is cited without{expected}");
            count += 1;
        }
    }
    assert!(count > 3, "{count}");
}

/// The record that pages quote of a suite.
fn recorded(suite: &str) -> Record {
    let records = root().join("records");
    let files = [Extent::Full, Extent::Quick].map(|one| file_of(&records, suite, one));
    let file = files.into_iter().find(|file| file.is_file()).expect("a record");
    Record::read(&file).expect("readable")
}

#[test]
fn no_page_has_figures_of_two_machines() {
    for page in ["README.md", "docs/measure/claims.md", "records/pages/expectations.md"] {
        let text = fs::read_to_string(root().join(page)).expect("readable");
        let links = text.split("suites/").skip(1).filter_map(|rest| rest.split(['/', ')']).next());
        let suites: BTreeSet<&str> =
            links.filter(|name| name.starts_with(char::is_alphabetic)).collect();
        assert!(!suites.is_empty(), "{page} is about suites");
        let machines: BTreeSet<String> = suites
            .iter()
            .map(|suite| recorded(suite).facts.machine)
            .map(|one| {
                let cpu_id = one.hardware.map(|hardware| hardware.cpu_id);
                format!("{}, {} CPUs, {}, {cpu_id:?}", one.cpu_model, one.cpus, one.kernel)
            })
            .collect();
        assert_eq!(machines.len(), 1, "{page}: {suites:?} are of {machines:#?}");
    }
}
