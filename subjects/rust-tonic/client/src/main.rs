//! tonic's client as the load: a channel is a connection, and tasks make call after call on it.

#![forbid(unsafe_code)]

use prost::Message;
use rust_tonic_client::Load;
use std::error::Error;
use std::process::{self, ExitCode};
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use std::{env, fs, io, thread};
use tokio::runtime::{Builder, Runtime};
use tokio::{task::JoinSet, time};
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};
use tonic::{Code, Request};

mod helloworld {
    tonic::include_proto!("helloworld");
}

use helloworld::{HelloRequest, greeter_client::GreeterClient};

/// The contract's "not supported".
const NOT_SUPPORTED: u8 = 89;

/// What can be asked for, the default first. A channel closes its connection some time after it is
/// dropped and does not tell when, so no call can have one of its own.
const SUPPORTED: [(&str, &[&str]); 5] = [
    ("BOOKEND_ROLE", &["client"]),
    ("BOOKEND_VARIANT", &["client"]),
    ("BOOKEND_TRANSPORT", &["h2c", "tls", "unix"]),
    ("BOOKEND_METHOD", &["helloworld.Greeter/SayHello"]),
    ("BOOKEND_CONNECTION_PER_CALL", &["0"]),
];

/// How long calls in flight at the end of the window are awaited.
const DRAIN_TIME: Duration = Duration::from_secs(2);

/// How long a task waits before it calls a server again that is not there.
const RETRY_PAUSE: Duration = Duration::from_millis(100);

/// The call that is made, again and again.
#[derive(Clone)]
struct Greeting {
    request: HelloRequest,
    reply: String,
    deadline: Option<Duration>,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    if env::args().nth(1).as_deref() == Some("--version") {
        println!("tonic {}", env!("LIBRARY_VERSION"));
        return Ok(ExitCode::SUCCESS);
    }
    for (name, supported) in SUPPORTED {
        let asked = variable(name, supported[0]);
        if !supported.contains(&asked.as_str()) {
            let supported = supported.join(", ");
            eprintln!("{name}={asked} is not supported, only {supported}");
            return Ok(ExitCode::from(NOT_SUPPORTED));
        }
    }
    thread::spawn(end_with_the_lab);
    let workers = number("BOOKEND_CPUS", "1")?;
    let runtime = Builder::new_multi_thread().worker_threads(workers).enable_all().build()?;
    measure(&runtime).map(|()| ExitCode::SUCCESS)
}

/// What the lab has said; a variable that is set to nothing is not set.
fn variable(name: &str, default: &str) -> String {
    let said = env::var(name).unwrap_or_default();
    if said.is_empty() { default.to_owned() } else { said }
}

fn number<T: FromStr>(name: &str, default: &str) -> Result<T, String> {
    let said = variable(name, default);
    said.parse().map_err(|_| format!("{name}={said}: a number is needed"))
}

/// The lab gives up a run by closing our standard input.
fn end_with_the_lab() {
    if env::var("BOOKEND_CONTRACT").as_deref() == Ok("1") {
        // A read that fails means the same as the end: the lab is gone.
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        eprintln!("standard input was closed before the end of the run");
        process::exit(1);
    }
}

fn measure(runtime: &Runtime) -> Result<(), Box<dyn Error>> {
    let warmup = Duration::from_millis(number("BOOKEND_WARMUP_MS", "0")?);
    let window = Duration::from_millis(number("BOOKEND_MEASURE_MS", "1000")?);
    let calls = Some(number("BOOKEND_CALLS", "0")?).filter(|&calls| calls > 0);
    let connections: usize = number("BOOKEND_CONNECTIONS", "1")?;
    let concurrency = number("BOOKEND_CONCURRENCY", &connections.to_string())?;
    let greeting = Greeting::from_environment()?;
    // What is collected into a `JoinSet` is spawned where the thread is.
    let _context = runtime.enter();
    let endpoint = endpoint()?;
    let channels = (0..connections).map(|_| runtime.block_on(connect(&endpoint)));
    let channels: Vec<Channel> = channels.collect();

    let load = Arc::new(Mutex::new(Load::new(concurrency)));
    let begin = || -> JoinSet<()> {
        let callers = channels.iter().cycle().take(concurrency).enumerate();
        let tasks = callers.map(|(caller, channel)| {
            let client = GreeterClient::new(channel.clone());
            work(Arc::clone(&load), caller, client, greeting.clone())
        });
        tasks.collect()
    };
    let warming = (!warmup.is_zero()).then(begin);
    thread::sleep(warmup);
    locked(&load).open_window(calls);
    println!("window start");
    let mut tasks = warming.unwrap_or_else(begin);
    match calls {
        Some(_) => runtime.block_on(all_end(&mut tasks)),
        None => thread::sleep(window),
    }
    locked(&load).close_window();
    println!("window end");
    // What has not ended by then counts as unfinished.
    let _ = runtime.block_on(time::timeout(DRAIN_TIME, all_end(&mut tasks)));
    Ok(locked(&load).write(&mut io::stdout())?)
}

fn endpoint() -> Result<Endpoint, Box<dyn Error>> {
    let target = variable("BOOKEND_TARGET", "");
    Ok(match variable("BOOKEND_TRANSPORT", "h2c").as_str() {
        "unix" => Endpoint::from_shared(target)?,
        "tls" => {
            let authority = Certificate::from_pem(fs::read(variable("BOOKEND_TLS_CA", ""))?);
            let tls = ClientTlsConfig::new().ca_certificate(authority);
            Endpoint::from_shared(format!("https://{target}"))?.tls_config(tls)?
        }
        _ => Endpoint::from_shared(format!("http://{target}"))?,
    })
}

/// Connects before anything is measured. Where that fails, calls try again, and their codes say so.
async fn connect(endpoint: &Endpoint) -> Channel {
    endpoint.connect().await.unwrap_or_else(|_| endpoint.connect_lazy())
}

async fn all_end(tasks: &mut JoinSet<()>) {
    while tasks.join_next().await.is_some() {}
}

type Client = GreeterClient<Channel>;

async fn work(load: Arc<Mutex<Load>>, caller: usize, mut client: Client, greeting: Greeting) {
    loop {
        let Some(began) = locked(&load).begins(caller) else { break };
        let (outcome, latency) = (greeting.send(&mut client).await, began.elapsed());
        locked(&load).ends(caller, latency, outcome);
        if outcome == Err(Code::Unavailable) {
            time::sleep(RETRY_PAUSE).await;
        }
    }
}

fn locked(load: &Mutex<Load>) -> MutexGuard<'_, Load> {
    load.lock().expect("counting does not panic")
}

impl Greeting {
    fn from_environment() -> Result<Greeting, Box<dyn Error>> {
        let encoded = fs::read(variable("BOOKEND_REQUEST_FILE", ""));
        let encoded = encoded.map_err(|error| format!("BOOKEND_REQUEST_FILE: {error}"))?;
        let request = HelloRequest::decode(encoded.as_slice())?;
        let reply = format!("Hello {}!", request.name);
        let deadline_ms = Some(number("BOOKEND_DEADLINE_MS", "0")?).filter(|&ms| ms > 0);
        Ok(Greeting { request, reply, deadline: deadline_ms.map(Duration::from_millis) })
    }

    /// A deadline that passes is CANCELLED in tonic, not DEADLINE_EXCEEDED, and its time begins
    /// when the call has had its turn on the channel.
    async fn send(&self, client: &mut Client) -> Result<(), Code> {
        let mut request = Request::new(self.request.clone());
        if let Some(deadline) = self.deadline {
            request.set_timeout(deadline);
        }
        let reply = client.say_hello(request).await.map_err(|status| status.code())?;
        if reply.get_ref().message == self.reply { Ok(()) } else { Err(Code::DataLoss) }
    }
}
