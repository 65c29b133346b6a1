//! `bookend ui`: who gets an answer, what is on the pages, and what moves.

#[path = "support/stored_run.rs"]
mod stored_run;

use bookend_contract::timestamp::Timestamp;
use bookend_results::measurement::Row;
use bookend_results::store::{NewRun, RunId, Store};
use bookend_results::suite::Plan;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use stored_run::{SUITE, row, suite};
use tempfile::TempDir;

fn plan() -> Plan {
    stored_run::plan(&suite())
}

fn new_run() -> NewRun {
    stored_run::new_run(&plan())
}

fn write_round(store: &mut Store, run: RunId, round: u32) {
    let rows: Vec<Row> = plan().cells().into_iter().map(|cell| row(round, cell.id)).collect();
    store.write_round(run, round, &rows).expect("written");
}

/// The command over a store with two finished runs and one that goes on.
struct Ui {
    home: TempDir,
    process: Child,
    /// `127.0.0.1:PORT`.
    host: String,
    /// `/TOKEN/`.
    root: String,
}

impl Ui {
    fn start() -> Self {
        let home = tempfile::tempdir().expect("a temporary folder");
        let mut store = Store::open(&home.path().join("bookend.db")).expect("a store");
        for _ in 0..2 {
            let run = store.begin_run(&new_run()).expect("begun");
            (0..plan().rounds).for_each(|round| write_round(&mut store, run, round));
            store.finish_run(run, Timestamp::from_unix_ms(60_000)).expect("finished");
        }
        let run = store.begin_run(&new_run()).expect("begun");
        write_round(&mut store, run, 0);
        drop(store);
        let mut process = Command::new(env!("CARGO_BIN_EXE_bookend"))
            .args(["ui", "--port", "0"])
            .current_dir(home.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the command starts");
        let mut address = String::new();
        let output = process.stdout.take().expect("piped");
        BufReader::new(output).read_line(&mut address).expect("an address");
        let address = address.trim().strip_prefix("http://").expect("an address");
        let (host, root) = address.split_at(address.find('/').expect("a token"));
        Self { home, process, host: host.to_owned(), root: root.to_owned() }
    }

    /// Sends a request. The answer is read from what is returned.
    fn ask(&self, path: &str, host: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.host).expect("it listens");
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("sent");
        stream
    }

    /// The status of an answer, and all of it.
    fn get(&self, path: &str, host: &str) -> (u16, String) {
        let mut answer = String::new();
        self.ask(path, host).read_to_string(&mut answer).expect("an answer");
        let status = answer.split(' ').nth(1).expect("a status");
        (status.parse().expect("a number"), answer)
    }

    fn page(&self, path: &str) -> String {
        let (status, answer) = self.get(&format!("{}{path}", self.root), &self.host);
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }
}

impl Drop for Ui {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn nothing_is_answered_without_the_token_or_under_a_strangers_name() {
    let ui = Ui::start();
    assert!(ui.root.len() > 30, "{}", ui.root);
    for path in ["/", "/favicon.ico", "/0123456789abcdef/", "/runs/1"] {
        let (status, answer) = ui.get(path, &ui.host);
        assert_eq!(status, 403, "{path}: {answer}");
        let body = answer.split("\r\n\r\n").nth(1).expect("a body");
        assert!(body.lines().count() == 1 && !body.contains(SUITE), "{body}");
    }
    for host in ["example.org", "127.0.0.1.example.org"] {
        assert_eq!(ui.get(&ui.root, host).0, 403, "{host}");
    }
    for host in ["localhost:80", "127.0.0.1"] {
        assert_eq!(ui.get(&ui.root, host).0, 200, "{host}");
    }
}

#[test]
fn the_pages_list_open_and_compare() {
    let ui = Ui::start();
    let list = ui.page("");
    for part in [SUITE, &format!("{}runs/2\">2</a>", ui.root), "not finished"] {
        assert!(list.contains(part), "{part}: {list}");
    }
    for part in ["referrer-policy: no-referrer", "cache-control: no-store", "nosniff"] {
        assert!(list.contains(part), "{part}: {list}");
    }
    assert!(list.contains("<p>Run 2, "), "what came of the newest that has ended: {list}");
    let link = format!("href=\"{}compare?run=2&amp;run=1\"", ui.root);
    assert!(ui.page("runs/2").contains(&link), "{link}");
    let result = ui.page("runs/1");
    assert!(result.contains("<h2 id=\"method\">") && result.contains("/runs/1/cells/0\""));
    let compared = ui.page("compare?run=2&run=1");
    assert!(compared.contains("none tells the two apart"), "{compared}");
    let history = ui.page("runs/1/cells/0");
    assert!(history.contains("Runs with a figure: 3."), "{history}");
}

#[test]
fn a_run_that_cannot_be_read_leaves_the_pages_of_the_others() {
    let ui = Ui::start();
    let store = rusqlite::Connection::open(ui.home.path().join("bookend.db")).expect("a store");
    store.execute("UPDATE runs SET plan = '{' WHERE id > 1", []).expect("damaged");
    let list = ui.page("");
    assert_eq!(list.matches("cannot be read: EOF while parsing").count(), 2, "{list}");
    assert!(list.contains(": ended at "), "the newest run that can be read: {list}");
    let history = ui.page("runs/1/cells/0");
    assert!(history.contains("Runs with a figure: 1."), "{history}");
    assert!(ui.page("runs/1").contains("<h2 id=\"method\">"));
    let (status, answer) = ui.get(&format!("{}runs/2", ui.root), &ui.host);
    assert!(status == 500 && answer.contains("run 2 cannot be read"), "{answer}");
}

#[test]
fn what_is_not_there_is_said_in_a_line() {
    let ui = Ui::start();
    let absent = [
        "runs/99",
        "runs/one",
        "runs/1/cells/9999",
        "runs/..%2f..%2fetc",
        "runs/%3Cscript%3E",
        "compare?run=1&run=99",
        "nothing",
    ];
    for path in absent {
        let (status, answer) = ui.get(&format!("{}{path}", ui.root), &ui.host);
        assert_eq!(status, 404, "{path}: {answer}");
        assert!(answer.contains("text/plain") && !answer.contains("<script>"), "{answer}");
    }
    for query in ["", "run=1", "run=3&run=2&run=1"] {
        let (status, said) = ui.get(&format!("{}compare?{query}", ui.root), &ui.host);
        assert!(status == 400 || status == 404 && query.contains("&run=2&"), "{query}: {said}");
    }
}

#[test]
fn a_run_that_goes_on_is_told_round_by_round() {
    let ui = Ui::start();
    let path = format!("{}events", ui.root);
    let lines = BufReader::new(ui.ask(&path, &ui.host)).lines();
    let mut events = lines
        .map_while(Result::ok)
        .filter_map(|line| Some(line.strip_prefix("data: ")?.to_owned()));
    let rounds = plan().rounds;
    let first = events.next().expect("an event at once");
    assert!(first.contains(&format!(": 1 of {rounds} rounds are stored")), "{first}");

    let mut store = Store::open(&ui.home.path().join("bookend.db")).expect("a store");
    write_round(&mut store, RunId(3), 1);
    let second = events.next().expect("an event for the round");
    assert!(second.contains("\"stored\":2"), "{second}");
    store.finish_run(RunId(3), Timestamp::from_unix_ms(90_000)).expect("finished");
    let third = events.next().expect("an event for the end");
    assert!(third.contains("\"has_ended\":true"), "{third}");
}

#[test]
fn it_ends_with_ctrl_c_although_somebody_listens() {
    let mut ui = Ui::start();
    let mut listening = ui.ask(&format!("{}events", ui.root), &ui.host);
    listening.read_exact(&mut [0]).expect("an answer begins");
    let process = rustix::process::Pid::from_child(&ui.process);
    rustix::process::kill_process(process, rustix::process::Signal::INT).expect("signalled");
    assert_eq!(ui.process.wait().expect("it ends").code(), Some(0));
}

#[test]
fn a_store_that_is_not_there_is_told_at_once() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_bookend"));
    let refused = command.arg("ui").current_dir(home.path()).output().expect("the command starts");
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("bookend.db does not exist"), "{said}");
    assert!(!home.path().join("bookend.db").exists(), "looking makes no store");
}
