//! How an agent reaches its coordinator, which may not be there yet.

use super::arguments::AgentArguments;
use super::joined::{Ending, serve};
use crate::fleet::greeting::{Refusal, join};
use crate::fleet::link::{Receiving, Sending, Stream, ends};
use crate::fleet::token::FleetToken;
use crate::terminal::Failure;
use bookend_fleet::message::AgentFacts;
use rustls::pki_types::ServerName;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsConnector;

/// Between two tries to reach the coordinator.
const RETRY: Duration = Duration::from_millis(50);

/// The same where something answers that is no coordinator, or not ours.
const RETRY_BROKEN: Duration = Duration::from_secs(1);

/// How long one try may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// What an agent needs to join, as often as it is wanted.
pub struct Dialler {
    pub arguments: AgentArguments,
    pub token: Option<FleetToken>,
    pub tls: Option<(TlsConnector, ServerName<'static>)>,
    pub facts: AgentFacts,
    pub interrupt: Arc<AtomicBool>,
}

/// What a thread of an agent says of itself.
enum Note {
    /// It takes part, and another is to dial in meanwhile.
    DialAgain,
    /// It has ended.
    Ended(Result<Ending, Failure>),
}

/// Takes part in all runs of a command, by turns or at once.
///
/// # Errors
/// [`Failure`]: the first, once all runs have ended.
pub fn take_part(dialler: &Arc<Dialler>) -> Result<Ending, Failure> {
    let (say, heard) = mpsc::channel();
    let start = |say: &mpsc::Sender<Note>| {
        let (dialler, say) = (Arc::clone(dialler), say.clone());
        let make = move || {
            let ended = dialler.join_and_serve(&say);
            // The thread that waits for all is there until the last one has ended.
            let _ = say.send(Note::Ended(ended));
        };
        thread::Builder::new().name("agent".to_owned()).spawn(make)
    };
    start(&say).map_err(Failure::nothing_measured)?;
    let (mut running, mut result) = (1, Ok(Ending::Over));
    while let Ok(note) = heard.recv() {
        match note {
            Note::DialAgain => {
                start(&say).map_err(Failure::nothing_measured)?;
                running += 1;
            }
            Note::Ended(ended) => {
                running -= 1;
                result = match (result, ended) {
                    (Err(failure), _) | (Ok(_), Err(failure)) => Err(failure),
                    (Ok(Ending::Interrupted), _) => Ok(Ending::Interrupted),
                    (Ok(Ending::Over), ended) => ended,
                };
            }
        }
        if running == 0 {
            break;
        }
    }
    result
}

impl Dialler {
    fn join_and_serve(&self, say: &mpsc::Sender<Note>) -> Result<Ending, Failure> {
        let runtime = Builder::new_current_thread().enable_all().build();
        runtime.map_err(Failure::nothing_measured)?.block_on(async {
            let Some((coordinator, receiving, sending, again)) = self.join().await? else {
                return Ok(Ending::Over);
            };
            if again {
                let _ = say.send(Note::DialAgain);
            }
            let keep = (!again).then_some(self.arguments.keep.as_path());
            serve(receiving, sending, coordinator, keep, &self.interrupt).await
        })
    }

    /// Dials in until the coordinator takes the agent; `None`: its command is over.
    async fn join(&self) -> Result<Option<(IpAddr, Receiving, Sending, bool)>, Failure> {
        let wait = self.arguments.fleet_wait;
        let mut deadline = Instant::now() + wait;
        loop {
            let mut retry = RETRY;
            let why = match self.connect().await? {
                Ok((coordinator, stream)) => {
                    let (mut receiving, mut sending) = ends(stream);
                    let (token, facts) = (self.token.as_ref(), self.facts.clone());
                    match join(&mut receiving, &mut sending, token, facts).await {
                        Ok(again) => return Ok(Some((coordinator, receiving, sending, again))),
                        Err(Refusal::Over) => return Ok(None),
                        Err(Refusal::Refused(reason)) => {
                            return Err(Failure::nothing_measured(format!(
                                "{} takes no agent: {reason}",
                                self.arguments.join
                            )));
                        }
                        Err(Refusal::Later) => {
                            deadline = Instant::now() + wait;
                            String::new()
                        }
                        Err(Refusal::Broken(error)) => {
                            retry = RETRY_BROKEN;
                            format!(
                                "what listens there does not greet agents ({error}): if it wants \
                                 TLS, give --fleet-cacert"
                            )
                        }
                    }
                }
                Err(error) => error,
            };
            if self.interrupt.load(Ordering::Relaxed) {
                return Err(Failure::nothing_measured("interrupted before it joined"));
            }
            if Instant::now() >= deadline {
                return Err(Failure::nothing_measured(format!(
                    "no coordinator at {} within {wait:?}: {why}; start bookend load --agents \
                     there, and see that its port is open",
                    self.arguments.join
                )));
            }
            sleep(retry).await;
        }
    }

    /// A connection to the coordinator, or why it cannot be made now.
    async fn connect(&self) -> Result<Result<(IpAddr, Box<dyn Stream>), String>, Failure> {
        let connected = timeout(CONNECT_TIMEOUT, TcpStream::connect(&self.arguments.join)).await;
        let tcp = match connected {
            Ok(Ok(tcp)) => tcp,
            Ok(Err(error)) => return Ok(Err(error.to_string())),
            Err(_) => return Ok(Err(format!("no answer within {CONNECT_TIMEOUT:?}"))),
        };
        tcp.set_nodelay(true).map_err(Failure::nothing_measured)?;
        let coordinator = tcp.peer_addr().map_err(Failure::nothing_measured)?.ip();
        let Some((connector, name)) = &self.tls else {
            return Ok(Ok((coordinator, Box::new(tcp))));
        };
        let stream = connector.connect(name.clone(), tcp).await;
        let stream = stream.map_err(|error| {
            Failure::nothing_measured(format!(
                "no TLS with {}: {error}; the coordinator needs --fleet-cert and --fleet-key, and \
                 --fleet-cacert its certificate",
                self.arguments.join
            ))
        })?;
        Ok(Ok((coordinator, Box::new(stream))))
    }
}
