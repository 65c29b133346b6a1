//! The workspace's test binaries, run several at a time: half of them wait for sockets and
//! deadlines most of the time, and `cargo test` runs one after the other.

use crate::log;
use crate::slow::SLOW;
use crate::steps::{root, target_folder};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

/// How many run at once. With more, tests of one binary that wait for each other are slowed down.
const RUNNING_MAX: usize = 3;

/// How long one may run: several times as long as the slowest takes during a build. One that hangs
/// is ended and named, with the test that it hung in, before CI ends everything in silence.
const RUN_TIME_MAX: Duration = Duration::from_secs(480);

/// A program of tests that cargo has built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestBinary {
    /// `server/attacks`; `server` for the unit tests of the library.
    pub name: String,
    /// Where cargo would run it: its tests find their files from there.
    folder: PathBuf,
    path: PathBuf,
}

/// Builds all of them, and keeps their names for those that run them later.
///
/// # Errors
///
/// A cargo that cannot be started, and a list that cannot be written.
pub fn build() -> Result<bool, String> {
    let built = Command::new("cargo")
        .args(["test", "--workspace", "--exclude", "xtask", "--locked", "--no-run"])
        .arg("--message-format=json-render-diagnostics")
        .current_dir(root())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cargo: {error}"))?;
    let messages = String::from_utf8_lossy(&built.stdout);
    let binaries: Vec<&str> = messages.lines().filter(|line| test_binary(line).is_some()).collect();
    println!("{} test binaries", binaries.len());
    fs::write(list(), binaries.join("\n"))
        .map_err(|error| format!("{}: {error}", list().display()))?;
    Ok(built.status.success())
}

/// Runs the slow ones or all others; whether all passed.
///
/// # Errors
///
/// A list of binaries that is not there, and one that has none of those that are named as slow.
pub fn run(slow: bool) -> Result<bool, String> {
    let messages =
        fs::read_to_string(list()).map_err(|error| format!("{}: {error}", list().display()))?;
    let all: Vec<TestBinary> = messages.lines().filter_map(test_binary).collect();
    let by_name = |name: &str| all.iter().find(|binary| binary.name == name);
    let listed = SLOW.iter().map(|(name, _)| by_name(name).ok_or(*name));
    let slow_ones: Vec<&TestBinary> = listed
        .collect::<Result<_, _>>()
        .map_err(|gone| format!("no test binary is called {gone}, which is listed as slow"))?;
    let chosen = match slow {
        true => slow_ones,
        false => all.iter().filter(|binary| !slow_ones.contains(binary)).collect(),
    };
    let failed = run_all(&chosen);
    if !failed.is_empty() {
        println!("error: {} test binaries failed:\n    {}", failed.len(), failed.join("\n    "));
    }
    Ok(failed.is_empty())
}

/// Runs each and prints what it says as it ends; the names of those that failed.
fn run_all(binaries: &[&TestBinary]) -> Vec<String> {
    let waiting = Mutex::new(binaries.iter());
    let failed = Mutex::new(Vec::new());
    let next = || waiting.lock().expect("no thread panics").next();
    thread::scope(|scope| {
        for _ in 0..RUNNING_MAX {
            scope.spawn(|| {
                while let Some(binary) = next() {
                    let started = Instant::now();
                    let said = binary.run();
                    let mut failed = failed.lock().expect("no thread panics");
                    println!(
                        "     Running {} ({:.1} s)",
                        binary.name,
                        started.elapsed().as_secs_f64()
                    );
                    println!("{}", said.text);
                    if !said.holds {
                        failed.push(binary.name.clone());
                    }
                }
            });
        }
    });
    failed.into_inner().expect("no thread panics")
}

struct Said {
    text: String,
    holds: bool,
}

impl TestBinary {
    fn run(&self) -> Said {
        let mut command = Command::new(&self.path);
        // As `cargo test` runs it: from its package, which it may ask for.
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder);
        let name = self.name.replace('/', "-");
        run_logged(&mut command, &target_folder().join("logs").join(name + ".log"), RUN_TIME_MAX)
    }
}

/// What a program writes to `log`. To a file: of a pipe, a process that it left behind would keep
/// an end open.
fn run_logged(command: &mut Command, log: &Path, time_max: Duration) -> Said {
    match status(command, log, time_max) {
        Ok(status) => said(status, time_max, &fs::read(log).unwrap_or_default()),
        Err(error) => Said { text: format!("{command:?}: {error}"), holds: false },
    }
}

/// How it ended; `None` where it had to be killed.
fn status(command: &mut Command, log: &Path, time_max: Duration) -> io::Result<Option<ExitStatus>> {
    let log = File::create(log)?;
    let mut child = command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn()?;
    let started = Instant::now();
    while started.elapsed() < time_max {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        thread::sleep(Duration::from_millis(20));
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

/// A program that died without a word of tests, or was killed, counts as one failed.
fn said(status: Option<ExitStatus>, time_max: Duration, output: &[u8]) -> Said {
    let holds = status.is_some_and(|status| status.success());
    let mut text = String::from_utf8_lossy(output).into_owned();
    let how = match status {
        Some(status) => status.to_string(),
        None => killed(&text, time_max),
    };
    if !holds && log::test_counts(&text).failed == 0 {
        text += &format!("\n{how}\ntest result: FAILED. 0 passed; 1 failed;");
    }
    Said { text, holds }
}

/// As a failed test is reported, with the tests that the harness has named as slow.
fn killed(text: &str, time_max: Duration) -> String {
    let slow: Vec<&str> =
        text.lines().filter(|line| line.contains("has been running for over")).collect();
    format!("---- killed after {} s stdout ----\n{}", time_max.as_secs(), slow.join("\n"))
}

/// Where the messages of cargo about test binaries are kept, one on each line.
fn list() -> PathBuf {
    target_folder().join("test-binaries.json")
}

/// What a message of cargo says of a test binary; `None` for every other message.
fn test_binary(message: &str) -> Option<TestBinary> {
    let (_, profile) = message.split_once("\"profile\":{")?;
    if !profile.split('}').next()?.contains("\"test\":true") {
        return None;
    }
    let folder = Path::new(value(message, "manifest_path")?).parent()?;
    let package = folder.file_name()?.to_str()?;
    let (_, target) = message.split_once("\"target\":{")?;
    let name = match value(target, "name")? {
        _ if target.starts_with("\"kind\":[\"lib\"]") => package.to_owned(),
        name => format!("{package}/{name}"),
    };
    Some(TestBinary { name, folder: folder.to_owned(), path: value(message, "executable")?.into() })
}

/// The text that a key has in JSON; `None` where it has another value, or one with escapes.
fn value<'a>(json: &'a str, key: &str) -> Option<&'a str> {
    let (_, after) = json.split_once(&format!("\"{key}\":\""))?;
    let (value, _) = after.split_once('"')?;
    (!value.contains('\\')).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{env, process};

    fn message(kind: &str, name: &str, is_test: bool, executable: &str) -> String {
        format!(
            "{{\"reason\":\"compiler-artifact\",\"package_id\":\"path+file:///a/crates/server#0.1.0\",\
            \"manifest_path\":\"/a/crates/server/Cargo.toml\",\"target\":{{\"kind\":[\"{kind}\"],\
            \"crate_types\":[\"bin\"],\"name\":\"{name}\",\"test\":true}},\
            \"profile\":{{\"opt_level\":\"0\",\"test\":{is_test}}},\"executable\":{executable}}}"
        )
    }

    #[test]
    fn test_binaries_are_told_from_what_else_cargo_builds() {
        let path = "\"/a/target/debug/deps/attacks-1\"";
        let binary = test_binary(&message("test", "attacks", true, path)).expect("a test");
        assert_eq!(binary.name, "server/attacks");
        assert_eq!(binary.folder, Path::new("/a/crates/server"));
        assert_eq!(binary.path, Path::new("/a/target/debug/deps/attacks-1"));
        let library = test_binary(&message("lib", "bookend_server", true, path)).expect("a test");
        assert_eq!(library.name, "server");
        assert_eq!(test_binary(&message("bin", "serve", false, path)), None);
        assert_eq!(test_binary(&message("lib", "bookend_server", true, "null")), None);
        assert_eq!(test_binary("{\"reason\":\"build-finished\",\"success\":true}"), None);
    }

    fn run_for(words: &[&str], time_max: Duration) -> Said {
        let log = env::temp_dir().join(format!("xtask-{}-{}", process::id(), words.join("-")));
        let said = run_logged(Command::new(words[0]).args(&words[1..]), &log, time_max);
        let _ = fs::remove_file(log);
        said
    }

    #[test]
    fn a_binary_that_dies_without_a_word_is_one_failed_test() {
        assert!(run_for(&["true"], RUN_TIME_MAX).holds);
        let died = run_for(&["false"], RUN_TIME_MAX);
        assert_eq!((died.holds, log::test_counts(&died.text).failed), (false, 1));
        assert!(!run_for(&["gone-program"], RUN_TIME_MAX).holds);
    }

    #[test]
    fn a_binary_that_does_not_end_is_killed_and_is_one_failed_test() {
        let killed = run_for(&["sleep", "1000"], Duration::from_millis(50));
        assert_eq!((killed.holds, log::test_counts(&killed.text).failed), (false, 1));
        assert!(log::failure(&killed.text)[0].contains("killed after 0 s"), "{}", killed.text);
    }

    #[test]
    fn the_slow_binaries_are_few() {
        assert!(SLOW.len() <= 15);
    }
}
