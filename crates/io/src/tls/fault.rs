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
    /// A frame that the shard never takes.
    Stuck,
}

impl TlsFault {
    pub(crate) fn new(side: TlsSide, kind: TlsFaultKind, advice: &'static TlsAdvice) -> Self {
        Self { side, kind, advice }
    }

    fn text(&self) -> Cow<'static, str> {
        use TlsFaultKind::{Closed, NoProtocol, PlainHttp2, Stuck, TimedOut, Tls};
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
mod tests;
