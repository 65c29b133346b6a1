//! What a certificate says that its key may be used for. webpki looks at CA:TRUE alone, since
//! browsers do; OpenSSL and Go look here too.

use super::certificate_key::{BIT_STRING, OBJECT_IDENTIFIER, SEQUENCE, any_element, element};
use rustls::pki_types::CertificateDer;
use std::borrow::Cow;

const BOOLEAN: u8 = 0x01;
const OCTET_STRING: u8 = 0x04;

/// The tag of the extensions, which stand last (RFC 5280, section 4.1).
const EXTENSIONS: u8 = 0xa3;

/// id-ce-keyUsage (RFC 5280, section 4.2.1.3).
const KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x0f];

/// keyCertSign, the sixth bit of the first byte.
const KEY_CERT_SIGN: u8 = 0x80 >> 5;

/// Those of some certificates that may have signed others.
pub(crate) fn signers<'a, 'c>(
    certificates: &'a [CertificateDer<'c>],
) -> Cow<'a, [CertificateDer<'c>]> {
    match certificates.iter().all(may_sign) {
        true => Cow::Borrowed(certificates),
        false => certificates.iter().filter(|one| may_sign(one)).cloned().collect(),
    }
}

/// Whether a certificate may sign others by its keyUsage: one that has none may.
pub(crate) fn may_sign(certificate: &CertificateDer<'_>) -> bool {
    key_usage(certificate).is_none_or(|bits| {
        // The first byte says how many bits of the last one are unused.
        bits.get(1).is_some_and(|first| first & KEY_CERT_SIGN != 0)
    })
}

/// The bit string keyUsage of a certificate that has one, and that can be read.
fn key_usage(certificate: &[u8]) -> Option<&[u8]> {
    let (certificate, _) = element(SEQUENCE, certificate)?;
    let (mut rest, _) = element(SEQUENCE, certificate)?;
    let extensions = loop {
        match element(EXTENSIONS, rest) {
            Some((extensions, _)) => break extensions,
            None => rest = any_element(rest)?.1,
        }
    };
    let (mut rest, _) = element(SEQUENCE, extensions)?;
    loop {
        let (extension, others) = element(SEQUENCE, rest)?;
        let (id, value) = element(OBJECT_IDENTIFIER, extension)?;
        if id == KEY_USAGE {
            let value = element(BOOLEAN, value).map_or(value, |(_, value)| value);
            let (octets, _) = element(OCTET_STRING, value)?;
            return element(BIT_STRING, octets).map(|(bits, _)| bits);
        }
        rest = others;
    }
}
