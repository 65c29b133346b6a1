//! Asking a server, by server reflection, for the schema of its services.

mod error;
mod messages;

pub use error::{FetchError, ReflectError};

use crate::channel;
use crate::options::CallOptions;
use bookend_client::{Channel, Code, StreamCall};
use bookend_payload::schema::Schema;
use bookend_payload::schema::reflection::ReflectionQuery;
use messages::{ReflectionRequest, items};
use prost::Message;
use std::time::{Duration, Instant};

/// Both names of the service, the current one first. The messages are the same.
const PATHS: [&str; 2] = [
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
];

/// How long a server may take to describe itself, in all: as long as a call may, within these
/// bounds. There is one call for each file that is imported.
const TIME_MIN: Duration = Duration::from_secs(5);
const TIME_MAX: Duration = Duration::from_secs(60);
/// Where calls may take for ever.
const TIME_DEFAULT: Duration = Duration::from_secs(20);

/// Connects to the first target and asks it for the schema of the call that the options name.
/// Returns also the calls made to get it; the server counts them too.
///
/// # Errors
/// [`ReflectError`].
pub fn schema(options: &CallOptions) -> Result<(Schema, u64), ReflectError> {
    schema_within(options, time_for(options))
}

fn time_for(options: &CallOptions) -> Duration {
    options.timeout.map_or(TIME_DEFAULT, |timeout| timeout.clamp(TIME_MIN, TIME_MAX))
}

fn schema_within(options: &CallOptions, time: Duration) -> Result<(Schema, u64), ReflectError> {
    let channel = channel::connect(options)?;
    let deadline = Instant::now() + time;
    let mut reflector =
        Reflector { channel, options, time, deadline, paths: &PATHS, calls_made: 0 };
    let schema = Schema::by_reflection(&options.method, |query| reflector.fetch(query))?;
    Ok((schema, reflector.calls_made))
}

/// Asks a server's reflection service, in whichever of its two versions the server has.
struct Reflector<'a> {
    channel: Channel,
    options: &'a CallOptions,
    time: Duration,
    deadline: Instant,
    /// The paths that the server may still have.
    paths: &'static [&'static str],
    calls_made: u64,
}

impl Reflector<'_> {
    /// One request and its answer.
    fn fetch(&mut self, query: ReflectionQuery) -> Result<Vec<Vec<u8>>, FetchError> {
        let request = ReflectionRequest { query: Some(query) }.encode_to_vec();
        while let Some(path) = self.paths.first() {
            match self.call(path, &request) {
                Err(FetchError::Status(status)) if status.code == Code::Unimplemented => {
                    self.paths = &self.paths[1..];
                }
                response => return response,
            }
        }
        Err(FetchError::NoReflection)
    }

    fn call(&mut self, path: &'static str, request: &[u8]) -> Result<Vec<Vec<u8>>, FetchError> {
        let too_slow = FetchError::TooSlow { seconds: self.time.as_secs() };
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(too_slow);
        }
        self.calls_made += 1;
        let fields = self.options.reflection_metadata.as_ref().unwrap_or(&self.options.metadata);
        let (mut requests, mut responses) = self.channel.open(StreamCall {
            metadata: channel::metadata(fields),
            timeout: Some(left),
            ..StreamCall::new(path)
        });
        // A call that has ended already says why.
        if requests.send(request).is_ok() {
            requests.finish();
        }
        match (responses.next(), responses.next()) {
            (Some(Err(_)), _) | (_, Some(Err(_))) if Instant::now() >= self.deadline => {
                Err(too_slow)
            }
            (Some(Err(status)), _) | (_, Some(Err(status))) => Err(FetchError::Status(status)),
            (Some(Ok(answer)), None) => items(&answer.bytes),
            (Some(Ok(_)), Some(Ok(_))) => {
                Err(FetchError::Malformed("comes more than once to one question".to_owned()))
            }
            (None, _) => {
                Err(FetchError::Malformed("did not come: the call ended first".to_owned()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::CallFlags;
    use clap::Parser;
    use std::io::{self, Read, Write};
    use std::net::TcpListener;
    use std::thread;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        call: CallFlags,
    }

    #[test]
    fn a_silent_server_is_not_asked_again() {
        const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let target = listener.local_addr().unwrap().to_string();
        let server = thread::spawn(move || {
            let (mut peer, _) = listener.accept().unwrap();
            peer.write_all(&SETTINGS).unwrap();
            let mut sent = Vec::new();
            // The client may end its connection with a reset.
            let _: io::Result<usize> = peer.read_to_end(&mut sent);
            String::from_utf8_lossy(&sent).matches("a.S").count()
        });
        let line = Line::parse_from(["load", "--insecure", "--call=a.S/Go", &target]);
        let options = CallOptions::from_flags(&line.call).unwrap();
        let error = schema_within(&options, Duration::from_millis(100)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the server's reflection did not describe a.S (it took more than 0 s in all): give the \
             schema with --proto or --protoset"
        );
        assert!(server.join().unwrap() <= 1);
    }

    #[test]
    fn the_time_for_all_of_it_follows_that_of_a_call() {
        let seconds = |timeout: &str| {
            let line = Line::parse_from(["load", "--insecure", "--call=a.S/Go", timeout, "x:1"]);
            time_for(&CallOptions::from_flags(&line.call).unwrap()).as_secs()
        };
        let chosen = ["-t=0", "-t=100ms", "-t=30s", "-t=1h"].map(seconds);
        assert_eq!(chosen, [20, 5, 30, 60]);
    }
}
