//! The keys of certificates, as they stand in DER, and how long one of RSA is. The cryptographic
//! library does not say that a key is too short: it says that a signature by it is wrong.

use rustls::pki_types::CertificateDer;
use std::ops::RangeInclusive;

/// The lengths of the keys whose signatures are verified.
pub(crate) const RSA_BITS: RangeInclusive<usize> = 2048..=8192;

pub(crate) const INTEGER: u8 = 0x02;
pub(crate) const BIT_STRING: u8 = 0x03;
pub(crate) const OBJECT_IDENTIFIER: u8 = 0x06;
pub(crate) const SEQUENCE: u8 = 0x30;

/// 1.2.840.113549.1.1.1, rsaEncryption (RFC 8017, appendix C).
pub(crate) const RSA_ENCRYPTION: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];

/// A certificate has an RSA key whose signatures are not verified, however right they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an RSA key of {bits} bits")]
pub(crate) struct UnsupportedRsaKey {
    /// The key of the authority that has signed the certificate, not its own.
    pub is_signers: bool,
    /// Its length.
    pub bits: usize,
}

/// The length of the RSA key of a certificate, if it is not among [`RSA_BITS`].
pub(crate) fn unsupported_bits(certificate: &CertificateDer<'_>) -> Option<usize> {
    let anchor = webpki::anchor_from_trusted_cert(certificate).ok()?;
    unsupported_bits_of(&anchor.subject_public_key_info)
}

/// The same of a key: of the content of the sequence SubjectPublicKeyInfo (RFC 5280, section 4.1).
pub(crate) fn unsupported_bits_of(key_info: &[u8]) -> Option<usize> {
    rsa_bits(key_info).filter(|bits| !RSA_BITS.contains(bits))
}

fn rsa_bits(key_info: &[u8]) -> Option<usize> {
    let (algorithm, key) = element(SEQUENCE, key_info)?;
    let (algorithm, _) = element(OBJECT_IDENTIFIER, algorithm)?;
    if algorithm != RSA_ENCRYPTION {
        return None;
    }
    let (key, _) = element(BIT_STRING, key)?;
    // The first byte says how many bits of the last one are unused.
    let (key, _) = element(SEQUENCE, key.get(1..)?)?;
    let (modulus, _) = element(INTEGER, key)?;
    bits_of(modulus)
}

/// The length of a number as it stands in an INTEGER; `None` of 0.
pub(crate) fn bits_of(modulus: &[u8]) -> Option<usize> {
    let first = modulus.iter().position(|byte| *byte != 0)?;
    let modulus = &modulus[first..];
    Some(modulus.len() * 8 - modulus[0].leading_zeros() as usize)
}

/// The content of the element of DER that `der` begins with, and what comes after it. `None` where
/// it has another tag.
pub(crate) fn element(tag: u8, der: &[u8]) -> Option<(&[u8], &[u8])> {
    any_element(der).filter(|_| der.first() == Some(&tag))
}

/// The same of an element with whatever tag.
pub(crate) fn any_element(der: &[u8]) -> Option<(&[u8], &[u8])> {
    let [_, first, rest @ ..] = der else {
        return None;
    };
    let (length, rest) = match first {
        0..=0x7f => (usize::from(*first), rest),
        0x81..=0x84 => {
            let (length, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (length.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    rest.split_at_checked(length)
}

/// Whether it is DER, as certificates and keys are: one sequence and nothing behind it.
pub(crate) fn is_sequence(der: &[u8]) -> bool {
    matches!(element(SEQUENCE, der), Some((_, [])))
}

/// Whether it is a store of PKCS #12, which begins with its version, 3 (RFC 7292, section 4).
pub(crate) fn is_pkcs12(der: &[u8]) -> bool {
    matches!(element(SEQUENCE, der), Some(([INTEGER, 1, 3, ..], [])))
}

/// Whether it is a message of PKCS #7, which begins with what it is (RFC 2315, section 7).
pub(crate) fn is_pkcs7(der: &[u8]) -> bool {
    matches!(element(SEQUENCE, der), Some(([OBJECT_IDENTIFIER, ..], [])))
}

/// That content as a SEQUENCE of DER.
pub(crate) fn sequence(content: &[u8]) -> Vec<u8> {
    let length = content.len().to_be_bytes();
    let zeros = length.iter().take_while(|byte| **byte == 0).count();
    let head = match content.len() {
        short @ 0..0x80 => vec![SEQUENCE, short as u8],
        _ => [&[SEQUENCE, 0x80 | (length.len() - zeros) as u8], &length[zeros..]].concat(),
    };
    [&head, content].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn der(tag: u8, content: &[u8]) -> Vec<u8> {
        let length = u16::try_from(content.len()).unwrap().to_be_bytes();
        [&[tag, 0x82], &length[..], content].concat()
    }

    /// The public key whose modulus has these bytes.
    fn key_info(oid: &[u8], modulus: &[u8]) -> Vec<u8> {
        let algorithm = der(SEQUENCE, &[der(OBJECT_IDENTIFIER, oid), vec![5, 0]].concat());
        let key = [der(INTEGER, modulus), der(INTEGER, &[1, 0, 1])].concat();
        let bits = [vec![0], der(SEQUENCE, &key)].concat();
        [algorithm, der(BIT_STRING, &bits)].concat()
    }

    #[test]
    fn the_bits_of_the_modulus_are_counted_and_those_of_other_keys_are_not() {
        let modulus = |bytes: usize| [&[0, 0x80][..], &vec![7; bytes - 1]].concat();
        for (bits, unsupported) in [(1024, true), (2048, false), (8192, false), (8200, true)] {
            let info = key_info(RSA_ENCRYPTION, &modulus(bits / 8));
            assert_eq!(rsa_bits(&info), Some(bits));
            assert_eq!(unsupported_bits_of(&info), unsupported.then_some(bits));
        }
        assert_eq!(rsa_bits(&key_info(RSA_ENCRYPTION, &[0x01, 0xff])), Some(9));
        assert_eq!(rsa_bits(&key_info(&[1, 2, 3], &modulus(128))), None);
    }

    #[test]
    fn what_is_written_as_a_sequence_is_read_as_one() {
        for bytes in [0, 1, 0x7f, 0x80, 0xff, 0x100, 0xffff, 0x1_0000] {
            let content = vec![7; bytes];
            let der = [sequence(&content), vec![9]].concat();
            assert_eq!(element(SEQUENCE, &der), Some((&content[..], &[9][..])), "{bytes}");
        }
        assert_eq!(sequence(&[7; 0x80])[..3], [SEQUENCE, 0x81, 0x80]);
    }

    #[test]
    fn what_is_cut_short_has_no_length() {
        let info = key_info(RSA_ENCRYPTION, &[0x80; 128]);
        assert!((0..info.len() - 5).all(|end| rsa_bits(&info[..end]).is_none()));
        assert_eq!(element(SEQUENCE, &[SEQUENCE, 0x84, 0xff, 0xff, 0xff, 0xff]), None);
        assert_eq!(element(SEQUENCE, &[SEQUENCE, 0x80]), None);
    }
}
