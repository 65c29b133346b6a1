//! Samples of real servers, as `perf script` printed them, are folded and placed. Each file holds
//! a few samples of one server, one of each kind; its numbers are not a profile.

use bookend_lab::perf::Folded;
use bookend_results::profile::{self, Layer, Rules, Split};
use std::collections::BTreeMap;

fn folded(subject: &str) -> Folded {
    let folder = env!("CARGO_MANIFEST_DIR");
    let file = format!("{folder}/tests/profile_samples/{subject}.txt");
    let text = std::fs::read(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
    Folded::of_script(text.as_slice()).unwrap()
}

fn split(subject: &str, language: &str) -> Split {
    profile::split(folded(subject).stacks(), &Rules::for_subject(subject, language))
}

/// Checks the number of samples in each layer, in the order of the table, and of the rest.
fn check(split: &Split, expected: [u64; 7]) {
    let [expected @ .., rest] = expected;
    let expected = Layer::ALL.into_iter().zip(expected).filter(|(_, samples)| *samples > 0);
    assert_eq!(split.layers, expected.collect::<BTreeMap<_, _>>());
    assert_eq!(split.samples - split.layers.values().sum::<u64>(), rest);
}

#[test]
fn pajamax_loop_is_its_protocol_although_the_compiler_folded_it_into_a_thread() {
    let split = split("rust-pajamax", "Rust");
    check(&split, [2, 2, 3, 2, 2, 1, 0]);
    assert_eq!(split.shared_work, 2);
}

#[test]
fn tonic_has_a_runtime_and_a_library_for_http2() {
    let split = split("rust-tonic", "Rust");
    check(&split, [1, 2, 4, 1, 1, 4, 0]);
    assert_eq!(split.shared_work, 1);
}

#[test]
fn in_go_growing_stacks_and_collecting_garbage_are_the_runtime() {
    check(&split("go-grpc", "Go"), [0, 1, 3, 1, 2, 3, 0]);
}

#[test]
fn in_java_compiling_is_the_runtime_and_results_types_do_not_mislead() {
    check(&split("java-grpc", "Java"), [0, 1, 2, 1, 1, 4, 0]);
}

#[test]
fn in_cpp_a_server_that_reads_files_meanwhile_does_so_for_nobody() {
    check(&split("cpp-grpc", "C++"), [0, 1, 2, 0, 0, 3, 1]);
}

#[test]
fn in_python_the_interpreter_is_the_runtime_and_a_library_without_symbols_is_known_by_its_file() {
    let split = split("python-grpcio", "Python");
    check(&split, [1, 1, 1, 1, 0, 4, 0]);
    assert_eq!(split.nameless, 1);
}

#[test]
fn a_flame_graph_names_what_it_counts_and_can_be_searched() {
    let (title, subtitle) = ("rust-tonic C=1 S=100", "13 samples of cpu-clock");
    let picture = folded("rust-tonic").flame_graph(title.into(), subtitle.into()).unwrap();
    let picture = String::from_utf8(picture).unwrap();
    for part in ["rust-tonic C=1 S=100", "13 samples of cpu-clock", "samples,", "<script", "Search"]
    {
        assert!(picture.contains(part), "{part}");
    }
}

#[test]
fn of_no_samples_there_is_no_picture() {
    let nothing = Folded::of_script(&b""[..]).unwrap();
    assert_eq!(nothing.samples(), 0);
    assert!(nothing.flame_graph(String::new(), String::new()).is_err());
}
