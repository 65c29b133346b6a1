//! A thousand calls that wait for the next tick, from one thread: as many at a time as the server
//! lets a connection have, which is 250 for strangers.
//!
//! `cargo run -p bookend-examples --bin deferred_client [ADDRESS]`
#![forbid(unsafe_code)]

use std::sync::mpsc;

use bookend_client::{Channel, ChannelOptions};
use bookend_examples::ticker::{NextRequest, TickerClient};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let channel = Channel::connect(&bookend_examples::address(), ChannelOptions::default())?;
    let ticker = TickerClient::new(channel);
    let (sender, receiver) = mpsc::channel();
    for _ in 0..1_000 {
        let sender = sender.clone();
        ticker.next(&NextRequest {}).then(move |tick| drop(sender.send(tick)));
    }
    drop(sender);
    let mut most_waiting = 0;
    for tick in receiver {
        most_waiting = most_waiting.max(tick?.waiting);
    }
    println!("up to {most_waiting} calls waited at once");
    Ok(())
}
