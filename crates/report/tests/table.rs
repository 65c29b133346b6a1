//! Tables from invented rows, compared with what they must look like to the last dash.

#[path = "../../results/tests/table_rows/mod.rs"]
mod table_rows;

use bookend_contract::latency;
use bookend_report::tables::{
    cost_table, cpu_account_table, instrument_table, marks, published_table, resource_table,
    skipped_lines,
};
use bookend_results::mark::Mark;
use bookend_results::measurement::{Measurement, NotMeasured, Outcome, Row};
use bookend_results::suite::TestedEnd;
use bookend_results::table::{ACK_WAITS, CellResult, Rank, Table};
use expect_test::expect_file;
use std::collections::BTreeMap;
use table_rows::{cell, plan, rows, subject};

fn sound() -> Table {
    Table::new(&plan(), &rows(&plan()))
}

/// The invented run after something happened to it.
fn after(change: impl FnMut(&mut Row)) -> Table {
    let mut rows = rows(&plan());
    rows.iter_mut().for_each(change);
    Table::new(&plan(), &rows)
}

/// Changes the figures of one subject under one case.
fn figures(subject: &str, case: &str, mut change: impl FnMut(u32, &mut Measurement)) -> Table {
    let changed = cell(subject, case);
    after(|row| match &mut row.outcome {
        Outcome::Measured(figures) if row.cell == changed => change(row.round, figures),
        _ => {}
    })
}

#[test]
fn a_sound_run_is_printed_in_the_published_shape() {
    expect_file!["table_snapshots/published.txt"].assert_eq(&published_table(&sound()));
}

#[test]
fn its_costs_stand_with_their_intervals() {
    expect_file!["table_snapshots/cost.txt"].assert_eq(&cost_table(&sound()));
}

#[test]
fn what_a_server_skips_stands_beside_its_cost() {
    let skips = BTreeMap::from([
        ("rust-pajamax".to_owned(), vec!["PING".to_owned(), "deadlines".to_owned()]),
        ("rust-tonic".to_owned(), vec![]),
    ]);
    let table = Table { skips, ..sound() };
    let text = cost_table(&table);
    let column_of = |subject: &str| {
        let row = text.lines().find(|line| line.contains(subject))?;
        row.split('|').nth_back(2).map(str::trim)
    };
    assert_eq!(column_of("rust-pajamax"), Some("2"));
    assert_eq!(column_of("rust-tonic"), Some("0"));
    assert_eq!(column_of("rust-bookend"), Some("-"), "it was never checked");
    let lines = skipped_lines(&table);
    assert_eq!(lines, ["rust-pajamax skips PING, deadlines"]);
}

/// The marks of one row by what the probe found of its server.
fn found(skips: &[&str], latencies_ms: &[u64]) -> Vec<String> {
    let table = figures("rust-pajamax", "C=1 S=1", |_, figures| {
        let mut histogram = latency::empty();
        for latency_ms in latencies_ms {
            latency::record(&mut histogram, latency_ms * 1_000_000, 1_000);
        }
        figures.latency_histogram = latency::encode(&histogram);
    });
    let skips = skips.iter().map(|skip| (*skip).to_owned()).collect();
    let table = table.with_skips(BTreeMap::from([("rust-pajamax".to_owned(), skips)]));
    let marks = marks(&table).into_iter();
    marks.filter(|mark| mark.contains("waits-on-ack") || mark.contains("closes-on-cut")).collect()
}

#[test]
fn a_latency_of_a_delayed_acknowledgement_is_marked_where_the_server_waits_for_one() {
    let waited = found(&[ACK_WAITS], &[43]);
    assert_eq!(waited.len(), 1, "{waited:?}");
    assert!(waited[0].contains("waits-on-ack: mean is 43.0 ms, a delayed acknowledgement"));
    // Of half of its calls alone.
    assert!(found(&[ACK_WAITS], &[1, 43])[0].contains("waits-on-ack: p90 is 43.0 ms"));
    // Its other latencies are its own, and so are those of a server whose handler sleeps.
    assert_eq!(found(&[ACK_WAITS], &[1, 20, 70]), [""; 0]);
    assert_eq!(found(&["PING"], &[43]), [""; 0]);
}

#[test]
fn a_server_that_closes_on_what_is_cut_is_marked_in_its_rows() {
    let closes = found(&["PING", "messages cut anywhere", "frames cut anywhere"], &[1]);
    let clause = "closes-on-cut: the probe found that this server does not take messages cut \
                  anywhere and frames cut anywhere";
    assert_eq!(closes.len(), 1, "{closes:?}");
    assert!(closes[0].starts_with("C=1 S=1 rust-pajamax, "), "{closes:?}");
    assert!(closes[0].ends_with(clause), "{closes:?}");
}

#[test]
fn its_latencies_have_their_tail() {
    expect_file!["table_snapshots/resource.txt"].assert_eq(&resource_table(&sound()));
}

#[test]
fn its_ledger_shows_what_nobody_is_billed_for() {
    expect_file!["table_snapshots/cpu_account.txt"].assert_eq(&cpu_account_table(&sound()));
}

#[test]
fn a_sound_run_has_no_marks() {
    assert_eq!(marks(&sound()), [""; 0]);
    assert!(!sound().is_partial());
}

#[test]
fn a_cell_without_an_answer_says_what_it_took() {
    let table = after(|row| {
        if row.cell == cell("rust-pajamax", "C=1 S=1") {
            row.outcome.fail("no call of the window ended OK");
        }
    });
    let lines = marks(&table);
    assert_eq!(
        lines,
        [
            "C=1 S=1 rust-pajamax: failed: no call of the window ended OK; in 1.00 s the server used \
          20.4% of a CPU, its caller 50.0%, peak memory 3.0 MiB"
        ]
    );
}

/// Something of everything that can go wrong.
fn troubled() -> Table {
    after(|row| {
        let case = row.cell.case.to_string();
        let place = (row.cell.subject.as_str(), case.as_str());
        let replaced = match place {
            ("rust-pajamax", "C=1 S=1") => Outcome::failed(
                "thread 'pajamax-w' panicked at src/connection.rs:204:17: index out of bounds: \
                 the len is 100 but the index is 100",
            ),
            ("rust-bookend", "C=1 S=100") => {
                Outcome::Unsupported { reason: "this driver takes one connection".into() }
            }
            ("rust-floor", _) => {
                Outcome::Missing { reason: "gcc is not installed: apt install gcc".into() }
            }
            ("rust-tonic", "C=100 S=100") if row.round < 2 => Outcome::failed("connection refused"),
            _ => row.outcome.clone(),
        };
        row.outcome = replaced;
        let case = row.cell.case.to_string();
        let place = (row.cell.subject.as_str(), case.as_str());
        let Outcome::Measured(figures) = &mut row.outcome else {
            return;
        };
        match place {
            ("rust-pajamax", "C=1 S=100") => figures.generator.busy_seconds = Some(0.96),
            ("rust-bookend", "C=1 S=1") => figures.marks = vec![Mark::Steal { share: 0.031 }],
            ("rust-bookend", "C=100 S=100") => {
                figures.counts.errors.insert("UNAVAILABLE".into(), 3);
                figures.ends.server.memory_source = Some("rss".into());
            }
            _ => {}
        }
    })
}

#[test]
fn no_row_is_dropped_whatever_happened() {
    expect_file!["table_snapshots/troubled.txt"].assert_eq(&published_table(&troubled()));
}

#[test]
fn every_trouble_is_written_out_below() {
    let marks = marks(&troubled()).join("\n") + "\n";
    expect_file!["table_snapshots/troubled_marks.txt"].assert_eq(&marks);
    assert!(troubled().is_partial());
    assert!(!troubled().is_empty());
}

#[test]
fn a_saturated_generator_makes_the_rate_a_lower_bound() {
    let printed = published_table(&figures("rust-tonic", "C=1 S=1", |_, figures| {
        figures.generator.busy_seconds = Some(0.91);
    }));
    assert!(printed.contains("| rust-tonic         | >= 7140 |"), "{printed}");
}

#[test]
fn a_generator_that_used_up_its_quota_was_the_limit() {
    let with_quota = |cpu_quota| {
        published_table(&figures("rust-tonic", "C=1 S=1", |_, figures| {
            figures.generator.cpu_quota = cpu_quota;
        }))
    };
    // It worked for 0.55 s of each second.
    let held_back = with_quota(Some(0.5));
    assert!(held_back.contains("| rust-tonic         | >= 7140 |"), "{held_back}");
    for enough in [None, Some(0.7), Some(8.0)] {
        let printed = with_quota(enough);
        assert!(!printed.contains(">= 7140"), "{printed}");
    }
}

#[test]
fn a_client_that_used_its_share_of_a_cpu_was_the_limit() {
    let table = figures("rust-tonic", "C=1 S=1", |_, figures| {
        figures.ends.side = TestedEnd::Client;
        figures.ends.server.cpu_seconds = 0.2;
        figures.ends.caller.cpu_seconds = 0.49;
        figures.generator.busy_seconds = None;
        figures.ends.caller.cpus = Some(1);
        figures.ends.caller.cpu_limit = Some(0.5);
    });
    let bound = cost_table(&table);
    assert_eq!(bound.matches("client-bound").count(), 1, "{bound}");
}

#[test]
fn what_cannot_be_told_from_one_is_marked_in_heading_and_table() {
    let table = figures("rust-pajamax", "C=1 S=1", |round, figures| {
        let tonic = 7000.0 / 0.97 * figures.ends.server.cpu_seconds;
        figures.counts.ok = (tonic * (0.97 + 0.01 * f64::from(round))) as u64;
    });
    assert!(published_table(&table).contains("----S=1--------^~1.0---"));
    assert!(cost_table(&table).contains("~1.0"), "{}", cost_table(&table));
}

#[test]
fn without_the_baseline_there_are_no_ratios() {
    let mut plan = plan();
    plan.subjects.remove(1);
    let table = Table::new(&plan, &rows(&plan));
    assert!(!published_table(&table).contains('^'), "{}", published_table(&table));
    assert!(table.cells.iter().all(|cell| cell.rank != Rank::Baseline));
}

#[test]
fn a_subject_that_yielded_nothing_in_a_round_has_no_ratio() {
    let table = figures("rust-pajamax", "C=1 S=1", |round, figures| {
        if round == 3 {
            figures.counts.ok = 0;
        }
    });
    assert!(cost_table(&table).contains("no ratio"), "{}", cost_table(&table));
    assert!(!published_table(&table).contains("----S=1--------^"));
}

#[test]
fn with_several_instruments_each_row_says_which() {
    let mut plan = plan();
    for subject in &mut plan.subjects {
        subject.instruments.push("ghz".into());
    }
    let table = Table::new(&plan, &rows(&plan));
    let printed = published_table(&table);
    assert!(printed.contains("| rust-tonic via bookend-load "), "{printed}");
    assert!(printed.contains("| rust-tonic via ghz "), "{printed}");
    let names: Vec<&str> =
        table.cells[..8].iter().map(|cell| cell.id.instrument.as_str()).collect();
    assert_eq!(names, [["bookend-load"; 4], ["ghz"; 4]].concat());
    // Ratios compare what the same instrument measured.
    let costs = table.cells.iter().filter(|cell| cell.id.instrument == "ghz");
    assert!(costs.filter_map(|cell| cell.summary()?.ratios.cost_ratio.ratio()).count() == 9);
}

#[test]
fn what_a_request_costs_each_instrument_is_compared_with_the_first() {
    assert!(instrument_table(&sound()).is_none(), "there is one only");
    let mut plan = plan();
    for subject in &mut plan.subjects {
        subject.instruments.push("ghz".into());
    }
    let mut rows = rows(&plan);
    for row in &mut rows {
        if let Outcome::Measured(figures) = &mut row.outcome
            && row.cell.instrument == "ghz"
        {
            figures.ends.caller.cpu_seconds *= 100.0;
        }
    }
    let table = Table::new(&plan, &rows);
    for cell in &table.cells {
        let ratios = &cell.summary().expect("figures").ratios;
        let ratio = ratios.instrument_cost_ratio.ratio();
        match cell.id.instrument.as_str() {
            "ghz" => {
                let median = ratio.expect("a ratio").median;
                assert!((median - 0.01).abs() < 1e-9, "{median}");
            }
            _ => assert_eq!(ratio, None, "what the others are compared with"),
        }
    }
    let printed = instrument_table(&table).expect("a table");
    for title in ["req/instrument-CPU-s", "ratio i", "busy"] {
        assert!(printed.contains(title), "{printed}");
        let metrics = include_str!("../../../docs/measure/metrics.md");
        assert!(metrics.contains(&format!("`{title}`")), "{title}");
    }
    assert!(printed.contains("| rust-tonic via ghz "), "{printed}");
}

#[test]
fn a_cell_whose_turn_never_came_is_there() {
    let mut plan = plan();
    let rows = rows(&plan);
    plan.subjects.push(subject("go-grpc"));
    let table = Table::new(&plan, &rows);
    let last = table.cells.last().expect("cells");
    assert_eq!(last.id.subject, "go-grpc");
    assert!(matches!(&last.result, CellResult::NotMeasured { why: NotMeasured::Unreached, .. }));
    assert!(published_table(&table).contains("not reached: the run ended before its turn"));

    let nothing = Table::new(&plan, &[]);
    assert!(nothing.is_empty());
    assert_eq!(nothing.cells.len(), 15);
}

#[test]
fn a_histogram_that_cannot_be_read_is_said_and_the_others_count() {
    let table = figures("rust-tonic", "C=1 S=1", |round, figures| {
        if round == 0 {
            figures.latency_histogram = "?".into();
        }
    });
    assert_eq!(
        marks(&table),
        ["C=1 S=1 rust-tonic: the latency histogram is not base64 (round 0)"]
    );
    let none = figures("rust-tonic", "C=1 S=1", |_, figures| figures.latency_histogram.clear());
    let printed = published_table(&none);
    assert!(printed.contains("|            - |         - |"), "{printed}");
}

#[test]
fn the_audit_marks_what_cannot_be_true() {
    let table = figures("rust-tonic", "C=1 S=100", |_, figures| {
        figures.counts.ok *= 2;
        figures.ends.server.cpu_seconds = 1.2;
        figures.ends.server.memory_peak_bytes = Some(600 << 20);
    });
    assert_eq!(
        marks(&table),
        [
            "C=1 S=100 rust-tonic: too-many-in-flight: 200.1 calls in flight on 100 streams \
             (7 of 7 rounds)",
            "C=1 S=100 rust-tonic: cpu-above-limit: 120.0 % of the 100 % given (7 of 7 rounds)",
            "C=1 S=100 rust-tonic: memory-above-limit: 600.0 of 512.0 MiB (7 of 7 rounds)",
        ]
    );
}

/// The invented run with servers that say what they served in round 4: the calls of all three
/// cases, each with 60 more than in the window, and `more`.
fn served(more: u64) -> Table {
    let rows = rows(&plan());
    let own = |row: &&Row| row.round == 4 && row.cell.subject == "rust-tonic";
    let calls: u64 = rows
        .iter()
        .filter(own)
        .map(|row| match &row.outcome {
            Outcome::Measured(figures) => figures.counts.ok + 60,
            _ => 0,
        })
        .sum();
    after(|row| {
        if own(&&*row) {
            row.served = Some(calls + more);
        }
    })
}

#[test]
fn both_ends_must_have_counted_the_same_calls() {
    assert_eq!(marks(&served(0)), [""; 0]);
    let marks = marks(&served(1));
    assert_eq!(marks.len(), 1, "{marks:?}");
    assert!(marks[0].starts_with("C=1 S=1 rust-tonic, "), "{marks:?}");
    assert!(marks[0].contains("counts-differ: the server served"), "{marks:?}");
}

#[test]
fn rounds_that_disagree_about_the_limit_are_counted() {
    let table = figures("rust-tonic", "C=1 S=1", |round, figures| {
        if round > 4 {
            figures.ends.server.cpu_seconds = 0.48;
        }
    });
    assert_eq!(
        marks(&table),
        ["C=1 S=1 rust-tonic: rounds disagree: 5 server-bound, 2 path-bound"]
    );
}

#[test]
fn a_machine_without_accounts_has_no_ledger() {
    let table = figures("rust-tonic", "C=1 S=1", |_, figures| {
        figures.machine = Default::default();
    });
    let printed = cpu_account_table(&table);
    assert!(printed.contains("| rust-tonic         |        - |         - |"), "{printed}");
}

#[test]
fn figures_of_no_length_neither_panic_nor_vanish() {
    let table = figures("rust-tonic", "C=1 S=1", |_, figures| {
        figures.window_seconds = 0.0;
        figures.ends.server.cpu_seconds = f64::NAN;
        figures.counts.ok = 0;
    });
    let printed = published_table(&table) + &cost_table(&table) + &cpu_account_table(&table);
    assert_eq!(printed.matches("| rust-tonic ").count(), 9, "{printed}");
    assert!(marks(&table).iter().any(|mark| mark.contains("not-a-number")));
}
