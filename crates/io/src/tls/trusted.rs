//! Whose certificates are trusted: those that a trusted authority has signed, and those that are
//! trusted themselves.
//!
//! The certificate that `openssl req -x509` makes says that it is one of an authority (CA:TRUE),
//! and webpki accepts no such certificate from a server. Where it is named as trusted itself, byte
//! for byte, nobody has to have signed it: Go, OpenSSL and curl accept it too. Its dates and its
//! names are verified like those of any other, and it is trusted for nobody else than before.

use super::certificate_fault::{SignerWithoutRight, UnacceptableSignature};
use super::certificate_key::{UnsupportedRsaKey, unsupported_bits, unsupported_bits_of};
use super::key_usage::{may_sign, signers};
use super::pem::Authorities;
use super::proof::KeyProof;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{VerifierBuilderError, WebPkiServerVerifier, verify_server_name};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{ParsedCertificate, WebPkiClientVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, OtherError, RootCertStore,
    SignatureScheme,
};
use std::sync::Arc;
use std::time::Duration;
use webpki::EndEntityCert;

/// No certificate is valid then.
const END_OF_TIME: UnixTime = UnixTime::since_unix_epoch(Duration::MAX);

/// Verifies the certificates of servers.
#[derive(Debug)]
pub(crate) struct TrustedServers {
    trusted: Trusted,
    by_chain: Arc<WebPkiServerVerifier>,
}

/// Verifies the certificates of clients.
#[derive(Debug)]
pub(crate) struct TrustedClients {
    trusted: Trusted,
    by_chain: Arc<dyn ClientCertVerifier>,
}

/// What verification by a chain leaves open.
#[derive(Debug)]
struct Trusted {
    roots: Arc<RootCertStore>,
    /// Those that the roots were made of.
    certificates: Vec<CertificateDer<'static>>,
    proof: KeyProof,
}

impl TrustedServers {
    pub fn new(
        authorities: Authorities,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Self, VerifierBuilderError> {
        let trusted = Trusted::new(authorities, provider);
        let roots = Arc::clone(&trusted.roots);
        let builder = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(provider));
        Ok(Self { trusted, by_chain: builder.build()? })
    }
}

impl TrustedClients {
    pub fn new(
        authorities: Authorities,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Self, VerifierBuilderError> {
        let trusted = Trusted::new(authorities, provider);
        let roots = Arc::clone(&trusted.roots);
        let builder = WebPkiClientVerifier::builder_with_provider(roots, Arc::clone(provider));
        Ok(Self { trusted, by_chain: builder.build()? })
    }
}

impl Trusted {
    fn new(authorities: Authorities, provider: &CryptoProvider) -> Self {
        let Authorities { store, certificates } = authorities;
        Self { roots: Arc::new(store), certificates, proof: KeyProof::new(provider) }
    }

    /// Whether this very certificate is trusted.
    fn names(&self, certificate: &CertificateDer<'_>) -> bool {
        self.certificates.contains(certificate)
    }

    /// What is wrong with a certificate that is not trusted itself, given why it has no chain.
    fn explained(
        &self,
        error: Error,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
    ) -> Error {
        if !is_about_signers(&error) {
            return error;
        }
        let presented = || std::iter::once(certificate).chain(intermediates);
        if is_bad_signature(&error)
            && let Some(bits) = presented().find_map(|one| self.signers_bits(one, intermediates))
        {
            let key = UnsupportedRsaKey { is_signers: true, bits };
            return CertificateError::Other(OtherError(Arc::new(key))).into();
        }
        // Signed by itself; or by another authority of the same name, so that the signature is
        // wrong, or cannot even be one by the key of that authority.
        if is_bad_signature(&error)
            || self.is_by_another_key(&error)
            || (is_authority(&error) && is_signed_by_itself(certificate))
        {
            return CertificateError::UnknownIssuer.into();
        }
        let is_unknown =
            matches!(error, Error::InvalidCertificate(CertificateError::UnknownIssuer));
        if is_unknown && is_signed_without_right(certificate, intermediates) {
            return CertificateError::Other(OtherError(Arc::new(SignerWithoutRight))).into();
        }
        UnacceptableSignature::of(error)
    }

    /// Whether the authority that should have made a signature has a key that is supported, and
    /// cannot have made it: it has another algorithm.
    fn is_by_another_key(&self, error: &Error) -> bool {
        matches!(error, Error::InvalidCertificate(
            CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext {
                public_key_algorithm_id, ..
            },
        ) if self.proof.knows_key(public_key_algorithm_id))
    }

    /// The length of the RSA key that may have signed a certificate, if it is unsupported.
    fn signers_bits(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
    ) -> Option<usize> {
        let parsed = EndEntityCert::try_from(certificate).ok()?;
        let issuer = parsed.issuer();
        let has_signed = |other: &CertificateDer<'_>| {
            EndEntityCert::try_from(other).is_ok_and(|other| other.subject() == issuer)
        };
        let roots = self.roots.roots.iter().filter(|root| root.subject.as_ref() == issuer);
        roots
            .filter_map(|root| unsupported_bits_of(&root.subject_public_key_info))
            .chain(intermediates.iter().filter(|one| has_signed(one)).filter_map(unsupported_bits))
            .next()
    }
}

/// Whether a certificate, or one of those with it, names as its signer one of these that may sign
/// none.
fn is_signed_without_right(
    certificate: &CertificateDer<'_>,
    intermediates: &[CertificateDer<'_>],
) -> bool {
    let presented = || std::iter::once(certificate).chain(intermediates);
    let has_signed = |signer: &CertificateDer<'_>, one: &CertificateDer<'_>| {
        let (Ok(signer), Ok(one)) = (EndEntityCert::try_from(signer), EndEntityCert::try_from(one))
        else {
            return false;
        };
        one.issuer() == signer.subject()
    };
    let mut barred = intermediates.iter().filter(|one| !may_sign(one));
    barred.any(|signer| presented().any(|one| one != signer && has_signed(signer, one)))
}

/// Whether a certificate that needs no signer is valid now. `verify` verifies it, with no other
/// certificate, at a time.
///
/// # Errors
/// Something is wrong with the certificate itself.
fn is_valid_alone(
    verify: impl Fn(UnixTime) -> Result<(), Error>,
    now: UnixTime,
) -> Result<(), Error> {
    let found = match verify(now) {
        Err(error) if !is_about_signers(&error) => return Err(error),
        found => found,
    };
    // webpki looks at the dates before it looks for a signer. Should it ever do otherwise, then
    // what it has found says nothing about the dates.
    match verify(END_OF_TIME) {
        Err(Error::InvalidCertificate(CertificateError::ExpiredContext { .. })) => Ok(()),
        _ => found.and(Err(CertificateError::UnknownIssuer.into())),
    }
}

/// Whether nothing but its signer is wrong with a certificate.
fn is_about_signers(error: &Error) -> bool {
    let Error::InvalidCertificate(error) = error else {
        return false;
    };
    #[allow(deprecated)]
    match error {
        CertificateError::UnknownIssuer
        | CertificateError::BadSignature
        | CertificateError::UnsupportedSignatureAlgorithm
        | CertificateError::UnsupportedSignatureAlgorithmContext { .. }
        | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => true,
        CertificateError::Other(other) => matches!(
            other.0.downcast_ref(),
            Some(webpki::Error::CaUsedAsEndEntity | webpki::Error::NameConstraintViolation)
        ),
        _ => false,
    }
}

fn is_bad_signature(error: &Error) -> bool {
    matches!(error, Error::InvalidCertificate(CertificateError::BadSignature))
}

fn is_authority(error: &Error) -> bool {
    matches!(error, Error::InvalidCertificate(CertificateError::Other(other))
        if matches!(other.0.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity)))
}

fn is_signed_by_itself(certificate: &CertificateDer<'_>) -> bool {
    EndEntityCert::try_from(certificate).is_ok_and(|parsed| parsed.issuer() == parsed.subject())
}

impl ServerCertVerifier for TrustedServers {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verify = |intermediates: &[CertificateDer<'_>], now| {
            let by_chain = &self.by_chain;
            by_chain.verify_server_cert(certificate, intermediates, server_name, ocsp_response, now)
        };
        let found = verify(&signers(intermediates), now);
        match found {
            Err(_) if self.trusted.names(certificate) => {
                is_valid_alone(|now| verify(&[], now).map(drop), now)?;
                verify_server_name(&ParsedCertificate::try_from(certificate)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            found => {
                found.map_err(|error| self.trusted.explained(error, certificate, intermediates))
            }
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.trusted.proof.tls12(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.trusted.proof.tls13(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.trusted.proof.schemes()
    }
}

impl ClientCertVerifier for TrustedClients {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.by_chain.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        let signers = signers(intermediates);
        let found = self.by_chain.verify_client_cert(certificate, &signers, now);
        match found {
            Err(_) if self.trusted.names(certificate) => {
                let verify = |now| self.by_chain.verify_client_cert(certificate, &[], now);
                is_valid_alone(|now| verify(now).map(drop), now)?;
                Ok(ClientCertVerified::assertion())
            }
            found => {
                found.map_err(|error| self.trusted.explained(error, certificate, intermediates))
            }
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.trusted.proof.tls12(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.trusted.proof.tls13(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.trusted.proof.schemes()
    }
}
