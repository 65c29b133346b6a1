//! Why TLS failed on a connection: which end is at fault, and what to do.

use super::advice::TlsAdvice;
use super::certificate_fault::{self, supported_keys, words};
use super::side::TlsSide;
use rustls::{AlertDescription, Error, InvalidMessage, PeerIncompatible};
use std::borrow::Cow;
use std::io;
use std::time::Duration;

/// Why TLS failed on a connection. `Display` is one line, and says what to do: by the options of
/// the library, or as [`ClientConfig::advice`](super::ClientConfig::advice) has it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}", self.text())]
pub struct TlsFault {
    side: TlsSide,
    kind: TlsFaultKind,
    advice: &'static TlsAdvice,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TlsFaultKind {
    /// rustls says why.
    Tls(Error),
    /// The peer closed the connection before the handshake was over.
    Closed,
    /// The peer speaks HTTP/2, but not inside TLS.
    PlainHttp2,
    /// No protocol was chosen by ALPN.
    NoProtocol,
    /// The handshake took too long.
    TimedOut(Duration),
    /// The handshake was given up for its memory.
    NoMemory,
    /// There are too many connections from the peer's address.
    AddressFull,
    /// A frame that the shard never takes.
    Stuck,
}

impl TlsFault {
    pub(crate) fn new(side: TlsSide, kind: TlsFaultKind, advice: &'static TlsAdvice) -> Self {
        Self { side, kind, advice }
    }

    fn text(&self) -> Cow<'static, str> {
        use TlsFaultKind::{
            AddressFull, Closed, NoMemory, NoProtocol, PlainHttp2, Stuck, TimedOut, Tls,
        };
        let (side, peer, plain_text) = (self.side, self.side.peer(), self.advice.plain_text);
        match &self.kind {
            Tls(error) => self.describe(error),
            Closed if side == TlsSide::Client => format!(
                "the server closed the connection in the TLS handshake: if it speaks no TLS, \
                 {plain_text}"
            )
            .into(),
            Closed => "the client closed the connection in the TLS handshake".into(),
            PlainHttp2 if side == TlsSide::Client => {
                format!("the server speaks HTTP/2 without TLS: {plain_text}").into()
            }
            PlainHttp2 => "the client speaks HTTP/2 without TLS".into(),
            NoProtocol if side == TlsSide::Client => {
                "the server did not choose h2 by ALPN: it speaks TLS there, but not HTTP/2".into()
            }
            NoProtocol => NO_H2_OFFERED.into(),
            TimedOut(after) => {
                format!("{peer} did not finish the TLS handshake within {after:?}").into()
            }
            NoMemory => {
                "the TLS handshake was given up: connections hold too much memory together".into()
            }
            AddressFull => format!("too many connections come from {peer}'s address").into(),
            Stuck => "the receive buffer is full and nothing in it can be used".into(),
        }
    }

    fn describe(&self, error: &Error) -> Cow<'static, str> {
        let (side, peer) = (self.side, self.side.peer());
        match error {
            Error::InvalidCertificate(error) => {
                certificate_fault::describe(side, self.advice, error).into()
            }
            Error::AlertReceived(alert) => self.describe_alert(*alert),
            Error::NoCertificatesPresented => format!("{peer} sent no certificate").into(),
            Error::NoApplicationProtocol => NO_H2_OFFERED.into(),
            Error::InvalidMessage(InvalidMessage::InvalidContentType) => match side {
                TlsSide::Client => {
                    format!("the server speaks no TLS: {}", self.advice.plain_text).into()
                }
                TlsSide::Server => "the client speaks no TLS".into(),
            },
            Error::InvalidMessage(why) => {
                format!("{peer} sent a TLS message that is malformed ({})", words(why)).into()
            }
            Error::InappropriateMessage { got_type, .. } => out_of_turn(peer, &words(got_type)),
            Error::InappropriateHandshakeMessage { got_type, .. } => {
                out_of_turn(peer, &words(got_type))
            }
            Error::PeerIncompatible(PeerIncompatible::ServerDoesNotSupportTls12Or13) => {
                "the server speaks neither TLS 1.2 nor TLS 1.3: it needs a newer TLS library".into()
            }
            Error::PeerIncompatible(why) => {
                format!("{peer} has no TLS in common with this end ({})", words(why)).into()
            }
            Error::PeerMisbehaved(why) => format!("{peer} breaks TLS ({})", words(why)).into(),
            Error::InvalidCertRevocationList(why) => {
                let why = words(why);
                format!("TLS with {peer} failed: its list of revoked certificates is wrong ({why})")
                    .into()
            }
            // These say nothing but what they are.
            Error::DecryptError
            | Error::EncryptError
            | Error::UnsupportedNameType
            | Error::FailedToGetCurrentTime
            | Error::FailedToGetRandomBytes
            | Error::HandshakeNotComplete
            | Error::PeerSentOversizedRecord
            | Error::BadMaxFragmentSize
            | Error::General(_) => format!("TLS with {peer} failed: {error}").into(),
            error => format!("TLS with {peer} failed ({})", words(error)).into(),
        }
    }

    fn describe_alert(&self, alert: AlertDescription) -> Cow<'static, str> {
        use AlertDescription as Alert;
        let (peer, name) = (self.side.peer(), alert_name(alert));
        let TlsAdvice { identity, server_name, .. } = self.advice;
        match (alert, self.side) {
            (Alert::NoApplicationProtocol, TlsSide::Client) => {
                format!("the server speaks no HTTP/2 over TLS (alert {name})").into()
            }
            (Alert::CertificateRequired, TlsSide::Client) => {
                format!("the server demands a client certificate: give one with {identity}").into()
            }
            (alert, TlsSide::Client) if is_about_certificate(alert) => format!(
                "the server does not accept our certificate, or that we have none (alert {name}): \
                 give one that it accepts with {identity}"
            )
            .into(),
            (alert, TlsSide::Server) if is_about_certificate(alert) => {
                format!("the client does not accept our certificate (alert {name})").into()
            }
            (Alert::UnrecognisedName, TlsSide::Client) => format!(
                "the server has no certificate for that name (alert {name}): give another with \
                 {server_name}"
            )
            .into(),
            (Alert::HandshakeFailure, TlsSide::Client) => format!(
                "the server refused TLS (alert {name}): it may demand a client certificate \
                 ({identity}), or have a key that is not supported here; {} are",
                supported_keys()
            )
            .into(),
            (Alert::DecryptError, TlsSide::Client) => format!(
                "the server refused TLS (alert {name}): it could not verify a signature, as that \
                 of our certificate where it has demanded one ({identity})"
            )
            .into(),
            (Alert::ProtocolVersion, _) => {
                format!("{peer} refused TLS (alert {name}): this end speaks versions 1.2 and 1.3")
                    .into()
            }
            _ => format!("{peer} refused TLS (alert {name})").into(),
        }
    }
}

const NO_H2_OFFERED: &str = "the client did not offer h2 by ALPN, which HTTP/2 needs";

fn out_of_turn(peer: &str, message: &str) -> Cow<'static, str> {
    format!("{peer} sent a TLS message out of turn ({message})").into()
}

/// Whether a peer that sends this alert wants another certificate.
fn is_about_certificate(alert: AlertDescription) -> bool {
    use AlertDescription as Alert;
    matches!(
        alert,
        Alert::UnknownCA
            | Alert::BadCertificate
            | Alert::CertificateUnknown
            | Alert::CertificateExpired
            | Alert::CertificateRevoked
            | Alert::UnsupportedCertificate
            | Alert::AccessDenied
    )
}

/// As RFC 8446, section 6, writes it.
fn alert_name(alert: AlertDescription) -> String {
    match alert {
        AlertDescription::UnrecognisedName => "unrecognized_name".to_owned(),
        AlertDescription::Unknown(number) => number.to_string(),
        alert => words(&alert).replace(' ', "_"),
    }
}

impl From<TlsFault> for io::Error {
    fn from(fault: TlsFault) -> Self {
        // Not `TimedOut` for a late handshake: that is what a connect without an answer ends with.
        let kind = match fault.kind {
            TlsFaultKind::Closed => io::ErrorKind::UnexpectedEof,
            _ => io::ErrorKind::InvalidData,
        };
        Self::new(kind, fault)
    }
}

/// A reset means that the peer closed without having read everything.
pub(crate) fn is_reset(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionReset
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionAborted
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tls::certificate_fault::{SignerWithoutRight, UnacceptableSignature};
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
    const OF_X509: [&str; 7] = [
        "subjectAltName",
        "extendedKeyUsage",
        "serverAuth",
        "clientAuth",
        "nameConstraints",
        "keyUsage",
        "keyCertSign",
    ];

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
            Certificate::ExpiredContext {
                time,
                not_after: UnixTime::since_unix_epoch(Duration::ZERO),
            },
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
                presented: vec![
                    ExtendedKeyPurpose::ClientAuth,
                    ExtendedKeyPurpose::Other(vec![1, 3]),
                ],
            },
            Certificate::InvalidOcspResponse,
            Certificate::ApplicationVerificationFailure,
            other(UnsupportedRsaKey { is_signers: false, bits: 1024 }),
            other(UnsupportedRsaKey { is_signers: true, bits: 1024 }),
            other(UnacceptableSignature(Certificate::UnsupportedSignatureAlgorithm)),
            other(SignerWithoutRight),
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
        let alerts =
            (0..=u8::MAX).map(|number| Error::AlertReceived(AlertDescription::from(number)));
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
            (
                of(Error::AlertReceived(AlertDescription::DecryptError)),
                "our certificate where it has demanded one (--cert FILE --key FILE)",
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
                TlsFaultKind::NoMemory,
                TlsFaultKind::AddressFull,
                TlsFaultKind::Stuck,
            ];
            for kind in kinds {
                let text = TlsFault::new(side, kind, &FLAGS).to_string();
                assert!(!text.contains('\n') && text.len() > 20, "{text}");
            }
        }
    }
}
