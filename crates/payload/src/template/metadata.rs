//! Metadata whose values differ from call to call.

use super::engine::{Compiled, Engine, Language};
use super::error::CallTemplateError;
use super::pieces::{self, Piece};
use super::variables::CallFacts;
use prost_reflect::MethodDescriptor;

/// A metadata field whose value differs from call to call.
#[derive(Clone, Debug)]
pub struct MetadataTemplate {
    /// In lower case.
    pub name: Vec<u8>,
    form: Form,
}

#[derive(Clone, Debug)]
enum Form {
    Pieces(Vec<Piece>),
    Engine(Engine),
}

/// What the value of a field with `{{` in it gives.
pub(crate) enum CompiledMetadata {
    /// The value in every call.
    Constant(String),
    /// Another value in each call.
    Template(MetadataTemplate),
}

/// Compiles the value of the field of that name.
pub(crate) fn compile_metadata(
    name: &[u8],
    value: &str,
    method: &MethodDescriptor,
    calls_functions: bool,
) -> Result<CompiledMetadata, CallTemplateError> {
    let language = Language::new(method, calls_functions);
    let form = match Engine::compile(value, &language)? {
        Compiled::Pieces(pieces) if pieces::are_constant(&pieces) => {
            let mut text = Vec::new();
            pieces::write(&pieces, &CallFacts::default(), &mut text);
            return Ok(CompiledMetadata::Constant(String::from_utf8_lossy(&text).into_owned()));
        }
        Compiled::Pieces(pieces) => Form::Pieces(pieces),
        Compiled::Engine(engine) => Form::Engine(engine),
    };
    Ok(CompiledMetadata::Template(MetadataTemplate { name: name.to_vec(), form }))
}

impl MetadataTemplate {
    /// Appends the value in one call.
    ///
    /// # Errors
    /// [`CallTemplateError`] where it cannot be rendered.
    pub fn write(
        &self,
        facts: &CallFacts<'_>,
        value: &mut Vec<u8>,
    ) -> Result<(), CallTemplateError> {
        match &self.form {
            Form::Pieces(pieces) => pieces::write(pieces, facts, value),
            Form::Engine(engine) => value.extend_from_slice(engine.render(facts)?.as_bytes()),
        }
        Ok(())
    }
}
