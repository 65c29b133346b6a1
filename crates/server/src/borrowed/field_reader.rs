//! The fields of one message, one after the other.

/// The view cannot hold the message, or the message is wrong. Which it is, prost says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotInPlace;

/// A type of fields.
pub trait WireKind<'a> {
    /// What a handler gets.
    type Value: Copy;
    /// The low three bits of a field's key.
    const WIRE_TYPE: u32;

    /// Reads a value to its end.
    ///
    /// # Errors
    /// If it is missing.
    fn read(fields: &mut FieldReader<'a>) -> Result<Self::Value, NotInPlace>;
}

/// Reads the fields of one message.
#[derive(Clone, Copy, Debug, Default)]
pub struct FieldReader<'a> {
    rest: &'a [u8],
    /// The same, with the field that is being read before it.
    pub(super) from_field: &'a [u8],
}

impl<'a> FieldReader<'a> {
    /// Reads the fields of `message`.
    #[inline]
    pub fn new(message: &'a [u8]) -> Self {
        Self { rest: message, from_field: message }
    }

    #[inline]
    pub(super) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// The key of the next field: its number, and how its value is encoded in the low three bits.
    /// `None` at the end.
    ///
    /// # Errors
    /// If there is no such key.
    #[inline]
    pub fn key(&mut self) -> Result<Option<u32>, NotInPlace> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        self.from_field = self.rest;
        let key = u32::try_from(self.varint()?).map_err(|_| NotInPlace)?;
        // Numbers of fields begin with 1.
        if key < 1 << 3 { Err(NotInPlace) } else { Ok(Some(key)) }
    }

    /// The value of a field of that kind.
    ///
    /// # Errors
    /// If it is missing.
    #[inline]
    pub fn read<K: WireKind<'a>>(&mut self) -> Result<K::Value, NotInPlace> {
        K::read(self)
    }

    /// Reads a message that may come once.
    ///
    /// # Errors
    /// If it has come before, since it would have to be joined with that; or if it is wrong.
    #[inline]
    pub fn once<K: WireKind<'a>>(&mut self, slot: &mut Option<K::Value>) -> Result<(), NotInPlace> {
        if slot.is_some() {
            return Err(NotInPlace);
        }
        *slot = Some(K::read(self)?);
        Ok(())
    }

    /// Passes over a field that the view does not have. `known` are the numbers that it has: one of
    /// these, encoded in another way, is wrong.
    ///
    /// # Errors
    /// If the field is wrong, or a group.
    pub fn skip(&mut self, key: u32, known: &[u32]) -> Result<(), NotInPlace> {
        if known.contains(&(key >> 3)) {
            return Err(NotInPlace);
        }
        match key & 7 {
            0 => self.varint().map(drop),
            1 => self.fixed::<8>().map(drop),
            2 => self.bytes().map(drop),
            5 => self.fixed::<4>().map(drop),
            _ => Err(NotInPlace),
        }
    }

    #[inline]
    pub(super) fn varint(&mut self) -> Result<u64, NotInPlace> {
        match self.rest.split_first() {
            Some((&byte, rest)) if byte < 0x80 => {
                self.rest = rest;
                Ok(u64::from(byte))
            }
            _ => self.long_varint(),
        }
    }

    fn long_varint(&mut self) -> Result<u64, NotInPlace> {
        const MOST_BYTES: usize = 10;
        let mut value = 0;
        for (index, byte) in self.rest.iter().enumerate().take(MOST_BYTES) {
            value |= u64::from(byte & 0x7f) << (7 * index);
            if *byte < 0x80 {
                self.rest = &self.rest[index + 1..];
                // The last of ten has room for one bit.
                let overflows = index == MOST_BYTES - 1 && *byte > 1;
                return if overflows { Err(NotInPlace) } else { Ok(value) };
            }
        }
        Err(NotInPlace)
    }

    #[inline]
    pub(super) fn fixed<const N: usize>(&mut self) -> Result<[u8; N], NotInPlace> {
        let (value, rest) = self.rest.split_first_chunk().ok_or(NotInPlace)?;
        self.rest = rest;
        Ok(*value)
    }

    /// Bytes behind their length.
    #[inline]
    pub(super) fn bytes(&mut self) -> Result<&'a [u8], NotInPlace> {
        let length = usize::try_from(self.varint()?).map_err(|_| NotInPlace)?;
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(NotInPlace)?;
        self.rest = rest;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value and what is left.
    fn varint(bytes: &[u8]) -> Result<(u64, usize), NotInPlace> {
        let mut fields = FieldReader::new(bytes);
        fields.varint().map(|value| (value, fields.rest.len()))
    }

    #[test]
    fn numbers_are_read_to_their_end_and_no_further() {
        assert_eq!(varint(&[5, 9]), Ok((5, 1)));
        assert_eq!(varint(&[0x80, 1, 9]), Ok((128, 1)));
        assert_eq!(varint(&[0x85, 0x80, 0]), Ok((5, 0)), "longer than it must be");
        let most = [[0xff; 9].as_slice(), &[1]].concat();
        assert_eq!(varint(&most), Ok((u64::MAX, 0)));
    }

    #[test]
    fn a_number_that_does_not_end_or_is_too_large_is_none() {
        for bytes in [&[][..], &[0x80], &[0xff; 12], &[[0xff; 9].as_slice(), &[2]].concat()] {
            assert_eq!(varint(bytes), Err(NotInPlace), "{bytes:?}");
        }
    }

    #[test]
    fn fields_that_nobody_asked_for_are_passed_over() {
        let message =
            [0x08, 0x80, 1, 0x11, 1, 2, 3, 4, 5, 6, 7, 8, 0x1a, 1, b'x', 0x25, 1, 2, 3, 4];
        let mut fields = FieldReader::new(&message);
        let mut numbers = Vec::new();
        while let Some(key) = fields.key().unwrap() {
            numbers.push(key >> 3);
            fields.skip(key, &[]).unwrap();
        }
        assert_eq!(numbers, [1, 2, 3, 4]);
        for cut in 1..message.len() {
            let mut fields = FieldReader::new(&message[..cut]);
            let read_all = |fields: &mut FieldReader<'_>| {
                while let Some(key) = fields.key()? {
                    fields.skip(key, &[])?;
                }
                Ok(())
            };
            let is_whole = [3, 12, 15].contains(&cut);
            let result: Result<(), NotInPlace> = read_all(&mut fields);
            assert_eq!(result.is_ok(), is_whole, "{cut}");
        }
    }

    #[test]
    fn groups_and_number_0_are_left_to_prost() {
        let begins = |message: &[u8]| {
            let mut fields = FieldReader::new(message);
            let key = fields.key()?.unwrap_or_default();
            fields.skip(key, &[])
        };
        assert_eq!(begins(&[0x0b, 0x0c]), Err(NotInPlace));
        assert_eq!(begins(&[0x00, 0x00]), Err(NotInPlace));
        assert_eq!(begins(&[0xff, 0xff, 0xff, 0xff, 0x1f, 0]), Err(NotInPlace));
        assert_eq!(begins(&[0x0e, 0]), Err(NotInPlace));
    }
}
