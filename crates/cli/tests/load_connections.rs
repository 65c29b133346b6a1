//! `bookend load` with many connections, with one for each call, and when things go wrong there.

use bookend_contract::exit;
use bookend_contract::generator_stops::STOP_MIN_NS;
use bookend_contract::limit::limit;
use bookend_contract::report::LoadReport;
use rustix::process::{Pid, Resource, Rlimit, Signal, WaitOptions, kill_process, prlimit, waitpid};
use std::io::{BufRead, BufReader, Lines, Read};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

/// A process of ours; it does not outlive its test.
struct Running {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Running {
    fn start(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        Self { process, lines }
    }

    /// Waits until it says so.
    fn wait_for(&mut self, line: &str) {
        while self.lines.next().unwrap().unwrap() != line {}
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.process)
    }

    /// What it reports at its end, and its exit status.
    fn end(mut self) -> (LoadReport, i32) {
        let report = self.lines.by_ref().find_map(|line| {
            let line = line.unwrap();
            let json = line.strip_prefix("report ")?;
            Some(serde_json::from_str(json).unwrap())
        });
        let code = self.process.wait().unwrap().code();
        let mut said = String::new();
        let errors = self.process.stderr.take().unwrap().read_to_string(&mut said);
        errors.unwrap();
        (report.unwrap_or_else(|| panic!("no report: {said}")), code.unwrap())
    }
}

fn bookend(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bookend"));
    command.args(words);
    command
}

fn serve() -> (Running, String) {
    let mut server = Running::start(&mut bookend(&["serve", "--port", "0", "--io", "epoll"]));
    let ready = server.lines.next().unwrap().unwrap();
    let port = ready.strip_prefix("ready ").unwrap();
    let target = format!("127.0.0.1:{port}");
    (server, target)
}

/// The words of a load on a server, with more behind them.
fn load<'a>(target: &'a str, words: &[&'a str]) -> Command {
    let call = ["load", "--insecure", "--call", "helloworld.Greeter/SayHello", target];
    bookend(&[&call[..], words].concat())
}

/// A load that says when its window begins, as it does for the lab.
fn told(command: &mut Command) -> Running {
    let mut load = Running::start(command.env("BOOKEND_CONTRACT", "1"));
    load.wait_for("window start");
    load
}

/// All calls of the window, and that each is counted in one place.
fn calls(report: &LoadReport) -> u64 {
    let own = &report.bookend;
    assert_eq!(own.ok + own.errors.values().sum::<u64>(), report.count);
    report.count
}

fn text(output: &[u8]) -> String {
    String::from_utf8_lossy(output).into_owned()
}

#[test]
fn one_shot_calls_are_split_in_text_json_and_lines() {
    let (_server, target) = serve();
    let words = ["--one-shot", "-c", "5", "-n", "50"];
    let summary = load(&target, &words).output().unwrap();
    let said = text(&summary.stdout);
    for part in ["  Connect:\t", "  First byte:\t", "  Total:\t"] {
        assert!(said.contains(part), "{said}");
    }
    assert!(!said.contains("TLS"), "{said}");
    let json = load(&target, &[&words[..], &["-O", "json"]].concat()).output().unwrap();
    let report: LoadReport = serde_json::from_slice(&json.stdout).unwrap();
    let split = report.bookend.split.unwrap();
    assert_eq!((report.bookend.ok, report.bookend.connections_opened), (50, 50));
    assert_eq!(split.total.mean_ns, report.average);
    assert_eq!(report.options["one-shot"], true);
    // Its standard input has to stay open: the lab closes it to end a run.
    let mut lab = Running::start(load(&target, &words).env("BOOKEND_CONTRACT", "1"));
    let lines = lab.lines.by_ref().map(Result::unwrap).collect::<Vec<_>>().join("\n");
    assert!(lines.contains("note connect_p50_ns "), "{lines}");
    assert!(lines.contains("note first_byte_p99_ns "), "{lines}");
}

#[test]
fn a_spinning_run_is_labelled_and_makes_no_cost_of_its_cpu() {
    let (_server, target) = serve();
    let words = ["-n", "50", "--wait", "spin"];
    let said = text(&load(&target, &words).output().unwrap().stdout);
    assert!(said.contains("spinning") && said.contains("the CPU figures below say nothing"));
    assert!(!said.contains("Requests per CPU-second"), "{said}");
    let json = load(&target, &[&words[..], &["-O", "json"]].concat()).output().unwrap();
    let report: LoadReport = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(report.bookend.wait, "spin");
    assert!(report.bookend.busy_seconds > 0.0);
}

#[test]
fn a_server_that_is_killed_under_thousands_of_connections_is_counted_and_nothing_hangs() {
    for words in [["--connections", "2000"], ["--one-shot", "--warmup=0"]] {
        let (mut server, target) = serve();
        let rest = ["-c", "2000", "-z", "1500ms", "--duration-stop", "ignore"];
        let load = told(&mut load(&target, &[&words[..], &rest].concat()));
        server.process.kill().unwrap();
        let (report, code) = load.end();
        assert_eq!(code, i32::from(exit::MEASURED));
        assert!(calls(&report) > 0);
        let unavailable = report.bookend.errors["UNAVAILABLE"];
        // One for each call in flight, and one an attempt, with a back-off from 100 ms.
        assert!((1_000..=60_000).contains(&unavailable), "{unavailable}");
        let texts = report.error_distribution.keys();
        assert!(texts.filter(|text| text.contains("nobody listens at")).count() == 1, "{report:?}");
    }
}

#[test]
fn descriptors_that_run_out_are_counted_and_named_and_nothing_hangs() {
    for words in [["--connections", "50"], ["--one-shot", "--warmup=0"]] {
        let (mut server, target) = serve();
        let rest = ["-c", "50", "-z", "1500ms", "--duration-stop", "ignore"];
        let load = told(&mut load(&target, &[&words[..], &rest].concat()));
        let few = Rlimit { current: Some(20), maximum: Some(20) };
        prlimit(Some(load.pid()), Resource::Nofile, few).unwrap();
        // Kept connections are made again only where they are lost.
        if words[0] == "--connections" {
            server.process.kill().unwrap();
            // Until it is gone, the port is its own.
            server.process.wait().unwrap();
            let port = target.rsplit(':').next().unwrap();
            server = Running::start(&mut bookend(&["serve", "--port", port, "--io", "epoll"]));
            server.wait_for(&format!("ready {port}"));
        }
        let (report, code) = load.end();
        drop(server);
        assert_eq!(code, i32::from(exit::MEASURED));
        assert!(calls(&report) > 0);
        let named =
            |text: &&String| text.contains("no descriptor left") && text.contains("ulimit -n");
        assert_eq!(report.error_distribution.keys().filter(named).count(), 1, "{report:?}");
    }
}

#[test]
fn a_signal_ends_a_run_with_thousands_of_connections_and_all_is_printed() {
    for (words, signal) in
        [(["--connections", "2000"], Signal::INT), (["--one-shot", "--warmup=0"], Signal::TERM)]
    {
        let (_server, target) = serve();
        let rest = ["-c", "2000", "-z", "10m"];
        let load = told(&mut load(&target, &[&words[..], &rest].concat()));
        kill_process(load.pid(), signal).unwrap();
        let (report, code) = load.end();
        assert_eq!(code, i32::from(exit::INTERRUPTED));
        assert_eq!(report.end_reason, "cancel");
        calls(&report);
    }
}

#[test]
fn a_generator_that_was_stopped_says_so_beside_its_limit() {
    let (_server, target) = serve();
    let load = told(&mut load(&target, &["-c", "50", "-z", "10m"]));
    // Twice: the first could fall between two sleeps of the thread that notices it.
    for _ in 0..2 {
        thread::sleep(Duration::from_millis(100));
        kill_process(load.pid(), Signal::STOP).unwrap();
        waitpid(Some(load.pid()), WaitOptions::UNTRACED).unwrap();
        thread::sleep(Duration::from_millis(400));
        kill_process(load.pid(), Signal::CONT).unwrap();
    }
    kill_process(load.pid(), Signal::INT).unwrap();
    let (report, _) = load.end();
    let stops = report.bookend.generator_stops.expect("it was stopped");
    assert!(stops.count >= 1 && stops.longest_ns >= STOP_MIN_NS, "{stops:?}");
    let limit = limit(&report).expect("calls ended");
    assert!(limit.contains("; the generator did not run "), "{limit}");
}

#[test]
fn more_connections_than_descriptors_are_refused_with_the_number_that_is_needed() {
    let (_server, target) = serve();
    let bookend = env!("CARGO_BIN_EXE_bookend");
    let said = |connections: u32| {
        let words = format!(
            "ulimit -n 100 && exec {bookend} load --insecure --call helloworld.Greeter/SayHello \
             {target} --threads 1 --connections {connections} -c {connections} -n 200"
        );
        let output = Command::new("sh").args(["-c", &words]).output().unwrap();
        (output.status.code(), text(&output.stderr))
    };
    let (code, refused) = said(101);
    assert_eq!(code, Some(i32::from(exit::NOTHING_MEASURED)), "{refused}");
    assert!(refused.contains("`ulimit -n 127`"), "{refused}");
    assert_eq!(said(70), (Some(0), String::new()));
}

#[test]
fn a_result_that_cannot_be_written_is_printed_where_it_can_be() {
    let (_server, target) = serve();
    let words = ["-n", "20", "--name", "kept"];
    let told = |output: Output| {
        let code = output.status.code().unwrap();
        (code, text(&output.stdout), text(&output.stderr))
    };
    let to_file = load(&target, &[&words[..], &["-o", "/dev/full"]].concat()).output();
    let (code, printed, complaint) = told(to_file.unwrap());
    assert_eq!(code, i32::from(exit::NOT_DELIVERED));
    assert!(printed.contains("kept") && printed.contains("Requests/sec"), "{printed}");
    assert!(complaint.contains("cannot write /dev/full") && complaint.lines().count() == 1);

    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let to_output = load(&target, &words).stdout(full).output();
    let (code, _, complaint) = told(to_output.unwrap());
    assert_eq!(code, i32::from(exit::NOT_DELIVERED));
    assert!(complaint.contains("Requests/sec") && complaint.contains("standard output"));
}

#[test]
fn a_run_of_which_every_call_is_left_out_says_so() {
    let (_server, target) = serve();
    let words = ["-z", "100ms", "--skipFirst", "1000000000"];
    let output = load(&target, &words).output().expect("it starts");
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("no call is left: --skipFirst 1000000000 is more than"), "{said}");
}

#[test]
fn connections_may_be_made_in_the_window() {
    let (_server, target) = serve();
    let words = ["--connections", "300", "-c", "300", "-n", "3000", "-O", "json"];
    let output = load(&target, &[&words[..], &["--connects-in-window"]].concat()).output();
    let report: LoadReport = serde_json::from_slice(&output.unwrap().stdout).unwrap();
    assert_eq!(report.bookend.ok, 3000);
    assert_eq!(report.options["connects-in-window"], true);
}
