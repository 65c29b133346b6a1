//! Whether a peer has the key of the certificate that it shows.

use super::certificate_key::{UnsupportedRsaKey, sequence, unsupported_bits};
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
    verify_tls13_signature_with_raw_key,
};
use rustls::pki_types::{CertificateDer, SignatureVerificationAlgorithm, SubjectPublicKeyInfoDer};
use rustls::{CertificateError, DigitallySignedStruct, Error, OtherError, SignatureScheme};
use std::sync::Arc;
use webpki::{EndEntityCert, RawPublicKeyEntity};

/// Verifies the signatures of handshakes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyProof(WebPkiSupportedAlgorithms);

impl KeyProof {
    pub fn new(provider: &CryptoProvider) -> Self {
        Self(provider.signature_verification_algorithms)
    }

    pub fn tls12(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.0)
            .map_err(|error| explained(error, certificate))
    }

    pub fn tls13(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.0)
            .map_err(|error| explained(error, certificate))
    }

    /// As [`KeyProof::tls12`], where nothing but the key of the certificate matters: one that
    /// webpki does not read has a key as well.
    pub fn tls12_by_key(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let Some(key) = key_of_unread(certificate) else {
            return self.tls12(message, certificate, signed);
        };
        let is_by = |algorithm: &&dyn SignatureVerificationAlgorithm| {
            RawPublicKeyEntity::try_from(&key).is_ok_and(|key| {
                key.verify_signature(*algorithm, message, signed.signature()).is_ok()
            })
        };
        let schemes = self.0.mapping.iter().filter(|(scheme, _)| *scheme == signed.scheme);
        match schemes.flat_map(|(_, algorithms)| *algorithms).any(is_by) {
            true => Ok(HandshakeSignatureValid::assertion()),
            false => Err(CertificateError::BadSignature.into()),
        }
    }

    /// As [`KeyProof::tls12_by_key`].
    pub fn tls13_by_key(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match key_of_unread(certificate) {
            Some(key) => verify_tls13_signature_with_raw_key(message, &key, signed, &self.0),
            None => self.tls13(message, certificate, signed),
        }
    }

    /// Whether signatures by such keys are verified, with one algorithm or another. `id` is the
    /// content of an AlgorithmIdentifier (RFC 5280, section 4.1.1.2).
    pub fn knows_key(&self, id: &[u8]) -> bool {
        self.0.all.iter().any(|algorithm| algorithm.public_key_alg_id().as_ref() == id)
    }

    pub fn schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}

/// The key of a certificate of version 1, or with a critical extension that is not supported.
/// `None` of one that webpki reads, and of what is no certificate.
fn key_of_unread(certificate: &CertificateDer<'_>) -> Option<SubjectPublicKeyInfoDer<'static>> {
    if EndEntityCert::try_from(certificate).is_ok() {
        return None;
    }
    let anchor = webpki::anchor_from_trusted_cert(certificate).ok()?;
    Some(sequence(&anchor.subject_public_key_info).into())
}

/// A signature by an RSA key of an unsupported length looks wrong.
fn explained(error: Error, certificate: &CertificateDer<'_>) -> Error {
    match (&error, unsupported_bits(certificate)) {
        (Error::InvalidCertificate(CertificateError::BadSignature), Some(bits)) => {
            let key = UnsupportedRsaKey { is_signers: false, bits };
            CertificateError::Other(OtherError(Arc::new(key))).into()
        }
        _ => error,
    }
}
