//! How a server behaves, well or badly. The eight behaviours with which the gRPC project tests its
//! clients (doc/http2-interop-test-descriptions.md) are among them; `cases` has their figures.

/// How a server behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behaviour {
    /// Answers every call.
    Good,
    /// Answers every call but those.
    Resets {
        /// One in this number of all calls, counted over all connections.
        every: u64,
        after: Part,
        code: u32,
    },
    /// Sends GOAWAY in the call of that number on each connection, and processes no later one; with
    /// 0 it does so in the first and does not process that either.
    GoesAway { at_call: u64, code: u32, debug: &'static str, then: AfterGoAway },
    /// Sends PING before, in and behind each answer.
    Pings,
    /// Allows a number of streams at a time. It checks whether there are more before it answers
    /// one.
    Allows { streams: u32 },
    /// Sends a large message in small pieces, each with this number of bytes of padding, if any.
    Dribbles { padding_bytes: Option<u8> },
    /// Never answers.
    Silent,
}

/// Parts of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Nothing,
    Head,
    HalfOfTheMessage,
    WholeMessage,
}

/// What follows GOAWAY.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterGoAway {
    /// The call in which it was sent is answered.
    Answers,
    /// It never is.
    Hangs,
    /// Nor is any other: the connection is closed.
    Closes,
}

/// The bytes of the usual answer.
const MESSAGE_BYTES: usize = 40;
/// The answer to `large_unary` of the interoperability tests.
pub const LARGE_MESSAGE_BYTES: usize = 314_159;
/// Bytes of it in one frame.
pub const PIECE_BYTES: usize = 5;
const WHOLE_FRAME_BYTES: usize = 16_384;

/// How an answer goes out.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    pub message_bytes: usize,
    pub piece_bytes: usize,
    pub padding_bytes: Option<u8>,
    /// How far it gets, if not to its end, and the code of the reset that follows.
    pub broken_off: Option<(Part, u32)>,
}

impl Behaviour {
    /// How call `number` is answered, counted from 1.
    pub fn answer(self, number: u64) -> Answer {
        let usual = Answer {
            message_bytes: MESSAGE_BYTES,
            piece_bytes: WHOLE_FRAME_BYTES,
            padding_bytes: None,
            broken_off: None,
        };
        match self {
            Self::Resets { every, after, code } if number.is_multiple_of(every) => {
                Answer { broken_off: Some((after, code)), ..usual }
            }
            Self::Dribbles { padding_bytes } => Answer {
                message_bytes: LARGE_MESSAGE_BYTES,
                piece_bytes: PIECE_BYTES,
                padding_bytes,
                ..usual
            },
            _ => usual,
        }
    }
}
