//! Whether a private key is of a kind that is supported, as far as its DER says so.

use super::certificate_key::{INTEGER, OBJECT_IDENTIFIER, RSA_ENCRYPTION, SEQUENCE, element};
use super::certificate_key::{bits_of, is_sequence};
use rustls::pki_types::PrivateKeyDer;
use std::ops::RangeInclusive;

/// The RSA keys that can be signed with: fewer than those whose signatures are verified.
const RSA_BITS: RangeInclusive<usize> = 2048..=4096;

const OCTET_STRING: u8 = 0x04;

/// The tag of the curve in a key of SEC 1 (RFC 5915, section 3).
const CURVE: u8 = 0xa0;

/// 1.2.840.10045.2.1, id-ecPublicKey (RFC 5480, section 2.1.1).
const EC_PUBLIC_KEY: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];

/// P-256 and P-384 (RFC 5480, section 2.1.1.1).
const CURVES: [&[u8]; 2] =
    [&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07], &[0x2b, 0x81, 0x04, 0x00, 0x22]];

/// 1.3.101.112, Ed25519 (RFC 8410, section 3).
const ED25519: &[u8] = &[0x2b, 0x65, 0x70];

/// What a key that rustls does not take seems to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnKey {
    /// Of a kind that is supported, so that something else is wrong with it.
    Supported,
    /// Of another kind.
    Unsupported,
    /// No DER, or not all of it.
    Malformed,
}

impl OwnKey {
    pub fn of(key: &PrivateKeyDer<'_>) -> Self {
        let der = key.secret_der();
        let is_supported = match key {
            _ if !is_sequence(der) => None,
            PrivateKeyDer::Pkcs1(_) => is_supported_rsa(der),
            PrivateKeyDer::Sec1(_) => is_supported_sec1(der),
            _ => is_supported_pkcs8(der),
        };
        match is_supported {
            None => Self::Malformed,
            Some(true) => Self::Supported,
            Some(false) => Self::Unsupported,
        }
    }

    /// What is wrong with it, given that rustls does not take it.
    pub fn fault(self) -> &'static str {
        match self {
            Self::Supported => {
                "the key is damaged, or made in an unusual way, though of a kind that is \
                 supported: make it anew"
            }
            Self::Unsupported => {
                "the key is of a kind that is not supported: use P-256, P-384, Ed25519, or RSA of \
                 2048 to 4096 bits"
            }
            Self::Malformed => "the key is not well formed: make it anew",
        }
    }
}

/// Of a key of PKCS #8 (RFC 5958, section 2). `None`: it cannot be read.
fn is_supported_pkcs8(der: &[u8]) -> Option<bool> {
    let (key, _) = element(SEQUENCE, der)?;
    let (_version, rest) = element(INTEGER, key)?;
    let (algorithm, rest) = element(SEQUENCE, rest)?;
    let (key, _) = element(OCTET_STRING, rest)?;
    let (id, parameters) = element(OBJECT_IDENTIFIER, algorithm)?;
    match id {
        RSA_ENCRYPTION => is_supported_rsa(key),
        EC_PUBLIC_KEY => Some(is_supported_curve(parameters)),
        id => Some(id == ED25519),
    }
}

/// Of a key of PKCS #1 (RFC 8017, appendix A.1.2).
fn is_supported_rsa(der: &[u8]) -> Option<bool> {
    let (key, _) = element(SEQUENCE, der)?;
    let (_version, rest) = element(INTEGER, key)?;
    let (modulus, _) = element(INTEGER, rest)?;
    Some(RSA_BITS.contains(&bits_of(modulus)?))
}

/// Of a key of SEC 1 (RFC 5915, section 3). Without a curve it may be any.
fn is_supported_sec1(der: &[u8]) -> Option<bool> {
    let (key, _) = element(SEQUENCE, der)?;
    let (_version, rest) = element(INTEGER, key)?;
    let (_key, rest) = element(OCTET_STRING, rest)?;
    Some(element(CURVE, rest).is_none_or(|(curve, _)| is_supported_curve(curve)))
}

fn is_supported_curve(parameters: &[u8]) -> bool {
    element(OBJECT_IDENTIFIER, parameters).is_some_and(|(curve, _)| CURVES.contains(&curve))
}
