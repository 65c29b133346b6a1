//! `grpc-encoding`: how the messages of one side are compressed.

/// The value of `grpc-accept-encoding`: what [`Encoding::parse`] knows.
pub const ACCEPTED_ENCODINGS: &[u8] = b"identity,gzip";

/// How messages are compressed, each separately. Responses may always be compressed: every call of
/// the client library sends [`ACCEPTED_ENCODINGS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// No compression.
    #[default]
    Identity,
    /// gzip.
    Gzip,
}

impl Encoding {
    /// The encoding with this name; `None` if it was not offered.
    pub fn parse(name: &[u8]) -> Option<Self> {
        [Self::Identity, Self::Gzip].into_iter().find(|encoding| encoding.name() == name)
    }

    /// The value of `grpc-encoding`.
    pub const fn name(self) -> &'static [u8] {
        match self {
            Self::Identity => b"identity",
            Self::Gzip => b"gzip",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_offered_can_be_parsed_and_nothing_else() {
        let offered: alloc::vec::Vec<_> = ACCEPTED_ENCODINGS.split(|&byte| byte == b',').collect();
        assert_eq!(offered, [Encoding::Identity.name(), Encoding::Gzip.name()]);
        for name in offered {
            assert_eq!(Encoding::parse(name).map(Encoding::name), Some(name));
        }
        assert_eq!(Encoding::parse(b"zstd"), None);
    }
}
