/// The part of a request body that the handler has not got yet.
#[derive(Debug, Default)]
pub(crate) struct RequestBuffer {
    bytes: Vec<u8>,
    /// Those before this one were handed over.
    start: usize,
}

/// An empty buffer that has grown larger than this is given back to the allocator: most messages
/// come in one frame.
const CAPACITY_KEPT_BYTES: usize = 16 << 10;

impl RequestBuffer {
    pub fn len(&self) -> usize {
        self.bytes.len() - self.start
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// All but the last `count` bytes were handed over. Each byte is moved at most once on
    /// average: only when what is left is the smaller part.
    pub fn keep_last(&mut self, count: usize) {
        self.start = self.bytes.len() - count;
        if count == 0 && self.bytes.capacity() > CAPACITY_KEPT_BYTES {
            *self = RequestBuffer::default();
        } else if self.start > self.bytes.len() / 2 {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_handed_over_is_gone_and_the_rest_is_in_order() {
        let mut buffer = RequestBuffer::default();
        let mut expected = Vec::new();
        for byte in 0..200 {
            buffer.push(&[byte; 3]);
            expected.extend([byte; 3]);
            let left_bytes = buffer.len() - buffer.len().min(usize::from(byte % 7));
            buffer.keep_last(left_bytes);
            expected.drain(..expected.len() - left_bytes);
            assert_eq!(buffer.bytes(), expected);
        }
        buffer.keep_last(0);
        assert_eq!(buffer.len(), 0);
    }

    #[test]
    fn a_buffer_that_is_never_quite_empty_stays_small() {
        let mut buffer = RequestBuffer::default();
        buffer.push(&[0; 100]);
        for _ in 0..10_000 {
            buffer.push(&[0; 100]);
            buffer.keep_last(100);
        }
        assert!(buffer.bytes.capacity() < 1_000);
    }

    #[test]
    fn a_large_message_leaves_no_large_buffer_behind() {
        let mut buffer = RequestBuffer::default();
        buffer.push(&[0; 1 << 20]);
        buffer.keep_last(0);
        assert_eq!(buffer.bytes.capacity(), 0);
    }
}
