//! Messages in a body: a flag, four bytes of length, the message. A body is a stream of bytes:
//! one DATA frame may hold several messages, and one message may span many frames.

use alloc::vec::Vec;

/// Bytes in front of each message.
pub const PREFIX_BYTES: usize = 5;

/// Why a body is not a sequence of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// A message's prefix declares more bytes than are allowed. Reported before it is buffered.
    #[error("a message of {declared_bytes} bytes; {limit_bytes} are allowed")]
    TooLarge {
        /// The length in the prefix.
        declared_bytes: u32,
        /// The limit.
        limit_bytes: usize,
    },
    /// The flag is neither 0 nor 1.
    #[error("a message's compressed-flag is {0}, not 0 or 1")]
    BadFlag(u8),
}

/// A message as it stands in a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// Whether the bytes are compressed.
    pub compressed: bool,
    /// The bytes.
    pub bytes: &'a [u8],
}

/// The message at the front of `body`, and the bytes after it; `None` if it is not complete yet.
///
/// # Errors
/// As soon as the prefix has come and breaks a rule.
#[inline]
pub fn split_first(
    body: &[u8],
    limit_bytes: usize,
) -> Result<Option<(Message<'_>, &[u8])>, MessageError> {
    let Some((prefix, rest)) = body.split_first_chunk::<PREFIX_BYTES>() else {
        return Ok(None);
    };
    let [flag, a, b, c, d] = *prefix;
    let declared_bytes = u32::from_be_bytes([a, b, c, d]);
    if flag > 1 {
        return Err(MessageError::BadFlag(flag));
    }
    if declared_bytes as usize > limit_bytes {
        return Err(MessageError::TooLarge { declared_bytes, limit_bytes });
    }
    let split = rest.split_at_checked(declared_bytes as usize);
    Ok(split.map(|(bytes, behind)| (Message { compressed: flag == 1, bytes }, behind)))
}

/// Reassembles messages. A message that lies whole in one piece of the body is not copied.
#[derive(Clone, Debug, Default)]
pub struct Assembler {
    partial: Vec<u8>,
}

impl Assembler {
    /// Takes a piece of the body and calls `message` for each message that it completes.
    ///
    /// # Errors
    /// When the body is not a sequence of messages of at most `limit_bytes`: it cannot be read
    /// further.
    #[inline]
    pub fn push(
        &mut self,
        piece: &[u8],
        limit_bytes: usize,
        mut message: impl FnMut(Message<'_>),
    ) -> Result<(), MessageError> {
        if self.partial.is_empty() {
            let rest = each_message(piece, limit_bytes, &mut message)?;
            self.partial.extend_from_slice(rest);
            return Ok(());
        }
        self.partial.extend_from_slice(piece);
        let rest_bytes = each_message(&self.partial, limit_bytes, &mut message)?.len();
        self.partial.drain(..self.partial.len() - rest_bytes);
        Ok(())
    }

    /// Whether no unfinished message is left, as must be the case when a body ends.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.partial.is_empty()
    }

    /// Number of bytes held of an unfinished message.
    pub fn partial_bytes(&self) -> usize {
        self.partial.len()
    }
}

#[inline]
fn each_message<'a>(
    body: &'a [u8],
    limit_bytes: usize,
    message: &mut impl FnMut(Message<'_>),
) -> Result<&'a [u8], MessageError> {
    let mut rest = body;
    while let Some((first, behind)) = split_first(rest, limit_bytes)? {
        message(first);
        rest = behind;
    }
    Ok(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    const BODY: &[u8] = b"\0\0\0\0\x05first\x01\0\0\0\0\0\0\0\0\x03end";

    fn read(pieces: &[&[u8]]) -> Vec<(bool, Vec<u8>)> {
        let mut assembler = Assembler::default();
        let mut messages = Vec::new();
        for piece in pieces {
            let keep = |message: Message<'_>| {
                messages.push((message.compressed, message.bytes.to_vec()));
            };
            assembler.push(piece, 100, keep).unwrap();
        }
        assert!(assembler.is_empty());
        messages
    }

    #[test]
    fn messages_are_the_same_however_the_body_is_cut() {
        let whole = read(&[BODY]);
        assert_eq!(whole, [(false, b"first".to_vec()), (true, vec![]), (false, b"end".to_vec())]);
        for cut in 0..=BODY.len() {
            assert_eq!(read(&[&BODY[..cut], &BODY[cut..]]), whole);
        }
        let bytes: Vec<&[u8]> = BODY.chunks(1).collect();
        assert_eq!(read(&bytes), whole);
    }

    #[test]
    fn a_message_above_the_limit_is_told_before_it_comes() {
        let error = Assembler::default().push(b"\0\0\0\0\x65", 100, |_| {}).unwrap_err();
        assert_eq!(error, MessageError::TooLarge { declared_bytes: 101, limit_bytes: 100 });
        assert!(Assembler::default().push(b"\0\0\0\0\x64", 100, |_| {}).is_ok());
    }

    #[test]
    fn a_flag_that_does_not_exist_is_an_error() {
        let error = Assembler::default().push(b"\x02\0\0\0\0", 100, |_| {}).unwrap_err();
        assert_eq!(error, MessageError::BadFlag(2));
    }

    #[test]
    fn what_is_cut_off_stays_partial() {
        let mut assembler = Assembler::default();
        assembler.push(&BODY[..7], 100, |_| panic!("not whole yet")).unwrap();
        assert!(!assembler.is_empty());
        assert_eq!(assembler.partial_bytes(), 7);
    }
}
