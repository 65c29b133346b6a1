//! `grpc-encoding`: how the messages of a request are compressed.

/// How messages are compressed, each separately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RequestEncoding {
    /// Not at all.
    #[default]
    Identity,
    Gzip,
    #[cfg(feature = "zstd")]
    Zstd,
}

/// The value of `grpc-accept-encoding`: what [`RequestEncoding::parse`] knows.
#[cfg(not(feature = "zstd"))]
pub(crate) const ACCEPTED_ENCODINGS: &[u8] = b"identity,gzip";
/// The value of `grpc-accept-encoding`: what [`RequestEncoding::parse`] knows.
#[cfg(feature = "zstd")]
pub(crate) const ACCEPTED_ENCODINGS: &[u8] = b"identity,gzip,zstd";

impl RequestEncoding {
    /// The encoding with this name; `None` for any other name.
    pub fn parse(name: &[u8]) -> Option<Self> {
        match name {
            b"identity" => Some(Self::Identity),
            b"gzip" => Some(Self::Gzip),
            #[cfg(feature = "zstd")]
            b"zstd" => Some(Self::Zstd),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_offered_can_be_parsed_and_nothing_else() {
        for name in ACCEPTED_ENCODINGS.split(|byte| *byte == b',') {
            assert!(RequestEncoding::parse(name).is_some(), "{name:?}");
        }
        assert_eq!(RequestEncoding::parse(b"snappy"), None);
    }
}
