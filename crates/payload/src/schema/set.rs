//! Compiled descriptor sets.

use super::budget::{DescriptorBudget, NotAdmitted};
use super::checked::{NotChecked, check_file_names, checked};
use super::editions;
use super::error::SchemaError;
use super::files::{DescriptorFiles, well_known};
use super::wire::{fields, payloads};
use prost::Message as _;
use prost::encoding::{WireType, encode_key, encode_varint};
use prost_reflect::DescriptorPool;
use prost_types::FileDescriptorSet;

/// The field of `FileDescriptorSet` with its files, and that of a file with its name.
const FILE: u32 = 1;
const NAME: u32 = 1;

const GZIP_MAGIC: &[u8] = b"\x1f\x8b";

/// The pool of a serialized `FileDescriptorSet`, which errors call `place`.
///
/// # Errors
/// [`SchemaError`].
pub(super) fn pool(bytes: &[u8], place: &str) -> Result<DescriptorPool, SchemaError> {
    if bytes.starts_with(GZIP_MAGIC) {
        return Err(SchemaError::SetCompressed(place.to_owned()));
    }
    let mut budget = DescriptorBudget::default();
    let set = admitted(bytes, place, &mut budget)?;
    let mut files = DescriptorFiles::default();
    let wrong = |reason| SchemaError::SetWrong { place: place.to_owned(), reason };
    let not_checked = |error| match error {
        NotChecked::Wrong(reason) => wrong(reason),
        NotChecked::TooMuch(excess) => SchemaError::too_much(place, excess),
    };
    for file in set.file {
        check_file_names(&file).map_err(wrong)?;
        let file = checked(file, &mut budget).map_err(not_checked)?;
        if files.get(file.name()).is_some_and(|other| *other != file) {
            return Err(wrong(format!("it has two different files {}", file.name())));
        }
        files.insert(file);
    }
    while let Some(import) = files.next_missing() {
        let file = well_known(&import.name).ok_or_else(|| SchemaError::SetIncomplete {
            place: place.to_owned(),
            import: import.name,
            importer: import.importer.to_string(),
        })?;
        files.insert(file);
    }
    files.into_pool().map_err(not_checked)
}

/// Whether a file that is to be source text is a descriptor set.
pub(super) fn is_compiled(bytes: &[u8]) -> bool {
    let Some(Ok(file)) = payloads(bytes, FILE).next() else { return false };
    let Some(Ok(name)) = payloads(file, NAME).next() else { return false };
    name.ends_with(b".proto") && fields(bytes).all(|field| field.is_ok())
}

/// The set, if it is one and not too large to be decoded.
fn admitted(
    bytes: &[u8],
    place: &str,
    budget: &mut DescriptorBudget,
) -> Result<FileDescriptorSet, SchemaError> {
    let no_set = |reason: &dyn ToString| {
        if place.ends_with(".proto") || is_source(bytes) {
            return SchemaError::ProtoGivenAsSet(place.to_owned());
        }
        SchemaError::NotADescriptorSet { place: place.to_owned(), reason: reason.to_string() }
    };
    let mut admitted = Vec::new();
    for file in payloads(bytes, FILE) {
        let file = file.map_err(|error| no_set(&error))?;
        let kept = budget.admit(file).map_err(|error| match error {
            NotAdmitted::TooMuch(excess) => SchemaError::too_much(place, excess),
            NotAdmitted::Malformed(error) => no_set(&error),
        })?;
        encode_key(FILE, WireType::LengthDelimited, &mut admitted);
        encode_varint(kept.len() as u64, &mut admitted);
        admitted.extend_from_slice(&kept);
    }
    if admitted.is_empty() {
        return Err(no_set(&"it describes no file"));
    }
    match editions::set_without_editions(&admitted) {
        Ok(Some(set)) => Ok(set),
        Ok(None) => FileDescriptorSet::decode(&admitted[..]).map_err(|error| no_set(&error)),
        Err(reason) => Err(SchemaError::EditionUnknown { place: place.to_owned(), reason }),
    }
}

/// Whether the bytes begin as a `.proto` file does.
fn is_source(bytes: &[u8]) -> bool {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    [&b"syntax"[..], b"edition", b"package", b"import", b"message", b"//", b"/*"]
        .iter()
        .any(|beginning| text.starts_with(beginning))
}
