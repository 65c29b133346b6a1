//! Metadata as the suite writes it: text, the values of a name together, bytes as base64.

use bookend_client::{Metadata, MetadataError};
use bookend_conformance::connect::messages::Header;

/// What the suite wants sent.
pub fn of_headers(headers: &[Header]) -> Result<Metadata, MetadataError> {
    let mut metadata = Metadata::new();
    for header in headers {
        let name = header.name.to_ascii_lowercase();
        for value in &header.value {
            metadata.push(&name, value.as_bytes())?;
        }
    }
    Ok(metadata)
}

/// What the server sent.
pub fn to_headers(metadata: &Metadata) -> Vec<Header> {
    let mut headers: Vec<Header> = Vec::new();
    for (name, value) in metadata.iter() {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let (name, value) = (text(name), text(value));
        match headers.iter_mut().find(|header| header.name == name) {
            Some(header) => header.value.push(value),
            None => headers.push(Header { name, value: vec![value] }),
        }
    }
    headers
}

#[test]
fn values_of_one_name_stay_together_and_bytes_are_base64() {
    let header = |name: &str, value: &[&str]| Header {
        name: name.to_owned(),
        value: value.iter().map(|value| (*value).to_owned()).collect(),
    };
    let sent = [header("X-Text", &["a", "b"]), header("x-any-bin", &["AQI"])];
    let metadata = of_headers(&sent).unwrap();
    assert_eq!(metadata.find_binary("x-any-bin"), Ok(Some(vec![1, 2])));
    let received = [header("x-text", &["a", "b"]), header("x-any-bin", &["AQI"])];
    assert_eq!(to_headers(&metadata), received);
}
