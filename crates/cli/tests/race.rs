//! Races of real servers, ended as soon as there is an interval: nothing here depends on who is
//! faster.

#[path = "../../io/tests/support/certificates.rs"]
mod certificates;

use certificates::Authority;
use serde_json::Value;
use std::io::{BufRead as _, Write as _};
use std::path::Path;
use std::process::{Command, Output};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
/// Ends a race of one start with the first interval that is worth printing.
const SOON: [&str; 3] = ["--until", "90%", "--no-restart"];
/// One cell.
const ONE: [&str; 2] = ["-c", "50"];
const BOOKEND: &str = env!("CARGO_BIN_EXE_bookend");

/// Races with a machine of its own, so that labs of others do not matter here.
fn race(home: &Path, words: &[&str]) -> Output {
    race_in_laps("10ms", home, words)
}

fn race_in_laps(lap: &str, home: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(BOOKEND);
    command.args(["race", "--proto", &format!("{ROOT}/proto/helloworld.proto")]);
    command.args(["--call", "helloworld.Greeter/SayHello", "-d", r#"{"name":"x"}"#]);
    command.args(["--lap", lap, "--warmup", "10ms"]).args(words);
    command.current_dir(home).env("TMPDIR", home).output().expect("the command starts")
}

fn serve(name: &str) -> String {
    format!("{name}={BOOKEND} serve --threads 1 --port {{port}}")
}

fn said(output: &Output, status: i32) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(status), "{text}");
    text
}

#[test]
fn a_race_whose_file_may_not_grow_is_told_all_the_same() {
    let home = tempfile::tempdir().expect("a temporary folder");
    // Room for the file of the lock, and for no race.
    let line = format!(
        "ulimit -f 1; exec {BOOKEND} race 'one={BOOKEND} serve --threads 1 --port {{port}}' \
         --proto {ROOT}/proto/helloworld.proto --call helloworld.Greeter/SayHello -d '[{{}},{{}}]' \
         --lap 10ms --warmup 10ms {} {} --save race.json",
        ONE.join(" "),
        SOON.join(" ")
    );
    let mut shell = Command::new("sh");
    shell.args(["-c", &line]).current_dir(home.path()).env("TMPDIR", home.path());
    let output = shell.output().expect("there is a shell");
    let said = said(&output, 5);
    assert!(said.contains("cannot write race.json: it would be larger"), "{said}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("A call costs "), "{output:?}");
}

#[test]
fn two_servers_are_called_by_turns_and_the_answer_is_in_words() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let [old, new] = [serve("old"), serve("new")];
    let output = race(
        home.path(),
        &[&[old.as_str(), &new, "--save", "race.json"][..], &ONE, &SOON].concat(),
    );
    said(&output, 0);
    let answer = String::from_utf8_lossy(&output.stdout);
    assert!(answer.contains("calls per CPU-second than old"), "{answer}");
    assert!(answer.contains("A call costs "), "{answer}");
    assert!(answer.contains("\ninstrument: "), "{answer}");
    let kept = std::fs::read_to_string(home.path().join("race.json")).expect("it was kept");
    let kept: Value = serde_json::from_str(&kept).expect("JSON");
    let rounds = kept["starts"][0].as_array().expect("rounds");
    assert!(!rounds.is_empty());
    for round in rounds {
        let block = &round[0];
        let order: Vec<u64> =
            block.as_array().unwrap().iter().map(|lap| lap["server"].as_u64().unwrap()).collect();
        assert!(order == [0, 1, 1, 0] || order == [1, 0, 0, 1], "{order:?}");
    }
}

#[test]
fn a_gate_is_an_exit_status_and_json_is_for_programs() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let [old, new] = [serve("old"), serve("new")];
    let gate = ["--baseline", "new", "--fail-if", "old>0.001", "--json"];
    let output = race(home.path(), &[&[old.as_str(), &new], &gate[..], &ONE, &SOON].concat());
    let undecided = said(&output, 6);
    assert!(undecided.contains("NOT DECIDED, exit status 6: old>0.001: "), "{undecided}");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(answer["servers"][0]["name"], "new", "the baseline is the first");
    assert!(answer["servers"][1]["calls_ok"].as_u64().unwrap() > 0, "{answer}");
    assert_eq!(answer["servers"][1]["calls_failed"], 0);
    assert_eq!(answer["gates"][0]["outcome"], "not-decided", "one start says nothing of others");
    let starts =
        ["--starts", "8", "--budget", "4s", "--slo", "ratio<0.001", "--fail-if", "old<0.1"];
    let output = race(home.path(), &[&[old.as_str(), &new], &starts[..], &ONE].concat());
    let missed = said(&output, 3);
    assert!(missed.contains("ratio<0.001 was not met: it was "), "{missed}");
    assert!(!missed.contains("old<0.1"), "what is met has no line: {missed}");
}

#[test]
fn a_server_that_ends_or_never_comes_up_is_reported_in_its_own_words() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let old = serve("old");
    let ends = "new=echo no config found >&2; exit 7 # {port}";
    let error = said(&race(home.path(), &[&old, ends]), 1);
    assert!(error.contains("new has ended: no config found (exit status: 7)"), "{error}");
    let missing = "new=./nowhere {port}";
    let error = said(&race(home.path(), &[&old, missing]), 1);
    assert!(error.contains("nowhere") && error.contains("not found"), "{error}");
    let dies = format!("new={BOOKEND} serve --port {{port}} & sleep 0.5; kill $!; exit 9");
    let error = said(&race(home.path(), &[&old, &dies]), 1);
    assert!(error.contains("new has ended"), "{error}");
    let unprepared = ["--prepare", "echo no data >&2; exit 4"];
    let error = said(&race(home.path(), &[&[old.as_str()][..], &unprepared].concat()), 1);
    assert!(error.contains("old has ended: no data (exit status: 4)"), "{error}");
    let variable = ["--env", "WORDS=of the environment", "new=echo $WORDS >&2; exit 7 # {port}"];
    let error = said(&race(home.path(), &variable), 1);
    assert!(error.contains("new has ended: of the environment"), "{error}");
}

#[test]
fn what_was_measured_before_a_server_failed_is_kept_and_told() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let fails_at = |start: u32| {
        format!(
            "new=echo x >> starts; [ $(wc -l < starts) -lt {start} ] || {{ echo no more >&2; \
             exit 9; }}; exec {BOOKEND} serve --threads 1 --port {{port}}"
        )
    };
    let more = ["--starts", "8", "--budget", "2s", "--save", "race.json", "--fail-if", "new>0.001"];
    let race = |start| {
        let [old, new] = [serve("old"), fails_at(start)];
        race(home.path(), &[&[old.as_str(), &new], &ONE, &more[..]].concat())
    };
    let output = race(3);
    let error = said(&output, 1);
    assert!(error.contains("bookend race: new has ended: no more (exit status: 9)"), "{error}");
    assert!(!error.contains("NOT DECIDED"), "the failure has the last word: {error}");
    let answer = String::from_utf8_lossy(&output.stdout);
    assert!(answer.contains("A call costs "), "{answer}");
    let doubt = "a failure ended this race before its time";
    assert!(answer.contains(doubt), "{answer}");
    let file = home.path().join("race.json");
    let kept = std::fs::read_to_string(&file).expect("it was kept");
    let kept: Value = serde_json::from_str(&kept).expect("JSON");
    assert_eq!(kept["starts"].as_array().map(Vec::len), Some(2), "{kept}");
    assert!(kept["doubts"].as_array().expect("a list").contains(&doubt.into()), "{kept}");
    for file in [&file, &home.path().join("starts")] {
        std::fs::remove_file(file).expect("it is there");
    }
    let output = race(1);
    assert!(said(&output, 1).contains("new has ended: no more"));
    assert!(output.stdout.is_empty() && !file.exists(), "nothing was measured: {output:?}");
}

#[test]
fn a_command_whose_server_goes_on_without_it_is_told_to_stay() {
    let home = tempfile::tempdir().expect("a temporary folder");
    for (ends, how) in
        [("true", "new has ended: "), ("sleep 1", "new has ended: it ended by itself")]
    {
        let daemon = format!("{} & {ends}", serve("new"));
        let error = said(&race(home.path(), &[&serve("old"), &daemon]), 1);
        let told = "; a process that it has started goes on: keep the command in the foreground, \
                    without & and without becoming a daemon";
        assert!(error.contains(how) && error.trim_end().ends_with(told), "{error}");
    }
}

#[test]
fn plain_text_and_tls_that_meet_each_other_name_the_flags_of_a_race() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let plain = serve("plain");
    let error = said(&race(home.path(), &["--skipTLS", &plain]), 1);
    let told = ": the server speaks no TLS: leave --cacert, --cert, --cname and --skipTLS out, or add \
                --insecure";
    assert!(error.contains("plain cannot be called") && error.contains(told), "{error}");
    let words = [&["--skipTLS", "--insecure", &plain][..], &ONE, &SOON].concat();
    said(&race(home.path(), &words), 0);
    let certificates = Authority::new();
    let files = certificates.issue(&["127.0.0.1"]);
    let secured = format!("{} {}", serve("secured"), files.flags().join(" "));
    let error = said(&race(home.path(), &[&secured]), 1);
    let told = "the server wants TLS: add --cacert FILE, or --skipTLS";
    assert!(error.contains(told) || error.contains("and wants TLS: add --cacert"), "{error}");
    let error = said(&race(home.path(), &["--insecure", "--skipTLS", &secured]), 1);
    assert!(error.contains("wants TLS: leave --insecure out"), "{error}");
    let error = said(&race(home.path(), &["--cname=127.0.0.1", &secured]), 1);
    assert!(error.contains("name its CA with --cacert FILE, or the certificate"), "{error}");
    let authority = format!("--cacert={}", certificates.file().display());
    said(&race(home.path(), &[&[authority.as_str(), &secured], &ONE[..], &SOON].concat()), 0);
}

#[test]
fn a_port_of_somebody_else_is_not_measured() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let other = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = other.local_addr().expect("an address").port();
    let foreign = format!("new@{port}=sleep 60");
    let error = said(&race(home.path(), &[&serve("old"), &foreign]), 1);
    assert!(error.contains(&format!("another process listens on port {port}")), "{error}");
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_started() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let old = serve("old");
    let old = old.as_str();
    for (words, part) in [
        (&[][..], "two servers are raced"),
        (&[old, old], "both servers are called `old`"),
        (&[old, "new=./server"], "put {port} where"),
        (&[old, "new=./s {port}", "--baseline", "other"], "no server is called `other`"),
        (&[old, "new=./s {port}", "--fail-if", "other<1"], "`other` is not compared: there is new"),
        (&[old, "new=./s {port}", "--slo", "new<20ms"], "a ratio has a bound like 0.97"),
        (&[old, "--fail-if", "old<1"], "what is alone is compared with nothing"),
        (&[old, "new=./s {port}", "--margin", "5"], "not a share"),
        (&[old, "new=./s {port}", "--env", "2=x"], "\"2=x\" is no variable: write NAME=VALUE"),
        (&["--at", "old=127.0.0.1:1", "--prepare", "true"], "no command is started"),
        (&[old, "new=./s {port}", "--starts", "3"], "--starts 3: an interval needs 8 starts"),
    ] {
        let error = said(&race(home.path(), words), 2);
        assert!(error.contains(part), "{words:?}: {error}");
    }
}

#[test]
fn a_profile_that_cannot_be_made_is_refused_before_the_race() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let [old, new] = [serve("old"), serve("new")];
    let profile = ["--profile", "--perf", "./no-perf-here"];
    let error = said(&race(home.path(), &[&[old.as_str(), &new], &profile[..]].concat()), 1);
    assert!(error.contains("no profile: `./no-perf-here` is not here"), "{error}");
    let error = said(&race(home.path(), &[&[old.as_str()], &profile[..]].concat()), 2);
    assert!(error.contains("one server alone"), "{error}");
    assert!(error.contains("--profile-folder"), "{error}");
    let file = home.path().join("a-file");
    std::fs::write(&file, "").expect("a file");
    let below = ["--profile", "--profile-folder", "a-file/below"];
    let error = said(&race(home.path(), &[&[old.as_str(), &new], &below[..]].concat()), 2);
    assert!(error.contains("--profile-folder: "), "{error}");
    let left: Vec<_> = std::fs::read_dir(home.path())
        .expect("a folder")
        .filter_map(Result::ok)
        .map(|entry| entry.file_name())
        .collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains("profile")), "{left:?}");
}

#[test]
fn several_cells_are_measured_in_each_round() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let [old, new] = [serve("old"), serve("new")];
    let cells = ["-c", "1,8", "--connections", "1,4"];
    // Other tests may have the CPUs for a short lap, and with three cells a round has many of them.
    let words = [&[old.as_str(), &new], &cells[..], &SOON].concat();
    let output = race_in_laps("40ms", home.path(), &words);
    said(&output, 0);
    let answer = String::from_utf8_lossy(&output.stdout);
    assert!(answer.contains("C=1 S=1 ") && answer.contains("C=4 S=8 "), "{answer}");
}

#[test]
fn one_server_is_measured_kept_and_measured_again() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let server = serve("mine");
    // Two races of one server each tell less of a ratio than one of two.
    let later = ["--until", "25%", "--no-restart", "-c", "50"];
    let first = race(home.path(), &[&[server.as_str(), "--save", "kept"], &later[..]].concat());
    said(&first, 0);
    let again = race(home.path(), &[&[server.as_str(), "--against", "kept"], &later[..]].concat());
    said(&again, 0);
    let answer = String::from_utf8_lossy(&again.stdout);
    assert!(answer.contains("calls per CPU-second than mine did earlier"), "{answer}");
    let other = ["-c", "7", "--against", "kept"];
    let error = said(&race(home.path(), &[&[server.as_str()], &other[..], &SOON].concat()), 2);
    assert!(error.contains("other calls in flight"), "{error}");
    // What cannot be compared with is known before anything is measured.
    let never = "never=exit {port}";
    let kept = std::fs::read_to_string(home.path().join("kept")).expect("a race");
    let mut damaged: Value = serde_json::from_str(&kept).expect("JSON");
    damaged["starts"] = serde_json::json!([[]]);
    std::fs::write(home.path().join("damaged"), damaged.to_string()).expect("a file");
    let words = [never, "--against", "damaged"];
    let error = said(&race(home.path(), &[&words, &later[2..]].concat()), 2);
    assert!(error.contains("damaged: it keeps a race that is damaged: it has no round"), "{error}");
    let error = said(&race(home.path(), &[&[never], &other[..], &SOON].concat()), 2);
    assert!(error.contains("other calls in flight"), "{error}");
}

#[test]
fn what_is_on_standard_input_is_read_once_and_sent_to_all_servers() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let proto = format!("{ROOT}/proto/helloworld.proto");
    let mut race = Command::new(BOOKEND)
        .args(["race", "--proto", &proto, "--call", "helloworld.Greeter/SayHello", "-d", "@"])
        .args([&serve("old"), &serve("new")])
        .args(["--lap", "10ms", "--warmup", "10ms", "-c", "1,8", "--starts", "8"])
        .args(["--budget", "1s", "--json"])
        .current_dir(home.path())
        .env("TMPDIR", home.path())
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut input = race.stdin.take().expect("it is a pipe");
    input.write_all(br#"{"name":"x"}"#).expect("it reads");
    drop(input);
    let output = race.wait_with_output().expect("it ends");
    said(&output, 0);
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(answer["starts"], 8, "{answer}");
    for server in answer["servers"].as_array().expect("two") {
        assert_eq!(server["calls_failed"], 0, "{answer}");
    }
    let left = std::fs::read_dir(home.path()).expect("a folder").filter_map(Result::ok);
    let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains("request")), "{left:?}");
}

#[test]
fn both_servers_are_started_anew_and_the_answer_counts_the_starts() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let counted = |name: &str| {
        format!("{name}=echo x >> {name}.starts; exec {BOOKEND} serve --threads 1 --port {{port}}")
    };
    let [old, new] = [counted("old"), counted("new")];
    // Looked at after each start from the eighth on, and over by then.
    let budget = ["--until", "90%", "--budget", "4s", "--starts", "10", "--json"];
    let output = race(home.path(), &[&[old.as_str(), &new], &ONE, &budget[..]].concat());
    said(&output, 0);
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let starts = answer["starts"].as_u64().expect("a number");
    for name in ["old", "new"] {
        let started = std::fs::read_to_string(home.path().join(format!("{name}.starts")));
        assert_eq!(started.expect("it was started").lines().count() as u64, starts, "{answer}");
    }
    assert!((8..=10).contains(&starts), "{answer}");
    assert_eq!(answer["covers_starts"], true, "{answer}");
}

#[test]
fn servers_are_called_at_a_rate_and_compared_by_their_latency() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let [old, new] = [serve("old"), serve("new")];
    let by_rate = ["--rps", "2000", "--json", "--save", "race.json"];
    let output = race(home.path(), &[&[old.as_str(), &new], &by_rate[..], &SOON].concat());
    said(&output, 0);
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&answer["rps"], &answer["cells"][0]["concurrency"]), (&2000.0.into(), &50.into()));
    for server in answer["servers"].as_array().expect("two") {
        assert!(server["latency_p99_ns"].as_f64() > Some(0.0), "{answer}");
    }
    assert!(answer["ratios"]["latency_p50"].as_f64() > Some(0.0), "{answer}");
    let kept = std::fs::read_to_string(home.path().join("race.json")).expect("it was kept");
    let kept: Value = serde_json::from_str(&kept).expect("JSON");
    for lap in kept["starts"][0][0][0].as_array().expect("laps") {
        assert_eq!(lap["rated"]["due"], 20, "as many as the rate has in a lap: {lap}");
    }
}

#[test]
fn a_rate_that_no_server_holds_is_refused_with_whose_fault_it_is() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let [old, new] = [serve("old"), serve("new")];
    // Either the server or the generator is too slow for this, wherever the test runs.
    let much = ["--rps", "50000000", "-c", "1"];
    let output = race(home.path(), &[&[old.as_str(), &new], &much[..], &SOON].concat());
    let error = said(&output, 1);
    assert!(error.contains("does not keep up with 50000000 calls a second"), "{error}");
    assert!(output.stdout.is_empty(), "its figures are those of another race: {output:?}");
    let error = said(&race(home.path(), &[&old, &new, "--rps", "1999"]), 2);
    assert!(error.contains("19.9 calls in a lap of 10 ms, too few"), "{error}");
    assert!(error.contains("too few for a percentile: add --lap 1s"), "{error}");
}

#[test]
fn a_race_that_is_interrupted_says_what_is_known_and_doubts_no_server_for_it() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let [old, new] = [serve("old"), serve("new")];
    // In the middle of a round, most likely.
    let old = old.replacen('=', "=(sleep 3; kill -INT $(cat race.pid)) & exec ", 1);
    let proto = format!("{ROOT}/proto/helloworld.proto");
    let output = Command::new("sh")
        .args(["-c", r#"echo $$ > race.pid; exec "$0" race "$@""#, BOOKEND, &old, &new])
        .args(["--proto", &proto, "--call", "helloworld.Greeter/SayHello"])
        .args(["--quiet", "--no-restart", "--warmup", "10ms"])
        .args(ONE)
        .current_dir(home.path())
        .env("TMPDIR", home.path())
        .output()
        .expect("the command starts");
    assert_eq!(said(&output, 130), "");
    let answer = String::from_utf8_lossy(&output.stdout);
    assert!(answer.contains("A call costs "), "{answer}");
    assert!(!answer.contains("worked while it was not called"), "{answer}");
}

/// A port that was free a moment ago.
fn free_port() -> u16 {
    let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr());
    port.expect("a port").port()
}

#[test]
fn a_server_that_runs_already_is_not_started_anew_and_that_is_said() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut running = Command::new(BOOKEND)
        .args(["serve", "--threads", "1", "--port", "0"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut says = String::new();
    let output = running.stdout.take().expect("it is a pipe");
    std::io::BufReader::new(output).read_line(&mut says).expect("a line");
    let port = says.trim().strip_prefix("ready ").expect(&says);
    let at = format!("there=127.0.0.1:{port}");
    let words = [&serve("old"), "--at", &at, "--until", "90%", "--json"];
    let output = race(home.path(), &[&words[..], &ONE].concat());
    let _ = running.kill().and_then(|()| running.wait());
    said(&output, 0);
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(answer["starts"], 1, "{answer}");
    let doubt = "there ran already, so no server was started anew";
    assert!(answer["doubts"].as_array().expect("a list").contains(&doubt.into()), "{answer}");
}

#[test]
fn a_server_with_a_port_of_its_own_is_started_anew_on_it() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let port = free_port();
    let serve_there = format!("exec {BOOKEND} serve --threads 1 --port {port}");
    let fixed = format!("fixed@{port}=echo x >> fixed.starts; {serve_there}");
    let more = ["--starts", "8", "--budget", "100ms", "--json"];
    let output = race(home.path(), &[&[&serve("old"), fixed.as_str()], &ONE, &more[..]].concat());
    let error = said(&output, 0);
    assert!(error.contains(" s instead of 0.1 s, for 8 starts take so long"), "{error}");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let started = std::fs::read_to_string(home.path().join("fixed.starts")).expect("it was");
    assert_eq!((started.lines().count(), &answer["starts"]), (8, &8.into()), "{answer}");
}

#[test]
fn the_port_that_a_server_chooses_is_found() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let chooses = format!("new@0=exec {BOOKEND} serve --threads 1 --port 0");
    let output = race(home.path(), &[&[&serve("old"), chooses.as_str()], &ONE, &SOON[..]].concat());
    said(&output, 0);
}

#[test]
fn a_server_that_listens_on_ipv6_alone_is_found() {
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        // This machine has no IPv6.
        return;
    }
    let home = tempfile::tempdir().expect("a temporary folder");
    let six = format!("six={BOOKEND} serve --threads 1 --host ::1 --port {{port}}");
    let output = race(home.path(), &[&[&serve("four"), six.as_str()], &ONE, &SOON[..]].concat());
    said(&output, 0);
    let answer = String::from_utf8_lossy(&output.stdout);
    assert!(answer.contains("calls per CPU-second than four"), "{answer}");
}

#[test]
fn what_a_server_says_at_its_end_is_harmless_however_it_is_said() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let old = serve("old");
    for says in [
        "printf '<script>alert(1)</script>\\033[31m\\r' >&2",
        "head -c 1048576 /dev/zero | tr '\\0' x >&2",
        "printf 'no \\377\\376 text' >&2",
    ] {
        let ends = format!("new={says}; exit 7 # {{port}}");
        let error = said(&race(home.path(), &[&old, &ends]), 1);
        assert!(error.contains("new has ended: "), "{error}");
        assert!(error.len() < 2_000 && error.lines().count() == 1, "{} bytes", error.len());
        assert!(error.trim_end().chars().all(|letter| !letter.is_control()), "{error:?}");
    }
    // A name is no path: nothing is written where it points to.
    let climbs = format!("../../climbs={BOOKEND} serve --threads 1 --port {{port}}");
    let output = race(home.path(), &[&[climbs.as_str()][..], &ONE, &SOON].concat());
    said(&output, 0);
    assert!(!home.path().join("../../climbs").exists());
}

/// A repository whose server says which revision it is of.
fn repository(home: &Path) {
    let script = "mkdir -p app && git init -q . && cd app && echo one > which && git add which && \
        git -c user.name=a -c user.email=a@b commit -qm one && echo two > which && \
        git -c user.name=a -c user.email=a@b commit -qam two";
    let made = Command::new("sh").args(["-c", script]).current_dir(home).status();
    assert!(made.expect("a shell").success());
}

#[test]
fn two_revisions_are_built_and_raced_and_nothing_of_them_stays() {
    let home = tempfile::tempdir().expect("a temporary folder");
    repository(home.path());
    let server = format!("cat built >&2; exec {BOOKEND} serve --threads 1 --port {{port}}");
    let app = home.path().join("app");
    let revisions = ["--rev", "HEAD~1", "--rev", "HEAD", "--quiet"];
    let run = |build: &str, command: &str| {
        let mut race = Command::new(BOOKEND);
        race.args(["race", "--proto", &format!("{ROOT}/proto/helloworld.proto")]);
        race.args(["--call", "helloworld.Greeter/SayHello", "--lap", "10ms", "--warmup", "0"]);
        race.args(SOON).args(ONE).args(revisions).args(["--build", build, command]);
        race.current_dir(&app).env("TMPDIR", home.path()).output().expect("the command starts")
    };
    let output = run("cp which built", &server);
    assert_eq!(said(&output, 0), "");
    let answer = String::from_utf8_lossy(&output.stdout);
    assert!(answer.contains("calls per CPU-second than HEAD~1"), "{answer}");
    let failed = said(&run("echo no compiler >&2; exit 3", &server), 1);
    assert!(failed.contains("the build of HEAD~1 failed: no compiler"), "{failed}");
    let failed = said(&run("echo '[ERROR] no symbol'; exit 3", &server), 1);
    assert!(failed.contains("the build of HEAD~1 failed: [ERROR] no symbol"), "{failed}");
    let failed = said(&run("echo 'error: no main' >&2; echo 'Failed (1)' >&2; exit 3", &server), 1);
    assert!(failed.contains("failed: error: no main: Failed (1)"), "{failed}");
    let ends = said(&run("cp which built", "cat built >&2; exit 4 # {port}"), 1);
    assert!(ends.contains("HEAD~1 has ended: one"), "{ends}");
    let left = Command::new("git").args(["worktree", "list"]).current_dir(&app).output();
    let left = String::from_utf8_lossy(&left.expect("git").stdout).into_owned();
    assert_eq!(left.lines().count(), 1, "{left}");
}
