//! What a peer does that is wrong or of no use, and that the connection survives.
//!
//! Each costs the peer next to nothing and us a little; many of them are an attack. nghttp2 counts
//! the same way, and closes a connection beyond 10,000 of them that come faster than 330 a second.
//! There is no clock here: [`crate::Sender::take_glitches`] gives the number to an
//! owner that has one.

use crate::flow::{Credit, Window};

/// How much the peer has got out of a connection: changes whenever a stream is opened, and nearly
/// always when a body has come or gone.
pub(crate) type Activity = (u32, Credit, Window);

/// Glitches since they were last taken, and what is needed to tell them from the usual.
#[derive(Debug, Default)]
pub(crate) struct Glitches {
    count: u32,
    /// PINGs among them.
    pings: u32,
    settings_came: bool,
    acknowledged: bool,
    goaway_came: bool,
    pings_unanswered: u32,
    at_last_ping: Option<Activity>,
}

impl Glitches {
    /// One more.
    #[cold]
    pub fn note(&mut self) {
        self.count = self.count.saturating_add(1);
    }

    #[inline]
    pub fn any(&self) -> bool {
        self.count > 0
    }

    pub fn take(&mut self) -> u32 {
        self.pings = 0;
        core::mem::take(&mut self.count)
    }

    /// Whether PINGs are most of them.
    pub fn are_pings(&self) -> bool {
        self.pings > self.count / 2
    }

    /// SETTINGS came: all but the first are glitches. They have every stream looked at.
    pub fn settings(&mut self) {
        if core::mem::replace(&mut self.settings_came, true) {
            self.note();
        }
    }

    /// SETTINGS were acknowledged; we send them once.
    pub fn acknowledgement(&mut self) {
        if core::mem::replace(&mut self.acknowledged, true) {
            self.note();
        }
    }

    /// A GOAWAY came: one is enough, and a graceful shutdown has two.
    pub fn goaway(&mut self) {
        if core::mem::replace(&mut self.goaway_came, true) {
            self.note();
        }
    }

    /// We ask for a sign of life.
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

    /// A PING came: a glitch if nothing has happened since the last one. Those that measure a
    /// connection under load follow bodies, and grpc-go's servers forgive them for that too.
    pub fn ping(&mut self, now: Activity) {
        if self.at_last_ping.replace(now) == Some(now) {
            self.pings = self.pings.saturating_add(1);
            self.note();
        }
    }
}
