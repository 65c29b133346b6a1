//! Request heads of one connection, by path.

use bookend_wire::HeaderBlock;
use bookend_wire::grpc::{ACCEPTED_ENCODINGS, request};
use std::collections::VecDeque;

/// Heads that are kept: an application calls a few methods of a server. More cost encoding anew,
/// not correctness.
const HEADS_MAX: usize = 16;

/// What all calls to a server have in common.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    /// `http` or `https`.
    pub scheme: &'static str,
    pub authority: String,
}

impl Origin {
    /// What all calls of a method have in common.
    fn head(&self, path: &str) -> HeaderBlock {
        let mut head = HeaderBlock::new(&request::head(self.scheme, path, &self.authority));
        head.push(b"grpc-accept-encoding", ACCEPTED_ENCODINGS);
        head
    }
}

/// The heads of the methods that were called last.
#[derive(Debug)]
pub(crate) struct RequestHeads {
    origin: Origin,
    /// The oldest first.
    known: VecDeque<(String, HeaderBlock)>,
}

impl RequestHeads {
    pub fn new(origin: Origin) -> Self {
        Self { origin, known: VecDeque::new() }
    }

    /// The head of calls with that path, ready to be sent again.
    pub fn of(&mut self, path: &str) -> &mut HeaderBlock {
        let at = self
            .known
            .iter()
            .position(|(known, _)| known == path)
            .unwrap_or_else(|| self.add(path));
        &mut self.known[at].1
    }

    #[cold]
    fn add(&mut self, path: &str) -> usize {
        if self.known.len() == HEADS_MAX {
            self.known.pop_front();
        }
        self.known.push_back((path.to_owned(), self.origin.head(path)));
        self.known.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_paths_takes_bounded_room() {
        let mut heads =
            RequestHeads::new(Origin { scheme: "http", authority: "host:1".to_owned() });
        for number in 0..10 * HEADS_MAX {
            heads.of(&format!("/s/{number}"));
        }
        assert_eq!(heads.known.len(), HEADS_MAX);
        let oldest = heads.known[0].0.clone();
        heads.of(&format!("/s/{}", 10 * HEADS_MAX - 1));
        assert_eq!(heads.known[0].0, oldest, "the last one is known");
    }
}
