//! Metadata as the suite writes it: text, the values of a name together, octets as base64.

use bookend_client::{Metadata, MetadataError};
use bookend_conformance::connect::messages::Header;
use bookend_wire::grpc::metadata::{decode_binary, encode_binary, is_binary};

/// What the suite wants sent.
pub fn of_headers(headers: &[Header]) -> Result<Metadata, MetadataError> {
    let mut metadata = Metadata::new();
    for header in headers {
        let name = header.name.to_ascii_lowercase();
        for value in &header.value {
            let octets = match is_binary(name.as_bytes()) {
                true => decode_binary(value.as_bytes()),
                false => None,
            };
            metadata.push(&name, octets.as_deref().unwrap_or(value.as_bytes()))?;
        }
    }
    Ok(metadata)
}

/// What the server sent.
pub fn to_headers(metadata: &Metadata) -> Vec<Header> {
    let mut headers: Vec<Header> = Vec::new();
    for (name, value) in metadata.iter() {
        let value = text(name, value);
        match headers.iter_mut().find(|header| header.name == name) {
            Some(header) => header.value.push(value),
            None => headers.push(Header {
                name: name.to_owned(),
                value: vec![value],
            }),
        }
    }
    headers
}

fn text(name: &str, value: &[u8]) -> String {
    let mut encoded = Vec::new();
    if is_binary(name.as_bytes()) {
        encode_binary(value, &mut encoded);
    } else {
        encoded.extend_from_slice(value);
    }
    String::from_utf8_lossy(&encoded).into_owned()
}

#[test]
fn values_of_one_name_stay_together_and_octets_are_base64() {
    let header = |name: &str, value: &[&str]| Header {
        name: name.to_owned(),
        value: value.iter().map(|value| (*value).to_owned()).collect(),
    };
    let sent = [header("X-Text", &["a", "b"]), header("x-any-bin", &["AQI"])];
    let metadata = of_headers(&sent).unwrap();
    assert_eq!(metadata.find("x-any-bin"), Some(&[1, 2][..]));
    let received = [header("x-text", &["a", "b"]), header("x-any-bin", &["AQI"])];
    assert_eq!(to_headers(&metadata), received);
}
