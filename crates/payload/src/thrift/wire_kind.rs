//! The kinds of values that the protocols tell apart, and the numbers that they have there.

/// What a value is on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WireKind {
    Bool,
    I8,
    I16,
    I32,
    I64,
    Double,
    /// Text or bytes.
    Binary,
    Struct,
    Map,
    Set,
    List,
    Uuid,
}

/// Kinds with their numbers in the binary and in the compact protocol. In the latter a bool has two
/// numbers: 1 is true, and 2 is false.
const NUMBERS: [(WireKind, u8, u8); 12] = [
    (WireKind::Bool, 2, 1),
    (WireKind::I8, 3, 3),
    (WireKind::Double, 4, 7),
    (WireKind::I16, 6, 4),
    (WireKind::I32, 8, 5),
    (WireKind::I64, 10, 6),
    (WireKind::Binary, 11, 8),
    (WireKind::Struct, 12, 12),
    (WireKind::Map, 13, 11),
    (WireKind::Set, 14, 10),
    (WireKind::List, 15, 9),
    (WireKind::Uuid, 16, 13),
];

/// Ends the fields of a struct, in both protocols.
pub(super) const STOP: u8 = 0;

/// A bool that is false, in the compact protocol.
pub(super) const COMPACT_FALSE: u8 = 2;

impl WireKind {
    /// Its number in the binary protocol.
    pub fn in_binary(self) -> u8 {
        NUMBERS.iter().find(|(kind, ..)| *kind == self).map_or(STOP, |(_, number, _)| *number)
    }

    /// Its number in the compact protocol; a bool as if it was true.
    pub fn in_compact(self) -> u8 {
        NUMBERS.iter().find(|(kind, ..)| *kind == self).map_or(STOP, |(.., number)| *number)
    }

    /// What has that number in the binary protocol.
    #[inline]
    pub fn of_binary(number: u8) -> Option<Self> {
        Some(match number {
            2 => Self::Bool,
            3 => Self::I8,
            4 => Self::Double,
            6 => Self::I16,
            8 => Self::I32,
            10 => Self::I64,
            11 => Self::Binary,
            12 => Self::Struct,
            13 => Self::Map,
            14 => Self::Set,
            15 => Self::List,
            16 => Self::Uuid,
            _ => return None,
        })
    }

    /// What has that number in the compact protocol.
    #[inline]
    pub fn of_compact(number: u8) -> Option<Self> {
        Some(match number {
            1 | COMPACT_FALSE => Self::Bool,
            3 => Self::I8,
            4 => Self::I16,
            5 => Self::I32,
            6 => Self::I64,
            7 => Self::Double,
            8 => Self::Binary,
            9 => Self::List,
            10 => Self::Set,
            11 => Self::Map,
            12 => Self::Struct,
            13 => Self::Uuid,
            _ => return None,
        })
    }

    /// Its name in the IDL.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::Double => "double",
            Self::Binary => "string",
            Self::Struct => "struct",
            Self::Map => "map",
            Self::Set => "set",
            Self::List => "list",
            Self::Uuid => "uuid",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_found_again_by_its_numbers() {
        for (kind, in_binary, in_compact) in NUMBERS {
            assert_eq!((kind.in_binary(), kind.in_compact()), (in_binary, in_compact));
            assert_eq!(WireKind::of_binary(in_binary), Some(kind));
            assert_eq!(WireKind::of_compact(in_compact), Some(kind));
        }
        assert_eq!(WireKind::of_compact(COMPACT_FALSE), Some(WireKind::Bool));
        for number in [0, 1, 5, 7, 9, 17, 255] {
            assert_eq!(WireKind::of_binary(number), None);
        }
        for number in [0, 14, 255] {
            assert_eq!(WireKind::of_compact(number), None);
        }
    }
}
