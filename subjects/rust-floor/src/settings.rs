//! The contract's variables.

use std::{env, error::Error, fs, num::NonZero, process, str::FromStr, time::Duration};

/// Messages that fit one DATA frame of the size that every peer takes (RFC 9113, 4.2).
const MAX_MESSAGE_BYTES: usize = 16_384 - 5;
/// Longer strings need a multi-byte length (RFC 7541, 5.1), which the canned bytes do not have.
const MAX_STRING_BYTES: usize = 126;

/// What this run is asked to do.
pub struct Settings {
    /// The server's end, else the client's.
    pub serves: bool,
    pub epoll: bool,
    pub method: String,
    pub request: Vec<u8>,
    pub target: String,
    pub connections: usize,
    pub concurrency: usize,
    /// Set-up and tear-down inside each call.
    pub connection_per_call: bool,
    pub warmup: Duration,
    pub measure: Duration,
    /// A window of this number of calls instead of one of `measure`.
    pub calls: Option<usize>,
}

impl Settings {
    /// Reads the variables; ends the process where they ask for what the floor does not have.
    pub fn from_environment() -> Result<Self, Box<dyn Error>> {
        let settings = Settings {
            serves: match text("BOOKEND_ROLE", "server").as_str() {
                "server" => true,
                "client" | "instrument" => false,
                other => not_supported(&format!("role {other}")),
            },
            epoll: match text("BOOKEND_VARIANT", "blocking").as_str() {
                "blocking" => false,
                "epoll" => true,
                other => not_supported(&format!("variant {other}")),
            },
            method: text("BOOKEND_METHOD", "helloworld.Greeter/SayHello"),
            request: match env::var("BOOKEND_REQUEST_FILE") {
                Ok(path) => fs::read(&path).map_err(|error| format!("{path}: {error}"))?,
                Err(_) => b"\x0a\x05world".to_vec(),
            },
            target: text("BOOKEND_TARGET", ""),
            connections: number("BOOKEND_CONNECTIONS", NonZero::<usize>::MIN)?.get(),
            concurrency: number("BOOKEND_CONCURRENCY", NonZero::<usize>::MIN)?.get(),
            connection_per_call: number("BOOKEND_CONNECTION_PER_CALL", 0)? == 1,
            warmup: Duration::from_millis(number("BOOKEND_WARMUP_MS", 0)?),
            measure: Duration::from_millis(number("BOOKEND_MEASURE_MS", 1000)?),
            calls: match number("BOOKEND_CALLS", 0)? {
                0 => None,
                calls => Some(calls),
            },
        };
        if settings.epoll && number("BOOKEND_CPUS", 1)? > 1 {
            not_supported("more than one thread with epoll");
        }
        if settings.request.len() > MAX_MESSAGE_BYTES {
            not_supported("messages beyond one frame");
        }
        if settings.method.len().max(settings.target.len()) >= MAX_STRING_BYTES {
            not_supported("method or target beyond 125 bytes");
        }
        Ok(settings)
    }
}

/// Ends the process as the contract has it for a case that is not covered.
pub fn not_supported(what: &str) -> ! {
    eprintln!("the floor does not support {what}");
    process::exit(89)
}

fn text(name: &str, default: &str) -> String {
    env::var(name).unwrap_or_else(|_| default.to_owned())
}

fn number<T: FromStr>(name: &str, default: T) -> Result<T, String> {
    let Ok(value) = env::var(name) else {
        return Ok(default);
    };
    value.parse().map_err(|_| format!("{name}={value}: a number is needed"))
}
