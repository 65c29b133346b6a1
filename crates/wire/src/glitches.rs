//! Things a peer does that are wrong or useless, but that the connection survives.
//!
//! Each costs the peer next to nothing and us a little; many of them are an attack. nghttp2 counts
//! them the same way and closes a connection after 10,000 of them that come faster than 330 a
//! second. There is no clock here: [`crate::Sender::take_glitches`] returns the number to an owner
//! that has one.

use crate::flow::{Credit, Window};

/// WINDOW_UPDATEs that come too late for a stream, in the mean: generous.
const UPDATES_A_STREAM: u32 = 8;

/// Small WINDOW_UPDATEs for more than was sent that are no glitches.
const FREE_UPDATES: u32 = 100;

/// As many more for each stream: the core of gRPC in C, which clients in C++, Python, Ruby and
/// others share, opens the window of every stream by the five bytes of a message's prefix.
const FREE_UPDATES_A_STREAM: u32 = 2;

/// How much the peer has used the connection: changes whenever a stream is opened, and nearly
/// always when a body is received or sent.
pub(crate) type Activity = (u32, Credit, Window);

/// Glitches since they were last taken, and what is needed to tell them from normal use.
#[derive(Debug, Default)]
pub(crate) struct Glitches {
    count: u32,
    /// How many of them are PINGs.
    pings: u32,
    settings_came: bool,
    acknowledged: bool,
    goaway_came: bool,
    pings_unanswered: u32,
    updates_of_ended_streams: u32,
    updates_for_nothing: u32,
    at_last_ping: Option<Activity>,
}

impl Glitches {
    /// Counts one glitch.
    #[cold]
    pub fn note(&mut self) {
        self.count = self.count.saturating_add(1);
    }

    /// Counts `count` at once.
    #[cold]
    pub fn note_many(&mut self, count: u32) {
        self.count = self.count.saturating_add(count);
    }

    #[inline]
    pub fn any(&self) -> bool {
        self.count > 0
    }

    pub fn take(&mut self) -> u32 {
        self.pings = 0;
        core::mem::take(&mut self.count)
    }

    /// Whether most of them are PINGs.
    pub fn are_pings(&self) -> bool {
        self.pings > self.count / 2
    }

    /// SETTINGS came. All but the first are glitches, since each makes us look at every stream.
    pub fn settings(&mut self) {
        if core::mem::replace(&mut self.settings_came, true) {
            self.note();
        }
    }

    /// SETTINGS were acknowledged. We send them once, so a second acknowledgement is a glitch.
    pub fn acknowledgement(&mut self) {
        if core::mem::replace(&mut self.acknowledged, true) {
            self.note();
        }
    }

    /// A GOAWAY came. One is enough; a graceful shutdown sends two.
    pub fn goaway(&mut self) {
        if core::mem::replace(&mut self.goaway_came, true) {
            self.note();
        }
    }

    /// A WINDOW_UPDATE came for a stream that had ended. Clients send one or two for the last bytes
    /// of a stream: what is more than that, over all streams opened so far, is a glitch.
    pub fn update_of_ended_stream(&mut self, opened_streams: u32) {
        self.updates_of_ended_streams = self.updates_of_ended_streams.saturating_add(1);
        let usual = opened_streams.saturating_mul(UPDATES_A_STREAM);
        if self.updates_of_ended_streams > usual {
            self.note();
        }
    }

    /// A window was opened by a little for more than was sent. A client may do so at its start and
    /// with each stream; one that goes on is at play.
    pub fn update_for_nothing(&mut self, opened_streams: u32) {
        self.updates_for_nothing = self.updates_for_nothing.saturating_add(1);
        let of_streams = opened_streams.saturating_mul(FREE_UPDATES_A_STREAM);
        if self.updates_for_nothing > of_streams.saturating_add(FREE_UPDATES) {
            self.note();
        }
    }

    /// We sent a PING.
    pub fn ping_sent(&mut self) {
        self.pings_unanswered = self.pings_unanswered.saturating_add(1);
    }

    /// A PING was acknowledged: a glitch if we had sent none.
    pub fn pong(&mut self) {
        match self.pings_unanswered.checked_sub(1) {
            Some(left) => self.pings_unanswered = left,
            None => self.note(),
        }
    }

    /// A PING came: a glitch if nothing has happened since the last one. PINGs that measure a
    /// connection under load follow bodies and so do not count; grpc-go's servers forgive them as
    /// well.
    pub fn ping(&mut self, now: Activity) {
        if self.at_last_ping.replace(now) == Some(now) {
            self.pings = self.pings.saturating_add(1);
            self.note();
        }
    }
}
