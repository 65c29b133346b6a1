//! Runs against several servers: which server gets which connection, what is counted where, and
//! what happens when one of them is not there.

#[path = "../../server/tests/support/echo.rs"]
mod echo;
#[path = "support/plans.rs"]
mod plans;

use bookend_client::targets::{TargetName, TargetNames, Targets};
use bookend_io::Driver;
use bookend_io::{Address, Target};
use bookend_load::plan::LoadPlan;
use bookend_load::run::{LoadOutcome, run};
use bookend_server::{Limits, Server, ServerHandle};
use bookend_wire::{
    Connection, ConnectionConfig, ErrorCode, HeaderList, Initiator, Sender, Side, StreamKey,
    Visitor,
};
use echo::{ECHO, Echo};
use plans::measure;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender as Teller, channel};
use std::thread;

struct Serving {
    handle: ServerHandle,
    echo: Echo,
}

impl Serving {
    fn start() -> Self {
        let echo = Echo::default();
        let server = Server::builder().add_service(echo.clone()).limits(Limits::trusted());
        let handle = server.bind("127.0.0.1:0").unwrap().spawn().unwrap();
        Self { handle, echo }
    }

    fn address(&self) -> Address {
        self.handle.local_address().clone()
    }

    fn calls(&self) -> u64 {
        self.echo.calls.load(Ordering::Relaxed)
    }
}

/// An address on which no process listens.
fn unused_address() -> Address {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().into()
}

fn plan(targets: impl Into<Targets>, connections: u32, driver: Driver) -> LoadPlan {
    LoadPlan {
        connections,
        concurrency: connections * 4,
        threads: match driver {
            Driver::Epoll => 1,
            _ => connections,
        },
        driver,
        timeout_ns: None,
        ..plans::plan(ECHO, targets, 1_200)
    }
}

fn all_of(addresses: &[Address]) -> Targets {
    Targets::new(addresses.iter().map(Target::from)).unwrap()
}

/// Address, connections, OK, failed.
fn counts(outcome: &LoadOutcome) -> Vec<(String, u64, u64, u64)> {
    let row = |target: &bookend_load::record::TargetOutcome| {
        let calls = target.calls;
        (target.address.clone(), target.connections_opened, calls.ok, calls.failed)
    };
    outcome.targets.iter().map(row).collect()
}

#[test]
fn connections_and_calls_are_spread_over_the_targets_and_counted_for_each() {
    for driver in [Driver::Blocking, Driver::Epoll] {
        let servers = [(); 3].map(|()| Serving::start());
        let addresses = servers.each_ref().map(Serving::address);
        let outcome = measure(plan(all_of(&addresses), 6, driver));
        assert_eq!((outcome.ok, outcome.connections_opened), (1_200, 6));
        let rows = counts(&outcome);
        assert_eq!(rows.len(), 3, "{driver:?}");
        for (server, address) in servers.iter().zip(&addresses) {
            let row = rows.iter().find(|row| row.0 == address.to_string()).unwrap();
            assert_eq!((row.1, row.3), (2, 0));
            assert!(row.2 > 0);
            // Calls may have been made to it that no window counts.
            let told = row.2..=row.2 + outcome.warmup + outcome.drained + outcome.unfinished;
            assert!(told.contains(&server.calls()), "{told:?} {}", server.calls());
        }
        let all: u64 = rows.iter().map(|row| row.2).sum();
        assert_eq!(all, outcome.ok);
    }
}

#[test]
fn a_target_that_is_not_there_is_named_and_the_others_are_measured() {
    let server = Serving::start();
    let gone = unused_address();
    let targets = all_of(&[server.address(), gone.clone()]);
    let mut plan = plan(targets, 2, Driver::Epoll);
    // Long enough for the back-off after the first try.
    (plan.calls, plan.window_ns) = (None, Some(300_000_000));
    let outcome = measure(plan);
    let failure = outcome.first_failure.clone().unwrap();
    let named = format!("nobody listens at {gone}: start the server, or correct the target");
    assert_eq!(failure, named);
    let rows = counts(&outcome);
    let dead = rows.iter().find(|row| row.0 == gone.to_string()).unwrap();
    assert_eq!((dead.1, dead.2), (0, 0));
    assert_eq!(dead.3, outcome.errors.total());
    assert!(outcome.ok > 0);
    let named = |text: &String| text.contains(&gone.to_string());
    assert!(outcome.errors.by_text.keys().all(named));
}

#[test]
fn a_target_on_which_nobody_listens_is_told_in_the_same_words_alone() {
    let gone = unused_address();
    let targets: Targets = Target::from(gone.clone()).into();
    let error = run(plan(targets, 1, Driver::Blocking), &AtomicBool::new(false), |_| {});
    let named = format!("nobody listens at {gone}: start the server, or correct the target");
    assert_eq!(error.unwrap_err().to_string(), named);
}

#[test]
fn a_name_that_has_moved_is_followed_while_the_run_goes_on() {
    let (stays, moved) = (Serving::start(), Serving::start());
    let before = unused_address();
    let (first, then) = (before.clone(), moved.address());
    let is_first = AtomicBool::new(true);
    let fixed = stays.address();
    let find = move |name: &TargetName| match name.to_string().starts_with("dns:") {
        false => Ok(vec![fixed.clone()]),
        true if is_first.swap(false, Ordering::Relaxed) => Ok(vec![first.clone()]),
        true => Ok(vec![then.clone()]),
    };
    let names: TargetNames = "stays:1,dns:moves:1".parse().unwrap();
    let targets = Targets::resolve_with(&names, find).unwrap();
    let mut plan = plan(targets, 2, Driver::Epoll);
    // Until the server that has moved is called.
    plan.calls = None;
    plan.window_ns = Some(60_000_000_000);
    let outcome = run(plan, &moved.echo.was_called, |_| {}).unwrap();
    assert!(outcome.cancelled);
    let moved_row = counts(&outcome).into_iter().find(|row| row.0 == moved.address().to_string());
    assert_eq!(moved_row.unwrap().1, 1);
    let lost_row = counts(&outcome).into_iter().find(|row| row.0 == before.to_string());
    assert_eq!(lost_row.unwrap().1, 0);
}

/// Reads the head of one request.
struct Heads(Teller<String>);

impl Visitor for Heads {
    fn headers(
        &mut self,
        _: &mut Sender,
        _: StreamKey,
        fields: &HeaderList,
        _: bool,
    ) -> Option<u32> {
        let authority = fields.find(b":authority").unwrap();
        let _ = self.0.send(String::from_utf8(authority.to_vec()).unwrap());
        None
    }
    fn cached_headers(&mut self, _: &mut Sender, _: StreamKey, _: u32, _: bool) {}
    fn data(&mut self, _: &mut Sender, _: StreamKey, _: &[u8], _: bool) {}
    fn reset(&mut self, _: &mut Sender, _: StreamKey, _: ErrorCode, _: Initiator) {}
    fn goaway(&mut self, _: &mut Sender, _: u32, _: ErrorCode, _: &[u8]) {}
}

fn hear(mut stream: impl Read + Write, tell: Teller<String>) {
    let mut connection = Connection::new(Side::Server, &ConnectionConfig::trusted());
    let mut heads = Heads(tell);
    let mut unread = Vec::new();
    loop {
        let output = std::mem::take(&mut connection.sender.output);
        let mut buffer = [0; 4096];
        if stream.write_all(&output).is_err() {
            return;
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return,
            Ok(count) => unread.extend_from_slice(&buffer[..count]),
        }
        let consumed = connection.receive(&unread, &mut heads).unwrap();
        unread.drain(..consumed);
    }
}

#[test]
fn calls_have_the_authority_of_their_target_which_of_a_unix_socket_is_localhost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("echo");
    let unix = UnixListener::bind(&path).unwrap();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = tcp.local_addr().unwrap().port();
    let (tell, authorities) = channel();
    let tells = tell.clone();
    thread::spawn(move || hear(unix.accept().unwrap().0, tells));
    thread::spawn(move || hear(tcp.accept().unwrap().0, tell));

    let text = format!("unix:{},127.0.0.1:{port}", path.display());
    let names: TargetNames = text.parse().unwrap();
    let targets = Targets::resolve_with(&names, TargetName::resolve).unwrap();
    let interrupt = Arc::new(AtomicBool::new(false));
    let interrupted = Arc::clone(&interrupt);
    let running = thread::spawn(move || run(plan(targets, 2, Driver::Epoll), &interrupted, |_| {}));
    let mut heard = Vec::new();
    while heard.len() < 2 {
        let authority = authorities.recv().unwrap();
        if !heard.contains(&authority) {
            heard.push(authority);
        }
    }
    interrupt.store(true, Ordering::Relaxed);
    running.join().unwrap().unwrap();
    heard.sort();
    assert_eq!(heard, [format!("127.0.0.1:{port}"), "localhost".to_owned()]);
}

#[test]
fn a_unix_socket_is_measured_by_every_driver() {
    for driver in [Driver::Blocking, Driver::Epoll] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("echo");
        let server = Server::builder()
            .add_service(Echo::default())
            .limits(Limits::trusted())
            .bind_unix(&path)
            .unwrap()
            .spawn()
            .unwrap();
        let outcome = measure(plan(Target::from(server.local_address()), 3, driver));
        assert_eq!((outcome.ok, outcome.connections_opened), (1_200, 3));
        assert_eq!(outcome.errors.total(), 0, "{driver:?}");
        server.stop();
        server.join().unwrap();
        assert!(!path.exists());
    }
}

#[test]
fn connections_come_from_the_address_that_is_asked_for() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut target = Target::from(listener.local_addr().unwrap());
    target.source = Some("127.0.0.9".parse().unwrap());
    let interrupt = Arc::new(AtomicBool::new(false));
    let interrupted = Arc::clone(&interrupt);
    let running =
        thread::spawn(move || run(plan(target, 1, Driver::Blocking), &interrupted, |_| {}));
    let (_connection, peer): (_, SocketAddr) = listener.accept().unwrap();
    assert_eq!(peer.ip().to_string(), "127.0.0.9");
    interrupt.store(true, Ordering::Relaxed);
    assert!(running.join().unwrap().is_err(), "nobody has greeted");
}
