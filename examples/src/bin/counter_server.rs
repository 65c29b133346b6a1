//! A stream of as many messages as the client asks for, in turns that leave room for others.
//!
//! `cargo run -p bookend-examples --bin counter_server [ADDRESS]`
#![forbid(unsafe_code)]

use bookend_examples::counter::{Counter, CounterServer, Number, Range};
use bookend_server::{Context, Replies, Server, Status, StreamHandler};

struct Counts;

impl Counter for Counts {
    fn count(&self, _: &Context<'_>) -> Box<dyn StreamHandler<Range, Number>> {
        Box::new(Counting::default())
    }
}

#[derive(Default)]
struct Counting {
    next: u64,
    end: u64,
}

impl StreamHandler<Range, Number> for Counting {
    fn on_message(
        &mut self,
        range: Range,
        replies: &mut Replies<'_, '_, Number>,
    ) -> Result<(), Status> {
        self.end = range.end;
        self.on_ready(replies)
    }

    fn on_ready(&mut self, replies: &mut Replies<'_, '_, Number>) -> Result<(), Status> {
        while self.next < self.end && !replies.is_full() {
            replies.send(&Number { number: self.next });
            self.next += 1;
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Server::builder()
        .add_service(CounterServer::new(Counts))
        .reflection()
        .bind(bookend_examples::address())?;
    println!("listening on {}", server.local_address());
    server.serve()?;
    Ok(())
}
