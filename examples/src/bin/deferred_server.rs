//! Answers that come later: all calls that wait are answered at the next tick, by one thread. A
//! call that waits costs a small struct, so a hundred thousand of them are nothing special.
//!
//! `cargo run -p bookend-examples --bin deferred_server [ADDRESS]`
#![forbid(unsafe_code)]

use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use bookend_examples::ticker::{NextRequest, Tick, Ticker, TickerServer};
use bookend_server::{Context, Responder, Server};

const TICK: Duration = Duration::from_millis(200);

struct Waiting(Sender<Responder<Tick>>);

impl Ticker for Waiting {
    fn next(&self, _: NextRequest, _: &Context<'_>, responder: Responder<Tick>) {
        // If nobody listens, the responder is dropped, and that ends the call with INTERNAL.
        let _ = self.0.send(responder);
    }
}

fn tick(waiting: &Receiver<Responder<Tick>>) {
    for number in 0.. {
        thread::sleep(TICK);
        let responders: Vec<_> = waiting.try_iter().collect();
        let waiting = responders.len() as u64;
        for responder in responders {
            responder.send(Ok(Tick { number, waiting }));
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || tick(&receiver));
    let server = Server::builder()
        .add_service(TickerServer::new(Waiting(sender)))
        .bind(bookend_examples::address())?;
    println!("listening on {}", server.local_address());
    server.serve()?;
    Ok(())
}
