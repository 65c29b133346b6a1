//! The page of a race: the answer, pictures, tables, and what they rest on.

use bookend_contract::build_facts::BuildFacts;
use bookend_contract::timestamp::Timestamp;
use bookend_report::chart::Theme;
use bookend_report::race::RaceAnswer;
use bookend_report::result_page::ResultPage;
use bookend_results::race::{FunctionCost, Race, RaceCell, RaceLap, RaceServerName, RatedCalls};
use bookend_results::statistics::Interval;
use bookend_results::suite::TestedEnd;
use expect_test::expect_file;

fn lap(server: usize, cpu_ns: u64) -> RaceLap {
    RaceLap { server, ok: 1_000, failed: 0, length_ns: 100_000_000, cpu_ns, rated: None }
}

/// Ten starts of two rounds, in which each call of the second server takes that share of the first
/// one's CPU time in the first cell, and a tenth less in the second.
fn race(share: f64) -> Race {
    let block = |number: u64, share: f64| {
        let first = 50_000_000 + number % 7 * 100_000;
        let second = (first as f64 * share) as u64 + number % 3 * 100_000;
        [lap(0, first), lap(1, second), lap(1, second), lap(0, first)]
    };
    let round = |number: u64| vec![block(number, share), block(number + 3, share * 0.9)];
    let named = |name: &str| RaceServerName {
        name: name.into(),
        command: format!("TOKEN=hidden ./{name} {{port}}"),
    };
    Race {
        tested: TestedEnd::Server,
        servers: vec![named("old"), named("new")],
        cells: vec![
            RaceCell { connections: 1, concurrency: 1 },
            RaceCell { connections: 1, concurrency: 100 },
        ],
        rps: None,
        lap_ms: 100,
        margin: 0.01,
        seed: 7,
        doubts: vec!["it rained".into()],
        functions: None,
        machine: None,
        build: None,
        command: None,
        started: None,
        starts: (0..10).map(|start| vec![round(2 * start), round(2 * start + 1)]).collect(),
        dropped: Vec::new(),
    }
}

fn page(race: &Race) -> ResultPage {
    RaceAnswer::new(race, None).page("nightly").expect("each round has a ratio")
}

/// One that knows all that there is to know, and in which calls failed.
fn whole() -> Race {
    let function = FunctionCost {
        name: "decode<T>".into(),
        cpu_ns_per_call: [900.0, 400.0],
        difference_ns: Interval { low: -600.0, high: -400.0 },
    };
    let mut race = race(0.9);
    race.functions = Some(vec![function]);
    race.build = Some(BuildFacts {
        version: "0.1.0".into(),
        revision: Some("0123456789ab".into()),
        profile: "release: opt-level 3".into(),
    });
    race.command = Some("bookend race --env TOKEN=hidden --save race.json".into());
    race.started = Some(Timestamp::from_unix_ms(1_795_000_000_000));
    race.starts[0][0][1][1].failed = 90;
    race
}

#[test]
fn a_page_has_all_that_a_race_has_kept() {
    let page = page(&whole());
    expect_file!["table_snapshots/race_page.md"].assert_eq(&page.markdown_with(None));
    let html = page.html();
    let parts = [
        "<h1>Race: new against old</h1>",
        "<div class=\"answer\">",
        "new is better: ",
        "Doubt it for this: it rained.",
        "<h2 id=\"pictures\">",
        "<h2 id=\"tables\">",
        "decode&lt;T&gt;",
        "<h2 id=\"method\">",
        "<h2 id=\"machine\">",
        "<h2 id=\"versions\">",
        "<h2 id=\"command\">",
    ];
    let places = parts.map(|part| html.find(part).unwrap_or_else(|| panic!("{part}: {html}")));
    assert!(places.is_sorted(), "{places:?}");
    assert!(!html.contains("hidden"), "{html}");
    assert_eq!(html.matches("<svg class=\"narrow\"").count(), 2, "each picture is drawn twice");
}

#[test]
fn the_first_picture_has_the_difference_in_all_cells_and_in_each() {
    let [(name, difference), (_, cost)] = &page(&whole()).pictures[..] else {
        panic!("two pictures");
    };
    assert_eq!(name, "calls-per-cpu-second-new-over-old");
    let svg = difference.svg(Theme::Both);
    expect_file!["table_snapshots/race.svg"].assert_eq(&svg);
    for text in [">all cells, which count alike<", ">1 call at a time on 1 connection<", ">0 %<"] {
        assert_eq!(svg.matches(text).count(), 1, "{text}: {svg}");
    }
    assert!(svg.contains(" ! 0.2 % failed<"), "{svg}");
    let svg = cost.svg(Theme::Light);
    // Two in the legend, and two in each cell.
    assert_eq!(svg.matches("<circle").count(), 2 + 4, "{svg}");
}

#[test]
fn a_server_that_is_worse_lies_to_the_left_of_zero() {
    let svg = page(&race(1.5)).pictures[0].1.svg(Theme::Light);
    let text = |part: &str| svg.contains(part);
    assert!(text(">-20 %<") && text(">0 %<") && !text(">+"), "{svg}");
}

#[test]
fn one_server_alone_has_its_cost_with_an_interval() {
    let mut race = race(1.0);
    race.servers.truncate(1);
    for lap in race.starts.iter_mut().flatten().flatten().flatten() {
        lap.server = 0;
    }
    let page = page(&race);
    assert_eq!((page.title.as_str(), page.pictures.len()), ("Race: old", 1));
    let text = page.markdown_with(None);
    assert!(text.contains("| calls | CPU/call | from | to | calls/s |\n"), "{text}");
    assert!(text.contains("\n1 server in 2 cells.\n"), "{text}");
}

#[test]
fn a_race_by_a_rate_has_latencies() {
    let mut race = race(1.0);
    race.rps = Some(10_000.0);
    let rated = RatedCalls { due: 1_000, p50_ns: 50_000, p99_ns: 400_000, ..Default::default() };
    for lap in race.starts.iter_mut().flatten().flatten().flatten() {
        lap.rated = Some(rated);
    }
    let text = page(&race).markdown_with(None);
    assert!(text.contains(" 50 %, old | 50 %, new | 99 %, old | 99 %, new |\n"), "{text}");
    assert!(text.contains("| C=1 S=100 | "), "100 is the most, not what is in flight: {text}");
    assert!(text.contains("| rate | 10000 calls a second |\n"), "{text}");
}

#[test]
fn a_race_of_an_earlier_version_says_what_it_does_not_know() {
    let text = page(&race(0.9)).markdown_with(None);
    let commands = "old: TOKEN=masked (6 bytes) ./old {port}\nnew: TOKEN=masked (6 bytes) ./new";
    assert!(text.contains(commands) && text.contains("an earlier version made it"), "{text}");
    let mut recorded = race(0.9);
    recorded.functions = Some(Vec::new());
    let answer = page(&recorded).answer.join("\n");
    assert!(answer.ends_with("No function differs beyond what chance makes of samples."));
}
