//! The pages of the suites, made of invented records.

#[path = "../../crates/results/tests/table_rows/mod.rs"]
mod table_rows;

use bookend_contract::build_facts::BuildFacts;
use bookend_publication::claims::{JudgedSuite, JudgedSuites, SuiteClaims};
use bookend_publication::document::Document;
use bookend_publication::pages::{Page, Presentation, first_difference};
use bookend_publication::published::PublishedTable;
use bookend_publication::site::ResultSite;
use bookend_results::mark::Mark;
use bookend_results::measurement::{Outcome, Row};
use bookend_results::profile::{
    Layer, Profile, ProfileOutcome, Profiled, SCHEMA_VERSION, Samples, Split,
};
use bookend_results::provenance::Provenance;
use bookend_results::record::Record;
use bookend_results::store::Run;
use bookend_results::suite::{Extent, Overrides, Selection, Suite};
use expect_test::expect_file;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use table_rows::{row, rows, run};

fn folder(name: &str) -> PathBuf {
    let suites = Path::new(env!("CARGO_MANIFEST_DIR")).join("../suites");
    suites.join(name)
}

/// A run of the suite with invented rows, in as few rounds as have intervals.
fn invented(name: &str, extent: Extent) -> (Run, Vec<Row>) {
    invented_in(3, name, extent)
}

fn invented_in(rounds: u32, name: &str, extent: Extent) -> (Run, Vec<Row>) {
    let suite = Suite::read(&folder(name)).unwrap_or_else(|error| panic!("{error}"));
    let selection = Selection { extent, rounds: Some(rounds), ..Selection::default() };
    let plan = suite.plan(&selection, &Overrides::default(), 2);
    let mut run = run();
    run.new.plan = plan.expect("a plan");
    run.new.command = format!("bookend run {name}");
    let rows = rows(&run.new.plan);
    (run, rows)
}

fn page_of(name: &str, (run, rows): &(Run, Vec<Row>)) -> String {
    let record = Record::of_run(run, rows, BTreeMap::new());
    let page = Page::read(&folder(name), &record).unwrap_or_else(|error| panic!("{error}"));
    page.files().text
}

/// The run of a suite, and ours in the rounds of a later one.
fn joined(name: &str) -> Record {
    let (run, mut rows) = invented(name, Extent::Full);
    for row in rows.iter_mut().filter(|row| row.cell.subject == "rust-bookend") {
        row.round += run.new.plan.rounds;
    }
    Record::of_run(&run, &rows, BTreeMap::new())
}

#[test]
fn the_page_of_a_joined_record_says_so_first_and_has_no_ratio_between_its_runs() {
    let record = joined("clients-of-servers");
    let page = Page::read(&folder("clients-of-servers"), &record).expect("a page").files().text;
    let said = page.lines().nth(2).expect("a line below the title");
    assert!(
        said.starts_with("Joined from two runs, and rows of one are not ranked with"),
        "{page}"
    );
    assert!(said.ends_with("Not of the first: rust-bookend."), "{page}");
    assert!(
        page.contains("\nNo finding is printed: the record has no figure of rust-bookend"),
        "{page}"
    );
    let left_out = "not ranked with these until all are recorded anew: bookend-server.";
    assert!(one_line(&page).contains(left_out), "{page}");
    assert!(!page.contains("\n| bookend-server"), "{page}");
    assert!(page.contains("\n| pajamax | "), "{page}");
    let mut own = page.lines().filter(|line| line.starts_with("| rust-bookend via bookend-load, "));
    assert!(own.any(|line| line.contains(" | no ratio | ")), "{page}");
}

#[test]
fn no_finding_stands_over_two_runs_and_no_picture_ranks_rows_of_them() {
    let mut record = joined("clients-of-servers");
    let mut beside = record.rows.clone();
    beside.retain(|row| row.cell.subject == "rust-pajamax");
    beside.iter_mut().for_each(|row| row.round += record.facts.plan.rounds);
    record.rows.extend(beside);
    let page = Page::read(&folder("clients-of-servers"), &record).expect("a page").files();
    let said = "No finding is printed: its figures are of two runs";
    assert!(page.text.contains(said) && !page.text.contains("\nFound"), "{}", page.text);
    let picture = page.picture.expect("a picture of the first run");
    assert!(picture.contains(">pajamax<") && !picture.contains("bookend-server"), "{picture}");
    let (run, rows) = invented("clients-of-servers", Extent::Full);
    let whole = page_of("clients-of-servers", &(run, rows));
    assert!(whole.contains("\nFound") && whole.contains("\n| bookend-server | "), "{whole}");
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The lines of what was run again, and of the ratios in a summary.
fn re_runs(page: &str) -> Vec<String> {
    let is_summary = |line: &str| line.starts_with("  ratio ^") || line.starts_with("  95 %");
    let is_own = |line: &&str| line.contains(" re-run") || is_summary(line);
    page.lines().filter(is_own).map(one_line).collect()
}

#[test]
fn the_ratio_beside_a_printed_row_is_over_the_version_that_was_published() {
    for name in ["pajamax-tonic", "helloworld-profile", "grpc-thrift-go", "java-executors"] {
        let (run, mut rows) = invented(name, Extent::Full);
        let before = re_runs(&page_of(name, &(run.clone(), rows.clone())));
        let baseline = run.new.plan.baseline().expect("a baseline").name.clone();
        for row in rows.iter_mut().filter(|row| row.cell.subject == baseline) {
            row.outcome.window_mut().expect("measured").ends.server.cpu_seconds *= 3.0;
        }
        let after = re_runs(&page_of(name, &(run, rows)));
        assert_eq!(before, after, "{name}: a ratio is over today's {baseline}");
        assert!(!before.iter().any(|line| line.contains("no ratio")), "{name}: {before:?}");
    }
}

#[test]
fn the_baseline_beside_a_later_run_is_in_no_figure_but_the_ratios_of_that_run() {
    for name in ["clients-of-servers", "helloworld-profile"] {
        let mut record = joined(name);
        let page = |record: &Record| {
            let page = Page::read(&folder(name), record).unwrap_or_else(|error| panic!("{error}"));
            page.files().text
        };
        let alone = page(&record);
        let baseline = record.facts.plan.baseline().expect("a baseline").name.clone();
        let mut beside = record.rows.clone();
        beside.retain(|row| row.cell.subject == baseline && row.round < record.facts.plan.rounds);
        for row in &mut beside {
            row.round += record.facts.plan.rounds;
            let window = row.outcome.window_mut().expect("measured");
            window.counts.ok /= 2;
            window.ends.server.cpu_seconds /= 3.0;
            window.marks.push(Mark::Steal { share: 0.4 });
        }
        record.rows.extend(beside);
        let both = page(&record);
        assert_ne!(alone, both);
        let is_of_the_run =
            |line: &&str| ["ours", "bookend", "----"].iter().any(|word| line.contains(word));
        let others = |text: &str| {
            let figures = text.lines().skip_while(|line| *line != "## Figures");
            figures.filter(|line| !is_of_the_run(line)).collect::<Vec<_>>().join("\n")
        };
        assert_eq!(first_difference(&others(&alone), &others(&both)), None);
    }
}

#[test]
fn a_site_ranks_nobody_with_rows_of_another_run() {
    let front = |record: Record| {
        let site = ResultSite {
            records: vec![record],
            judged: JudgedSuites { suites: vec![], ..JudgedSuites::default() },
            since: BTreeMap::from([(
                "clients-of-servers".to_owned(),
                "recorded on a <day>".to_owned(),
            )]),
            raw: BTreeMap::new(),
        };
        site.files().remove(0).1
    };
    let row = "<th scope=\"row\">rust-bookend<";
    let (run, rows) = invented("clients-of-servers", Extent::Full);
    let whole = front(Record::of_run(&run, &rows, BTreeMap::new()));
    assert!(whole.contains(row) && !whole.contains("Joined from"), "{whole}");
    assert!(whole.contains("; recorded on a &lt;day&gt;. "), "{whole}");
    let front = front(joined("clients-of-servers"));
    assert!(front.contains("<p class=\"note\">Joined from two runs, "), "{front}");
    assert!(front.contains(" Not ranked, measured in a run of its own: rust-bookend."), "{front}");
    assert!(front.contains("<th scope=\"row\">rust-tonic<") && !front.contains(row), "{front}");
}

fn published_rows(file: &str) -> usize {
    let table = PublishedTable::read(&folder(file)).expect("a table");
    table.rows.len()
}

#[test]
fn the_page_looks_as_it_should_to_the_last_letter() {
    // Fewer rounds have no intervals.
    let run = invented_in(6, "helloworld-profile", Extent::Quick);
    let page = page_of("helloworld-profile", &run);
    expect_file!["snapshots/results.txt"].assert_eq(&page);
}

#[test]
fn a_page_says_of_which_revision_it_is_and_by_which_builds() {
    let (mut run, rows) = invented("helloworld-profile", Extent::Full);
    let page = page_of("helloworld-profile", &(run.clone(), rows.clone()));
    for line in ["Revision: not recorded", "Measured with: not recorded"] {
        assert!(page.lines().any(|own| own == line), "{line}: {page}");
    }
    run.new.revision = Some("743873410525".to_owned());
    run.new.provenance = Some(Provenance {
        build: BuildFacts {
            version: "0.1.0".to_owned(),
            revision: Some("a15c08ba80b1".to_owned()),
            profile: "release: opt-level 3, lto fat, codegen-units 1".to_owned(),
        },
        profiles: BTreeMap::from([("rust-tonic".to_owned(), "release: lto fat".to_owned())]),
        doubts: Vec::new(),
    });
    let page = page_of("helloworld-profile", &(run.clone(), rows.clone()));
    let measured = "Measured with: bookend 0.1.0 of a15c08ba80b1, release: opt-level 3, lto fat, \
                    codegen-units 1";
    for line in ["Revision: 743873410525", measured, "Built by Cargo, release: lto fat: rust-tonic"]
    {
        assert!(page.lines().any(|own| own == line), "{line}: {page}");
    }
    assert!(page.contains("Processor, at `743873410525`, "), "{page}");
    run.new.revision = Some("743873410525-dirty".to_owned());
    let page = page_of("helloworld-profile", &(run, rows)).replace('\n', " ");
    assert!(page.contains(", at 743873410525-dirty, a tree that is in no"), "{page}");
}

#[test]
fn every_published_row_has_its_re_run_beside_it_in_a_full_run() {
    let is_published = |line: &&str| line.contains("| published |");
    for name in ["python-clients", "grpc-thrift-go", "helloworld-profile"] {
        let page = page_of(name, &invented(name, Extent::Full));
        let lines: Vec<&str> = page.lines().skip_while(|line| *line != "<details>").collect();
        let published = lines.iter().filter(|line| is_published(line)).count();
        assert_eq!(published, published_rows(&format!("{name}/published.csv")));
        for pair in lines.windows(2).filter(|pair| is_published(&pair[0])) {
            assert!(pair[1].contains("| re-run |"), "{}", pair[1]);
            assert!(!pair[1].contains("not planned"), "{}", pair[1]);
        }
    }
}

/// What was kept of pajamax through ghz: 27 of 200 samples in the layer.
fn profile(layer: Layer) -> Profile {
    let split = Split { samples: 200, layers: BTreeMap::from([(layer, 27)]), ..Split::default() };
    let samples = Samples {
        event: "cpu-clock".to_owned(),
        window_seconds: 10.0,
        ok: 1,
        split,
        cost_ratio: None,
        flame_graph: String::new(),
        stacks: String::new(),
        notes: vec![],
    };
    Profile {
        schema_version: SCHEMA_VERSION,
        suite: "helloworld-profile".to_owned(),
        frequency_hz: 999,
        cells: vec![Profiled {
            subject: "rust-pajamax/0.3.3".to_owned(),
            case: "C=1 S=50".parse().expect("a case"),
            instrument: "ghz".to_owned(),
            language: "Rust".to_owned(),
            is_baseline: false,
            outcome: ProfileOutcome::Recorded(Box::new(samples)),
        }],
    }
}

#[test]
fn every_share_of_a_published_profile_has_ours_beside_it_or_says_that_there_is_none() {
    let (run, rows) = invented("helloworld-profile", Extent::Quick);
    let record = Record::of_run(&run, &rows, BTreeMap::new());
    let page = Page::read(&folder("helloworld-profile"), &record).expect("a page");
    let text = page.with_profile(Some(profile(Layer::NetworkIn))).files().text;
    let is_share = |line: &&str| line.contains("| `") && line.contains(" | - | ");
    let not_ours = text.lines().filter(is_share).count();
    let recorded = |line: &&str| line.contains("via ghz | 47.55% | 13.50% |");
    assert_eq!(text.lines().filter(recorded).count(), 1, "{text}");
    // Those of tonic, and the two frames of a build that was not profiled; what is in other layers
    // of pajamax is nothing, which is a figure.
    let not_recorded = text.matches("| not recorded |").count();
    assert_eq!((not_ours, not_recorded), (1, 5), "{text}");
    let published = published_rows("helloworld-profile/published-profile.csv");
    assert_eq!(text.matches("| `").count(), published);
}

#[test]
fn no_share_of_a_profile_is_compared_with_one_of_another_run() {
    let mut profile = profile(Layer::NetworkIn);
    let case = profile.cells[0].case;
    let of = |subject: &str, is_baseline| Profiled {
        subject: subject.to_owned(),
        is_baseline,
        ..profile.cells[0].clone()
    };
    profile.cells = vec![of("rust-tonic", true), of("rust-bookend", false)];
    let (run, rows) = invented("helloworld-profile", Extent::Full);
    let whole = Record::of_run(&run, &rows, BTreeMap::new());
    let quantity = "{ metric = \"profile.network_in\", of = \"rust-bookend via ghz\", \
                    over = \"rust-tonic via ghz\", cases = [\"C=1 S=50\"] }";
    let claim = format!(
        "[document]\ntitle = \"A page\"\n[[claims]]\nid = \"a\"\nwhere = \"b\"\nclaim = \"c\"\n\
         published = \"1\"\nours = {quantity}\nsays = \"same\"\n"
    );
    let claims = SuiteClaims::parse(Path::new("claims.toml"), &claim).expect("claims");
    for (record, are_compared) in [(whole, true), (joined("helloworld-profile"), false)] {
        let page = Page::read(&folder("helloworld-profile"), &record).expect("a page");
        let text = page.with_profile(Some(profile.clone())).files().text;
        let line = format!("{case}: rust-bookend over rust-tonic ");
        assert_eq!(text.contains(&line), are_compared, "{text}");
        let new = JudgedSuite::new("a", claims.clone(), Document::default(), Some(record));
        let suite = JudgedSuite { profile: Some(profile.clone()), ..new };
        let why = suite.judgements()[0].replicates.why.clone();
        let said = "was measured in another run than what it is divided by";
        assert_eq!(why.contains(said), !are_compared, "{why}");
    }
}

#[test]
fn the_grid_has_everybody_under_each_case() {
    let page = page_of("pajamax-tonic", &invented("pajamax-tonic", Extent::Full));
    let count = |text: &str| page.matches(text).count();
    assert_eq!(count("\n| rust_pajamax  "), 12);
    assert_eq!(count("\n| rust_tonic_mt "), 12);
    assert_eq!(count("\n|   re-run  "), 24);
    assert_eq!(count("\n|   re-run with bookend-load "), 24);
    assert_eq!(count("\n|   re-run with ghz "), 2, "what grpc_bench's flags are worth");
    assert_eq!(count("\n| rust-bookend "), 9, "where calls are short");
    assert!(page.contains("--C=100:---"), "{page}");
    assert!(page.contains("----S=100000---^11.0--re-run-^"), "{page}");
    assert_eq!(count("\n| rust-floor |"), 9, "calibration stands below the grid");
}

#[test]
fn a_summary_has_the_sections_of_ghz_and_both_histograms() {
    let page = page_of("java-executors", &invented("java-executors", Extent::Full));
    assert_eq!(page.matches("\nStatus code distribution:\n").count(), 4);
    assert_eq!(page.matches("histogram, ms, published:\n").count(), 4);
    assert_eq!(page.matches("histogram, ms, re-run, all rounds:\n").count(), 4);
    assert!(!page.contains("re-run with bookend-load"), "ghz alone calls published versions");
    assert!(page.contains("  1031.762 [1]    |\n"), "{page}");
}

#[test]
fn a_scaled_run_is_labelled_as_scaled() {
    let scaled = "sleeps 100 ms instead of 1000 ms";
    let page =
        |extent| page_of("java-executors", &invented("java-executors", extent)).replace('\n', " ");
    assert!(page(Extent::Quick).contains(scaled));
    assert!(!page(Extent::Full).contains(scaled));
}

#[test]
fn a_cell_without_figures_says_in_a_word_why() {
    let (run, mut rows) = invented("python-clients", Extent::Full);
    for one in &mut rows {
        let reason = "no such loop".to_owned();
        if one.cell.subject == "python-grpcio/uvloop" {
            *one = row(one.round, one.cell.clone(), Outcome::Unsupported { reason });
        }
    }
    rows.retain(|row| row.cell.subject != "python-grpcio/sync");
    let page = page_of("python-clients", &(run, rows));
    assert!(page.contains("| async (uvloop) | 256 | re-run | unsupported | - |"));
    assert!(page.contains("| sync | 64 | re-run | not reached | - |"));
}

#[test]
fn the_same_record_gives_the_same_page_after_it_was_written_and_read() {
    let (run, rows) = invented("helloworld-profile", Extent::Full);
    let record = Record::of_run(&run, &rows, BTreeMap::new());
    let read = Record::parse(&record.text()).expect("a record");
    let files = |record| Page::read(&folder("helloworld-profile"), record).expect("a page").files();
    assert_eq!(files(&read), files(&record));
}

#[test]
fn notes_of_callers_stand_by_case_and_those_of_servers_by_life() {
    let (run, mut rows) = invented("helloworld-profile", Extent::Full);
    for row in &mut rows {
        let Outcome::Measured(measurement) = &mut row.outcome else {
            continue;
        };
        let opened = f64::from(row.round + 1);
        let is_ghz = row.cell.instrument == "ghz";
        if !is_ghz || row.cell.case.to_string() == "C=1 S=50" {
            measurement.notes = BTreeMap::from([("connections_opened".to_owned(), opened)]);
        }
        row.server_notes = BTreeMap::from([("threads_peak".to_owned(), 7.0)]);
    }
    let page = page_of("helloworld-profile", &(run, rows));
    let expected = [
        "| ghz | C=1 S=50 | rust-bookend, rust-bookend/internet, rust-pajamax, \
         rust-pajamax/0.3.3, rust-pajamax/0.3.3-frames, rust-tonic, rust-tonic/0.11 | 3 | \
         connections_opened 2 (3) |",
        "| bookend-load | every case | rust-bookend, rust-bookend/internet, rust-floor, \
         rust-pajamax, rust-pajamax/0.3.3, rust-tonic, rust-tonic/0.11 | 3 | connections_opened 2 \
         (3) |",
        "| rust-tonic | all of a round |  | 3 | threads_peak 7 |",
    ];
    for line in expected {
        assert_eq!(page.matches(line).count(), 1, "{line}\n{page}");
    }
}

#[test]
fn a_note_that_is_zero_in_every_row_is_left_out() {
    let (run, mut rows) = invented("helloworld-profile", Extent::Quick);
    for row in &mut rows {
        let handshakes = ("tls_handshakes".to_owned(), 0.0);
        row.server_notes = BTreeMap::from([handshakes, ("threads_peak".to_owned(), 7.0)]);
    }
    let page = page_of("helloworld-profile", &(run, rows));
    assert!(page.contains("threads_peak") && !page.contains("tls_handshakes"), "{page}");
}

#[test]
fn rows_of_a_case_with_the_same_mark_share_a_line() {
    let (run, mut rows) = invented("helloworld-profile", Extent::Quick);
    for row in rows.iter_mut().filter(|row| row.cell.subject == "rust-tonic" && row.round < 2) {
        if let Outcome::Measured(measurement) = &mut row.outcome {
            measurement.marks = vec![Mark::Steal { share: 0.1 + f64::from(row.round) / 10.0 }];
        }
    }
    let page = page_of("helloworld-profile", &(run, rows));
    let line = "| C=1 S=50 | steal up to 20.0 % (2 of 3 rounds) | rust-tonic via bookend-load; \
                rust-tonic via ghz; rust-tonic via h2load |";
    assert_eq!(page.matches(line).count(), 1, "{page}");
}

#[test]
fn the_picture_and_the_short_table_have_the_same_figures() {
    let (run, rows) = invented("helloworld-profile", Extent::Quick);
    let record = Record::of_run(&run, &rows, BTreeMap::new());
    let files = Page::read(&folder("helloworld-profile"), &record).expect("a page").files();
    let picture = files.picture.expect("a picture");
    let figures: Vec<&str> = files
        .text
        .lines()
        .skip_while(|line| !line.starts_with("| server | published |"))
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .flat_map(|row| row.split(" | ").skip(1).take(4))
        .filter(|one| *one != "-")
        .collect();
    assert!(figures.len() > 8, "{figures:?}");
    for figure in figures {
        assert!(picture.contains(&format!(">{figure}<")), "{figure}: {picture}");
    }
}

#[test]
fn prose_has_the_figures_that_it_names() {
    let page = page_of("helloworld-profile", &invented_in(7, "helloworld-profile", Extent::Quick));
    let found = page
        .split("\nFound")
        .nth(1)
        .expect("what was found")
        .split("\n\n")
        .next()
        .unwrap_or_default();
    assert!(!found.contains(['{', '}']) && !found.contains("no figure"), "{found}");
    assert!(found.contains(" to "), "an interval: {found}");
}

#[test]
fn what_was_found_names_the_versions_of_the_rows_that_its_figures_are_of() {
    let (run, rows) = invented("java-executors", Extent::Full);
    let mut record = Record::of_run(&run, &rows, BTreeMap::new());
    for (name, version) in [
        ("java-grpc/cached-jdk21", "grpc-java 1.59.1, Java 21"),
        ("java-grpc/cached", "grpc-java 1.85.1, Java 25"),
        ("ghz", "ghz 0.120.0"),
    ] {
        record.facts.versions.insert(name.to_owned(), version.to_owned());
    }
    let page = Page::read(&folder("java-executors"), &record).expect("a page").files().text;
    let found = one_line(&page);
    assert!(found.contains("Found with grpc-java 1.59.1 through ghz 0.120.0: the run"), "{page}");
    assert!(found.contains(" With grpc-java 1.85.1 through our client: "), "{page}");
    assert!(found.contains("| cached pool, grpc-java 1.85.1 |"), "{page}");
}

#[test]
fn a_page_that_shows_what_is_not_there_is_refused() {
    let file = folder("helloworld-profile").join("results.toml");
    let text = std::fs::read_to_string(&file).expect("readable");
    let complaint = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        let error = Presentation::parse(&file, &text.replacen(from, to, 1)).expect_err("refused");
        error.to_string()
    };
    assert!(complaint("conclusion =", "conclusions =").contains("did you mean `conclusion`?"));
    assert!(complaint("{ghz}", "{gzh}").contains("there is no figure `gzh`"));
    assert!(complaint("\"rate-cents\"", "\"pretty\"").contains("no format `pretty`"));
    let of_the_day = complaint("Found: ", "Found with today's versions: ");
    assert!(of_the_day.contains("write {NAME.versions} in found"), "{of_the_day}");
    assert!(complaint("{ghz}", "{ghz.version}").contains("there is no figure `ghz.version`"));
    let unknown = complaint("published = \"requests_per_second\"", "published = \"speed\"");
    assert!(unknown.contains("no metric `speed`"), "{unknown}");
    let before = text.split("published = \"requests_per_second\"").next();
    let line = before.map_or(0, |before| before.lines().count());
    assert!(unknown.contains(&format!("results.toml:{line}: ")), "{unknown}");
}

#[test]
fn the_first_difference_of_two_pages_is_found() {
    assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
    let at = |is, should| first_difference(is, should).map(|(line, _, _)| line);
    assert_eq!(at("a\nb\n", "a\nc\n"), Some(2));
    assert_eq!(at("a\nb", "a\nb\n"), Some(3));
    assert_eq!(at("", "a"), Some(1));
}

#[test]
fn who_brings_a_client_is_compared_through_the_others_own() {
    let page = page_of("grpc-thrift-go", &invented("grpc-thrift-go", Extent::Full));
    assert!(!page.contains("no ratio"), "{page}");
}
