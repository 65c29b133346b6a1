//! Messages as they are read in place.

use super::field_reader::{FieldReader, NotInPlace, WireKind};

/// A message that borrows from its encoded form. Generated code implements it.
pub trait MessageView<'a>: Copy + Default {
    /// Reads the value of one field.
    ///
    /// # Errors
    /// If the view cannot hold it.
    fn field(&mut self, key: u32, fields: &mut FieldReader<'a>) -> Result<(), NotInPlace>;
}

/// Reads a whole message.
///
/// # Errors
/// If the view cannot hold it.
#[inline]
pub fn read<'a, V: MessageView<'a>>(message: &'a [u8]) -> Result<V, NotInPlace> {
    let mut view = V::default();
    let mut fields = FieldReader::new(message);
    while let Some(key) = fields.key()? {
        view.field(key, &mut fields)?;
    }
    Ok(view)
}

/// A message within another one.
impl<'a, V: MessageView<'a>> WireKind<'a> for V {
    type Value = V;
    const WIRE_TYPE: u32 = 2;

    #[inline]
    fn read(fields: &mut FieldReader<'a>) -> Result<V, NotInPlace> {
        read(fields.bytes()?)
    }
}
