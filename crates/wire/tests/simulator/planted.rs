//! Faults of the harness itself: a check that never fails checks nothing.

use bookend_wire::Side;

/// What is wrong on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planted {
    Nothing,
    /// The wire loses a byte.
    ByteLost,
    /// The wire changes a byte of a body.
    ByteChanged,
    /// The wire lets a WINDOW_UPDATE say more than was said.
    WindowInflated,
    /// The wire loses every WINDOW_UPDATE.
    UpdatesLost,
    /// The server says a piece of its answer twice.
    SaidTwice,
    /// The owner of a connection gives nothing back to the windows.
    NothingReleased,
    /// An event is reported twice.
    ToldTwice,
    /// A stream that has room again is not told.
    DrainedForgotten,
    /// What is replayed is not what was heard.
    ReplayChanged,
}

impl Planted {
    pub fn is_said_twice(self, side: Side) -> bool {
        self == Self::SaidTwice && side == Side::Server
    }
}
