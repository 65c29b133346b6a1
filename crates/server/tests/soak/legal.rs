//! Clients that use the server as they should. None of their calls may be lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use bookend_client::{Channel, Code, Encoding, StreamCall, UnaryCall};

use crate::access::Access;
use crate::serving::FILL_MESSAGE_BYTES;
use crate::source::Source;

/// What one client did.
#[derive(Debug)]
pub struct Made {
    pub client: &'static str,
    pub path: &'static str,
    pub calls: u64,
    /// Calls that ended as they had to.
    pub right: u64,
    pub first_wrong: Option<String>,
    /// How long calls made together took while nobody attacked.
    pub alone: Vec<Duration>,
    /// The same while others attacked.
    pub attacked: Vec<Duration>,
}

/// One client: makes calls once, and says of each whether it ended as it had to.
type Go = fn(&mut Customer) -> Vec<Result<(), String>>;

/// What is never answered in time.
pub const STALL: &str = "/soak.Legal/Stall";

const CLIENTS: &[(&str, &str, Go)] = &[
    ("many at once", "/soak.Legal/Echo", many_at_once),
    ("compressed", "/soak.Legal/Echo", compressed),
    ("answered later", "/soak.Legal/Later", many_at_once),
    ("on the pool", "/soak.Legal/Work", a_few_at_once),
    ("a connection a call", "/soak.Legal/Echo", on_a_new_connection),
    ("both ways", "/soak.Legal/Chat", both_ways),
    ("cancelled", "/soak.Legal/Chat", cancelled),
    ("much to read", "/soak.Legal/Fill", much_to_read),
    ("deadlines that pass", STALL, too_late),
];

/// Between two goes: the machine is to have time for the other clients, on any number of cores.
const PAUSE: Duration = Duration::from_millis(2);

struct Customer {
    access: Access,
    path: &'static str,
    channel: Channel,
    source: Source,
}

/// How far the soak has come.
#[derive(Default)]
pub struct Progress {
    /// Others attack.
    pub attacks: AtomicBool,
    /// It is over.
    pub over: AtomicBool,
}

pub fn start(access: &Access, seed: u64, progress: &Arc<Progress>) -> Vec<JoinHandle<Made>> {
    let start_one = |(number, &(client, path, go)): (usize, &(_, _, Go))| {
        let (access, progress) = (access.clone(), Arc::clone(progress));
        thread::spawn(move || {
            let channel = Channel::connect(&access.address.to_string(), access.options());
            let customer = Customer {
                access,
                path,
                channel: channel.expect("a channel"),
                source: Source::new(seed, number as u64),
            };
            be_a_customer(customer, client, go, &progress)
        })
    };
    CLIENTS.iter().enumerate().map(start_one).collect()
}

fn be_a_customer(
    mut customer: Customer,
    client: &'static str,
    go: Go,
    progress: &Progress,
) -> Made {
    let (alone, attacked) = (Vec::new(), Vec::new());
    let path = customer.path;
    let mut made = Made { client, path, calls: 0, right: 0, first_wrong: None, alone, attacked };
    loop {
        let is_attacked = progress.attacks.load(Ordering::Relaxed);
        let began = Instant::now();
        let results = go(&mut customer);
        let times = if is_attacked { &mut made.attacked } else { &mut made.alone };
        times.push(began.elapsed());
        for result in results {
            made.calls += 1;
            match result {
                Ok(()) => made.right += 1,
                Err(wrong) => drop(made.first_wrong.get_or_insert(wrong)),
            }
        }
        // Each is there once, however late its thread begins.
        if progress.over.load(Ordering::Relaxed) {
            return made;
        }
        thread::sleep(PAUSE);
    }
}

fn many_at_once(customer: &mut Customer) -> Vec<Result<(), String>> {
    echoes(customer, 64, Encoding::Identity)
}

fn a_few_at_once(customer: &mut Customer) -> Vec<Result<(), String>> {
    echoes(customer, 8, Encoding::Identity)
}

fn compressed(customer: &mut Customer) -> Vec<Result<(), String>> {
    echoes(customer, 8, Encoding::Gzip)
}

fn echoes(customer: &mut Customer, count: usize, encoding: Encoding) -> Vec<Result<(), String>> {
    let (tell, hear) = mpsc::channel();
    for _ in 0..count {
        let message = customer.source.bytes(8 << 10);
        let mut call = UnaryCall::new(customer.path, message.clone());
        call.encoding = encoding;
        let tell = tell.clone();
        customer.channel.call(call, move |answer| {
            let result = match answer.single_message() {
                Ok(echo) if echo == message => Ok(()),
                Ok(_) => Err("another message came back".to_owned()),
                Err(status) => Err(status.to_string()),
            };
            // The client that asked gets all of them.
            let _ = tell.send(result);
        });
    }
    drop(tell);
    hear.iter().collect()
}

fn on_a_new_connection(customer: &mut Customer) -> Vec<Result<(), String>> {
    let message = customer.source.bytes(1000);
    let Access { address, .. } = &customer.access;
    let channel = Channel::connect(&address.to_string(), customer.access.options());
    let call = UnaryCall::new(customer.path, message.clone());
    let echo = channel.map_err(|error| error.to_string()).and_then(|channel| {
        let message = channel.unary(call).into_single_message();
        message.map_err(|status| status.to_string())
    });
    vec![expect(echo, &message)]
}

fn both_ways(customer: &mut Customer) -> Vec<Result<(), String>> {
    let (mut requests, mut responses) = customer.channel.open(StreamCall::new(customer.path));
    for _ in 0..customer.source.below(20) {
        let message = customer.source.bytes(40 << 10);
        if requests.send(&message).is_err() {
            break;
        }
        let echo = match responses.next() {
            Some(Ok(echo)) => Ok(echo.bytes),
            Some(Err(status)) => Err(status.to_string()),
            None => Err("the answer ended early".to_owned()),
        };
        if let Err(wrong) = expect(echo, &message) {
            return vec![Err(wrong)];
        }
    }
    requests.finish();
    let status = responses.end().status.clone();
    vec![match status.code {
        Code::Ok => Ok(()),
        _ => Err(status.to_string()),
    }]
}

/// Four a second, so that it is not taken for an attack.
fn cancelled(customer: &mut Customer) -> Vec<Result<(), String>> {
    let (mut requests, mut responses) = customer.channel.open(StreamCall::new(customer.path));
    let message = customer.source.bytes(1000);
    let _ = requests.send(&message);
    let echo = match responses.next() {
        Some(Ok(echo)) => Ok(echo.bytes),
        other => Err(format!("{other:?}")),
    };
    drop((requests, responses));
    thread::sleep(Duration::from_millis(250));
    vec![expect(echo, &message)]
}

fn much_to_read(customer: &mut Customer) -> Vec<Result<(), String>> {
    let count = customer.source.below(200) as u32;
    let (mut requests, mut responses) = customer.channel.open(StreamCall::new(customer.path));
    let _ = requests.send(&count.to_be_bytes());
    requests.finish();
    let whole = |message: &Result<bookend_client::ReceivedMessage, _>| {
        message.as_ref().is_ok_and(|message| message.bytes.len() == FILL_MESSAGE_BYTES)
    };
    let read = (&mut responses).filter(whole).count();
    let status = responses.end().status.clone();
    vec![match (status.code, read == count as usize) {
        (Code::Ok, true) => Ok(()),
        (Code::Ok, false) => Err(format!("{read} of {count} messages came")),
        _ => Err(status.to_string()),
    }]
}

fn too_late(customer: &mut Customer) -> Vec<Result<(), String>> {
    let mut call = UnaryCall::new(customer.path, Vec::new());
    call.timeout = Some(Duration::from_millis(250));
    let answer = customer.channel.unary(call);
    vec![match answer.status.code {
        Code::DeadlineExceeded => Ok(()),
        _ => Err(format!("a call that cannot end in time: {}", answer.status)),
    }]
}

fn expect(echo: Result<Vec<u8>, String>, message: &[u8]) -> Result<(), String> {
    match echo? == message {
        true => Ok(()),
        false => Err("another message came back".to_owned()),
    }
}
