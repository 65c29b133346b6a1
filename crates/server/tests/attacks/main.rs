//! What hostile clients do, one story for each attack that HTTP/2 servers are known to fall for.
//!
//! Every story shows how the attack ends; that memory and work stay bounded, in bytes, frames and
//! calls, never in seconds; that another connection is answered all the while; that a client just
//! below the limit is left alone; and that it is the limit that does all this: without it the same
//! check fails. Time is virtual. Figures are kept in [`figures`], from where docs/use/limits.md has
//! them.

mod bombs;
#[path = "../support/chat.rs"]
mod chat;
mod cheap_frames;
mod continuation;
mod early;
mod figures;
mod floods;
mod frames;
mod halves;
mod header_bombs;
mod header_rules;
mod heads_kept;
mod holding;
mod large;
mod made_you_reset;
mod output;
mod page;
mod rapid_reset;
mod sockets;
mod stage;
mod testing;
mod timeouts;
mod tiny_data;
mod windows;

use peak_alloc::PeakAlloc;

/// Counts what the process has allocated.
#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;
