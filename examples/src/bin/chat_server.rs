//! A chat on inline streams: no thread a guest, and bounded memory however slowly one reads.
//!
//! A guest's stream is woken when somebody has said something, and then sends what it has not sent
//! yet, as far as there is room.
//!
//! `cargo run -p bookend-examples --bin chat_server [ADDRESS]`
#![forbid(unsafe_code)]

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bookend_examples::chat::{Chat, ChatServer, Line};
use bookend_server::{Context, Replies, Server, Status, StreamHandler, StreamWaker};

/// What the room remembers. A guest who has fallen further behind misses lines.
const KEPT_LINES: usize = 1_000;

#[derive(Default)]
struct Room {
    lines: VecDeque<Line>,
    /// The number of the first line that is kept.
    first: u64,
    guests: HashMap<u64, StreamWaker>,
    next_guest: u64,
}

#[derive(Clone, Default)]
struct SharedRoom(Arc<Mutex<Room>>);

impl SharedRoom {
    fn lock(&self) -> MutexGuard<'_, Room> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Room {
    fn say(&mut self, line: Line) {
        if self.lines.len() == KEPT_LINES {
            self.lines.pop_front();
            self.first += 1;
        }
        self.lines.push_back(line);
        for guest in self.guests.values() {
            guest.wake();
        }
    }

    fn end(&self) -> u64 {
        self.first + self.lines.len() as u64
    }
}

impl Chat for SharedRoom {
    fn talk(&self, context: &Context<'_>) -> Box<dyn StreamHandler<Line, Line>> {
        let mut room = self.lock();
        let number = room.next_guest;
        room.next_guest += 1;
        room.guests.insert(number, context.waker());
        Box::new(Guest { number, next_line: room.end(), room: self.clone() })
    }
}

struct Guest {
    room: SharedRoom,
    number: u64,
    next_line: u64,
}

impl StreamHandler<Line, Line> for Guest {
    fn on_message(&mut self, line: Line, _: &mut Replies<'_, '_, Line>) -> Result<(), Status> {
        self.room.lock().say(line);
        Ok(())
    }

    fn on_ready(&mut self, replies: &mut Replies<'_, '_, Line>) -> Result<(), Status> {
        let room = self.room.lock();
        self.next_line = self.next_line.max(room.first);
        while self.next_line < room.end() && !replies.is_full() {
            replies.send(&room.lines[(self.next_line - room.first) as usize]);
            self.next_line += 1;
        }
        Ok(())
    }

    fn on_end(&mut self, replies: &mut Replies<'_, '_, Line>) -> Result<(), Status> {
        self.on_ready(replies)?;
        // A stream that has asked for its waker ends when it says so.
        replies.end();
        Ok(())
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.room.lock().guests.remove(&self.number);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Server::builder()
        .add_service(ChatServer::new(SharedRoom::default()))
        .bind(bookend_examples::address())?;
    println!("listening on {}", server.local_address());
    server.serve()?;
    Ok(())
}
