//! Where a reply without a frame ends, found out while it comes.

use super::reader::{Fault, Reader, nested};
use super::spoken::ThriftProtocol;
use super::wire_kind::WireKind;

/// Looks for the end of a message, and at none of its values twice: who sends a large one in small
/// parts would have all of it looked at with each of them.
#[derive(Debug, Default)]
pub struct ReplyEnd {
    /// Bytes that are behind.
    at: usize,
    has_head: bool,
    /// What has begun and not ended, the innermost last.
    open: Vec<Open>,
}

/// Something that has values in it.
#[derive(Clone, Copy, Debug)]
enum Open {
    /// With the id of the last field.
    Struct(i16),
    /// This number of values of kinds that take turns: keys and values of a map. A list has but one
    /// kind.
    Values([WireKind; 2], usize),
}

impl ReplyEnd {
    /// Goes on in `bytes`, which begin as they did the last time. Returns how many bytes it has at
    /// least; `None` if the message ends in them, or is not valid.
    pub fn missing(&mut self, bytes: &[u8], protocol: ThriftProtocol) -> Option<usize> {
        match self.go_on(bytes, protocol) {
            Err(Fault::Truncated(end)) => Some(end),
            Ok(()) | Err(_) => None,
        }
    }

    fn go_on(&mut self, bytes: &[u8], protocol: ThriftProtocol) -> Result<(), Fault> {
        let mut reader = Reader::new_at(bytes, self.at, protocol);
        if !self.has_head {
            reader.message_head()?;
            self.has_head = true;
            self.open.push(Open::Struct(0));
            self.at = reader.position();
        }
        while let Some(innermost) = self.open.last().copied() {
            // Nothing changes before a value is there whole, or the head of what has values in it.
            let Some((rest, kind, truth)) = next(innermost, &mut reader)? else {
                self.open.pop();
                self.at = reader.position();
                continue;
            };
            let inner = match kind {
                WireKind::Struct => Some(Open::Struct(0)),
                WireKind::List | WireKind::Set => {
                    let (kind, count) = reader.list_head()?;
                    Some(Open::Values([kind; 2], count))
                }
                WireKind::Map => {
                    let (key, value, count) = reader.map_head()?;
                    Some(Open::Values([key, value], count.saturating_mul(2)))
                }
                plain => {
                    reader.skip(plain, truth, 0)?;
                    None
                }
            };
            nested(self.open.len() as u32)?;
            if let Some(innermost) = self.open.last_mut() {
                *innermost = rest;
            }
            self.open.extend(inner);
            self.at = reader.position();
        }
        Ok(())
    }
}

/// The next value in something: what is left then, its kind, and its truth where it is a bool in a
/// field's head. `None` behind the last one.
type Next = Option<(Open, WireKind, Option<bool>)>;

fn next(open: Open, reader: &mut Reader<'_>) -> Result<Next, Fault> {
    Ok(match open {
        Open::Struct(before) => {
            let head = reader.field_head(before)?;
            head.map(|head| (Open::Struct(head.id), head.kind, head.truth))
        }
        Open::Values(_, 0) => None,
        Open::Values([kind, other], count) => {
            Some((Open::Values([other, kind], count - 1), kind, None))
        }
    })
}
