//! Why a certificate and a key cannot be shown together.

use super::certificate_fault::fault_of;
use super::config_error::ConfigError;
use super::own_key::OwnKey;
use super::pem::Identity;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::CertificateDer;
use rustls::server::ParsedCertificate;
use rustls::{Error, InconsistentKeys};

/// The same of what rustls says of an identity that it does not take.
pub(crate) fn unfit(identity: &Identity, provider: &CryptoProvider, error: Error) -> ConfigError {
    let reason = match error {
        Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
            match place_in_chain(identity, provider) {
                Some(place) => format!(
                    "the key is that of certificate {place} of the chain: the own certificate \
                     stands first, and behind it those that have signed it"
                ),
                None => "the key is not the certificate's".to_owned(),
            }
        }
        Error::InvalidCertificate(error) => format!("the certificate {}", fault_of(&error)),
        // rustls has tried all kinds, and does not say what was wrong with which.
        _ => OwnKey::of(&identity.key).fault().to_owned(),
    };
    ConfigError::KeyUnfit { identity: identity.to_string(), reason }
}

/// Where in the chain the certificate stands whose key it is, from 1.
fn place_in_chain(identity: &Identity, provider: &CryptoProvider) -> Option<usize> {
    let key = provider.key_provider.load_private_key(identity.key.clone_key()).ok()?;
    let key = key.public_key()?;
    let has_it = |certificate: &CertificateDer<'_>| {
        ParsedCertificate::try_from(certificate)
            .is_ok_and(|parsed| parsed.subject_public_key_info() == key)
    };
    identity.chain.iter().position(has_it).map(|place| place + 1)
}
