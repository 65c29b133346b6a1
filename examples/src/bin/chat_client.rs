//! Says each line of standard input, and prints what everybody says.
//!
//! `cargo run -p bookend-examples --bin chat_client [ADDRESS [NAME]]`
#![forbid(unsafe_code)]

use std::io::BufRead;
use std::{env, io, thread};

use bookend_client::{Channel, ChannelOptions};
use bookend_examples::chat::{ChatClient, Line};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let guest = env::args().nth(2).unwrap_or_else(|| "somebody".to_owned());
    let channel = Channel::connect(&bookend_examples::address(), ChannelOptions::default())?;
    let (mut requests, replies) = ChatClient::new(channel).talk().open();
    thread::spawn(move || {
        for text in io::stdin().lock().lines().map_while(Result::ok) {
            // The call may have ended: the other half has its status.
            if requests.send(&Line { guest: guest.clone(), text }).is_err() {
                return;
            }
        }
        requests.finish();
    });
    for line in replies {
        let Line { guest, text } = line?;
        println!("{guest}: {text}");
    }
    Ok(())
}
