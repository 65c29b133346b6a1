//! Whether a peer has the key of the certificate that it shows.

use super::rsa_key::{UnsupportedRsaKey, unsupported_bits};
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::CertificateDer;
use rustls::{CertificateError, DigitallySignedStruct, Error, OtherError, SignatureScheme};
use std::sync::Arc;

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

    pub fn schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
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
