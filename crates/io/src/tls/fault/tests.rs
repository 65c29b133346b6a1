use super::*;
use crate::tls::certificate_key::UnsupportedRsaKey;
use rustls::pki_types::{DnsName, ServerName, UnixTime};
use rustls::{
    CertRevocationListError, CertificateError as Certificate, ContentType,
    EncryptedClientHelloError, ExtendedKeyPurpose, HandshakeType, InconsistentKeys, OtherError,
    PeerMisbehaved,
};
use std::sync::Arc;

/// What a command would call it.
static FLAGS: TlsAdvice = TlsAdvice {
    encrypt: "leave --insecure out",
    plain_text: "add --insecure",
    authorities: "--cacert FILE",
    server_name: "--cname",
    identity: "--cert FILE --key FILE",
    any_certificate: "--skipTLS",
};

/// Words of X.509 that look as if a program had printed a variant.
const OF_X509: [&str; 5] =
    ["subjectAltName", "extendedKeyUsage", "serverAuth", "clientAuth", "nameConstraints"];

fn fault(side: TlsSide, error: Error) -> TlsFault {
    TlsFault::new(side, TlsFaultKind::Tls(error), &FLAGS)
}

fn other(error: impl std::error::Error + Send + Sync + 'static) -> Certificate {
    Certificate::Other(OtherError(Arc::new(error)))
}

/// An error of another program's verifier.
#[derive(Debug, thiserror::Error)]
#[error("Strange(ErrorOfAnother)")]
struct Strange;

/// All variants of certificates that there are.
fn certificates() -> Vec<Certificate> {
    let time = UnixTime::since_unix_epoch(Duration::from_secs(1_000_000));
    let expected = ServerName::DnsName(DnsName::try_from("localhost").unwrap());
    #[allow(deprecated)]
    let all = vec![
        Certificate::BadEncoding,
        Certificate::Expired,
        Certificate::ExpiredContext { time, not_after: UnixTime::since_unix_epoch(Duration::ZERO) },
        Certificate::NotValidYet,
        Certificate::NotValidYetContext { time, not_before: time },
        Certificate::Revoked,
        Certificate::UnhandledCriticalExtension,
        Certificate::UnknownIssuer,
        Certificate::UnknownRevocationStatus,
        Certificate::ExpiredRevocationList,
        Certificate::ExpiredRevocationListContext { time, next_update: time },
        Certificate::BadSignature,
        Certificate::UnsupportedSignatureAlgorithm,
        Certificate::UnsupportedSignatureAlgorithmContext {
            signature_algorithm_id: vec![1],
            supported_algorithms: vec![],
        },
        Certificate::UnsupportedSignatureAlgorithmForPublicKeyContext {
            signature_algorithm_id: vec![1],
            public_key_algorithm_id: vec![1],
        },
        Certificate::NotValidForName,
        Certificate::NotValidForNameContext {
            expected: expected.clone(),
            presented: vec!["DnsName(\"a.example\")".to_owned()],
        },
        Certificate::NotValidForNameContext { expected, presented: vec![] },
        Certificate::InvalidPurpose,
        Certificate::InvalidPurposeContext {
            required: ExtendedKeyPurpose::ServerAuth,
            presented: vec![ExtendedKeyPurpose::ClientAuth, ExtendedKeyPurpose::Other(vec![1, 3])],
        },
        Certificate::InvalidOcspResponse,
        Certificate::ApplicationVerificationFailure,
        other(UnsupportedRsaKey { is_signers: false, bits: 1024 }),
        other(UnsupportedRsaKey { is_signers: true, bits: 1024 }),
        other(Strange),
    ];
    all.into_iter().chain(of_webpki().into_iter().map(other)).collect()
}

/// What webpki finds and rustls passes on.
fn of_webpki() -> Vec<webpki::Error> {
    use webpki::{DerTypeId, Error};
    vec![
        Error::BadDer,
        Error::BadDerTime,
        Error::CaUsedAsEndEntity,
        Error::CertDistrusted,
        Error::EmptyEkuExtension,
        Error::EndEntityUsedAsCa,
        Error::ExtensionValueInvalid,
        Error::InvalidCertValidity,
        Error::InvalidCrlNumber,
        Error::InvalidNetworkMaskConstraint,
        Error::InvalidSerialNumber,
        Error::InvalidCrlSignatureForPublicKey,
        Error::InvalidSignatureForPublicKey,
        Error::IssuerNotCrlSigner,
        Error::MalformedDnsIdentifier,
        Error::MalformedExtensions,
        Error::MalformedNameConstraint,
        Error::MaximumNameConstraintComparisonsExceeded,
        Error::MaximumPathBuildCallsExceeded,
        Error::MaximumPathDepthExceeded,
        Error::MaximumSignatureChecksExceeded,
        Error::NameConstraintViolation,
        Error::PathLenConstraintViolated,
        Error::SignatureAlgorithmMismatch,
        Error::TrailingData(DerTypeId::Certificate),
        Error::UnknownIssuer,
        Error::UnknownRevocationStatus,
        Error::UnsupportedCertVersion,
        Error::UnsupportedCriticalExtension,
        Error::UnsupportedCrlIssuingDistributionPoint,
        Error::UnsupportedCrlVersion,
        Error::UnsupportedDeltaCrl,
        Error::UnsupportedIndirectCrl,
        Error::UnsupportedNameType,
        Error::UnsupportedRevocationReason,
        Error::UnsupportedRevocationReasonsPartitioning,
    ]
}

fn messages() -> Vec<InvalidMessage> {
    use InvalidMessage as Message;
    vec![
        Message::CertificatePayloadTooLarge,
        Message::HandshakePayloadTooLarge,
        Message::InvalidCcs,
        Message::InvalidContentType,
        Message::InvalidCertificateStatusType,
        Message::InvalidCertRequest,
        Message::InvalidDhParams,
        Message::InvalidEmptyPayload,
        Message::InvalidKeyUpdate,
        Message::InvalidServerName,
        Message::MessageTooLarge,
        Message::MessageTooShort,
        Message::MissingData("ServerHello"),
        Message::MissingKeyExchange,
        Message::NoSignatureSchemes,
        Message::TrailingData("ServerHello"),
        Message::UnexpectedMessage("ServerHello"),
        Message::UnknownProtocolVersion,
        Message::UnsupportedCompression,
        Message::UnsupportedCurveType,
        Message::EmptyTicketValue,
        Message::IllegalEmptyList("SignatureSchemes"),
        Message::IllegalEmptyValue,
        Message::DuplicateExtension(7),
        Message::PreSharedKeyIsNotFinalExtension,
        Message::UnknownHelloRetryRequestExtension,
        Message::UnknownCertificateExtension,
    ]
}

fn incompatible() -> Vec<PeerIncompatible> {
    use PeerIncompatible as Peer;
    vec![
        Peer::EcPointsExtensionRequired,
        Peer::ExtendedMasterSecretExtensionRequired,
        Peer::IncorrectCertificateTypeExtension,
        Peer::KeyShareExtensionRequired,
        Peer::NamedGroupsExtensionRequired,
        Peer::NoCertificateRequestSignatureSchemesInCommon,
        Peer::NoCipherSuitesInCommon,
        Peer::NoEcPointFormatsInCommon,
        Peer::NoKxGroupsInCommon,
        Peer::NoSignatureSchemesInCommon,
        Peer::NullCompressionRequired,
        Peer::ServerDoesNotSupportTls12Or13,
        Peer::ServerSentHelloRetryRequestWithUnknownExtension,
        Peer::ServerTlsVersionIsDisabledByOurConfig,
        Peer::SignatureAlgorithmsExtensionRequired,
        Peer::SupportedVersionsExtensionRequired,
        Peer::Tls12NotOffered,
        Peer::Tls12NotOfferedOrEnabled,
        Peer::Tls13RequiredForQuic,
        Peer::UncompressedEcPointsRequired,
        Peer::UnsolicitedCertificateTypeExtension,
        Peer::ServerRejectedEncryptedClientHello(Some(vec![])),
    ]
}

/// All errors of rustls, with all that they may hold where that has names of its own. Of what a
/// peer can do wrong, which has sixty names and one sentence, a few.
fn errors() -> Vec<Error> {
    let (expect_types, got_type) = (vec![ContentType::Handshake], ContentType::ApplicationData);
    let handshake = Error::InappropriateHandshakeMessage {
        expect_types: vec![HandshakeType::ServerHello],
        got_type: HandshakeType::EncryptedExtensions,
    };
    let alone = [
        Error::InappropriateMessage { expect_types, got_type },
        handshake,
        Error::InvalidEncryptedClientHello(EncryptedClientHelloError::SniRequired),
        Error::NoCertificatesPresented,
        Error::UnsupportedNameType,
        Error::DecryptError,
        Error::EncryptError,
        Error::InvalidCertRevocationList(CertRevocationListError::UnsupportedDeltaCrl),
        Error::InvalidCertRevocationList(CertRevocationListError::Other(OtherError(Arc::new(
            Strange,
        )))),
        Error::General("something".to_owned()),
        Error::FailedToGetCurrentTime,
        Error::FailedToGetRandomBytes,
        Error::HandshakeNotComplete,
        Error::PeerSentOversizedRecord,
        Error::NoApplicationProtocol,
        Error::BadMaxFragmentSize,
        Error::InconsistentKeys(InconsistentKeys::KeyMismatch),
        Error::Other(OtherError(Arc::new(Strange))),
        Error::PeerMisbehaved(PeerMisbehaved::SelectedUnofferedKxGroup),
        Error::PeerMisbehaved(PeerMisbehaved::SignedHandshakeWithUnadvertisedSigScheme),
    ];
    // Numbers without a name among them.
    let alerts = (0..=u8::MAX).map(|number| Error::AlertReceived(AlertDescription::from(number)));
    alone
        .into_iter()
        .chain(certificates().into_iter().map(Error::InvalidCertificate))
        .chain(messages().into_iter().map(Error::InvalidMessage))
        .chain(incompatible().into_iter().map(Error::PeerIncompatible))
        .chain(alerts)
        .collect()
}

/// `Other(..)`, `a { b }`, `TwoWords`: what only a program prints.
fn has_debug_words(text: &str) -> bool {
    let text = OF_X509.iter().fold(text.to_owned(), |text, word| text.replace(word, ""));
    let text = text.replace(FLAGS.any_certificate, "");
    let letters: Vec<char> = text.chars().collect();
    let joins = |pair: &[char]| {
        let [left, right] = [pair[0], pair[1]];
        left.is_ascii_lowercase() && right.is_ascii_uppercase()
            || left.is_ascii_alphanumeric() && right == '('
    };
    letters.windows(2).any(joins) || text.contains(['{', '}', '[', '"'])
}

#[test]
fn no_failure_is_told_in_words_of_a_program() {
    let (errors, mut told) = (errors(), 0);
    for side in [TlsSide::Client, TlsSide::Server] {
        for error in &errors {
            let text = fault(side, error.clone()).to_string();
            assert!(!has_debug_words(&text), "{error:?}: {text}");
            assert!(!text.contains('\n') && text.len() > 20, "{error:?}: {text}");
            assert!(text.contains("server") || text.contains("client"), "{error:?}: {text}");
            told += 1;
        }
    }
    assert!(told > 700, "{told}");
    for text in ["Other(OtherError(CaUsedAsEndEntity))", "a BadDer", "{ a }"] {
        assert!(has_debug_words(text), "{text}");
    }
}

#[test]
fn what_can_be_done_is_called_what_the_command_calls_it() {
    let of = |error: Error| fault(TlsSide::Client, error).to_string();
    let certificate = |error: Certificate| of(Error::InvalidCertificate(error));
    let expected = ServerName::DnsName(DnsName::try_from("localhost").unwrap());
    let nameless = Certificate::NotValidForNameContext { expected, presented: vec![] };
    for (text, advice) in [
        (certificate(Certificate::UnknownIssuer), "name its CA with --cacert FILE, or the"),
        (certificate(other(webpki::Error::CaUsedAsEndEntity)), "name it with --cacert FILE"),
        (certificate(nameless), "subjectAltName=DNS:localhost, or accept any with --skipTLS"),
        (
            of(Error::InvalidMessage(InvalidMessage::InvalidContentType)),
            "the server speaks no TLS: add --insecure",
        ),
        (
            of(Error::AlertReceived(AlertDescription::CertificateRequired)),
            "give one with --cert FILE --key FILE",
        ),
        (
            of(Error::AlertReceived(AlertDescription::UnrecognisedName)),
            "(alert unrecognized_name): give another with --cname",
        ),
    ] {
        assert!(text.contains(advice), "{text}");
    }
    let of_library =
        TlsFault::new(TlsSide::Client, TlsFaultKind::Closed, &TlsAdvice::CLIENT).to_string();
    assert!(of_library.ends_with("leave ChannelOptions::tls out"), "{of_library}");
}

#[test]
fn every_fault_of_our_own_is_one_line() {
    for side in [TlsSide::Client, TlsSide::Server] {
        let kinds = [
            TlsFaultKind::Closed,
            TlsFaultKind::PlainHttp2,
            TlsFaultKind::NoProtocol,
            TlsFaultKind::TimedOut(Duration::from_secs(10)),
            TlsFaultKind::Stuck,
        ];
        for kind in kinds {
            let text = TlsFault::new(side, kind, &FLAGS).to_string();
            assert!(!text.contains('\n') && text.len() > 20, "{text}");
        }
    }
}
