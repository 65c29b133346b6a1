//! What is wrong with a certificate, in words. rustls and webpki have names of variants for it.

use super::advice::TlsAdvice;
use super::certificate_key::{RSA_BITS, UnsupportedRsaKey};
use super::certificate_names::not_for;
use super::side::TlsSide;
use rustls::pki_types::UnixTime;
use rustls::{CertificateError, Error, ExtendedKeyPurpose, OtherError};
use std::fmt::Debug;
use std::sync::Arc;

/// Signature algorithms that are met and not supported: the content of an AlgorithmIdentifier (RFC
/// 5280, section 4.1.1.2), and a name.
const UNSUPPORTED_SIGNATURES: [(&[u8], &str); 4] = [
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x04], "MD5 with RSA"),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x05], "SHA-1 with RSA"),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x01], "SHA-1 with ECDSA"),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x04], "SHA-512 with ECDSA"),
];

/// A certificate is signed by one whose keyUsage is for something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a signer that may not sign certificates")]
pub(crate) struct SignerWithoutRight;

/// A certificate is signed in a way that is not supported. rustls has errors of its own for it, and
/// sends an alert with them that says that the handshake is wrong: the peer cannot know that it
/// needs another certificate.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("a signature that is not supported")]
pub(crate) struct UnacceptableSignature(pub CertificateError);

impl UnacceptableSignature {
    /// The same error with another alert, if it is one of these.
    pub fn of(error: Error) -> Error {
        #[allow(deprecated)]
        match error {
            Error::InvalidCertificate(
                error @ (CertificateError::UnsupportedSignatureAlgorithm
                | CertificateError::UnsupportedSignatureAlgorithmContext { .. }
                | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext {
                    ..
                }),
            ) => CertificateError::Other(OtherError(Arc::new(Self(error)))).into(),
            error => error,
        }
    }
}

/// The keys whose signatures are verified.
pub(crate) fn supported_keys() -> String {
    format!("P-256, P-384, Ed25519, or RSA of {} to {} bits", RSA_BITS.start(), RSA_BITS.end())
}

/// What is wrong with the peer's certificate, as a sentence that says what to do.
pub(crate) fn describe(side: TlsSide, advice: &TlsAdvice, error: &CertificateError) -> String {
    let certificate = format!("{}'s certificate", side.peer());
    let TlsAdvice { authorities, server_name, .. } = advice;
    match error {
        CertificateError::UnknownIssuer => match side {
            TlsSide::Client => format!(
                "{certificate} is signed by nobody who is trusted here: name its CA with \
                 {authorities}, or the certificate itself"
            ),
            TlsSide::Server => {
                format!("{certificate} is signed by nobody whom {authorities} names")
            }
        },
        CertificateError::NotValidForName => {
            format!("{certificate} is for another name: give the right name with {server_name}")
        }
        CertificateError::NotValidForNameContext { expected, presented } => {
            not_for(&certificate, (expected, presented), advice)
        }
        CertificateError::Other(other)
            if matches!(other.0.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity)) =>
        {
            format!(
                "{certificate} is one of a CA (CA:TRUE), and is trusted only where it is named \
                 itself: name it with {authorities}, or make one with CA:FALSE"
            )
        }
        error => match signers_key(error) {
            Some(key) => format!("the CA that has signed {certificate} {key}"),
            None => format!("{certificate} {}", fault_of(error)),
        },
    }
}

fn signers_key(error: &CertificateError) -> Option<String> {
    let CertificateError::Other(other) = error else {
        return None;
    };
    let key = other.0.downcast_ref::<UnsupportedRsaKey>()?;
    key.is_signers.then(|| key_text(*key))
}

fn key_text(key: UnsupportedRsaKey) -> String {
    format!("has {key}, which is not supported: make a key of {}", supported_keys())
}

/// What is wrong with a certificate, as what follows after "it".
pub(crate) fn fault_of(error: &CertificateError) -> String {
    #[allow(deprecated)]
    match error {
        CertificateError::BadEncoding => MALFORMED.to_owned(),
        CertificateError::Expired => "has expired".to_owned(),
        CertificateError::ExpiredContext { time, not_after } => {
            format!("has expired {} ago", between(*not_after, *time))
        }
        CertificateError::NotValidYet => "is not valid yet: is the clock right?".to_owned(),
        CertificateError::NotValidYetContext { time, not_before } => {
            format!("is valid in {} only: is the clock right?", between(*time, *not_before))
        }
        CertificateError::Revoked => "has been revoked: a new one is needed".to_owned(),
        CertificateError::UnhandledCriticalExtension => CRITICAL_EXTENSION.to_owned(),
        CertificateError::UnknownIssuer => "is signed by nobody who is trusted here".to_owned(),
        CertificateError::UnknownRevocationStatus => {
            "may have been revoked: no list of revoked certificates says".to_owned()
        }
        CertificateError::ExpiredRevocationList
        | CertificateError::ExpiredRevocationListContext { .. } => {
            "may have been revoked: the list of revoked certificates is out of date".to_owned()
        }
        CertificateError::BadSignature => {
            "does not fit the handshake, which its key has not signed: another key is in use, or \
             somebody stands in between"
                .to_owned()
        }
        CertificateError::UnsupportedSignatureAlgorithm => unsupported_signature(&[]),
        CertificateError::UnsupportedSignatureAlgorithmContext {
            signature_algorithm_id, ..
        } => unsupported_signature(signature_algorithm_id),
        CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => {
            format!("has a key that is not supported, or its CA has: use {}", supported_keys())
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "is for another name".to_owned()
        }
        CertificateError::InvalidPurpose => "is for another purpose (extendedKeyUsage)".to_owned(),
        CertificateError::InvalidPurposeContext { required, presented } => {
            wrong_purpose(required, presented)
        }
        CertificateError::InvalidOcspResponse => {
            "came with an OCSP response that is of no use".to_owned()
        }
        CertificateError::ApplicationVerificationFailure => "was not accepted".to_owned(),
        CertificateError::Other(other) => {
            let other = &other.0;
            if let Some(error) = other.downcast_ref() {
                fault_by_webpki(error)
            } else if let Some(key) = other.downcast_ref() {
                key_text(*key)
            } else if let Some(UnacceptableSignature(error)) = other.downcast_ref() {
                fault_of(error)
            } else if other.is::<SignerWithoutRight>() {
                "is signed by a certificate that may not sign others: its keyUsage has no \
                 keyCertSign"
                    .to_owned()
            } else {
                "cannot be verified".to_owned()
            }
        }
        error => cannot_be_verified(error),
    }
}

const MALFORMED: &str = "is not well formed: make it anew";

const CRITICAL_EXTENSION: &str =
    "has a critical extension that is not supported: make one without it";

/// What rustls has no variant of its own for.
fn fault_by_webpki(error: &webpki::Error) -> String {
    use webpki::Error as Fault;
    match error {
        Fault::BadDer | Fault::BadDerTime | Fault::TrailingData(_) => MALFORMED.to_owned(),
        Fault::CaUsedAsEndEntity => "is one of a CA (CA:TRUE): make one with CA:FALSE".to_owned(),
        Fault::EndEntityUsedAsCa => {
            "is signed by a certificate that is not a CA's (CA:FALSE)".to_owned()
        }
        Fault::EmptyEkuExtension => "is for no purpose (an empty extendedKeyUsage)".to_owned(),
        Fault::NameConstraintViolation => {
            "is for a name that its CA may not sign for (nameConstraints)".to_owned()
        }
        Fault::PathLenConstraintViolated => {
            "is signed by more CAs in a row than the first of them allows (pathlen)".to_owned()
        }
        Fault::UnsupportedCertVersion => {
            "is not of version 3 of X.509, so it has no subjectAltName: make one that has one"
                .to_owned()
        }
        Fault::UnsupportedCriticalExtension => CRITICAL_EXTENSION.to_owned(),
        Fault::MaximumSignatureChecksExceeded
        | Fault::MaximumPathBuildCallsExceeded
        | Fault::MaximumPathDepthExceeded
        | Fault::MaximumNameConstraintComparisonsExceeded => {
            "has a chain of CAs that is too long".to_owned()
        }
        error => cannot_be_verified(error),
    }
}

fn cannot_be_verified(error: &impl Debug) -> String {
    format!("cannot be verified ({})", words(error))
}

fn unsupported_signature(algorithm: &[u8]) -> String {
    let is_that = |(id, _): &&(&[u8], &str)| algorithm.windows(id.len()).any(|part| part == *id);
    let name = UNSUPPORTED_SIGNATURES.iter().find(is_that);
    let name = name.map_or(String::new(), |(_, name)| format!(" ({name})"));
    format!(
        "has a signature that is not supported{name}: make one with SHA-256 and a key of {}",
        supported_keys()
    )
}

fn wrong_purpose(required: &ExtendedKeyPurpose, presented: &[ExtendedKeyPurpose]) -> String {
    let (end, usage) = match required {
        ExtendedKeyPurpose::ClientAuth => ("clients", "clientAuth"),
        _ => ("servers", "serverAuth"),
    };
    let others: Vec<_> = presented.iter().map(ExtendedKeyPurpose::to_string).collect();
    let others = match others.as_slice() {
        [] => "something else".to_owned(),
        others => others.join(", "),
    };
    format!("is not for {end}, but for {others}: make one with extendedKeyUsage={usage}")
}

/// Whole days, or seconds where it is less.
fn between(earlier: UnixTime, later: UnixTime) -> String {
    const DAY_SECONDS: u64 = 86_400;
    let seconds = later.as_secs().saturating_sub(earlier.as_secs());
    match seconds / DAY_SECONDS {
        0 => format!("{seconds} s"),
        1 => "1 day".to_owned(),
        days => format!("{days} days"),
    }
}

/// The name of a variant in words: `invalid key share` of `InvalidKeyShare`, and nothing of what it
/// holds.
pub(crate) fn words(variant: &impl Debug) -> String {
    let debug = format!("{variant:?}");
    let name = debug.split(|part: char| !part.is_ascii_alphanumeric()).next().unwrap_or_default();
    let letters: Vec<char> = name.chars().collect();
    let mut words = String::new();
    for (at, letter) in letters.iter().enumerate() {
        let after = at.checked_sub(1).map(|before| letters[before]);
        let ends_acronym = letters.get(at + 1).is_some_and(char::is_ascii_lowercase);
        let begins = letter.is_ascii_uppercase()
            && after.is_some_and(|after| !after.is_ascii_uppercase() || ends_acronym);
        if begins {
            words.push(' ');
        }
        words.push(letter.to_ascii_lowercase());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_is_written_in_words() {
        use rustls::{AlertDescription as Alert, PeerIncompatible as Incompatible, PeerMisbehaved};
        assert_eq!(words(&Alert::UnknownCA), "unknown ca");
        assert_eq!(words(&Alert::UnknownPSKIdentity), "unknown psk identity");
        assert_eq!(words(&PeerMisbehaved::InvalidKeyShare), "invalid key share");
        let offered = Incompatible::ServerRejectedEncryptedClientHello(None);
        assert_eq!(words(&offered), "server rejected encrypted client hello");
        assert_eq!(words(&Alert::from(250)), "alert description", "it has no name");
    }

    #[test]
    fn a_signature_that_is_not_supported_has_its_name() {
        let sha1 = [&[0x06, 0x09][..], UNSUPPORTED_SIGNATURES[1].0, &[0x05, 0x00]].concat();
        assert!(unsupported_signature(&sha1).contains(" (SHA-1 with RSA): make one"));
        assert!(unsupported_signature(&[1, 2, 3]).contains("is not supported: make one"));
    }
}
