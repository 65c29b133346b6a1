//! How much a schema may take, however it comes. Its size is known before it is decoded.
//!
//! Two bytes of a descriptor are a message without anything in it, of which a pool holds more than
//! a KiB: a limit of bytes alone lets 64 MiB become 60 GiB.

use super::wire::fields;
use prost::DecodeError;
use std::fmt;

/// Files of one schema. All of googleapis has 7,000 and more.
pub(super) const FILES_MAX: u32 = 10_000;
/// Serialized descriptors. Those of all of googleapis have some 20 MB, without comments.
const BYTES_MAX: u64 = bookend_contract::input::MAX_BYTES;
/// What they take while a pool is made of them, at most. Those of all of googleapis take 300 MiB.
const MEMORY_MAX_BYTES: u64 = 480 << 20;
/// Of that, for one file: the library holds the one that it adds once more, and errors about it.
const FILE_MEMORY_MAX_BYTES: u64 = 64 << 20;
/// What the names of all imports may take, public imports of imports among them, bytes. Those of
/// all of googleapis take 5 MB.
pub(super) const IMPORTS_MAX_BYTES: usize = 16 << 20;
/// Messages within messages. The official compiler and prost accept fewer.
const DEPTH_MAX: u32 = 64;

/// What is left for the rest of a schema.
#[derive(Debug)]
pub(super) struct DescriptorBudget {
    files: u32,
    bytes: u64,
    memory_bytes: u64,
}

/// Why a serialized file is not decoded.
#[derive(Debug)]
pub(super) enum NotAdmitted {
    /// It would be too much, in that respect.
    TooMuch(Excess),
    /// It is not a message of protobuf.
    Malformed(DecodeError),
}

/// What of a schema is too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Excess {
    Files,
    Bytes,
    Memory,
    MemoryOfFile,
    Imports,
    Depth,
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Files => write!(f, "more than {FILES_MAX} files"),
            Self::Bytes => write!(f, "more than {} MiB", BYTES_MAX >> 20),
            Self::Memory => write!(
                f,
                "messages, fields and names that take more than {} MiB of memory",
                MEMORY_MAX_BYTES >> 20
            ),
            Self::MemoryOfFile => write!(
                f,
                "messages, fields and names in one file that take more than {} MiB of \
                 memory",
                FILE_MEMORY_MAX_BYTES >> 20
            ),
            Self::Imports => write!(
                f,
                "imports, public imports of imports among them, whose names take more \
                 than {} MiB of memory",
                IMPORTS_MAX_BYTES >> 20
            ),
            Self::Depth => write!(f, "more than {DEPTH_MAX} messages within one another"),
        }
    }
}

impl From<Excess> for NotAdmitted {
    fn from(excess: Excess) -> Self {
        Self::TooMuch(excess)
    }
}

impl From<DecodeError> for NotAdmitted {
    fn from(error: DecodeError) -> Self {
        Self::Malformed(error)
    }
}

impl Default for DescriptorBudget {
    fn default() -> Self {
        Self { files: FILES_MAX, bytes: BYTES_MAX, memory_bytes: MEMORY_MAX_BYTES }
    }
}

impl DescriptorBudget {
    /// Takes a serialized `FileDescriptorProto` off the budget, and returns it without its comments
    /// and positions, which nothing uses.
    ///
    /// # Errors
    /// [`NotAdmitted`].
    pub fn admit(&mut self, file: &[u8]) -> Result<Vec<u8>, NotAdmitted> {
        self.files = self.files.checked_sub(1).ok_or(Excess::Files)?;
        self.bytes = self.bytes.checked_sub(file.len() as u64).ok_or(Excess::Bytes)?;
        let mut kept = Vec::new();
        for field in fields(file) {
            let field = field?;
            if field.number != SOURCE_CODE_INFO {
                kept.extend_from_slice(field.encoded);
            }
        }
        let before = self.memory_bytes;
        self.take(Element::File, &kept, 0)?;
        if before - self.memory_bytes > FILE_MEMORY_MAX_BYTES {
            return Err(Excess::MemoryOfFile.into());
        }
        Ok(kept)
    }

    /// Takes a name off it that is made of others: it is held several times.
    pub fn take_name(&mut self, bytes: usize) -> Result<(), Excess> {
        self.take_memory(NAME_COPIES * bytes as u64)
    }

    fn take(&mut self, element: Element, bytes: &[u8], depth: u32) -> Result<(), NotAdmitted> {
        if depth > DEPTH_MAX {
            return Err(Excess::Depth.into());
        }
        self.take_memory(element.memory_bytes(bytes.len()))?;
        if !element.is_walked() {
            return Ok(());
        }
        for field in fields(bytes) {
            let field = field?;
            let Some(payload) = field.payload else { continue };
            if let Some(inner) = element.at(field.number) {
                let is_deeper = inner == Element::Message;
                self.take(inner, payload, depth + u32::from(is_deeper))?;
            }
        }
        Ok(())
    }

    fn take_memory(&mut self, bytes: u64) -> Result<(), Excess> {
        self.memory_bytes = self.memory_bytes.checked_sub(bytes).ok_or(Excess::Memory)?;
        Ok(())
    }
}

/// The field of `FileDescriptorProto` with comments and positions.
const SOURCE_CODE_INFO: u32 = 9;
/// A full name is in a descriptor and in the table of names.
const NAME_COPIES: u64 = 2;
/// A text or a list of numbers is in the library twice.
const COPIES: u64 = 2;

/// What becomes a struct, or an entry of a list, when a descriptor is decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Element {
    File,
    Message,
    Field,
    Enum,
    EnumValue,
    Service,
    Method,
    Oneof,
    Range,
    Options,
    Option,
    Uninterpreted,
    Text,
    Packed,
}

impl Element {
    /// What the field of that number holds.
    fn at(self, number: u32) -> Option<Self> {
        match (self, number) {
            (Self::File, 3) | (Self::Message, 10) | (Self::Enum, 5) => Some(Self::Text),
            (Self::File, 10 | 11) => Some(Self::Packed),
            (Self::File, 4) | (Self::Message, 3) => Some(Self::Message),
            (Self::File, 5) | (Self::Message, 4) => Some(Self::Enum),
            (Self::File, 6) => Some(Self::Service),
            (Self::File, 7) | (Self::Message, 2 | 6) => Some(Self::Field),
            (Self::File | Self::Field, 8) | (Self::Message, 7) => Some(Self::Options),
            (Self::Enum | Self::EnumValue | Self::Service | Self::Range, 3)
            | (Self::Method, 4)
            | (Self::Oneof, 2) => Some(Self::Options),
            (Self::Message, 5 | 9) | (Self::Enum, 4) => Some(Self::Range),
            (Self::Message, 8) => Some(Self::Oneof),
            (Self::Enum, 2) => Some(Self::EnumValue),
            (Self::Service, 2) => Some(Self::Method),
            (Self::Options, 999) => Some(Self::Uninterpreted),
            (Self::Options, _) => Some(Self::Option),
            (Self::Uninterpreted, 2) => Some(Self::Text),
            _ => None,
        }
    }

    /// Whether it has elements in it. An option may be anything, also text.
    fn is_walked(self) -> bool {
        !matches!(self, Self::Option | Self::Text | Self::Packed)
    }

    /// What it takes in memory with all copies and tables, bytes: measured.
    fn memory_bytes(self, bytes: usize) -> u64 {
        let bytes = bytes as u64;
        match self {
            Self::File => 3_072 + COPIES * bytes,
            Self::Message => 1_120,
            Self::Field => 896,
            Self::Enum => 704,
            Self::EnumValue => 416,
            Self::Service => 448,
            Self::Method => 512,
            Self::Oneof => 352,
            Self::Range => 96,
            Self::Text => 160,
            Self::Options => 0,
            Self::Option => 160 + 8 * bytes,
            Self::Uninterpreted => 288,
            // A byte is a number of four, in a list that grows by doubling.
            Self::Packed => 8 * COPIES * bytes,
        }
    }
}
