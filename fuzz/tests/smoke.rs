//! Every target with its seeds, and with a number of inputs made of them: the same each time.
//!
//! `FUZZ_INPUTS` asks for another number.

use bookend_fuzz::mutation::Mutator;
use bookend_fuzz::{TARGETS, Target};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Inputs of each target.
const INPUTS: usize = 20_000;

fn inputs() -> usize {
    let asked = env::var("FUZZ_INPUTS").ok();
    asked.map_or(INPUTS, |number| number.parse().expect("FUZZ_INPUTS is a number"))
}

fn folder(kind: &str, name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(kind).join(name)
}

fn files(folder: &Path) -> Vec<Vec<u8>> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .map(|entry| entry.expect("a folder that can be read").path())
        .collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).expect("a file that can be read")).collect()
}

/// Runs a target on inputs; the first that fails is kept as a file and shown.
fn smoke((name, target): Target, corpus: &[Vec<u8>], inputs: usize) -> Result<(), String> {
    let mut mutator = Mutator::new(0x5eed);
    let made = (0..inputs).map(|_| mutator.input(corpus)).collect::<Vec<_>>();
    for input in corpus.iter().chain(&made) {
        if catch_unwind(AssertUnwindSafe(|| target(input))).is_err() {
            return Err(kept(name, input));
        }
    }
    Ok(())
}

fn kept(name: &str, input: &[u8]) -> String {
    let folder = folder("artifacts", name);
    let path = folder.join("smoke");
    let is_kept = fs::create_dir_all(&folder).and_then(|()| fs::write(&path, input)).is_ok();
    let place = if is_kept { path.display().to_string() } else { "nowhere".to_owned() };
    format!("{name} failed on {input:02x?}\nkept in {place}; from now on tried first")
}

/// Runs one target on its seeds, on what failed before, and on what is made of both.
fn run(name: &str) {
    let target = TARGETS.into_iter().find(|(known, _)| *known == name).expect("a known target");
    let mut corpus = files(&folder("seeds", name));
    assert!(corpus.len() >= 3, "{name} has {} seeds", corpus.len());
    corpus.extend(files(&folder("artifacts", name)));
    smoke(target, &corpus, inputs()).unwrap_or_else(|failure| panic!("{failure}"));
}

macro_rules! targets {
    ($($name:ident)*) => {
        $(#[test] fn $name() { run(stringify!($name)) })*

        #[test]
        fn no_target_is_left_out() {
            assert_eq!(TARGETS.map(|(name, _)| name), [$(stringify!($name)),*]);
            let mains = files(&folder("fuzz_targets", ""));
            assert_eq!(mains.len(), TARGETS.len());
        }
    };
}

targets! {
    server_core client_core server_frames client_frames hpack_decode hpack_round_trip messages gzip
    text timeout zstd descriptors thrift_idl json templates histogram load_report record
}

#[test]
fn a_target_that_fails_on_few_inputs_is_found() {
    fn dislikes_an_byte(input: &[u8]) {
        assert!(!input.starts_with(b"a\x80"));
    }
    let corpus = [b"abc".to_vec(), b"xyz".to_vec()];
    let failure = smoke(("planted", dislikes_an_byte), &corpus, INPUTS).unwrap_err();
    assert!(failure.contains("planted failed on [61, 80"), "{failure}");
    fs::remove_dir_all(folder("artifacts", "planted")).expect("what was just kept");
}
