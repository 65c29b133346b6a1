//! The same line through ghz and through us: whatever reads ghz's output finds in ours what it
//! looks for, in each format.

use crate::list::{Interrupt, List};
use crate::shell::Environment;
use serde_json::Value;
use std::collections::BTreeSet;

const CALL: &str = "--insecure --proto=proto/helloworld.proto --call=helloworld.Greeter/SayHello \
     -n 20 -c 2 --name=night --tags='{\"env\":\"test\"}' 127.0.0.1:50051";

/// Lines besides the formats: data of every kind, a stream, pacing, failures.
const LINES: [&str; 8] = [
    "-d '{\"name\":\"{{.WorkerID}} {{.RequestNumber}} {{.Timestamp}}\"}'",
    "-d '[{\"name\":\"a\"},{\"name\":\"{{newUUID}}\"}]' -m '{\"trace\":\"{{randomString 5}}\"}'",
    "-d '{\"name\":\"x\"}' -r 100 --load-schedule=step --load-start=50 --load-step=10 \
     --load-step-duration=100ms",
    "-d '{\"name\":\"x\"}' --async -r 200",
    "-d '{\"name\":\"x\"}' --concurrency-schedule=line --concurrency-start=1 --concurrency-step=1 \
     --concurrency-end=3",
    "-d '{\"name\":\"x\"}' -e --skipFirst=5 --connections=2",
    "-d '{\"name\":\"x\"}' -z 200ms --duration-stop=wait",
    "-d '{\"name\":\"x\"}' --timeout=1ns",
];

/// Finds what a program looks for in an output.
type Reader = fn(&str) -> BTreeSet<String>;

struct Pair {
    environment: Environment,
}

impl Pair {
    /// The output of ghz, and ours.
    fn run(&self, words: &str) -> [String; 2] {
        ["ghz", "bookend load"].map(|program| {
            let line = format!("{program} {CALL} {words}");
            let printed = self.environment.run(".", &line, Interrupt::Never);
            printed.unwrap_or_else(|error| panic!("{line}: {error}"))
        })
    }
}

/// Everything in `ghz` that `ours` does not have.
fn missing(ghz: &BTreeSet<String>, ours: &BTreeSet<String>) -> Vec<String> {
    ghz.difference(ours).cloned().collect()
}

/// The paths of all keys, with the kinds of their values; lists are looked at by their first entry.
fn shape(value: &Value, path: &str, shape_of: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(key, value)| shape(value, &format!("{path}.{key}"), shape_of));
        }
        Value::Array(values) => {
            values.iter().take(1).for_each(|value| shape(value, &format!("{path}[]"), shape_of));
        }
        Value::String(_) => drop(shape_of.insert(format!("{path}: text"))),
        Value::Number(_) => drop(shape_of.insert(format!("{path}: number"))),
        Value::Bool(_) => drop(shape_of.insert(format!("{path}: true or false"))),
        Value::Null => {}
    }
}

fn shape_of_json(text: &str) -> BTreeSet<String> {
    let value: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let mut shape_of = BTreeSet::new();
    shape(&value, "", &mut shape_of);
    // What follows from the machine, and from texts that are not the same.
    shape_of.retain(|path| !path.starts_with(".errorDistribution."));
    shape_of
}

/// The words in front of the figures: `Summary:`, `Count`, `% in`.
fn labels(text: &str) -> BTreeSet<String> {
    let label = |line: &str| {
        let words: String = line
            .trim()
            .split(['\t', '[', '|'])
            .next()
            .unwrap_or_default()
            .chars()
            .filter(|letter| !letter.is_ascii_digit())
            .collect();
        words.split(" in ").next().unwrap_or_default().trim_matches([' ', '.']).to_owned()
    };
    text.lines().map(label).filter(|label| !label.is_empty()).collect()
}

/// The names of tags and fields of InfluxDB's line protocol.
fn influx_names(text: &str) -> BTreeSet<String> {
    let line = text.lines().next().unwrap_or_default();
    let names = line.split([',', ' ']).filter_map(|part| part.split_once('='));
    let measurement = line.split(',').next().unwrap_or_default().to_owned();
    names.map(|(name, _)| name.to_owned()).chain([measurement]).collect()
}

/// The names of metrics with their types.
fn prometheus_names(text: &str) -> BTreeSet<String> {
    text.lines().filter(|line| line.starts_with("# TYPE")).map(str::to_owned).collect()
}

/// The heading of CSV: ghz writes an empty line before it, over which readers of CSV stumble.
fn heading(text: &str) -> BTreeSet<String> {
    text.lines().find(|line| !line.is_empty()).map(str::to_owned).into_iter().collect()
}

#[test]
fn what_reads_the_output_of_ghz_can_read_ours() {
    let list = List::read();
    let environment = Environment::new();
    let _server = environment.serve(list.server("helloworld")).unwrap_or_else(|it| panic!("{it}"));
    let pair = Pair { environment };
    // A page is read by people, and ours is that of `bookend report`.
    let readers: [(&str, Reader); 7] = [
        ("summary", labels),
        ("csv", heading),
        ("json", shape_of_json),
        ("pretty", shape_of_json),
        ("influx-summary", influx_names),
        ("influx-details", influx_names),
        ("prometheus", prometheus_names),
    ];
    for (format, read) in readers {
        let outputs = pair.run(&format!("-d '{{\"name\":\"x\"}}' -O {format}"));
        let [ghz, ours] = outputs.each_ref().map(|text| read(text));
        assert!(!ghz.is_empty(), "{format}: {}", outputs[0]);
        assert_eq!(missing(&ghz, &ours), Vec::<String>::new(), "{format}: {}", outputs[1]);
    }
    for words in LINES {
        let outputs = pair.run(&format!("{words} -O json"));
        let [ghz, ours] = outputs.each_ref().map(|text| shape_of_json(text));
        assert_eq!(missing(&ghz, &ours), Vec::<String>::new(), "{words}: {}", outputs[1]);
    }
}
