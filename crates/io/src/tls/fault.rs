//! Why TLS failed on a connection: which end is at fault, and what to do.

use rustls::pki_types::UnixTime;
use rustls::{AlertDescription, CertificateError, Error, InvalidMessage};
use std::borrow::Cow;
use std::io;
use std::time::Duration;

/// Which end of the connection is ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TlsSide {
    Client,
    Server,
}

/// Why TLS failed on a connection. `Display` is one line, and says what to do.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}", self.text())]
pub struct TlsFault {
    side: TlsSide,
    kind: TlsFaultKind,
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
    pub(crate) fn new(side: TlsSide, kind: TlsFaultKind) -> Self {
        Self { side, kind }
    }

    fn text(&self) -> Cow<'static, str> {
        use TlsFaultKind::{Closed, NoProtocol, PlainHttp2, Stuck, TimedOut, Tls};
        let (side, peer) = (self.side, self.side.peer());
        match &self.kind {
            Tls(error) => describe(side, peer, error),
            Closed if side == TlsSide::Client => "the server closed the connection in the TLS \
                handshake: if it speaks no TLS, add --insecure"
                .into(),
            Closed => "the client closed the connection in the TLS handshake".into(),
            PlainHttp2 => format!("{peer} speaks HTTP/2 without TLS").into(),
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
}

const NO_H2_OFFERED: &str = "the client did not offer h2 by ALPN, which HTTP/2 needs";

impl TlsSide {
    fn peer(self) -> &'static str {
        match self {
            Self::Client => "the server",
            Self::Server => "the client",
        }
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

fn describe(side: TlsSide, peer: &str, error: &Error) -> Cow<'static, str> {
    match error {
        Error::InvalidCertificate(error) => describe_certificate(side, peer, error),
        Error::AlertReceived(alert) => describe_alert(side, peer, *alert),
        Error::NoCertificatesPresented => "the client sent no certificate".into(),
        Error::NoApplicationProtocol => NO_H2_OFFERED.into(),
        Error::InvalidMessage(InvalidMessage::InvalidContentType) => match side {
            TlsSide::Client => "the server speaks no TLS: add --insecure".into(),
            TlsSide::Server => "the client speaks no TLS".into(),
        },
        error => format!("TLS with {peer} failed: {error}").into(),
    }
}

fn describe_certificate(side: TlsSide, peer: &str, error: &CertificateError) -> Cow<'static, str> {
    match error {
        // By another authority of the same name, the signature is wrong.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => match side {
            TlsSide::Client => "the server's certificate is signed by nobody who is trusted here: \
                name its CA with --cacert FILE"
                .into(),
            TlsSide::Server => {
                "the client's certificate is signed by nobody whom --tls-client-ca names".into()
            }
        },
        CertificateError::NotValidForNameContext {
            expected,
            presented,
        } => format!(
            "the server's certificate is not for {}: it is for {}; give the right name with --cname",
            expected.to_str(),
            names(presented)
        )
        .into(),
        CertificateError::ExpiredContext { time, not_after } => {
            let ago = between(*not_after, *time);
            format!("{peer}'s certificate has expired {ago} ago").into()
        }
        CertificateError::NotValidYetContext { time, not_before } => {
            let ahead = between(*time, *not_before);
            format!("{peer}'s certificate is valid in {ahead} only: is the clock right?").into()
        }
        error => format!("{peer}'s certificate is of no use: {error}").into(),
    }
}

/// rustls writes each as `DnsName("a")` or `IpAddress(...)`; what people want to read is `a`.
fn names(presented: &[String]) -> String {
    let bare = |name: &String| match name.split_once('(') {
        Some((_, rest)) => rest.trim_end_matches(')').trim_matches('"').to_owned(),
        None => name.clone(),
    };
    if presented.is_empty() {
        "no name at all".to_owned()
    } else {
        presented.iter().map(bare).collect::<Vec<_>>().join(", ")
    }
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

fn describe_alert(side: TlsSide, peer: &str, alert: AlertDescription) -> Cow<'static, str> {
    use AlertDescription as Alert;
    match (alert, side) {
        (Alert::NoApplicationProtocol, TlsSide::Client) => {
            "the server speaks no HTTP/2 over TLS (alert no_application_protocol)".into()
        }
        (Alert::CertificateRequired, TlsSide::Client) => {
            "the server demands a client certificate: give one with --cert FILE --key FILE".into()
        }
        (
            Alert::UnknownCA
            | Alert::BadCertificate
            | Alert::CertificateUnknown
            | Alert::CertificateExpired
            | Alert::CertificateRevoked
            | Alert::UnsupportedCertificate
            | Alert::AccessDenied,
            _,
        ) => format!("{peer} does not accept our certificate (alert {alert:?})").into(),
        (Alert::UnrecognisedName, TlsSide::Client) => "the server has no certificate for that \
            name (alert UnrecognisedName): give another with --cname"
            .into(),
        _ => format!("{peer} refused TLS (alert {alert:?})").into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_as_people_write_them() {
        let presented =
            ["DnsName(\"a.example\")", "IpAddress(127.0.0.1)", "bare"].map(str::to_owned);
        assert_eq!(names(&presented), "a.example, 127.0.0.1, bare");
        assert_eq!(names(&[]), "no name at all");
    }

    #[test]
    fn every_fault_is_one_line() {
        let errors = [
            Error::NoCertificatesPresented,
            Error::NoApplicationProtocol,
            Error::DecryptError,
            Error::AlertReceived(AlertDescription::HandshakeFailure),
            Error::AlertReceived(AlertDescription::CertificateRequired),
            Error::AlertReceived(AlertDescription::UnknownCA),
            Error::InvalidMessage(InvalidMessage::InvalidContentType),
            Error::InvalidCertificate(CertificateError::UnknownIssuer),
        ];
        for side in [TlsSide::Client, TlsSide::Server] {
            let kinds =
                errors.iter().map(|error| TlsFault::new(side, TlsFaultKind::Tls(error.clone())));
            let ours = [
                TlsFaultKind::Closed,
                TlsFaultKind::PlainHttp2,
                TlsFaultKind::NoProtocol,
                TlsFaultKind::TimedOut(Duration::from_secs(10)),
                TlsFaultKind::Stuck,
            ]
            .map(|kind| TlsFault::new(side, kind));
            for fault in kinds.chain(ours) {
                let text = fault.to_string();
                assert!(!text.contains('\n') && text.len() > 20, "{text}");
            }
        }
    }
}
