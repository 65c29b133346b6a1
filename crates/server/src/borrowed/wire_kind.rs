//! The types of fields that the protobuf language has, as they stand on the wire.

use super::field_reader::{FieldReader, NotInPlace, WireKind};

/// A type of numbers.
pub trait Scalar {
    /// What a handler gives.
    type Number: Copy;
    /// The low three bits of a field's key.
    const WIRE_TYPE: u32;

    /// Whether a number is the default, which is zero in every bit: -0.0 is another number.
    fn is_default(number: Self::Number) -> bool;

    /// Appends a number.
    fn write(number: Self::Number, output: &mut Vec<u8>);
}

/// A string.
#[derive(Clone, Copy, Debug)]
pub struct Utf8;

impl<'a> WireKind<'a> for Utf8 {
    type Value = &'a str;
    const WIRE_TYPE: u32 = 2;

    #[inline]
    fn read(fields: &mut FieldReader<'a>) -> Result<&'a str, NotInPlace> {
        std::str::from_utf8(fields.bytes()?).map_err(|_| NotInPlace)
    }
}

/// Bytes.
#[derive(Clone, Copy, Debug)]
pub struct Blob;

impl<'a> WireKind<'a> for Blob {
    type Value = &'a [u8];
    const WIRE_TYPE: u32 = 2;

    #[inline]
    fn read(fields: &mut FieldReader<'a>) -> Result<&'a [u8], NotInPlace> {
        fields.bytes()
    }
}

macro_rules! number_kind {
    ($proto:literal $kind:ident) => {
        #[doc = concat!("`", $proto, "`.")]
        #[derive(Clone, Copy, Debug)]
        pub struct $kind;
    };
}

/// Numbers that take as many bytes as they need.
macro_rules! varints {
    ($($proto:literal $kind:ident $number:ty, $from_wire:expr, $to_wire:expr;)*) => {$(
        number_kind! { $proto $kind }

        impl<'a> WireKind<'a> for $kind {
            type Value = $number;
            const WIRE_TYPE: u32 = 0;

            #[inline]
            fn read(fields: &mut FieldReader<'a>) -> Result<$number, NotInPlace> {
                let from_wire: fn(u64) -> $number = $from_wire;
                fields.varint().map(from_wire)
            }
        }

        impl Scalar for $kind {
            type Number = $number;
            const WIRE_TYPE: u32 = 0;

            #[inline]
            fn is_default(number: $number) -> bool {
                number == <$number>::default()
            }

            #[inline]
            fn write(number: $number, output: &mut Vec<u8>) {
                let to_wire: fn($number) -> u64 = $to_wire;
                write_varint(to_wire(number), output);
            }
        }
    )*};
}

// The cut of what is too large is the language's rule, and so are ten bytes for -1.
varints! {
    "int32" Int32 i32, |wire| wire as i32, |number| number as u64;
    "int64" Int64 i64, |wire| wire as i64, |number| number as u64;
    "uint32" Uint32 u32, |wire| wire as u32, u64::from;
    "uint64" Uint64 u64, |wire| wire, |number| number;
    "sint32" Sint32 i32,
        |wire| ((wire as u32) >> 1) as i32 ^ -((wire & 1) as i32),
        |number| u64::from(((number << 1) ^ (number >> 31)) as u32);
    "sint64" Sint64 i64,
        |wire| (wire >> 1) as i64 ^ -((wire & 1) as i64),
        |number| ((number << 1) ^ (number >> 63)) as u64;
    "bool" Bool bool, |wire| wire != 0, u64::from;
}

/// Numbers that always take the same bytes.
macro_rules! fixed_numbers {
    ($($proto:literal $kind:ident $number:ty, $wire_type:literal;)*) => {$(
        number_kind! { $proto $kind }

        impl<'a> WireKind<'a> for $kind {
            type Value = $number;
            const WIRE_TYPE: u32 = $wire_type;

            #[inline]
            fn read(fields: &mut FieldReader<'a>) -> Result<$number, NotInPlace> {
                fields.fixed().map(<$number>::from_le_bytes)
            }
        }

        impl Scalar for $kind {
            type Number = $number;
            const WIRE_TYPE: u32 = $wire_type;

            #[inline]
            fn is_default(number: $number) -> bool {
                number.to_le_bytes() == [0; size_of::<$number>()]
            }

            #[inline]
            fn write(number: $number, output: &mut Vec<u8>) {
                output.extend_from_slice(&number.to_le_bytes());
            }
        }
    )*};
}

fixed_numbers! {
    "double" Double f64, 1;
    "fixed64" Fixed64 u64, 1;
    "sfixed64" Sfixed64 i64, 1;
    "float" Float f32, 5;
    "fixed32" Fixed32 u32, 5;
    "sfixed32" Sfixed32 i32, 5;
}

#[inline]
pub(super) fn write_varint(mut value: u64, output: &mut Vec<u8>) {
    while value >= 0x80 {
        output.push(value as u8 | 0x80);
        value >>= 7;
    }
    output.push(value as u8);
}
