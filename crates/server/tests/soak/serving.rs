//! The server, in a process of its own, and what it counts.

use std::collections::BTreeMap;
use std::env;
use std::io::{self, BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, Instant};

use bookend_server::tls::{Identity, ServerConfig};
use bookend_server::{
    Context, HandlerKind, InlineStream, MethodDescriptor, PoolCall, RawResponder, Reply, Server,
    Service, StreamReply,
};

use rcgen::{CertificateParams, KeyPair};

use crate::access::is_encrypted;
use crate::chat::Chat;
use crate::{SERVE, setting};

const METHODS: &[MethodDescriptor] = &[
    method("Echo", HandlerKind::Inline),
    method("Later", HandlerKind::Deferred),
    method("Stall", HandlerKind::Deferred),
    method("Work", HandlerKind::Pool),
    method("Wait", HandlerKind::PoolStream),
    method("Chat", HandlerKind::Stream),
    method("Fill", HandlerKind::Stream),
];

const fn method(name: &'static str, kind: HandlerKind) -> MethodDescriptor {
    MethodDescriptor { name, kind }
}

/// What one message of `Fill` has.
pub const FILL_MESSAGE_BYTES: usize = 16 << 10;

/// How long `Stall` keeps a call: longer than its clients wait.
const STALL: Duration = Duration::from_secs(2);

/// What the server's handlers were given, by the path of the method.
pub type Handled = BTreeMap<String, u64>;

/// A server that is a process of its own.
pub struct ServerProcess {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
    address: SocketAddr,
}

impl ServerProcess {
    pub fn start() -> Self {
        let program = env::current_exe().expect("this program has a path");
        let mut command = Command::new(program);
        command.arg(SERVE).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the server starts");
        let mut lines = BufReader::new(child.stdout.take().expect("its output"));
        let mut address = String::new();
        lines.read_line(&mut address).expect("its address");
        ServerProcess { child, lines, address: address.trim().parse().expect("an address") }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Has it end; what it counted.
    pub fn end(mut self) -> Handled {
        drop(self.child.stdin.take());
        let mut text = String::new();
        self.lines.read_to_string(&mut text).expect("its counts");
        let status = self.child.wait().expect("it ends");
        assert!(status.success(), "the server ended with {status}");
        text.lines().map(count_of).collect()
    }
}

/// One that nobody has signed: its clients trust anyone.
fn certificate() -> ServerConfig {
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).expect("a name");
    let certificate = params.self_signed(&key).expect("a certificate");
    let (certificate, key) = (certificate.pem(), key.serialize_pem());
    let identity = Identity::from_pem(certificate.as_bytes(), key.as_bytes()).expect("a pair");
    ServerConfig::new(identity, None).expect("a configuration")
}

fn count_of(line: &str) -> (String, u64) {
    let (name, count) = line.split_once(' ').expect("a name and a count");
    (name.to_owned(), count.parse().expect("a number"))
}

/// Serves until standard input ends, then tells what was counted.
pub fn run() {
    let (legal, hostile) = (Soaked::new("soak.Legal"), Soaked::new("soak.Hostile"));
    let counts = [legal.counts(), hostile.counts()];
    let services = Server::builder().add_service(legal).add_service(hostile);
    let mut server = services.bind("127.0.0.1:0").expect("an address");
    // Nothing said, or 0: as many as there are processors.
    server = server.threads(setting("SOAK_THREADS", 0));
    if is_encrypted() {
        server = server.tls(certificate());
    }
    let server = server.spawn().expect("a thread");
    println!("{}", server.local_address());
    io::stdin().read_to_end(&mut Vec::new()).expect("an end");
    server.stop();
    let statistics = server.join().expect("the server does not fail");
    for (path, count) in counts.iter().flatten() {
        println!("{path} {}", count.load(Ordering::Relaxed));
    }
    println!("panics {}", statistics.calls.panics);
    println!("late {}", statistics.calls.late);
    println!("broken-connections {}", statistics.calls.broken_connections);
    println!("accepted-connections {}", statistics.io.accepted);
    println!("accept-errors {}", statistics.io.accept_errors);
}

/// A service that counts the calls of each of its methods.
struct Soaked {
    name: &'static str,
    calls: Vec<Arc<AtomicU64>>,
    later: Sender<(RawResponder, Vec<u8>)>,
    stalled: Sender<(Instant, RawResponder)>,
}

impl Soaked {
    fn new(name: &'static str) -> Self {
        let (later, to_answer) = mpsc::channel::<(RawResponder, Vec<u8>)>();
        thread::spawn(move || {
            for (answerer, message) in to_answer {
                answerer.message(message);
            }
        });
        let (stalled, to_stall) = mpsc::channel::<(Instant, RawResponder)>();
        thread::spawn(move || {
            for (at, answerer) in to_stall {
                thread::sleep(at.saturating_duration_since(Instant::now()));
                answerer.message(Vec::new());
            }
        });
        Soaked { name, calls: METHODS.iter().map(|_| Arc::default()).collect(), later, stalled }
    }

    /// The counters, by path.
    fn counts(&self) -> Vec<(String, Arc<AtomicU64>)> {
        let path = |method: &MethodDescriptor| format!("/{}/{}", self.name, method.name);
        let paths = METHODS.iter().map(path);
        paths.zip(self.calls.iter().cloned()).collect()
    }

    fn count(&self, method: usize) {
        self.calls[method].fetch_add(1, Ordering::Relaxed);
    }
}

impl Service for Soaked {
    fn name(&self) -> &'static str {
        self.name
    }

    fn methods(&self) -> &'static [MethodDescriptor] {
        METHODS
    }

    fn call(&self, method: usize, request: &[u8], _: &Context<'_>, reply: Reply<'_>) {
        self.count(method);
        match METHODS[method].name {
            "Later" => {
                let answer = (reply.defer(), request.to_vec());
                self.later.send(answer).expect("a thread answers");
            }
            "Stall" => {
                let answer = (Instant::now() + STALL, reply.defer());
                self.stalled.send(answer).expect("a thread answers");
            }
            _ => reply.message(|output| output.extend_from_slice(request)),
        }
    }

    fn work(&self, method: usize, call: PoolCall) {
        self.count(method);
        let Ok(Some(request)) = call.next_request() else {
            return;
        };
        if call.send(request).is_ok() {
            call.finish(Ok(()));
        }
    }

    fn open(&self, method: usize, _: &Context<'_>) -> Option<Box<dyn InlineStream>> {
        self.count(method);
        match METHODS[method].name {
            "Fill" => Some(Box::new(Fill { left: 0 })),
            _ => Some(Box::new(Chat)),
        }
    }
}

/// Sends as many messages as the four bytes of the request say.
struct Fill {
    left: u32,
}

impl InlineStream for Fill {
    fn on_message(&mut self, message: &[u8], replies: &mut StreamReply<'_>) {
        self.left = message.try_into().map_or(0, u32::from_be_bytes);
        self.on_ready(replies);
    }

    fn on_end(&mut self, replies: &mut StreamReply<'_>) {
        replies.end(Ok(()));
    }

    fn on_ready(&mut self, replies: &mut StreamReply<'_>) {
        while self.left > 0 && !replies.is_full() {
            replies.message(|output| output.resize(output.len() + FILL_MESSAGE_BYTES, 7));
            self.left -= 1;
        }
    }
}
