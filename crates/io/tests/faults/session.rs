//! A small session between real ends, of which one has a system call that fails.

use crate::desk::{Desk, DeskCounts, INLINE, LATER};
use crate::mistake::{Mistake, Mistaken};
use crate::plans;
use bookend_client::{Channel, ChannelOptions, Code, ConnectError, UnaryCall};
use bookend_io::faults::{Armed, FailPoint, InjectedFault, SystemCall};
use bookend_io::{Driver, Io, IoStatistics, ServeOptions, ShutdownHandle, listen, serve};
use bookend_load::plan::LoadPlan;
use bookend_load::run::{LoadError, LoadOutcome, run};
use bookend_server::{Counts, Server};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::process;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Barrier, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Ends a session that would hang; none comes near it.
pub const GUARD: Duration = Duration::from_secs(60);

/// Connections of a session in which nothing fails: two channels', the load generator's, and that
/// of somebody who comes last.
pub const CONNECTIONS: u64 = 2 + LOAD_CONNECTIONS as u64 + 1;
/// Calls of each of the two channels, one after the other: half of them before the load
/// generator's.
pub const CHANNEL_CALLS: usize = 4;
/// Calls of the load generator.
pub const LOAD_CALLS: u64 = 12;
/// Its connections, and its calls in flight on each.
pub const LOAD_CONNECTIONS: u32 = 2;
pub const LOAD_STREAMS: u32 = 2;

/// How long threads that nobody can join may take to end.
const PATIENCE_WITH_THREADS: Duration = Duration::from_secs(5);

/// Whose system calls fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Server,
    Channel,
    Load,
}

impl Side {
    /// The beginnings of the names of its threads.
    fn threads(self) -> &'static [&'static str] {
        match self {
            Self::Server => &["server", "epoll-", "uring-", "blocking-", "answers"],
            Self::Channel => &["caller", "bookend-channel"],
            Self::Load => &["load"],
        }
    }
}

/// On which drivers the ends run, and which end has the fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    pub side: Side,
    pub io: Io,
    pub threads: usize,
    pub load: Driver,
    pub mistake: Mistake,
    /// How long a call waits for its answer.
    pub patience: Duration,
}

impl Setting {
    /// The call of that number fails.
    pub fn point(&self, call: SystemCall, first: u64, fault: InjectedFault) -> FailPoint {
        FailPoint { threads: self.side.threads(), call, first, times: 1, fault }
    }

    /// How many calls of a kind the server makes before it can accept.
    pub fn start_up_calls(&self, call: SystemCall) -> u64 {
        let shards = self.threads as u64;
        match (self.side, self.io, call) {
            (Side::Channel | Side::Load, ..) => 0,
            (_, Io::Epoll, SystemCall::EpollCreate) => shards,
            // The waker and the timer of each, and the listener.
            (_, Io::Epoll, SystemCall::EpollAdd) if shards == 1 => 3,
            (_, Io::Epoll, SystemCall::EpollAdd) => 2 * shards,
            (_, Io::Epoll, SystemCall::Event) if shards == 1 => 1,
            (_, Io::Epoll, SystemCall::Spawn) => shards,
            (_, Io::Epoll, SystemCall::Event) => 1 + shards,
            (_, Io::Blocking, SystemCall::Event) => 1,
            (_, Io::Uring, SystemCall::RingSetup) => shards,
            // The buffers, and the beginning.
            (_, Io::Uring, SystemCall::RingRegister) => 2 * shards,
            (_, Io::Uring, SystemCall::Event) if shards == 1 => 1,
            (_, Io::Uring, SystemCall::Spawn) => shards,
            (_, Io::Uring, SystemCall::Event) => 1 + shards,
            _ => 0,
        }
    }

    /// Whether there is no server if the call of that number fails, and it says so. Without its
    /// timer an epoll gives its waits timeouts.
    fn fails_to_start(&self, call: SystemCall, number: u64) -> bool {
        let is_timer = call == SystemCall::EpollAdd && number.is_multiple_of(2);
        (1..=self.start_up_calls(call)).contains(&number) && !is_timer
    }
}

/// What became of a session.
#[derive(Debug)]
pub struct Played {
    /// None where the server could not start.
    pub server: Option<Ended>,
    pub handled: u64,
    /// How the calls of each channel ended.
    pub channels: [Vec<Code>; 2],
    /// None where the server could not start.
    pub load: Option<LoadOutcome>,
    /// Whether somebody who came last was answered.
    pub last_was_answered: bool,
    /// What the side with the fault has called.
    pub calls: BTreeMap<SystemCall, u64>,
    /// How many of its calls failed.
    pub hits: u64,
    /// Descriptors that the session has left behind.
    pub leaked_descriptors: isize,
}

/// What the server says at its end.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    pub calls: Counts,
    pub io: IoStatistics,
}

/// Plays a session. One that hangs ends the process: it keeps the fail points armed, for which
/// every other test waits.
pub fn play(setting: Setting, point: FailPoint) -> Result<Played, String> {
    let (sender, played) = mpsc::channel();
    let stage = move || {
        let result = std::panic::catch_unwind(|| play_here(setting, point));
        let _ = sender.send(result.map_err(|panic| match panic.downcast::<String>() {
            Ok(text) => *text,
            Err(_) => "it panicked".to_owned(),
        }));
    };
    drop(named("stage", stage));
    played.recv_timeout(GUARD).unwrap_or_else(|_| {
        // Past the harness, which keeps what a test prints until the test ends.
        let _ = writeln!(io::stderr(), "a session hangs: {setting:?} {point:?}");
        process::abort();
    })
}

fn play_here(setting: Setting, point: FailPoint) -> Played {
    let armed = Armed::new(&[point]);
    let descriptors_before = open_descriptors();
    let serving = Serving::start(setting);
    let mut played = match setting.fails_to_start(point.call, point.first) {
        true => serving.fail_to_start(),
        false => serving.talk(setting),
    };
    played.calls = armed.all_calls();
    played.hits = armed.hits();
    played.leaked_descriptors = leaked_since(descriptors_before);
    played
}

struct Serving {
    address: SocketAddr,
    shutdown: ShutdownHandle,
    desk: DeskCounts,
    thread: JoinHandle<io::Result<Ended>>,
}

impl Serving {
    fn start(setting: Setting) -> Self {
        let (desk, counts) = Desk::open();
        let services = Server::builder().add_service(desk).build().unwrap();
        let listener = listen("127.0.0.1:0".parse::<SocketAddr>().unwrap()).unwrap();
        let address = listener.local_address().tcp().unwrap();
        let shutdown = ShutdownHandle::new();
        let mut options = ServeOptions::new(shutdown.clone());
        options.io = setting.io;
        options.threads = NonZeroUsize::new(setting.threads).unwrap();
        let serve = move || {
            let shard = |place: bookend_io::ShardPlace| {
                Mistaken::new(services.shard(place.waker), setting.mistake)
            };
            let io = serve(listener, &options, shard)?;
            let calls = services.counts();
            Ok(Ended { calls, io })
        };
        Self { address, shutdown, desk: counts, thread: named("server", serve) }
    }

    fn fail_to_start(self) -> Played {
        let ended = self.join();
        assert!(ended.is_err(), "a server that lacks something says so");
        Played {
            server: None,
            handled: 0,
            channels: Default::default(),
            load: None,
            last_was_answered: false,
            calls: BTreeMap::new(),
            hits: 0,
            leaked_descriptors: 0,
        }
    }

    fn talk(self, setting: Setting) -> Played {
        let barrier = Arc::new(Barrier::new(3));
        let address = self.address;
        let callers = [INLINE, LATER].map(|path| {
            let (barrier, patience) = (Arc::clone(&barrier), setting.patience);
            named("caller", move || call(address, path, patience, &barrier))
        });
        barrier.wait();
        // A server that has ended is not there to be measured.
        let load = (!self.thread.is_finished())
            .then(|| named("load", move || measure(address, setting.load)).join().unwrap());
        barrier.wait();
        let channels = callers.map(|caller| caller.join().unwrap());
        let last_was_answered = is_answered(address, setting.side);
        self.shutdown.stop();
        let desk = self.desk.clone();
        let ended = self.join().expect("one connection's fault is not the server's");
        Played {
            server: Some(ended),
            handled: desk.handled(),
            channels,
            load,
            last_was_answered,
            calls: BTreeMap::new(),
            hits: 0,
            leaked_descriptors: 0,
        }
    }

    fn join(self) -> io::Result<Ended> {
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// The calls of one channel. Whoever gets no channel at first asks again.
fn call(
    address: SocketAddr,
    path: &'static str,
    patience: Duration,
    barrier: &Barrier,
) -> Vec<Code> {
    let target = address.to_string();
    let options =
        ChannelOptions { backoff_min: Duration::from_millis(1), ..ChannelOptions::default() };
    let channel = match Channel::connect(&target, options.clone()) {
        Err(ConnectError::Machine { .. }) => Channel::connect(&target, options),
        result => result,
    };
    let channel = channel.expect("only one call fails");
    let mut codes = Vec::new();
    for number in 0..CHANNEL_CALLS {
        if number == CHANNEL_CALLS / 2 {
            barrier.wait();
            barrier.wait();
        }
        codes.push(call_once(&channel, path, patience));
    }
    codes
}

fn call_once(channel: &Channel, path: &'static str, patience: Duration) -> Code {
    let (tell, answers) = mpsc::channel();
    let mut call = UnaryCall::new(path, b"ping".to_vec());
    call.waits_for_ready = true;
    call.timeout = Some(patience);
    channel.call(call, move |answer| tell.send(answer).unwrap());
    let answer = answers.recv().expect("every call is answered");
    assert!(answers.recv().is_err(), "and only once");
    if answer.status.code == Code::Ok {
        assert_eq!(answer.single_message().unwrap(), b"ping");
    }
    answer.status.code
}

/// The calls of the load generator, which is asked again if this machine lacks something.
fn measure(target: SocketAddr, driver: Driver) -> LoadOutcome {
    let interrupt = AtomicBool::new(false);
    let result = match run(plan(target, driver), &interrupt, |_| {}) {
        Err(LoadError::Machine(_)) => run(plan(target, driver), &interrupt, |_| {}),
        result => result,
    };
    result.expect("only one call fails")
}

fn plan(target: SocketAddr, driver: Driver) -> LoadPlan {
    LoadPlan {
        connections: LOAD_CONNECTIONS,
        concurrency: LOAD_CONNECTIONS * LOAD_STREAMS,
        threads: match driver {
            Driver::Blocking => LOAD_CONNECTIONS,
            Driver::Epoll | Driver::Uring => 1,
        },
        driver,
        timeout_ns: None,
        ..plans::plan(INLINE, target, LOAD_CALLS)
    }
}

/// Makes a call with a client whose threads have no fault.
fn is_answered(address: SocketAddr, faulty: Side) -> bool {
    if faulty == Side::Channel {
        return plans::measure(plans::plan(INLINE, address, 1)).ok == 1;
    }
    let channel = Channel::connect(&address.to_string(), ChannelOptions::default());
    let call = UnaryCall::new(INLINE, b"ping".to_vec());
    channel.is_ok_and(|channel| channel.unary(call).status.code == Code::Ok)
}

/// A thread with the name of its [`Side`].
pub fn named<T: Send + 'static>(
    name: &str,
    run: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    let thread = thread::Builder::new().name(name.into());
    thread.spawn(run).expect("this machine has a thread left")
}

/// The descriptors that are open once the threads of channels, which nobody can join, have ended.
pub fn open_descriptors() -> isize {
    let give_up = Instant::now() + PATIENCE_WITH_THREADS;
    while has_channel_threads() && Instant::now() < give_up {
        thread::yield_now();
    }
    // One of them is the folder's own.
    std::fs::read_dir("/proc/self/fd").unwrap().count() as isize - 1
}

fn has_channel_threads() -> bool {
    // A thread that ends while its name is read is gone.
    let name = |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("comm")).ok();
    let mut tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    tasks.any(|task| name(task).is_some_and(|name| name.starts_with("bookend-channel")))
}

/// Descriptors that stay open although everything has ended that was begun since.
pub fn leaked_since(before: isize) -> isize {
    let give_up = Instant::now() + PATIENCE_WITH_THREADS;
    loop {
        let leaked = open_descriptors() - before;
        if leaked <= 0 || Instant::now() > give_up {
            return leaked;
        }
        thread::yield_now();
    }
}
