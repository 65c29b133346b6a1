//! One call that waits, and a hundred at once that do not.
//!
//! `cargo run -p bookend-examples --bin hello_client [ADDRESS]`
#![forbid(unsafe_code)]

use std::sync::mpsc;
use std::time::Duration;

use bookend_client::{Channel, ChannelOptions};
use bookend_examples::helloworld::{GreeterClient, HelloRequest};

const TIMEOUT: Duration = Duration::from_secs(1);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = bookend_examples::address();
    let channel = Channel::connect(&address, ChannelOptions::default())?;
    let greeter = GreeterClient::new(channel);
    let request = HelloRequest { name: "world".into() };
    println!("{}", greeter.say_hello(&request).timeout(TIMEOUT).wait()?.message);

    let (sender, receiver) = mpsc::channel();
    for number in 0..100 {
        let request = HelloRequest { name: format!("guest {number}") };
        let sender = sender.clone();
        // The reply comes by callback, on the channel's thread, which must not be kept waiting.
        greeter.say_hello(&request).timeout(TIMEOUT).then(move |reply| drop(sender.send(reply)));
    }
    drop(sender);
    let answered = receiver.iter().filter(Result::is_ok).count();
    println!("{answered} of 100 guests were greeted");
    Ok(())
}
