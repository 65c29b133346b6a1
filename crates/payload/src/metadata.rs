//! The metadata that goes with every call: names checked, binary values in the form of the wire.

use crate::data::{Templates, json};
use crate::template::{
    CallFacts, CallTemplateError, CompiledMetadata, MetadataTemplate, compile_metadata,
};
use bookend_contract::secrets;
use bookend_wire::grpc::metadata::{is_binary, is_name, is_text};
use bookend_wire::grpc::{base64, reserved};
use bookend_wire::hpack::FIELD_OVERHEAD_BYTES;
use prost_reflect::MethodDescriptor;
use std::collections::{BTreeMap, BTreeSet};

/// Metadata of one call in all. The gRPC specification suggests 8 KiB as the least that every
/// server should take, and it is grpc-go's and grpc-java's default limit.
const TOTAL_LIMIT_BYTES: usize = 8 * 1024;

/// How many bytes the value of the varying field has: [`varying_value`] in hexadecimal.
pub const VARYING_VALUE_BYTES: usize = 16;

/// Names and values, ready for the wire.
pub type MetadataFields = Vec<(Vec<u8>, Vec<u8>)>;

/// The metadata of a run, ready for the wire: names in lower case, `-bin` values in base64.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallMetadata {
    /// Fields that are the same in every call, by name.
    pub constant: MetadataFields,
    /// The field whose value is another in each call, see [`varying_value`].
    pub varying: Option<Vec<u8>>,
    /// Fields whose values are templates, by name: they are compiled once the method is known.
    pub templates: Vec<(String, String)>,
}

/// The metadata of the calls of a method.
#[derive(Clone, Debug, Default)]
pub struct CompiledCallMetadata {
    /// Fields that are the same in every call, by name.
    pub constant: MetadataFields,
    /// Fields whose values differ from call to call.
    pub templates: Vec<MetadataTemplate>,
}

impl CallMetadata {
    /// Reads a JSON object of strings. `place` is what errors call it.
    ///
    /// # Errors
    /// [`CallMetadataError`] naming the field.
    pub fn from_json(
        text: &str,
        place: &str,
        templates: Templates,
    ) -> Result<Self, CallMetadataError> {
        Self::new(strings(text, place)?, templates)
    }

    /// Checks fields that have been read already.
    ///
    /// # Errors
    /// [`CallMetadataError`] naming the field.
    pub fn new(
        fields: impl IntoIterator<Item = (String, String)>,
        templates: Templates,
    ) -> Result<Self, CallMetadataError> {
        let mut constant = BTreeMap::new();
        let mut compiled_later = Vec::new();
        let mut names = BTreeSet::new();
        for (name, value) in fields {
            let checked = check_name(&name)?;
            if !names.insert(checked.clone()) {
                return Err(CallMetadataError::Twice(name));
            }
            if templates.are_in(&value) {
                compiled_later.push((checked, value));
            } else {
                constant.insert(checked.into_bytes(), check_value(&name, &value)?);
            }
        }
        Self { constant: constant.into_iter().collect(), varying: None, templates: compiled_later }
            .check_total()
    }

    /// The metadata of calls of that method, with its templates compiled.
    ///
    /// # Errors
    /// [`CallMetadataError`] naming the field whose template does not work, or whose value in the
    /// first call cannot be sent.
    pub fn compile(
        &self,
        method: &MethodDescriptor,
        calls_functions: bool,
    ) -> Result<CompiledCallMetadata, CallMetadataError> {
        let mut compiled =
            CompiledCallMetadata { constant: self.constant.clone(), templates: Vec::new() };
        for (name, text) in &self.templates {
            let bytes = name.as_bytes();
            match compile_metadata(bytes, text, method, calls_functions) {
                Ok(CompiledMetadata::Constant(value)) => {
                    compiled.constant.push((bytes.to_vec(), check_value(name, &value)?));
                }
                Ok(CompiledMetadata::Template(template)) => compiled.templates.push(template),
                Err(error) => return Err(template_error(name, error)),
            }
        }
        let constant = compiled.of_first_call()?;
        Self { constant, varying: self.varying.clone(), templates: Vec::new() }.check_total()?;
        Ok(compiled)
    }

    /// The same with a field whose value differs from call to call.
    ///
    /// # Errors
    /// [`CallMetadataError`] naming the field.
    pub fn with_varying(self, name: &str) -> Result<Self, CallMetadataError> {
        let name = check_name(name)?;
        let constant = self.constant.iter().map(|(known, _)| known.as_slice());
        let templates = self.templates.iter().map(|(known, _)| known.as_bytes());
        if constant.chain(templates).any(|known| known == name.as_bytes()) {
            return Err(CallMetadataError::Twice(name));
        }
        Self { varying: Some(name.into_bytes()), ..self }.check_total()
    }

    fn check_total(self) -> Result<Self, CallMetadataError> {
        let constant = self.constant.iter().map(|(name, value)| name.len() + value.len());
        let varying = self.varying.iter().map(|name| name.len() + VARYING_VALUE_BYTES);
        let total_bytes = constant.chain(varying).map(|size| size + FIELD_OVERHEAD_BYTES).sum();
        if total_bytes > TOTAL_LIMIT_BYTES {
            return Err(CallMetadataError::TooLarge(total_bytes));
        }
        Ok(self)
    }
}

impl CompiledCallMetadata {
    /// All fields of the first call.
    ///
    /// # Errors
    /// [`CallMetadataError`] naming the field whose value cannot be sent.
    pub fn of_first_call(&self) -> Result<MetadataFields, CallMetadataError> {
        let mut fields = self.constant.clone();
        for template in &self.templates {
            let name = String::from_utf8_lossy(&template.name).into_owned();
            let mut value = Vec::new();
            template
                .write(&CallFacts::default(), &mut value)
                .map_err(|error| template_error(&name, error))?;
            let value = check_value(&name, &String::from_utf8_lossy(&value))?;
            fields.push((template.name.clone(), value));
        }
        Ok(fields)
    }
}

/// The value of the varying field in one call: the request's number in 16 hexadecimal digits.
pub fn varying_value(request_number: u64) -> [u8; VARYING_VALUE_BYTES] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    std::array::from_fn(|place| DIGITS[(request_number >> (60 - 4 * place) & 15) as usize])
}

/// Reads a JSON object of strings. `place` is what errors call it.
pub fn strings(text: &str, place: &str) -> Result<BTreeMap<String, String>, NotStrings> {
    let not_strings = |reason| NotStrings(place.to_owned(), reason);
    let strings: BTreeMap<String, String> = serde_json::from_str(text).map_err(|error| {
        not_strings(format!(" is not a JSON object of strings: {}", reason(&error)))
    })?;
    let mut names = BTreeSet::new();
    for (name, _) in json::members(text).unwrap_or_default() {
        if let Some(twice) = names.replace(name) {
            return Err(not_strings(format!(": {twice:?} is given twice")));
        }
    }
    Ok(strings)
}

/// What is wrong with the JSON. serde's words for a value of another kind have the value in them,
/// which may be a secret.
fn reason(error: &serde_json::Error) -> String {
    if !error.is_data() {
        return error.to_string();
    }
    match (error.line(), error.column()) {
        // serde has no place for the outermost value.
        (_, 0) => "it is a value of another kind".to_owned(),
        (line, column) => {
            format!("there is a value of another kind at line {line} column {column}")
        }
    }
}

fn check_name(name: &str) -> Result<String, CallMetadataError> {
    let lower = name.to_ascii_lowercase();
    let bytes = lower.as_bytes();
    let faults = [
        (lower == ":authority", "the authority is set with --authority"),
        (lower.starts_with(':'), "names with a colon in front belong to HTTP/2"),
        (lower.starts_with("grpc-"), "names that begin with grpc- belong to gRPC"),
        (reserved::is_reserved(bytes), "HTTP/2 and gRPC set or forbid it themselves"),
        (!is_name(bytes), "names are made of letters, digits, '-', '_' and '.'"),
    ];
    match faults.into_iter().find(|(is_there, _)| *is_there) {
        Some((_, reason)) => Err(CallMetadataError::Name(name.to_owned(), reason)),
        None => Ok(lower),
    }
}

fn check_value(name: &str, value: &str) -> Result<Vec<u8>, CallMetadataError> {
    let refuse = |reason| Err(CallMetadataError::Value(name.to_owned(), reason));
    if is_binary(name.to_ascii_lowercase().as_bytes()) {
        let Some(bytes) = base64::decode(value.as_bytes()) else {
            return refuse("the value of a name that ends in -bin is given in base64");
        };
        let mut unpadded = Vec::new();
        base64::encode(&bytes, &mut unpadded);
        return Ok(unpadded);
    }
    if value != value.trim_matches(' ') {
        return refuse("HTTP/2 forbids a space at either end of a value");
    }
    if !is_text(value.as_bytes()) {
        return refuse(
            "values are printable ASCII; anything else goes in a name that ends in -bin",
        );
    }
    Ok(value.as_bytes().to_vec())
}

/// The error about a template. Its reason may have words of the template in it, which are not shown
/// where they are those of a secret.
fn template_error(name: &str, error: CallTemplateError) -> CallMetadataError {
    let reason = match secrets::is_secret(name) {
        true => "it does not work, and what it says is a secret".to_owned(),
        false => error.reason,
    };
    CallMetadataError::Template(name.to_owned(), CallTemplateError { reason, ..error })
}

/// Why metadata cannot be sent. Always the user's fault. Names stand here as they were given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallMetadataError {
    /// Not a JSON object of strings.
    #[error(transparent)]
    NotStrings(#[from] NotStrings),
    /// A name that a call must not set, and why.
    #[error("metadata cannot set \"{0}\": {1}")]
    Name(String, &'static str),
    /// The name of a value that HTTP/2 cannot carry, and why.
    #[error("the value of metadata \"{0}\" cannot be sent: {1}")]
    Value(String, &'static str),
    /// The same name twice, once in another case or once as the varying field.
    #[error("metadata \"{0}\" is given twice")]
    Twice(String),
    /// More bytes, by RFC 9113, section 6.5.2, than servers have to take.
    #[error(
        "metadata of {0} bytes is more than the {TOTAL_LIMIT_BYTES} that every gRPC server takes"
    )]
    TooLarge(usize),
    /// The name of a value whose template does not work.
    #[error("metadata \"{0}\", {1}")]
    Template(String, CallTemplateError),
}

/// Text that is not a JSON object of strings, or has a name twice: what it is called, and what is
/// wrong with it, with line and column.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}{1}")]
pub struct NotStrings(String, String);

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<CallMetadata, String> {
        CallMetadata::from_json(text, "-m", Templates::Functions).map_err(|error| error.to_string())
    }

    #[test]
    fn names_are_lower_cased_and_sorted() {
        let metadata = read(r#"{"X-Tenant": "blue", "authorization": "Bearer a b"}"#).unwrap();
        let expected = [(b"authorization".to_vec(), b"Bearer a b".to_vec())];
        assert_eq!(metadata.constant[..1], expected);
        assert_eq!(metadata.constant[1], (b"x-tenant".to_vec(), b"blue".to_vec()));
    }

    #[test]
    fn binary_values_lose_their_padding() {
        let metadata = read(r#"{"trace-bin": "AQ=="}"#).unwrap();
        assert_eq!(metadata.constant, [(b"trace-bin".to_vec(), b"AQ".to_vec())]);
        assert_eq!(read(r#"{"trace-bin": "AQ"}"#).unwrap(), metadata);
    }

    #[test]
    fn what_cannot_be_sent_is_refused_by_name() {
        for (text, named) in [
            (r#"{"grpc-timeout": "1S"}"#, "grpc-timeout"),
            (r#"{":path": "/x"}"#, ":path"),
            (r#"{":authority": "x"}"#, "--authority"),
            (r#"{"TE": "trailers"}"#, "TE"),
            (r#"{"Content-Type": "x"}"#, "Content-Type"),
            (r#"{"na me": "x"}"#, "na me"),
            (r#"{"": "x"}"#, "letters"),
            (r#"{"name": "line\nbreak"}"#, "printable ASCII"),
            (r#"{"name": "ümlaut"}"#, "printable ASCII"),
            (r#"{"name": " x"}"#, "space"),
            (r#"{"trace-bin": "&&"}"#, "base64"),
            (r#"{"a": "1", "A": "2"}"#, "twice"),
            (r#"{"a": "1", "a": "2"}"#, "-m: \"a\" is given twice"),
            (r#"{"a": "1", "b": "", "\u0061": "1"}"#, "-m: \"a\" is given twice"),
            (r#"{"a": 1}"#, "-m is not a JSON object of strings"),
            ("[]", "-m is not a JSON object of strings"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(named), "{text}: {error}");
            assert_eq!(error.lines().count(), 1);
        }
    }

    #[test]
    fn no_value_stands_in_an_error() {
        for text in [
            r#""Bearer abc""#,
            r#"["Bearer abc"]"#,
            r#"{"authorization": ["Bearer abc"]}"#,
            r#"{"authorization": "Bearer abc" "x"}"#,
            r#"{"authorization": "Bearer abc\n"}"#,
            r#"{"authorization": "Bearer abc"#,
            r#"{"authorization": "Bearer abc", "Authorization": "Bearer abc"}"#,
            r#"{"auth-bin": "Bearer abc"}"#,
        ] {
            let error = read(text).unwrap_err();
            assert!(!error.contains("abc"), "{text}: {error}");
        }
        let error = read(r#"{"a": 1234567}"#).unwrap_err();
        assert!(error.ends_with("a value of another kind at line 1 column 13"), "{error}");
        for text in ["[]", "7", "\"x\"", " [\"x\"]", "\n\nnull"] {
            let error = read(text).unwrap_err();
            assert!(!error.contains("column 0"), "{text}: {error}");
        }
    }

    #[test]
    fn templates_can_be_made_literal() {
        let text = r#"{"a": "{{.UUID}}"}"#;
        let metadata = CallMetadata::from_json(text, "-m", Templates::Literal).unwrap();
        assert_eq!(metadata.constant, [(b"a".to_vec(), b"{{.UUID}}".to_vec())]);
    }

    #[test]
    fn the_varying_field_has_a_name_of_its_own() {
        let metadata = CallMetadata::default().with_varying("X-Call").unwrap();
        assert_eq!(metadata.varying, Some(b"x-call".to_vec()));
        let constant = read(r#"{"x-call": "1"}"#).unwrap();
        let twice = constant.with_varying("X-Call");
        assert_eq!(twice, Err(CallMetadataError::Twice("x-call".to_owned())));
    }

    #[test]
    fn varying_values_count_in_hexadecimal() {
        assert_eq!(&varying_value(0), b"0000000000000000");
        assert_eq!(&varying_value(0x1f), b"000000000000001f");
        assert_eq!(&varying_value(u64::MAX), b"ffffffffffffffff");
    }

    #[test]
    fn metadata_stays_within_what_every_server_takes() {
        let field = |bytes: usize| [("a".to_owned(), "x".repeat(bytes))];
        let fits = TOTAL_LIMIT_BYTES - FIELD_OVERHEAD_BYTES - 1;
        assert!(CallMetadata::new(field(fits), Templates::Functions).is_ok());
        let error = CallMetadata::new(field(fits + 1), Templates::Functions);
        assert_eq!(error, Err(CallMetadataError::TooLarge(TOTAL_LIMIT_BYTES + 1)));
    }
}
