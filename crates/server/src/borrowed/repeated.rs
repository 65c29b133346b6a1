//! Fields that come any number of times.

use std::fmt;
use std::marker::PhantomData;

use super::field_reader::{FieldReader, NotInPlace, WireKind};

/// A repeated field of a view: where its first element stands, and how many there are. Iterating
/// reads them.
pub struct Repeated<'a, K> {
    /// From the first element to the end of the message.
    fields: &'a [u8],
    number: u32,
    count: u32,
    kind: PhantomData<fn() -> K>,
}

impl<'a, K: WireKind<'a>> Repeated<'a, K> {
    /// Reads the field whose key was read last. Numbers may be packed.
    ///
    /// # Errors
    /// If there is no such element.
    #[inline]
    pub fn note(&mut self, key: u32, fields: &mut FieldReader<'a>) -> Result<(), NotInPlace> {
        if self.count == 0 {
            (self.fields, self.number) = (fields.from_field, key >> 3);
        }
        if key & 7 == K::WIRE_TYPE {
            K::read(fields)?;
            self.count += 1;
            return Ok(());
        }
        let mut packed = FieldReader::new(fields.bytes()?);
        while !packed.is_at_end() {
            K::read(&mut packed)?;
            self.count += 1;
        }
        Ok(())
    }

    /// How many elements there are.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether it has no element.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The elements.
    #[inline]
    pub fn iter(&self) -> Elements<'a, K> {
        Elements {
            fields: FieldReader::new(self.fields),
            packed: FieldReader::default(),
            number: self.number,
            left: self.count,
            kind: PhantomData,
        }
    }
}

impl<K> Clone for Repeated<'_, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Repeated<'_, K> {}

impl<K> Default for Repeated<'_, K> {
    #[inline]
    fn default() -> Self {
        Repeated { fields: &[], number: 0, count: 0, kind: PhantomData }
    }
}

impl<'a, K: WireKind<'a>> fmt::Debug for Repeated<'a, K>
where
    K::Value: fmt::Debug,
{
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self).finish()
    }
}

impl<'a, K: WireKind<'a>> IntoIterator for Repeated<'a, K> {
    type Item = K::Value;
    type IntoIter = Elements<'a, K>;

    #[inline]
    fn into_iter(self) -> Elements<'a, K> {
        self.iter()
    }
}

impl<'a, K: WireKind<'a>> IntoIterator for &Repeated<'a, K> {
    type Item = K::Value;
    type IntoIter = Elements<'a, K>;

    #[inline]
    fn into_iter(self) -> Elements<'a, K> {
        self.iter()
    }
}

/// The elements of a [`Repeated`].
pub struct Elements<'a, K> {
    fields: FieldReader<'a>,
    /// Numbers that stand in one field.
    packed: FieldReader<'a>,
    number: u32,
    left: u32,
    kind: PhantomData<fn() -> K>,
}

impl<'a, K: WireKind<'a>> Elements<'a, K> {
    fn read_next(&mut self) -> Result<Option<K::Value>, NotInPlace> {
        while self.packed.is_at_end() {
            let Some(key) = self.fields.key()? else {
                return Ok(None);
            };
            if key >> 3 != self.number {
                self.fields.skip(key, &[])?;
            } else if key & 7 == K::WIRE_TYPE {
                return K::read(&mut self.fields).map(Some);
            } else {
                self.packed = FieldReader::new(self.fields.bytes()?);
            }
        }
        K::read(&mut self.packed).map(Some)
    }
}

impl<'a, K: WireKind<'a>> Iterator for Elements<'a, K> {
    type Item = K::Value;

    #[inline]
    fn next(&mut self) -> Option<K::Value> {
        self.left = self.left.checked_sub(1)?;
        // None of them is wrong: all were read when they were noted.
        self.read_next().ok().flatten()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl<'a, K: WireKind<'a>> ExactSizeIterator for Elements<'a, K> {}

#[cfg(test)]
mod tests {
    use super::super::wire_kind::{Int32, Utf8};
    use super::*;

    /// Reads field 1 as repeated, and passes over all others.
    fn repeated<'a, K: WireKind<'a>>(message: &'a [u8]) -> Result<Repeated<'a, K>, NotInPlace> {
        let (mut fields, mut repeated) = (FieldReader::new(message), Repeated::default());
        while let Some(key) = fields.key()? {
            match key >> 3 {
                1 => repeated.note(key, &mut fields)?,
                _ => fields.skip(key, &[])?,
            }
        }
        Ok(repeated)
    }

    #[test]
    fn elements_come_in_order_whatever_stands_between_them() {
        let message = b"\x10\x07\x0a\x01a\x10\x07\x1a\x01x\x0a\x02bc\x10\x07\x0a\x00";
        let elements = repeated::<Utf8>(message).unwrap();
        assert_eq!(elements.len(), 3);
        assert_eq!(elements.iter().len(), 3);
        assert_eq!(elements.into_iter().collect::<Vec<_>>(), ["a", "bc", ""]);
        assert_eq!(format!("{elements:?}"), r#"["a", "bc", ""]"#);
    }

    #[test]
    fn numbers_may_be_packed_or_not_or_both() {
        let message = [0x0a, 0, 0x0a, 3, 1, 0x80, 1, 0x08, 2, 0x10, 9, 0x0a, 1, 3, 0x0a, 0];
        let numbers = repeated::<Int32>(&message).unwrap();
        assert_eq!(numbers.iter().collect::<Vec<_>>(), [1, 128, 2, 3]);
    }

    #[test]
    fn without_elements_it_is_empty() {
        assert!(repeated::<Utf8>(b"\x10\x07").unwrap().is_empty());
        assert_eq!(Repeated::<'_, Utf8>::default().iter().next(), None);
    }

    #[test]
    fn an_element_that_is_wrong_is_noticed_before_anybody_asks_for_it() {
        assert_eq!(repeated::<Utf8>(b"\x0a\x01\xff").err(), Some(NotInPlace));
        assert_eq!(repeated::<Int32>(&[0x0a, 1, 0x80]).err(), Some(NotInPlace));
    }
}
