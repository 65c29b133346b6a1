//! How this command starts the lab: this program is its launcher, its probe and an instrument.

use crate::own_build;
use crate::shell::{kept_words, quoted, this_command};
use crate::terminal::{Failure, print_error};
use bookend_contract::input::MAX_BYTES;
use bookend_lab::context::ProcessTimeouts;
use bookend_lab::launch::Launcher;
use bookend_lab::lock::{Lock, LockError, LockTarget};
use bookend_lab::probe;
use bookend_lab::process::interrupt::Interrupt;
use bookend_lab::run::RunSettings;
use bookend_lab::spawner::Spawner;
use bookend_payload::data;
use bookend_payload::given_file;
use bookend_payload::schema::Schema;
use bookend_results::suite::{Plan, Request, RequestMessage, Suite};
use std::path::Path;

/// Settings of a run that begins now, with a seed of its own.
///
/// # Errors
/// [`Failure`] when the suite's request cannot be encoded, or the path of this program is unknown.
pub fn settings(
    suite: Suite,
    plan: Plan,
    subjects: &Path,
    interrupt: Interrupt,
) -> Result<RunSettings, Failure> {
    let call = probe::CALL.map(str::to_owned).to_vec();
    let mut semantics = call.clone();
    semantics.push("--semantics".to_owned());
    Ok(RunSettings {
        message: request_message(&suite, &plan.request)?,
        command: command_line(words(), &plan),
        suite,
        plan,
        resume: false,
        subjects: subjects.to_owned(),
        spawner: spawner(interrupt)?,
        probe: Some(call),
        semantics: Some(semantics),
        seed: None,
        timeouts: ProcessTimeouts::default(),
        isolation: true,
        fleet: None,
        build: own_build::facts(),
        build_sources: own_build::sources().map(str::to_owned).collect(),
    })
}

/// The request message's bytes where the suite gives it as JSON: the lab knows no protobuf.
///
/// # Errors
/// [`Failure`] naming the file that is wrong.
fn request_message(suite: &Suite, request: &Request) -> Result<Option<Vec<u8>>, Failure> {
    let RequestMessage::Json(file) = &request.message else {
        return Ok(None);
    };
    let schema = Schema::from_proto(&suite.path(&request.proto), &[]).map_err(Failure::usage)?;
    let method = schema.method(&request.method).map_err(Failure::usage)?;
    let file = suite.path(file);
    let place = file.display().to_string();
    let text = given_file::text(&file, MAX_BYTES).map_err(Failure::usage)?;
    let messages = data::from_json(&text, &place, &method.input()).map_err(Failure::usage)?;
    match messages.as_slice() {
        [only] => Ok(Some(only.clone())),
        many => Err(Failure::usage(format!(
            "{place} has {} messages, and a suite sends one",
            many.len()
        ))),
    }
}

/// Starts processes through a sub-command of `bookend` itself.
///
/// # Errors
/// [`Failure`] when the path of this program is unknown.
pub fn spawner(interrupt: Interrupt) -> Result<Spawner, Failure> {
    let bookend = std::env::current_exe().map_err(Failure::nothing_measured)?;
    Ok(Spawner {
        launcher: Launcher::new(bookend.clone(), vec!["launch".into()]),
        bookend,
        interrupt,
    })
}

/// Keeps other labs out as long as the lock lives: refused where somebody has it, or awaited.
///
/// # Errors
/// [`Failure`] naming who has it. `Ok(None)`: the user ended the waiting.
pub fn lock(
    target: &LockTarget,
    waits: bool,
    interrupt: &Interrupt,
) -> Result<Option<Lock>, Failure> {
    let command = this_command();
    let taken = if waits {
        Lock::wait(target, &command, interrupt, &mut |line| print_error(line))
    } else {
        Lock::take(target, &command)
    };
    match taken {
        Ok(lock) => Ok(Some(lock)),
        Err(LockError::Interrupted) => Ok(None),
        Err(error) => Err(Failure::nothing_measured(error)),
    }
}

/// CPUs that this process may use.
pub fn cpus() -> u32 {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    u32::try_from(cpus).unwrap_or(u32::MAX)
}

/// The words that were typed after the program's name.
fn words() -> impl Iterator<Item = String> {
    std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned())
}

/// What repeats the run: the variables that its plan follows, and the words that the user typed,
/// with the name of the suite if they lack it. The path of the program is left out: it may name the
/// user's home.
fn command_line(words: impl Iterator<Item = String>, plan: &Plan) -> String {
    let mut typed: Vec<String> = words.collect();
    if !typed.contains(&plan.suite) {
        typed.insert(typed.len().min(1), plan.suite.clone());
    }
    plan.variables
        .iter()
        .map(|(name, value)| format!("{name}={}", quoted(value)))
        .chain(["bookend".to_owned()])
        .chain(kept_words(typed).iter().map(|word| quoted(word)))
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use bookend_results::suite::{Overrides, Selection};

    #[test]
    fn the_kept_command_has_the_variables_and_the_suite() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../suites/transports");
        let suite = Suite::read(Path::new(folder)).expect("a suite");
        let set = [("GRPC_BENCHMARK_DURATION", "700ms"), ("GRPC_TRACE", "all")];
        let overrides = Overrides::from_environment(set).expect("readable");
        let plan = suite.plan(&Selection::default(), &overrides, 2).expect("a plan");
        let kept = |words: &str| command_line(words.split(' ').map(str::to_owned), &plan);
        let all = "GRPC_BENCHMARK_DURATION=700ms bookend run transports --rounds 3";
        assert_eq!(kept("run --rounds 3"), all);
        assert_eq!(kept("run transports --rounds 3"), all);
        assert!(kept("run transports --baseline TOKEN=abc").ends_with("'TOKEN=masked (3 bytes)'"));
    }
}
