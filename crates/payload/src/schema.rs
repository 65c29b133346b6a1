//! Where the shape of messages comes from: a `.proto` file, a compiled descriptor set, or the
//! server's own reflection service.

mod budget;
mod checked;
mod editions;
mod error;
pub(crate) mod field_names;
mod files;
pub mod reflection;
mod set;
mod sources;
pub mod wire;

pub use error::{MethodError, SchemaError};
pub use sources::search_path;

use crate::error_text::suggestion;
use bookend_contract::input;
use prost_reflect::{DescriptorPool, MethodDescriptor};
use std::fs;
use std::path::{Path, PathBuf};

/// Every service, method and message type that one source describes.
#[derive(Clone, Debug)]
pub struct Schema {
    pool: DescriptorPool,
    /// What error messages call the source: a file's path, or "the server's reflection".
    place: String,
}

impl Schema {
    /// Compiles a `.proto` file, which is named from the working directory or from an import path.
    /// Imports are looked for in `import_paths`, then in the file's own folder, then in the working
    /// directory; the `google/protobuf` files are always known.
    ///
    /// # Errors
    /// [`SchemaError`] when a file is missing, is too large or is not correct.
    pub fn from_proto(file: &Path, import_paths: &[PathBuf]) -> Result<Schema, SchemaError> {
        if let Some(folder) = import_paths.iter().find(|folder| !folder.is_dir()) {
            return Err(SchemaError::ImportPathMissing(folder.clone()));
        }
        let pool = sources::pool(file, import_paths)?;
        Ok(Schema { pool, place: file.display().to_string() })
    }

    /// Reads a compiled `FileDescriptorSet`, as `protoc --descriptor_set_out --include_imports`
    /// writes it.
    ///
    /// # Errors
    /// [`SchemaError`] when the file is missing or is not a complete descriptor set.
    pub fn from_protoset(file: &Path) -> Result<Schema, SchemaError> {
        if file.is_dir() {
            return Err(SchemaError::IsAFolder(file.to_owned()));
        }
        let bytes = fs::File::open(file)
            .and_then(|file| input::bytes(file, input::MAX_BYTES))
            .map_err(|error| SchemaError::unreadable(file, &error))?;
        Schema::decode(&bytes, file.display().to_string())
    }

    /// Reads a `FileDescriptorSet` from memory. `place` is what errors call it.
    ///
    /// # Errors
    /// [`SchemaError`] when the bytes are not a complete descriptor set, or too large a one.
    pub fn decode(bytes: &[u8], place: String) -> Result<Schema, SchemaError> {
        Ok(Schema { pool: set::pool(bytes, &place)?, place })
    }

    /// The schema as a `FileDescriptorSet`, which [`Schema::decode`] reads.
    pub fn encode(&self) -> Vec<u8> {
        self.pool.encode_to_vec()
    }

    /// The full names of all services, sorted.
    pub fn services(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.pool.services().map(|service| service.full_name().to_owned()).collect();
        names.sort();
        names
    }

    /// Finds a method by `pkg.Service/Method` or `pkg.Service.Method`.
    ///
    /// # Errors
    /// [`MethodError`] naming this schema's source and the nearest right word.
    pub fn method(&self, call: &str) -> Result<MethodDescriptor, MethodError> {
        let (service_name, method_name) = split_call(call)?;
        let Some(service) = self.pool.get_service_by_name(service_name) else {
            return Err(MethodError::service_unknown(service_name, &self.place, self.services()));
        };
        let method = service.methods().find(|method| method.name() == method_name);
        method.ok_or_else(|| {
            let known: Vec<_> = service.methods().map(|known| known.name().to_owned()).collect();
            MethodError::MethodUnknown {
                service: service_name.to_owned(),
                method: method_name.to_owned(),
                place: self.place.clone(),
                suggestion: suggestion(method_name, known),
            }
        })
    }
}

/// The HTTP/2 `:path` of a method: `/pkg.Service/Method`.
pub fn path(method: &MethodDescriptor) -> String {
    format!("/{}/{}", method.parent_service().full_name(), method.name())
}

/// The service and the method of a call in either of its spellings. A `/` in front is allowed, as
/// in a `:path`.
///
/// # Errors
/// [`MethodError::Malformed`] when one of the two is missing.
pub fn split_call(call: &str) -> Result<(&str, &str), MethodError> {
    let bare = call.strip_prefix('/').unwrap_or(call);
    let parts = bare.split_once('/').or_else(|| bare.rsplit_once('.'));
    match parts {
        Some((service, method)) if is_name(service) && is_name(method) => Ok((service, method)),
        _ => Err(MethodError::Malformed(call.to_owned())),
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && !text.contains('/')
}
