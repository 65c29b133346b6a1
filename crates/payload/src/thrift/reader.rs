//! Reads the bytes of both protocols. Nothing is allocated because a peer says how much will come,
//! and nothing is read that is not there.

use super::envelope::{BINARY_VERSION, COMPACT_ID, COMPACT_VERSION};
use super::spoken::ThriftProtocol;
use super::wire_kind::{COMPACT_FALSE, STOP, WireKind};

/// Values may stand in each other so deep. Thrift's own libraries allow as much
/// (`DEFAULT_RECURSION_DEPTH` of Java and Go).
const DEPTH_MAX: u32 = 64;

/// Most bytes of a varint of 64 bits.
const VARINT_BYTES_MAX: usize = 10;

/// Why bytes cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// They end too early: this number of bytes is needed at least.
    Truncated(usize),
    /// They are not what the protocol allows. What is wrong, in words behind "the server sent".
    Malformed(&'static str),
    /// A field has another type than the IDL says: the struct, the field's place in it, and what
    /// came.
    WrongKind(usize, usize, WireKind),
    /// A list, a set or a map in a field has other elements than the IDL says.
    WrongElements(WireKind),
    /// A required field has not come: the struct, and the field's place in it.
    Missing(usize, usize),
    /// A union has this many fields, and not one: the union, and how many.
    NoUnion(usize, usize),
}

/// Reads values from the front of some bytes.
#[derive(Clone, Debug)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    protocol: ThriftProtocol,
}

/// The head of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FieldHead {
    pub id: i16,
    pub kind: WireKind,
    /// The value of a bool, where the head has it: no byte follows.
    pub truth: Option<bool>,
}

/// The head of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MessageHead<'a> {
    pub kind: u8,
    pub name: &'a [u8],
    pub sequence_id: u32,
}

/// One deeper.
#[inline]
pub(super) fn nested(depth: u32) -> Result<u32, Fault> {
    if depth >= DEPTH_MAX {
        return Err(Fault::Malformed("values that stand in each other too deep"));
    }
    Ok(depth + 1)
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8], protocol: ThriftProtocol) -> Self {
        Self::new_at(bytes, 0, protocol)
    }

    /// Behind the first `at` bytes.
    pub fn new_at(bytes: &'a [u8], at: usize, protocol: ThriftProtocol) -> Self {
        Self { bytes, at, protocol }
    }

    /// Bytes that were read.
    #[inline]
    pub fn position(&self) -> usize {
        self.at
    }

    #[inline]
    fn take(&mut self, count: usize) -> Result<&'a [u8], Fault> {
        let end = self.at.saturating_add(count);
        let bytes = self.bytes.get(self.at..end).ok_or(Fault::Truncated(end))?;
        self.at = end;
        Ok(bytes)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let rest = &self.bytes[self.at..];
        let bytes = *rest.first_chunk::<N>().ok_or(Fault::Truncated(self.at + N))?;
        self.at += N;
        Ok(bytes)
    }

    #[inline]
    fn byte(&mut self) -> Result<u8, Fault> {
        self.array::<1>().map(|[byte]| byte)
    }

    #[inline]
    fn varint(&mut self) -> Result<u64, Fault> {
        let mut value = 0_u64;
        for place in 0..VARINT_BYTES_MAX {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << (7 * place);
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Fault::Malformed("a number of more than ten bytes"))
    }

    #[inline]
    fn zigzag(&mut self) -> Result<i64, Fault> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// A bool; `truth` is that of its field's head.
    #[inline]
    pub fn bool(&mut self, truth: Option<bool>) -> Result<bool, Fault> {
        match truth {
            Some(truth) => Ok(truth),
            None => Ok(self.byte()? == 1),
        }
    }

    #[inline]
    pub fn i8(&mut self) -> Result<i8, Fault> {
        self.byte().map(|byte| byte as i8)
    }

    #[inline]
    pub fn i16(&mut self) -> Result<i16, Fault> {
        match self.protocol {
            ThriftProtocol::Binary => self.array().map(i16::from_be_bytes),
            ThriftProtocol::Compact => self.narrow(),
        }
    }

    #[inline]
    pub fn i32(&mut self) -> Result<i32, Fault> {
        match self.protocol {
            ThriftProtocol::Binary => self.array().map(i32::from_be_bytes),
            ThriftProtocol::Compact => self.narrow(),
        }
    }

    #[inline]
    pub fn i64(&mut self) -> Result<i64, Fault> {
        match self.protocol {
            ThriftProtocol::Binary => self.array().map(i64::from_be_bytes),
            ThriftProtocol::Compact => self.zigzag(),
        }
    }

    #[inline]
    fn narrow<N: TryFrom<i64>>(&mut self) -> Result<N, Fault> {
        N::try_from(self.zigzag()?).map_err(|_| Fault::Malformed("a number too large for its type"))
    }

    #[inline]
    pub fn double(&mut self) -> Result<f64, Fault> {
        match self.protocol {
            ThriftProtocol::Binary => self.array().map(f64::from_be_bytes),
            ThriftProtocol::Compact => self.array().map(f64::from_le_bytes),
        }
    }

    pub fn uuid(&mut self) -> Result<[u8; 16], Fault> {
        self.array()
    }

    /// A length or a count.
    #[inline]
    fn count(&mut self) -> Result<usize, Fault> {
        let count = match self.protocol {
            ThriftProtocol::Binary => i64::from(self.array().map(i32::from_be_bytes)?),
            ThriftProtocol::Compact => self.varint()? as i64,
        };
        let is_possible = (0..=i64::from(i32::MAX)).contains(&count);
        is_possible.then_some(count as usize).ok_or(Fault::Malformed("a length that none can be"))
    }

    /// Text or bytes.
    #[inline]
    pub fn binary(&mut self) -> Result<&'a [u8], Fault> {
        let length = self.count()?;
        self.take(length)
    }

    /// The head of the next field of a struct, whose last field had the id `before`; `None` at its
    /// end.
    #[inline]
    pub fn field_head(&mut self, before: i16) -> Result<Option<FieldHead>, Fault> {
        let first = self.byte()?;
        if first == STOP {
            return Ok(None);
        }
        const UNKNOWN: Fault = Fault::Malformed("a field of a type that Thrift does not have");
        if self.protocol == ThriftProtocol::Binary {
            let kind = WireKind::of_binary(first).ok_or(UNKNOWN)?;
            let id = self.array().map(i16::from_be_bytes)?;
            return Ok(Some(FieldHead { id, kind, truth: None }));
        }
        let kind = WireKind::of_compact(first & 0xf).ok_or(UNKNOWN)?;
        let id = match i16::from(first >> 4) {
            0 => self.narrow()?,
            step => before.wrapping_add(step),
        };
        let truth = (kind == WireKind::Bool).then_some(first & 0xf != COMPACT_FALSE);
        Ok(Some(FieldHead { id, kind, truth }))
    }

    /// The kind of the elements of a list or a set, and how many there are. Each of them has at
    /// least one byte, so where there are fewer bytes the list is not whole.
    #[inline]
    pub fn list_head(&mut self) -> Result<(WireKind, usize), Fault> {
        const UNKNOWN: Fault = Fault::Malformed("elements of a type that Thrift does not have");
        let first = self.byte()?;
        let (kind, count) = match self.protocol {
            ThriftProtocol::Binary => (WireKind::of_binary(first), self.count()?),
            ThriftProtocol::Compact => {
                let short = usize::from(first >> 4);
                let count = if short == 0xf { self.count()? } else { short };
                (WireKind::of_compact(first & 0xf), count)
            }
        };
        match kind {
            Some(kind) => self.present(count).map(|()| (kind, count)),
            // Some libraries give the elements of an empty list no type.
            None if count == 0 => Ok((WireKind::Bool, 0)),
            None => Err(UNKNOWN),
        }
    }

    /// The kinds of the keys and values of a map, and how many there are.
    #[inline]
    pub fn map_head(&mut self) -> Result<(WireKind, WireKind, usize), Fault> {
        const UNKNOWN: Fault = Fault::Malformed("a map of types that Thrift does not have");
        let (key, value, count) = match self.protocol {
            ThriftProtocol::Binary => {
                let [key, value] = self.array()?;
                (WireKind::of_binary(key), WireKind::of_binary(value), self.count()?)
            }
            ThriftProtocol::Compact => {
                let count = self.count()?;
                let kinds = if count == 0 { 0 } else { self.byte()? };
                (WireKind::of_compact(kinds >> 4), WireKind::of_compact(kinds & 0xf), count)
            }
        };
        match (key, value) {
            (Some(key), Some(value)) => {
                self.present(count.saturating_mul(2)).map(|()| (key, value, count))
            }
            _ if count == 0 => Ok((WireKind::Bool, WireKind::Bool, 0)),
            _ => Err(UNKNOWN),
        }
    }

    #[inline]
    fn present(&self, bytes: usize) -> Result<(), Fault> {
        let end = self.at.saturating_add(bytes);
        if end > self.bytes.len() { Err(Fault::Truncated(end)) } else { Ok(()) }
    }

    /// Passes over a value of that kind.
    pub fn skip(&mut self, kind: WireKind, truth: Option<bool>, depth: u32) -> Result<(), Fault> {
        match kind {
            WireKind::Bool => self.bool(truth).map(|_| ()),
            WireKind::I8 => self.i8().map(|_| ()),
            WireKind::I16 => self.i16().map(|_| ()),
            WireKind::I32 => self.i32().map(|_| ()),
            WireKind::I64 => self.i64().map(|_| ()),
            WireKind::Double => self.double().map(|_| ()),
            WireKind::Binary => self.binary().map(|_| ()),
            WireKind::Uuid => self.uuid().map(|_| ()),
            WireKind::List | WireKind::Set => {
                let (element, count) = self.list_head()?;
                (0..count).try_for_each(|_| self.skip(element, None, nested(depth)?))
            }
            WireKind::Map => {
                let (key, value, count) = self.map_head()?;
                (0..count).try_for_each(|_| {
                    self.skip(key, None, nested(depth)?)?;
                    self.skip(value, None, nested(depth)?)
                })
            }
            WireKind::Struct => {
                let mut before = 0;
                while let Some(head) = self.field_head(before)? {
                    before = head.id;
                    self.skip(head.kind, head.truth, nested(depth)?)?;
                }
                Ok(())
            }
        }
    }

    /// The head of a message.
    #[inline]
    pub fn message_head(&mut self) -> Result<MessageHead<'a>, Fault> {
        const NO_VERSION: Fault = Fault::Malformed("no message of the protocol that was spoken");
        match self.protocol {
            ThriftProtocol::Binary => {
                let [high, low, _, kind] = self.array()?;
                if [high, low] != BINARY_VERSION {
                    return Err(NO_VERSION);
                }
                let name = self.binary()?;
                let sequence_id = self.array().map(u32::from_be_bytes)?;
                Ok(MessageHead { kind, name, sequence_id })
            }
            ThriftProtocol::Compact => {
                let [id, version] = self.array()?;
                let is_known = id == COMPACT_ID && version & 0x1f == COMPACT_VERSION;
                if !is_known {
                    return Err(NO_VERSION);
                }
                let sequence_id = self.varint()? as u32;
                let name = self.binary()?;
                Ok(MessageHead { kind: version >> 5, name, sequence_id })
            }
        }
    }
}
