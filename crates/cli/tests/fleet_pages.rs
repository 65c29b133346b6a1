//! What docs/use/many-machines.md has a reader do on one machine, word by word, and the example for
//! Kubernetes. `tests/fleet` follows what needs several machines.
#![forbid(unsafe_code)]

#[path = "support/served.rs"]
mod served;

use serde_json::Value;
use served::Served;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

const PAGE: &str = include_str!("../../../docs/use/many-machines.md");
const EXAMPLE: &str = include_str!("../../../examples/fleet/kubernetes.yaml");
const BOOKEND: &str = env!("CARGO_BIN_EXE_bookend");
/// The ports of the page: of the coordinator, and of the server.
const PORTS: [&str; 2] = ["7420", "50051"];
/// What the page has a token made by, which not every machine has.
const MAKES_TOKEN: &str = "openssl rand -hex 32 >token";

/// The block of this language that the page has.
fn block(language: &str) -> &'static str {
    let opening = format!("```{language}\n");
    let mut blocks = PAGE.split(&opening).skip(1).filter_map(|rest| rest.split("\n```").next());
    let block = blocks.next().unwrap_or_else(|| panic!("the page has no block of {language}"));
    assert_eq!(blocks.next(), None, "one block of {language} is followed");
    block
}

fn serve() -> Served {
    let mut command = Command::new(BOOKEND);
    command.args(["serve", "--port", "0", "--threads", "1"]);
    Served::by(command)
}

fn free_port() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port().to_string()
}

/// Types the commands into a shell, which ends with the first that fails.
fn typed(commands: &str, folder: &TempDir) -> Output {
    let own = Path::new(BOOKEND).parent().unwrap().display();
    let path = std::env::var("PATH").unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-ec", commands]).current_dir(folder.path());
    shell.env("PATH", format!("{own}:{path}")).env_remove("BOOKEND_FLEET_TOKEN");
    shell.output().unwrap()
}

/// The name of a figure, with which a line of a summary begins.
fn figure(line: &str) -> Option<&str> {
    line.strip_prefix("  ")?.split_once(":\t").map(|(name, _)| name)
}

#[test]
fn the_page_is_followed_on_one_machine() {
    let (folder, server) = (tempfile::tempdir().unwrap(), serve());
    let mut commands = block("sh").to_owned();
    for (port, own) in PORTS.into_iter().zip([free_port(), server.port.to_string()]) {
        assert!(commands.contains(&format!(":{port}")), "{port}");
        commands = commands.replace(&format!(":{port}"), &format!(":{own}"));
    }
    assert!(commands.starts_with(MAKES_TOKEN), "{commands}");
    if Command::new("openssl").arg("version").output().is_err() {
        commands = commands.replace(MAKES_TOKEN, &format!("echo {} >token", "a1".repeat(32)));
    }
    let ended = typed(&commands, &folder);
    let (output, errors) =
        (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    assert!(ended.status.success(), "{output}{errors}");

    let figures: Vec<&str> = output.lines().filter_map(figure).collect();
    let count = |name: &str| figures.iter().filter(|figure| **figure == name).count();
    for name in ["Agents", "Limit"] {
        assert_eq!(count(name), 2, "{output}");
    }
    for agent in ["one", "two", "local-0", "local-1"] {
        assert_eq!(count(&format!("Agent {agent}")), 1, "{output}");
    }
    let shown: Vec<&str> = block("text").lines().filter_map(figure).collect();
    assert!(shown.len() >= 5, "{shown:?}");
    for name in shown {
        assert!(count(name) >= 1, "the page shows {name:?}: {output}");
    }
    assert!(!output.contains("Error distribution"), "{output}");
    server.end();
}

#[test]
fn the_page_is_linked_and_leads_to_the_example() {
    let list = include_str!("../../../docs/README.md");
    for page in ["(use/many-machines.md)", "(internals/fleet.md)"] {
        assert!(list.contains(page), "docs/README.md has no link to {page}");
    }
    assert!(PAGE.contains("(../../examples/fleet/kubernetes.yaml)"));
}

/// The objects of the example for Kubernetes.
struct Objects(Vec<Value>);

impl Objects {
    fn read() -> Objects {
        let documents = EXAMPLE.split("\n---\n");
        Objects(documents.map(|text| serde_saphyr::from_str(text).expect("YAML")).collect())
    }

    fn named(&self, kind: &str, name: &str) -> &Value {
        let is_it = |object: &&Value| object["kind"] == kind && object["metadata"]["name"] == name;
        self.0.iter().find(is_it).unwrap_or_else(|| panic!("no {kind} {name}"))
    }

    /// What the pods of a job are made of, and their one container.
    fn pod(&self, job: &str) -> (&Value, &Value) {
        let template = &self.named("Job", job)["spec"]["template"];
        let containers = template["spec"]["containers"].as_array().expect("containers");
        assert_eq!(containers.len(), 1, "{job}");
        (template, &containers[0])
    }

    fn words(&self, job: &str) -> Vec<&str> {
        let words = self.pod(job).1["args"].as_array().expect("words");
        words.iter().map(|word| word.as_str().expect("words, and no numbers")).collect()
    }
}

fn value_of<'a>(words: &[&'a str], flag: &str) -> &'a str {
    let at = words.iter().position(|word| *word == flag).unwrap_or_else(|| panic!("no {flag}"));
    words[at + 1]
}

/// Runs a container's words with other values of some flags, and the token that the example has
/// as a secret.
fn run(words: &[&str], changes: &[(&str, &str)]) -> Output {
    let mut words = words.to_vec();
    for (flag, value) in changes {
        let at = words.iter().position(|word| word == flag).unwrap_or_else(|| panic!("no {flag}"));
        words[at + 1] = value;
    }
    let objects = Objects::read();
    let token = &objects.named("Secret", "bookend-fleet")["stringData"]["token"];
    let mut command = Command::new(BOOKEND);
    command.args(words).env("BOOKEND_FLEET_TOKEN", token.as_str().expect("a token"));
    command.output().unwrap()
}

#[test]
fn the_example_for_kubernetes_is_one_coordinator_and_as_many_agents_as_it_awaits() {
    let objects = Objects::read();
    let kinds: Vec<&str> = objects.0.iter().filter_map(|object| object["kind"].as_str()).collect();
    assert_eq!(kinds, ["Secret", "Service", "Job", "Job"]);
    for job in ["bookend-coordinator", "bookend-agents"] {
        let spec = &objects.named("Job", job)["spec"];
        assert_eq!(spec["backoffLimit"], 0, "{job}");
        assert_eq!(spec["template"]["spec"]["restartPolicy"], "Never", "{job}");
    }
    let agents = &objects.named("Job", "bookend-agents")["spec"];
    assert_eq!(agents["completionMode"], "Indexed");
    assert_eq!(agents["completions"], agents["parallelism"]);
    let awaited = value_of(&objects.words("bookend-coordinator"), "--agents").to_owned();
    assert_eq!(agents["completions"].to_string(), awaited);
    // No two on one node.
    let apart = &agents["template"]["spec"]["affinity"]["podAntiAffinity"];
    let apart = &apart["requiredDuringSchedulingIgnoredDuringExecution"][0];
    assert_eq!(apart["topologyKey"], "kubernetes.io/hostname");
    let label = &agents["template"]["metadata"]["labels"]["app"];
    let kept_apart = apart["labelSelector"]["matchExpressions"][0]["values"].as_array();
    assert!(kept_apart.expect("labels").contains(label), "{label}");
}

#[test]
fn agents_of_the_example_dial_the_port_that_its_coordinator_listens_on() {
    let objects = Objects::read();
    let service = objects.named("Service", "bookend-coordinator");
    assert_eq!(service["spec"]["clusterIP"], "None");
    let port = &service["spec"]["ports"][0]["port"];
    assert_eq!(port, 7420);
    let (template, coordinator) = objects.pod("bookend-coordinator");
    assert_eq!(coordinator["ports"][0]["containerPort"], *port);
    assert_eq!(template["metadata"]["labels"], service["spec"]["selector"]);
    let listened = value_of(&objects.words("bookend-coordinator"), "--listen").to_owned();
    assert_eq!(listened, format!("0.0.0.0:{port}"));
    let joined = value_of(&objects.words("bookend-agents"), "--join").to_owned();
    assert_eq!(joined, format!("bookend-coordinator:{port}"));
}

#[test]
fn pods_of_the_example_have_the_token_and_whole_cpus() {
    let objects = Objects::read();
    let secret = objects.named("Secret", "bookend-fleet");
    for job in ["bookend-coordinator", "bookend-agents"] {
        let container = objects.pod(job).1;
        let variable = &container["env"][0];
        assert_eq!(variable["name"], "BOOKEND_FLEET_TOKEN");
        let reference = &variable["valueFrom"]["secretKeyRef"];
        assert_eq!(reference["name"], secret["metadata"]["name"]);
        let key = reference["key"].as_str().expect("a key");
        assert!(secret["stringData"][key].is_string(), "{key}");
        let resources = &container["resources"];
        assert_eq!(resources["requests"], resources["limits"], "{job}");
        let cpus = resources["limits"]["cpu"].as_str().expect("a number in quotes");
        assert!(cpus.parse::<u32>().is_ok_and(|cpus| cpus > 0), "{job}: {cpus}");
    }
}

#[test]
fn the_words_of_the_example_are_those_of_the_command() {
    let objects = Objects::read();
    let agent = run(
        &objects.words("bookend-agents"),
        &[("--join", "127.0.0.1:1"), ("--fleet-wait", "100ms")],
    );
    let errors = String::from_utf8_lossy(&agent.stderr);
    assert!(errors.contains("no coordinator at 127.0.0.1:1 within"), "{errors}");
    let port = format!("127.0.0.1:{}", free_port());
    let coordinator = run(
        &objects.words("bookend-coordinator"),
        &[("--listen", &port), ("--fleet-wait", "100ms")],
    );
    let errors = String::from_utf8_lossy(&coordinator.stderr);
    assert!(errors.contains("4 of 4 agents have not joined within"), "{errors}");
    for ended in [agent, coordinator] {
        assert_eq!(ended.status.code(), Some(1));
    }
}

#[test]
fn another_word_in_the_example_would_be_noticed() {
    let objects = Objects::read();
    let mut words = objects.words("bookend-agents");
    words.push("--fast");
    let ended = run(&words, &[("--join", "127.0.0.1:1"), ("--fleet-wait", "100ms")]);
    assert_eq!(ended.status.code(), Some(2));
    assert!(!String::from_utf8_lossy(&ended.stderr).contains("no coordinator"));
}
