/// Octets of a body that were not handed over yet.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    octets: Vec<u8>,
    /// Those before this one were handed over.
    start: usize,
}

/// An empty inbox that has grown larger than this is given back to the allocator: most messages
/// come in one frame.
const CAPACITY_KEPT_BYTES: usize = 16 << 10;

impl Inbox {
    pub fn len(&self) -> usize {
        self.octets.len() - self.start
    }

    pub fn octets(&self) -> &[u8] {
        &self.octets[self.start..]
    }

    pub fn push(&mut self, octets: &[u8]) {
        self.octets.extend_from_slice(octets);
    }

    /// All but the last `bytes` octets were handed over. Each octet is moved at most once on
    /// average: only when what is left is the smaller part.
    pub fn keep_last(&mut self, bytes: usize) {
        self.start = self.octets.len() - bytes;
        if bytes == 0 && self.octets.capacity() > CAPACITY_KEPT_BYTES {
            *self = Inbox::default();
        } else if self.start > self.octets.len() / 2 {
            self.octets.drain(..self.start);
            self.start = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_handed_over_is_gone_and_the_rest_is_in_order() {
        let mut inbox = Inbox::default();
        let mut expected = Vec::new();
        for octet in 0..200 {
            inbox.push(&[octet; 3]);
            expected.extend([octet; 3]);
            let left_bytes = inbox.len() - inbox.len().min(usize::from(octet % 7));
            inbox.keep_last(left_bytes);
            expected.drain(..expected.len() - left_bytes);
            assert_eq!(inbox.octets(), expected);
        }
        inbox.keep_last(0);
        assert_eq!(inbox.len(), 0);
    }

    #[test]
    fn an_inbox_that_is_never_quite_empty_stays_small() {
        let mut inbox = Inbox::default();
        inbox.push(&[0; 100]);
        for _ in 0..10_000 {
            inbox.push(&[0; 100]);
            inbox.keep_last(100);
        }
        assert!(inbox.octets.capacity() < 1_000);
    }

    #[test]
    fn a_large_message_leaves_no_large_buffer_behind() {
        let mut inbox = Inbox::default();
        inbox.push(&[0; 1 << 20]);
        inbox.keep_last(0);
        assert_eq!(inbox.octets.capacity(), 0);
    }
}
