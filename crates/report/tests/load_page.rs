//! Load tests as a page: its contents, for one and for several, and what text from elsewhere can do
//! to it.

use bookend_contract::latency;
use bookend_contract::machine::MachineFacts;
use bookend_contract::report::{LoadOrigin, LoadReport};
use bookend_report::chart::Theme;
use bookend_report::load_tests::{self, UnreadableLoadTest};
use bookend_report::result_page::ResultPage;
use serde_json::{Value, json};
use std::path::Path;

/// What a server may answer, and a person may call a load test.
const HOSTILE: &str = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)> ](javascript:alert(3)) \
                       \u{1b}[31m\u{202e}\0";

const MILLISECOND_NS: u64 = 1_000_000;

/// A part of `calls` calls, of which one of a hundred took `slow_ns`.
fn part(calls: u64, fast_ns: u64, slow_ns: u64) -> Value {
    let mut histogram = latency::empty();
    latency::record(&mut histogram, fast_ns, calls - calls / 100);
    latency::record(&mut histogram, slow_ns, calls / 100);
    json!({
        "mean_ns": histogram.mean() as u64, "p50_ns": fast_ns, "p90_ns": fast_ns,
        "p99_ns": slow_ns, "max_ns": slow_ns, "histogram": latency::encode(&histogram),
    })
}

/// A closed loop of two seconds and 20,000 calls, with 8 in flight.
fn closed() -> Value {
    let all = part(20_000, MILLISECOND_NS, 4 * MILLISECOND_NS);
    json!({
        "date": "2024-01-31T00:00:00Z", "endReason": "timeout",
        "options": { "call": "shop.Shop/Buy", "host": "shop:443", "concurrency": 8, "rps": 0 },
        "count": 20_000, "total": 2_000_000_000u64, "average": 1_030_000,
        "fastest": MILLISECOND_NS, "slowest": 4 * MILLISECOND_NS, "rps": 10_000.0,
        "errorDistribution": {}, "statusCodeDistribution": { "OK": 20_000 },
        "latencyDistribution": [
            { "percentage": 50, "latency": MILLISECOND_NS },
            { "percentage": 99, "latency": 4 * MILLISECOND_NS },
        ],
        "histogram": [],
        "bookend": {
            "schema_version": 1, "version": "0.1.0", "cpu_user_seconds": 0.5,
            "cpu_system_seconds": 0.5, "busy_seconds": 1.0, "threads": 1, "window_seconds": 2.0,
            "warmup_seconds": 0.5, "ok": 20_000, "errors": {}, "warmup": 5_000, "drained": 8,
            "unfinished": 0, "requests_per_cpu_second": 20_000.0, "requests_per_write": 2.0,
            "requests_per_read": 2.0, "connections_opened": 1, "memory_peak_bytes": 8 << 20,
            "latency_histogram": all["histogram"], "io": "epoll",
            "intervals": { "interval_ms": 100, "window_start": 5, "counts": vec![1_000; 25] },
        },
    })
}

/// An open loop that offers `offered_per_second` for two seconds, of which the server answers
/// 10,000 a second at most. What is more waits, and some of it is never made.
fn open(offered_per_second: u64) -> Value {
    let mut result = closed();
    let due = offered_per_second * 2;
    let ok = due.min(20_000);
    let not_made = due - ok;
    let slow_ns = if not_made > 0 { 500 * MILLISECOND_NS } else { 5 * MILLISECOND_NS };
    result["count"] = ok.into();
    result["bookend"]["ok"] = ok.into();
    result["bookend"]["open_loop"] = json!({
        "due": due, "made": ok, "waited": not_made / 2,
        "not_made": if not_made > 0 { json!({ "in-flight limit": not_made }) } else { json!({}) },
        "from_intended": part(ok, MILLISECOND_NS, slow_ns),
        "from_start": part(ok, MILLISECOND_NS, 4 * MILLISECOND_NS),
        "lag": part(ok, 10_000, 20_000),
    });
    result
}

fn tests(results: &[(&str, Value)]) -> ResultPage {
    let contents: Vec<String> = results.iter().map(|(_, result)| result.to_string()).collect();
    let files: Vec<(&Path, &[u8])> = results
        .iter()
        .zip(&contents)
        .map(|((file, _), content)| (Path::new(*file), content.as_bytes()))
        .collect();
    load_tests::read(&files).expect("results")
}

#[test]
fn a_result_that_was_not_kept_makes_the_page_that_its_file_would() {
    for result in [closed(), open(9_000)] {
        let report = serde_json::from_value(result.clone()).expect("a report");
        let at_once = load_tests::page_of(Path::new("nightly.html"), report).expect("readable");
        let (of_file, at_once) = (tests(&[("nightly.json", result)]).html(), at_once.html());
        assert!(at_once == of_file, "{at_once}");
    }
}

fn three_loads() -> ResultPage {
    let results = [("5k.json", open(5_000)), ("9k.json", open(9_000)), ("20k.json", open(20_000))];
    tests(&results)
}

fn titles(tests: &ResultPage) -> Vec<String> {
    tests.pictures.iter().map(|(_, picture)| picture.title.clone()).collect()
}

#[test]
fn the_answer_of_a_closed_loop_has_its_rate_its_latency_and_its_limit() {
    let tests = tests(&[("nightly.json", closed())]);
    let answer = tests.answer.clone();
    let expected = [
        "10000 calls a second were answered OK, with 8 in flight. Half of them took at most 1.00 ms \
         from when they were made, 99 % at most 4.00 ms, the slowest 4.00 ms.",
        "No call failed.",
        "Limit: the server, or the network to it: the generator was 50 % busy and waited for it.",
    ];
    assert_eq!(answer, expected);
    assert_eq!(titles(&tests), ["Latency by percentile", "Rate over time"]);
    assert_eq!(tests.name, "nightly");
}

#[test]
fn an_open_loop_is_told_by_both_clocks() {
    let tests = tests(&[("a.json", open(20_000))]);
    let answer = tests.answer.join("\n");
    for part in [
        "10000 calls a second were answered OK, of 20000 that were due.",
        "from when they were due, 99 % at most 500 ms",
        "Timed from when they were made, 99 % took at most 4.00 ms: the rest is time in which",
        "Never made: 50.0 % of the calls that were due (in-flight limit 20000).",
        "Limit: the server: as many calls were in flight as may be, and others waited.",
    ] {
        assert!(answer.contains(part), "{part}: {answer}");
    }
    let page = tests.html();
    for part in [">from when calls were due<", ">from when they were made<", "lag of the generator"]
    {
        assert!(page.contains(part), "{part}");
    }
    assert!(titles(&tests).contains(&"The fate of every call".to_owned()));
}

/// A server that stood still for half of the time: it took all calls and answered half of them.
#[test]
fn calls_that_never_came_back_are_no_load_that_was_carried() {
    let mut stopped = open(9_000);
    stopped["bookend"]["ok"] = 4_500.into();
    stopped["count"] = 4_500.into();
    stopped["bookend"]["never_came_back"] = 4_500.into();
    stopped["bookend"]["gates"] = json!([
        { "kind": "slo", "condition": "p99<20ms", "outcome": "missed", "measured": "12 s" },
    ]);
    let tests = tests(&[("a.json", stopped)]);
    let answer = tests.answer.join("\n");
    for part in [
        "Never came back: 50.0 %.",
        "Objectives: p99<20ms was not met: it was 12 s.",
        "the generator was 50 % busy, and 4500 of 9000 calls failed or have no answer.",
    ] {
        assert!(answer.contains(part), "{part}: {answer}");
    }
    assert!(!answer.contains("at least this much") && !answer.contains("No call failed"));
    assert!(tests.html().contains("never came back"));
}

#[test]
fn the_generators_own_lag_is_not_time_in_which_calls_waited() {
    let mut late = open(20_000);
    late["bookend"]["open_loop"]["lag"] = part(9, 10_000, 400 * MILLISECOND_NS);
    let answer = tests(&[("a.json", late)]).answer.join("\n");
    assert!(answer.contains("the rest is mostly the generator's own lag"), "{answer}");
}

fn machine() -> MachineFacts {
    MachineFacts {
        os: "Debian GNU/Linux 12 (bookworm)".to_owned(),
        kernel: "Linux 6.1.0".to_owned(),
        cpu_model: "AMD EPYC 9754 128-Core Processor".to_owned(),
        cpus: 2,
        memory_bytes: 8 << 30,
        governor: None,
        virtual_machine: true,
        hardware: None,
    }
}

/// A ramp from 0 to 20,000 calls a second in ten seconds, of which 10,000 are answered at most.
fn ramp() -> Value {
    let mut result = open(10_000);
    let due: Vec<u64> = (0..100).map(|tenth| 20 * tenth).collect();
    let answered: Vec<u64> = due.iter().map(|calls| (*calls).min(1_000)).collect();
    let warmup = vec![0; 5];
    result["bookend"]["window_seconds"] = json!(10.0);
    result["bookend"]["intervals"]["counts"] = json!([warmup.clone(), answered].concat());
    result["bookend"]["open_loop"]["due_by_interval"] = json!([warmup, due].concat());
    let p50_ns: Vec<Value> = (0..10).map(|second| json!(MILLISECOND_NS * (second + 1))).collect();
    let mut p99_ns: Vec<Value> = (0..10).map(|second| json!(MILLISECOND_NS << second)).collect();
    p99_ns[3] = Value::Null;
    result["bookend"]["latency_intervals"] =
        json!({ "interval_ms": 1_000, "p50_ns": p50_ns, "p99_ns": p99_ns });
    result
}

#[test]
fn a_ramp_shows_where_its_answers_fall_behind_and_what_latency_did() {
    let tests = tests(&[("ramp.json", ramp())]);
    let answer = tests.answer.join("\n");
    let behind = "The answers fell behind 5 s after the window began, when 10900 calls a second were \
                  due.";
    assert!(answer.contains(behind), "{answer}");
    let (_, picture) = tests
        .pictures
        .iter()
        .find(|(_, picture)| picture.title == "Rate and latency over time")
        .expect("a picture");
    assert_eq!(picture.rows.len(), 10, "a row a second");
    let figures = picture.rows[3].figures.clone().expect("figures");
    assert_eq!(figures, ["6900", "6900", "4.00 ms", "-"]);
    for theme in [Theme::Both, Theme::NarrowPage] {
        let svg = picture.svg(theme);
        for text in [">due<", ">answered OK<", ">50 %<", ">99 %<", ">10900 were due per second<"] {
            assert_eq!(svg.matches(text).count(), 1, "{text}: {svg}");
        }
        assert_eq!(svg.matches("fill-opacity=\".22\"").count(), 1, "what is missing: {svg}");
        assert_eq!(svg.matches("stroke-dasharray=\"4 3\"").count(), 2, "in both rows: {svg}");
    }
    assert!(tests.html().contains("id=\"table-rate-over-time\""), "how steady it was");
}

#[test]
fn a_load_that_is_answered_or_whose_schedule_is_not_known_has_no_parting() {
    let mut kept_up = ramp();
    let counts = kept_up["bookend"]["open_loop"]["due_by_interval"].clone();
    kept_up["bookend"]["intervals"]["counts"] = counts;
    let mut unknown = ramp();
    unknown["bookend"]["open_loop"].as_object_mut().unwrap().remove("due_by_interval");
    for result in [kept_up, unknown] {
        let tests = tests(&[("a.json", result)]);
        assert!(!tests.answer.join("\n").contains("fell behind"), "{:?}", tests.answer);
        let svg = tests.pictures.iter().map(|(_, picture)| picture.svg(Theme::Page));
        assert!(svg.collect::<String>().find("stroke-dasharray=\"4 3\"").is_none());
    }
}

#[test]
fn several_tests_over_time_have_a_line_each_in_both_rows() {
    let tests = tests(&[("a.json", ramp()), ("b.json", ramp())]);
    let found = tests.pictures.iter().find(|(_, one)| one.title == "Rate and latency over time");
    let svg = found.expect("a picture").1.svg(Theme::Page);
    assert_eq!(svg.matches("stroke-width=\"1.8\"").count(), 4, "{svg}");
    assert!(svg.contains("99 % of latencies from when calls were due"), "{svg}");
}

#[test]
fn the_heading_has_the_command_and_times_of_flags_have_their_unit() {
    let mut result = closed();
    result["options"]["duration"] = 2_500_000_000u64.into();
    result["options"]["timeout"] = 20_000_000_000u64.into();
    result["options"]["duration-stop"] = "close".into();
    result["bookend"]["origin"] = json!({
        "command": "bookend load -c 8 shop:443", "machine": machine(),
    });
    let page = tests(&[("a.json", result)]).html();
    let heading = page.split("class=\"answer\"").next().expect("a heading");
    assert!(heading.contains("shop.Shop/Buy at shop:443"), "{heading}");
    assert!(heading.contains("Command: bookend load -c 8 shop:443"), "{heading}");
    for text in ["2500 ms", "20 s", "close"] {
        assert!(page.contains(&format!("class=\"words\">{text}\n")), "{text}: {page}");
    }
}

#[test]
fn several_loads_say_which_was_carried_and_have_a_picture_of_latency_over_load() {
    let tests = three_loads();
    let answer = tests.answer.clone();
    let first = "Carried: 9000 calls a second, 99 % of them within 5.00 ms from when they were due \
                 (9k). Not carried: 20000 (20k).";
    assert_eq!(answer[0], first);
    assert_eq!(answer.len(), 4, "{answer:?}");
    assert_eq!(titles(&tests)[0], "Rate and latency over the offered load");
    let picture = &tests.pictures[0].1;
    let along: Vec<&String> =
        picture.rows.iter().filter_map(|row| row.figures.as_ref().ok()?.first()).collect();
    assert_eq!(along, ["5000", "9000", "20000"]);
    let svg = picture.svg(Theme::Both);
    // One hollow dot on each line that has figures: the load that was not carried.
    assert!(svg.matches("class=\"hole\"").count() >= 3, "{svg}");
}

#[test]
fn closed_loops_are_drawn_over_the_calls_in_flight() {
    let mut more = closed();
    more["options"]["concurrency"] = 64.into();
    more["bookend"]["ok"] = 30_000.into();
    let tests = tests(&[("8.json", closed()), ("64.json", more)]);
    assert_eq!(titles(&tests)[0], "Latency over the calls in flight");
    let first = "The highest rate is that of 64: 15000 calls a second were answered OK.";
    assert_eq!(tests.answer[0], first);
}

#[test]
fn loads_that_do_not_differ_have_no_picture_of_latency_over_load() {
    let tests = tests(&[("a.json", open(5_000)), ("a.json", open(5_000))]);
    assert!(!titles(&tests).iter().any(|title| title.contains("over the offered load")));
    let page = tests.html();
    assert!(page.contains(">a (2)<"), "two results have one name");
}

#[test]
fn failures_and_silences_are_in_the_answer() {
    let mut result = closed();
    result["count"] = 25_000.into();
    result["bookend"]["errors"] = json!({ "UNAVAILABLE": 4_000, "INTERNAL": 1_000 });
    result["errorDistribution"] = json!({ "connection refused": 4_000, "odd": 1_000 });
    let mut counts = vec![1_000; 25];
    counts[10..20].fill(0);
    result["bookend"]["intervals"]["counts"] = json!(counts);
    result["bookend"]["generator_stops"] = json!({ "count": 1, "longest_ns": 1_484_000_000 });
    result["endReason"] = "cancel".into();
    let tests = tests(&[("a.json", result)]);
    let answer = tests.answer.join("\n");
    for part in [
        "Failed: 20.0 % of the calls that ended (UNAVAILABLE 4000, INTERNAL 1000).",
        "Most often: \"connection refused\" (4000 times).",
        "from 0.5 s on; the generator did not run for 1.48 s. The run was ended early.",
    ] {
        assert!(answer.contains(part), "{part}: {answer}");
    }
}

#[test]
fn the_answer_comes_first_then_pictures_then_tables_then_what_they_rest_on() {
    let mut result: LoadReport = serde_json::from_value(closed()).expect("a result");
    let command = "bookend load -c 8 shop:443".to_owned();
    result.bookend.origin = Some(LoadOrigin { command, machine: machine(), build: None });
    let tests = tests(&[("a.json", serde_json::to_value(result).expect("writable"))]);
    let page = tests.html();
    let parts = [
        "<h1>Load test: a</h1>",
        "shop.Shop/Buy at shop:443 for 2 s, on 2024-01-31.",
        "10000 calls a second were answered OK",
        ">Pictures</h2>",
        "<svg ",
        ">Tables</h2>",
        ">What the limit was</h3>",
        ">Method</h2>",
        ">concurrency<td",
        "CPU: AMD EPYC 9754 128-Core Processor",
        "bookend load<td",
        "bookend load -c 8 shop:443</pre>",
    ];
    let mut rest = page.as_str();
    for part in parts {
        let at = rest.find(part).unwrap_or_else(|| panic!("no {part:?} in its place"));
        rest = &rest[at + part.len()..];
    }
    assert!(!page.contains(">rps<"), "a flag that was not given");
}

#[test]
fn a_result_of_an_earlier_version_says_what_it_lacks() {
    let page = tests(&[("a.json", closed())]).html();
    assert_eq!(page.matches("not said: an earlier version made it").count(), 2);
}

#[test]
fn every_picture_has_its_numbers_and_a_file_of_its_own() {
    let tests = three_loads();
    let page = tests.html();
    let pictures = &tests.pictures;
    assert_eq!(pictures.len(), 4);
    assert_eq!(page.matches("<figure id=").count(), pictures.len());
    assert_eq!(page.matches("<summary>The numbers</summary>").count(), pictures.len());
    for (name, picture) in pictures {
        let fields = picture.headings.len();
        let complete = picture.rows.iter().all(|row| match &row.figures {
            Ok(figures) => row.names.len() + figures.len() == fields,
            Err(_) => row.names.len() < fields,
        });
        assert!(complete && !picture.rows.is_empty(), "{name}");
    }
    check_pictures(&tests);
}

#[test]
fn a_page_loads_nothing_and_leads_nowhere() {
    let page = three_loads().html();
    for from_elsewhere in ["http://", "https://", "src=", "url(", "@import", "<link"] {
        assert!(!page.contains(from_elsewhere), "{from_elsewhere}");
    }
    assert_eq!(page.matches("<script>").count(), 1);
}

/// A result with hostile text wherever text can be, and texts of a megabyte.
/// The machines of a run that has lost one, with `text` for all that is text.
fn fleet(text: &str) -> Value {
    let agent = |name: &str| {
        json!({
            "name": name, "machine": machine(), "threads": 1, "connections_opened": 2, "ok": 1_500,
            "failed": 3, "requests_per_second": 751.5, "p50_ns": MILLISECOND_NS,
            "p99_ns": 4 * MILLISECOND_NS, "lag_p99_ns": 20_000, "cpu_seconds": 0.25,
            "busy_share": 0.125, "start_late_ns": 1_000, "clock_error_ns": 40_000,
            "round_trip_min_ns": 80_000, "round_trip_median_ns": 90_000,
        })
    };
    json!({
        "agents": [agent(text), agent("two")],
        "start": { "bound_ns": 80_000, "reached_ns": 260_000 }, "preparing_calls": 4,
        "lost": [{
            "name": text, "at_seconds": 3.5, "seconds_told": 3, "share": 0.25, "reason": text,
        }],
        "probe": {
            "name": text, "rate": 50.0, "ok": 100, "failed": 0, "p50_ns": MILLISECOND_NS,
            "p99_ns": MILLISECOND_NS, "max_ns": 2 * MILLISECOND_NS,
        },
        "server": {
            "name": text, "cpu_seconds": 1.5, "in_control_group": true, "memory_bytes": 8 << 20,
            "requests_per_cpu_second": 13_333.0, "interface": text, "node": { "seconds": 2.0 },
        },
        "doubts": [text],
    })
}

#[test]
fn a_result_of_several_machines_says_who_they_were() {
    let mut result = open(5_000);
    result["bookend"]["fleet"] = fleet("one");
    result["bookend"]["origin"] = json!({ "command": "bookend load", "machine": machine() });
    let page = tests(&[("a.json", result)]);
    let sentences = "Agents that made the calls: 3, which started 260 µs apart by clocks that are known to \
                     80.0 µs. Lost: agent one after 3.50 s, with 25.0 % of the load (one). Doubts: one.";
    assert!(page.answer.iter().any(|line| line == sentences), "{:?}", page.answer);
    let markdown = page.markdown_with(None);
    assert!(markdown.contains("\n\nAgents one, two:\nOS: "), "{markdown}");
    for row in [
        "| a | two | 752 | 3 | 1.00 ms | 4.00 ms | 20.0 µs | 12.5 % | 0.250 | 1.00 µs | 90.0 µs |",
        "| a | one | 1.50 | 13333 | 8.0 MiB | - | - | - | - | - |",
        "| a | one | 50.0 | 100 | 0 | 1.00 ms | 1.00 ms | 2.00 ms |",
    ] {
        assert!(markdown.contains(row), "{row}: {markdown}");
    }
}

fn hostile() -> Value {
    let endless = format!("{HOSTILE}{}", "a".repeat(1 << 20));
    let mut result = open(20_000);
    result["name"] = format!("../../{endless}").into();
    result["date"] = endless.clone().into();
    result["options"] = json!({
        "call": endless, "host": HOSTILE, HOSTILE: endless, "data": { HOSTILE: [HOSTILE] },
    });
    result["errorDistribution"] = json!({ endless.clone(): 7, HOSTILE: 3 });
    result["tags"] = json!({ HOSTILE: endless });
    let facts = &mut result["bookend"];
    facts["errors"] = json!({ HOSTILE: 10 });
    facts["open_loop"]["not_made"] = json!({ endless.clone(): 20_000 });
    facts["version"] = endless.clone().into();
    facts["io"] = endless.clone().into();
    facts["goaways"] = json!({ endless.clone(): 1 });
    facts["streams_allowed"] = 100.into();
    facts["targets"] = json!([
        { "target": endless, "address": HOSTILE, "connections_opened": 1, "ok": 1, "failed": 0 },
    ]);
    facts["fleet"] = fleet(&endless);
    facts["origin"] = json!({
        "command": endless,
        "machine": {
            "os": HOSTILE, "kernel": endless, "cpu_model": HOSTILE, "cpus": 1, "memory_bytes": 1,
            "governor": HOSTILE, "virtual_machine": false,
        },
    });
    result
}

#[test]
fn hostile_text_is_text_everywhere() {
    for tests in [
        tests(&[("a.json", hostile())]),
        tests(&[("a.json", hostile()), (HOSTILE, open(5_000)), ("../..", closed())]),
    ] {
        let page = tests.html();
        assert_eq!(page.matches("<script>").count(), 1, "the page's own");
        for element in ["<img", "<script>alert", "\"'>", "\u{1b}", "\u{202e}", "\0"] {
            assert!(!page.contains(element), "{element:?}");
        }
        for (name, picture) in &tests.pictures {
            assert!(!name.contains(['/', '.', '<']), "{name}");
            let svg = picture.svg(Theme::Both);
            assert!(!svg.contains("<script") && !svg.contains("<img") && !svg.contains('\u{1b}'));
        }
        let markdown = tests.markdown_with(Some(Path::new("pictures")));
        for text in [&page, &markdown] {
            assert!(text.len() < 400_000, "{}", text.len());
        }
    }
}

#[test]
fn no_markdown_outside_of_code_opens_an_element() {
    let tests = tests(&[("a.json", hostile()), ("b.json", open(5_000))]);
    let mut is_code = false;
    for line in tests.markdown_with(None).lines() {
        if line.starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            assert!(!line.contains('<') && !line.contains("](javascript"), "{line}");
        }
    }
}

#[test]
fn no_fact_of_a_machine_ends_its_block() {
    let mut result = closed();
    result["bookend"]["origin"] = json!({
        "command": "a\n ~~~\n  `````\nb",
        "machine": {
            "os": "O\r```\r", "kernel": "K\n   ```\n\n<img src=x onerror=alert(1)>\n\n[a](javascript:b)\n",
            "cpu_model": "C", "cpus": 1, "memory_bytes": 1, "governor": null, "virtual_machine": false,
            "hardware": {
                "cpu_id": { "n\n```\n": "v\r```\r" }, "cache": "c\n```\n", "system": "s\n```\n",
                "hypervisor": "h\n```\n", "container": "c\n```\n",
            },
        },
        "build": { "version": "v\n```\n", "revision": "r\n```\n", "profile": "p\n```\n" },
    });
    let page = tests(&[("a.json", result)]).markdown_with(None);
    let lines: Vec<&str> = page.lines().collect();
    let fences: Vec<usize> =
        (0..lines.len()).filter(|index| lines[*index].trim_start().starts_with("```")).collect();
    let [machine, machine_end, command, command_end] = fences[..] else {
        panic!("{page}");
    };
    assert_eq!(lines[machine], "````");
    assert_eq!(lines[machine..=machine_end].len(), 11, "{page}");
    assert_eq!((lines[command], lines[command_end]), ("``````", "``````"));
}

#[test]
fn figures_beyond_all_reason_are_drawn_as_what_they_can_be() {
    let mut result = open(20_000);
    for name in ["window_seconds", "cpu_user_seconds", "requests_per_cpu_second"] {
        for figure in [-1.0, 0.0, f64::MIN_POSITIVE, f64::MAX] {
            result["bookend"][name] = figure.into();
            let tests = tests(&[("a.json", result.clone()), ("b.json", open(9_000))]);
            assert!(tests.html().len() < 400_000, "{name} {figure}");
            check_pictures(&tests);
        }
    }
    let mut silent = open(5_000);
    silent["bookend"]["intervals"] =
        json!({ "interval_ms": 0, "window_start": usize::MAX, "counts": [0, 0, 1u64 << 53] });
    silent["bookend"]["ok"] = 0.into();
    check_pictures(&tests(&[("a.json", silent)]));
}

/// Every number of every picture is one.
fn check_pictures(tests: &ResultPage) {
    for (name, picture) in &tests.pictures {
        let svg = picture.svg(Theme::Both);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name}: {svg}");
    }
}

#[test]
fn a_run_without_an_answer_has_a_page() {
    let mut result = closed();
    let empty = latency::encode(&latency::empty());
    result["count"] = 0.into();
    result["latencyDistribution"] = json!([]);
    for (name, value) in [("ok", json!(0)), ("latency_histogram", json!(empty))] {
        result["bookend"][name] = value;
    }
    result["bookend"].as_object_mut().expect("an object").remove("intervals");
    let tests = tests(&[("a.json", result)]);
    let answer = tests.answer.clone();
    let expected = [
        "0.0000 calls a second were answered OK, with 8 in flight. No call ended with OK, so there is \
         no latency.",
        "Limit: no call ended.",
    ];
    assert_eq!(answer, expected);
    assert_eq!(tests.pictures, []);
    assert!(!tests.html().contains(">Pictures</h2>"));
}

#[test]
fn what_is_no_result_is_refused_with_its_file() {
    let read = |content: &Value| {
        let text = content.to_string();
        load_tests::read(&[(Path::new("odd.json"), text.as_bytes())]).expect_err("no result")
    };
    let error = read(&json!({ "bookend": {} }));
    assert!(matches!(error.why, UnreadableLoadTest::NotAResult(_)));
    let text = error.to_string();
    assert!(text.starts_with("odd.json: not a result of bookend load -O json: "), "{text}");
    let mut result = closed();
    result["bookend"]["latency_histogram"] = "~".into();
    assert!(matches!(read(&result).why, UnreadableLoadTest::Histogram(_)));

    for other in ["", "{\"record\":1}", "[]", "{\"latencyDistribution\":[]}", "\u{0}"] {
        assert!(!load_tests::is_result(other.as_bytes()), "{other}");
    }
    assert!(load_tests::is_result(closed().to_string().as_bytes()));
}

/// A search that found 900 calls a second, with one rate tried three times.
fn search() -> Value {
    let trial = |rate: f64, p99_ms: u64, missed: Option<&str>| {
        json!({
            "rate": rate, "ok_per_second": rate, "in_flight": 2.5, "p50_ns": MILLISECOND_NS,
            "p99_ns": p99_ms * MILLISECOND_NS, "error_share": 0.0, "missed": missed,
        })
    };
    let late = Some("p99<5ms: 9.00 ms");
    let closed =
        |in_flight: u32, rate: f64| json!({ "in_flight": in_flight, "ok_per_second": rate });
    json!({
        "schema_version": 1, "version": "0.1.0", "date": "2024-01-31T00:00:00Z",
        "options": { "call": "shop.Shop/Buy", "host": "shop:443", "rps": 0, "timeout": 20 },
        "objective": "p99<5ms", "kept_rate": 900.0, "missed_rate": 1000.0,
        "generator_was_limit": false,
        "trials": [
            trial(500.0, 2, None), trial(900.0, 4, None), trial(900.0, 9, late),
            trial(900.0, 3, None), trial(1000.0, 9, late), trial(1000.0, 8, late),
        ],
        "closed_loops": [closed(1, 100.0), closed(2, 190.0), closed(4, 340.0), closed(8, 560.0)],
        "fit": {
            "alone_per_second": 100.0, "contention": 0.05, "coherency": 0.001,
            "peak_in_flight": 30.8, "peak_per_second": 900.0, "explained": 0.998,
        },
        "origin": {
            "command": "bookend load --find-capacity 'p99<5ms'",
            "machine": {
                "os": "an OS", "kernel": "a kernel", "cpu_model": "a CPU", "cpus": 2,
                "memory_bytes": 1, "governor": null, "virtual_machine": false,
            },
        },
    })
}

#[test]
fn a_search_of_the_capacity_has_its_rate_its_law_and_both_pictures() {
    let mut search = search();
    search["agents"] = json!(["one", "two"]);
    let page = tests(&[("shop.json", search)]);
    let expected = [
        "900 calls a second keep the objective, p99<5ms; 1000 do not.",
        "At 900 calls a second half of them took at most 1.00 ms from when they were due, and 99 % at \
         most 4.00 ms.",
        "The calls were made by agents: one, two.",
        "By the Universal Scalability Law, which explains 99.8 % of the variance of the closed loops, \
         the rate is highest with 31 calls in flight, at 900 a second: 5.0 % of a call waits for \
         others.",
    ];
    assert_eq!(page.answer, expected);
    assert_eq!(
        titles(&page),
        ["Rate and latency over the offered load", "Rate over the calls in flight"]
    );
    let rates = &page.pictures[0].1.rows;
    let kept: Vec<&str> =
        rates.iter().map(|row| row.figures.as_ref().unwrap()[3].as_str()).collect();
    assert_eq!(kept, ["kept", "kept", "missed"], "three rates, though there are six tries");
    let p99 = &rates[2].figures.as_ref().unwrap()[2];
    assert_eq!(p99, "8.50 ms", "the median of two tries is between them");
    check_pictures(&page);
    let html = page.html();
    for part in ["Capacity: shop", "shop.Shop/Buy at shop:443", "p99&lt;5ms: 9.00 ms", "a kernel"] {
        assert!(html.contains(part), "{part}: {html}");
    }
    assert!(page.markdown_with(None).contains("| 1000 | 1000 | 2.50 |"));
}

#[test]
fn a_search_that_found_nothing_has_a_page() {
    let mut nothing = search();
    for (field, value) in [
        ("kept_rate", Value::Null),
        ("trials", json!([])),
        ("closed_loops", json!([])),
        ("fit", Value::Null),
    ] {
        nothing[field] = value;
    }
    nothing["objective"] = HOSTILE.into();
    let page = tests(&[("shop.json", nothing.clone())]);
    assert_eq!(page.answer, ["No rate was tried to its end."]);
    assert_eq!(page.pictures, []);
    nothing["trials"] = json!([search()["trials"][4]]);
    nothing["generator_was_limit"] = true.into();
    let page = tests(&[("shop.json", nothing)]);
    assert!(page.answer[0].starts_with("No rate that was tried keeps the objective"));
    assert!(page.answer[1].starts_with("The generator did not keep to"), "{:?}", page.answer);
    assert!(!page.html().contains("<script>alert"));
}

#[test]
fn a_search_says_where_trials_disagree_and_how_many_calls_were_refused() {
    let mut doubtful = search();
    doubtful["trials_disagree"] = json!([700.0, 900.0]);
    doubtful["kept_ok_per_second"] = 810.0.into();
    doubtful["generator_was_limit"] = true.into();
    let page = tests(&[("shop.json", doubtful)]);
    let expected = [
        "Of these, 810 calls a second were answered OK.",
        "Trials disagree: the highest rate is somewhere between 700 and 900.",
        "The generator was the limit: the target can do at least this much.",
    ];
    assert_eq!(page.answer[1..4], expected);
}

#[test]
fn a_search_of_the_capacity_stands_alone() {
    let (search, closed) = (search().to_string(), closed().to_string());
    let files =
        [(Path::new("a.json"), closed.as_bytes()), (Path::new("b.json"), search.as_bytes())];
    let error = load_tests::read(&files).expect_err("of two kinds");
    assert_eq!(error.to_string(), "b.json: a result of --find-capacity is reported alone");
}

/// A result of which `per_mille` of a thousand calls failed.
fn failing(mut result: Value, per_mille: u64) -> Value {
    let failed = 20 * per_mille;
    result["bookend"]["ok"] = (20_000 - failed).into();
    result["bookend"]["errors"] = json!({ "UNAVAILABLE": failed });
    result
}

#[test]
fn no_load_test_hides_calls_that_failed() {
    let (many, some) = (failing(closed(), 264), failing(closed(), 5));
    for page in [
        tests(&[("many.json", many.clone())]),
        tests(&[("many.json", many), ("some.json", some), ("none.json", closed())]),
    ] {
        let answer = page.answer.join("\n");
        assert!(answer.contains(", while 26.4 % of the calls failed"), "{answer}");
        let (html, markdown) = (page.html(), page.markdown_with(None));
        for text in [&html, &markdown] {
            assert!(text.contains("! many") && text.contains("(26.4 %)"), "{text}");
            assert!(!text.contains("! none"), "{text}");
        }
    }
    let mut eight = failing(closed(), 264);
    eight["options"]["concurrency"] = 16.into();
    let page = tests(&[("many.json", eight), ("some.json", failing(closed(), 5))]);
    let svgs: Vec<String> =
        page.pictures.iter().map(|(_, picture)| picture.svg(Theme::Light)).collect();
    let over_load =
        svgs.iter().find(|svg| svg.contains("over the calls in flight")).expect("drawn");
    assert!(over_load.contains(">! 26.4 %<") && over_load.contains(">! 0.5 %<"), "{over_load}");
    let rate = svgs.iter().find(|svg| svg.contains(">Rate over time<")).expect("drawn");
    assert!(rate.contains(">! 26.4 %<") && rate.contains(">! many<"), "{rate}");
}

#[test]
fn no_search_of_the_capacity_hides_calls_that_failed() {
    let mut search = search();
    for trial in 0..6 {
        search["trials"][trial]["error_share"] = 0.264.into();
    }
    search["closed_loops"][3]["error_share"] = 0.005.into();
    let page = tests(&[("shop.json", search)]);
    let answer = page.answer.join("\n");
    assert!(answer.contains(", while up to 26.4 % of the calls of a try failed."), "{answer}");
    let drawn: String = page.pictures.iter().map(|(_, one)| one.svg(Theme::Light)).collect();
    assert!(drawn.contains(">! 26.4 %<") && drawn.contains(">! 0.5 %<"), "{drawn}");
    let html = page.html();
    assert!(html.contains("! 900") && html.contains("<td>0.5 %"), "{html}");
}
