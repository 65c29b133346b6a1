//! Request heads of one connection, by path.

use crate::call::{Origin, head_of};
use bookend_wire::HeaderBlock;

/// Heads that are remembered: an application calls a few methods of a server. More cost encoding
/// anew, not correctness.
const REMEMBERED: usize = 16;

/// The heads of the methods that were called last.
#[derive(Debug)]
pub(crate) struct Heads {
    origin: Origin,
    known: Vec<(String, HeaderBlock)>,
    oldest: usize,
}

impl Heads {
    pub fn new(origin: Origin) -> Self {
        Self {
            origin,
            known: Vec::new(),
            oldest: 0,
        }
    }

    /// The head of calls with that path, ready to be sent again.
    pub fn of(&mut self, path: &str) -> &mut HeaderBlock {
        let at = match self.known.iter().position(|(known, _)| known == path) {
            Some(at) => at,
            None => self.enter(path),
        };
        &mut self.known[at].1
    }

    #[cold]
    fn enter(&mut self, path: &str) -> usize {
        let entry = (path.to_owned(), head_of(path, &self.origin));
        if self.known.len() < REMEMBERED {
            self.known.push(entry);
            return self.known.len() - 1;
        }
        let at = self.oldest;
        self.oldest = (at + 1) % REMEMBERED;
        self.known[at] = entry;
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_paths_takes_a_bounded_room() {
        let mut heads = Heads::new(Origin {
            scheme: "http",
            authority: "host:1".to_owned(),
        });
        for number in 0..10 * REMEMBERED {
            heads.of(&format!("/s/{number}"));
        }
        assert_eq!(heads.known.len(), REMEMBERED);
        let before = heads.oldest;
        heads.of(&format!("/s/{}", 10 * REMEMBERED - 1));
        assert_eq!(heads.oldest, before, "the last one is known");
    }
}
