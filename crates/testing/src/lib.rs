//! HTTP/2 by hand, for the tests of all crates: frames and header blocks as bytes, and a peer that
//! says what a test tells it to say.
//!
//! It shares nothing with what is tested: a reader that had `wire`'s code would have its mistakes.
//! A test that is to be read panics where it fails, and so does this.
#![forbid(unsafe_code)]

mod fields;
mod frame;
mod scripted_peer;
mod words;

pub use fields::{OK_TRAILERS, RESPONSE_HEAD, answer_ok, literals, message};
pub use frame::{Frame, HEADER_BYTES, frame, frames, settings, take_frames, window_update};
pub use scripted_peer::ScriptedPeer;
pub use words::{PREFACE, error, flag, kind, setting};
