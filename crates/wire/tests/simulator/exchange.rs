//! One call at one end: how far it has been said and heard.

use crate::speech::{Ending, Speech, Style};
use bookend_wire::{Sender, StreamKey};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    Nothing,
    Begun,
    Ended,
}

impl Progress {
    /// Behind something that was the last, or was not.
    pub fn behind(is_last: bool) -> Self {
        match is_last {
            true => Self::Ended,
            false => Self::Begun,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Exchange {
    pub call: usize,
    pub stream: StreamKey,
    pub opened_at: u64,
    pub deadline: Option<u64>,
    pub heard: Progress,
    pub heard_bytes: usize,
    /// Heard, and not given back to the windows.
    pub unreleased_bytes: usize,
    pub said: Progress,
    pub said_bytes: usize,
    pub said_pieces: usize,
    /// A server waits for what it answers to.
    pub may_speak: bool,
    /// More than it wants is held back: it goes on when it learns that all has gone.
    pub waits_for_drained: bool,
}

impl Exchange {
    pub fn new(call: usize, stream: StreamKey, now: u64) -> Self {
        Self {
            call,
            stream,
            opened_at: now,
            deadline: None,
            heard: Progress::Nothing,
            heard_bytes: 0,
            unreleased_bytes: 0,
            said: Progress::Nothing,
            said_bytes: 0,
            said_pieces: 0,
            may_speak: false,
            waits_for_drained: false,
        }
    }

    pub fn can_say(&self) -> bool {
        self.may_speak && !self.waits_for_drained && self.said != Progress::Ended
    }

    /// Both ends have said all, and nothing of it is on its way any more.
    pub fn is_over(&self, sender: &mut Sender) -> bool {
        self.heard == Progress::Ended
            && self.said == Progress::Ended
            && sender.blocked_bytes(self.stream) == 0
    }

    /// Notes that the head was sent with everything behind it.
    pub fn said_all(&mut self, speech: &Speech) {
        self.said = Progress::Ended;
        self.said_pieces = speech.pieces.len();
        self.said_bytes = speech.bytes.len();
    }

    /// Hands the next piece over, or what ends the body without one. `true` if trailers are due.
    pub fn say_piece(&mut self, sender: &mut Sender, speech: &Speech) -> bool {
        let nth = self.said_pieces;
        if nth == speech.pieces.len() {
            self.said = Progress::Ended;
            if speech.ending == Ending::EmptyData {
                sender.data(self.stream, &[], true);
            }
            return speech.ending == Ending::Trailers;
        }
        let is_last = nth + 1 == speech.pieces.len() && speech.ending == Ending::LastPiece;
        self.repeat_piece(sender, speech, nth, is_last);
        self.said_pieces += 1;
        self.said_bytes = speech.pieces[nth].end;
        if is_last {
            self.said = Progress::Ended;
        }
        false
    }

    pub fn repeat_piece(&self, sender: &mut Sender, speech: &Speech, nth: usize, is_last: bool) {
        let bytes = speech.piece(nth);
        if speech.pieces[nth].is_message {
            sender.message(self.stream, is_last, |output| output.extend_from_slice(bytes));
        } else {
            sender.data(self.stream, bytes, is_last);
        }
    }
}

impl Speech {
    /// Whether its head is all there is.
    pub fn is_head_only(&self) -> bool {
        self.style == Style::Pieces && self.pieces.is_empty() && self.ending == Ending::LastPiece
    }
}
