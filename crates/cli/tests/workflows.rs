//! The workflows of docs/use/ci.md: their shell steps run as printed, in a repository as a reader's
//! would be, and the steps of our action by the script that action.yml runs.
#![forbid(unsafe_code)]

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const BOOKEND: &str = env!("CARGO_BIN_EXE_bookend");

/// The workflow of this name that the page prints.
fn workflow(name: &str) -> Value {
    let page = fs::read_to_string(format!("{ROOT}/docs/use/ci.md")).expect("the page");
    let blocks = page.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next());
    let mut workflows = blocks.map(|text| serde_saphyr::from_str(text).expect("YAML"));
    workflows.find(|each: &Value| each["name"] == name).expect("a workflow of this name")
}

/// A repository with a server that [`BOOKEND`] plays, as large as a race needs: two commits, of
/// which the first is main and v1.0.0.
struct Repository {
    folder: TempDir,
    temporary: TempDir,
    /// For the server, in place of the port that the page prints.
    port: String,
}

impl Repository {
    fn new() -> Repository {
        let (folder, temporary) = (tempfile::tempdir(), tempfile::tempdir());
        let (folder, temporary) = (folder.expect("a folder"), temporary.expect("a folder"));
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port().to_string();
        let repository = Repository { folder, temporary, port };
        let proto = fs::read_to_string(format!("{ROOT}/proto/helloworld.proto")).expect("proto");
        repository.write("proto/helloworld.proto", &proto);
        repository.write("build.sh", "#!/bin/sh\ncp server.in server && chmod +x server\n");
        let server = format!("#!/bin/sh\nexec {BOOKEND} serve --threads 1 \"$@\"\n");
        repository.write("server.in", &server);
        let installed = repository.temporary.path().join("bookend/bin");
        fs::create_dir_all(&installed).expect("a folder");
        std::os::unix::fs::symlink(BOOKEND, installed.join("bookend")).expect("a link");
        let commits = "git init -q . && chmod +x build.sh && git add . && \
            git commit -qm one && git update-ref refs/remotes/origin/main HEAD && \
            git tag v1.0.0 && git commit -q --allow-empty -m two";
        assert!(repository.shell(commits, &BTreeMap::new()).status.success());
        repository
    }

    fn write(&self, file: &str, text: &str) {
        let file = self.path(file);
        fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        fs::write(file, text).expect("written");
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    fn summary(&self) -> String {
        fs::read_to_string(self.temporary.path().join("summary")).unwrap_or_default()
    }

    /// Runs a script as a runner does.
    fn shell(&self, script: &str, variables: &BTreeMap<&str, String>) -> Output {
        let script = script.replace("50051", &self.port);
        let temporary = self.temporary.path();
        let path = std::env::var("PATH").expect("a path");
        let mut bash = Command::new("bash");
        bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &script]);
        bash.current_dir(self.folder.path()).env("TMPDIR", temporary).envs(variables);
        bash.env("PATH", format!("{}:{path}", temporary.join("bookend/bin").display()));
        for name in ["AUTHOR", "COMMITTER"] {
            bash.env(format!("GIT_{name}_NAME"), "a").env(format!("GIT_{name}_EMAIL"), "a@b");
        }
        bash.env("RUNNER_TEMP", temporary).env("GITHUB_BASE_REF", "main");
        bash.env("GITHUB_STEP_SUMMARY", temporary.join("summary"));
        bash.env("GITHUB_OUTPUT", temporary.join("output"));
        bash.output().expect("bash starts")
    }

    /// Runs the steps that are a script or our action, up to the first that fails: its status.
    fn run(&self, workflow: &Value, shortened: &[(&str, &str)]) -> i32 {
        let jobs = workflow["jobs"].as_object().expect("jobs");
        let steps = jobs.values().flat_map(|job| job["steps"].as_array().expect("steps"));
        for step in steps {
            let output = match (&step["run"], &step["uses"]) {
                (Value::String(script), _) => self.shell(script, &BTreeMap::new()),
                (_, Value::String(action)) if action == "./.bookend" => {
                    self.action(&step["with"], shortened)
                }
                _ => continue,
            };
            if !output.status.success() {
                return output.status.code().unwrap_or_default();
            }
        }
        0
    }

    fn action(&self, inputs: &Value, shortened: &[(&str, &str)]) -> Output {
        let input = |name: &str| inputs[name].as_str().expect("an input").to_owned();
        let mut arguments = input("arguments").replace("50051", &self.port);
        for (long, short) in shortened {
            assert!(arguments.contains(long), "{arguments}");
            arguments = arguments.replace(long, short);
        }
        let variables = [("COMMAND", input("command")), ("ARGUMENTS", arguments)];
        self.shell(&format!("{ROOT}/scripts/action"), &variables.into())
    }
}

/// What stays in the background of a step, a runner ends with the job.
struct Background<'a>(&'a Path);

impl Drop for Background<'_> {
    fn drop(&mut self) {
        let script = "for folder in /proc/[0-9]*; do [ \"$(readlink $folder/cwd)\" = \"$0\" ] && \
            kill ${folder#/proc/}; done";
        let _ = Command::new("sh").args(["-c", script]).arg(self.0).output();
    }
}

#[test]
fn a_pull_request_is_raced_against_its_base() {
    let repository = Repository::new();
    let short = [("--budget 120s", "--budget 1s --lap 10ms --warmup 10ms -c 8")];
    let status = repository.run(&workflow("race"), &short);
    // Two equal builds: whether a second is enough to tell that is a matter of the machine.
    assert!(matches!(status, 0 | 6), "{status}");
    assert!(repository.summary().contains("origin/main"), "{}", repository.summary());
    assert!(repository.path("bookend-race.json").exists());
}

#[test]
fn a_pull_request_that_misses_an_objective_fails() {
    let repository = Repository::new();
    let background = fs::canonicalize(repository.folder.path()).expect("a folder");
    let _background = Background(&background);
    let short = [("--warmup 2s -z 20s", "-n 200"), ("p99<20ms", "p99<1ns")];
    assert_eq!(repository.run(&workflow("objective"), &short), 3);
    let summary = repository.summary();
    // A reader of the job sees first what was missed.
    let said = "**The gate is missed.**\n\n- p99<1ns was not met";
    assert!(summary.starts_with(said), "{summary}");
}

#[test]
fn a_night_is_added_to_the_history() {
    let repository = Repository::new();
    let short = [("--until 1% --budget 20m", "--budget 1s --lap 10ms --warmup 10ms -c 1,8")];
    assert_eq!(repository.run(&workflow("history"), &short), 0);
    let nights = fs::read_dir(repository.path("history")).expect("a folder").count();
    assert_eq!(nights, 1);
    // Of more than one cell, what a terminal is shown begins with a table.
    let summary = repository.summary();
    let night = summary.lines().find(|line| line.starts_with("- history/")).expect("a night");
    let answers = ["nconclusive: ", "equivalent", "is better: "];
    assert!(answers.iter().any(|answer| night.contains(answer)), "{night}");
}

#[test]
fn an_action_that_measures_nothing_says_so_and_fails() {
    let repository = Repository::new();
    let inputs = |command: &str, arguments: &str| serde_json::json!({ "command": command, "arguments": arguments });
    let failed = repository.action(&inputs("race", "--call a.B/C 'a=exit 5 # {port}'"), &[]);
    assert_eq!(failed.status.code(), Some(1), "{failed:?}");
    assert!(repository.summary().contains("Nothing was measured"), "{}", repository.summary());
    assert!(repository.summary().contains("\n- a has ended"), "{}", repository.summary());
    let output = fs::read_to_string(repository.temporary.path().join("output")).expect("outputs");
    assert_eq!(output, "status=1\n", "no result is named that is not there");
    let nowhere = "--rev nowhere --rev HEAD --call a.B/C './server {port}'";
    let unknown = repository.action(&inputs("race", nowhere), &[]);
    let said = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(said.contains("nowhere is no commit of this repository"), "{said}");
    let unknown = repository.action(&inputs("serve", ""), &[]);
    assert_eq!(unknown.status.code(), Some(2), "{unknown:?}");
    // A name that a contributor chose is a word, not a command.
    let variables = [
        ("COMMAND", "load".to_owned()),
        ("ARGUMENTS", "\"$BRANCH\"".to_owned()),
        ("BRANCH", "$(touch reached)".to_owned()),
    ];
    repository.shell(&format!("{ROOT}/scripts/action"), &variables.into());
    assert!(!repository.path("reached").exists());
}
