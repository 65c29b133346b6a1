//! Why TLS failed on a connection: which end is at fault, and what to do.

use rustls::pki_types::UnixTime;
use rustls::{AlertDescription, CertificateError, Error, InvalidMessage};
use std::fmt;
use std::io;
use std::time::Duration;

/// Which end of the connection is ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TlsSide {
    Client,
    Server,
}

/// Why TLS failed on a connection. `Display` is one line, and says what to do.
#[derive(Clone, Debug, PartialEq)]
pub struct TlsFault {
    side: TlsSide,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
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
    pub(crate) fn of(side: TlsSide, error: Error) -> Self {
        Self::new(side, Kind::Tls(error))
    }

    pub(crate) fn closed(side: TlsSide) -> Self {
        Self::new(side, Kind::Closed)
    }

    pub(crate) fn plain_http2(side: TlsSide) -> Self {
        Self::new(side, Kind::PlainHttp2)
    }

    pub(crate) fn no_protocol(side: TlsSide) -> Self {
        Self::new(side, Kind::NoProtocol)
    }

    pub(crate) fn timed_out(side: TlsSide, after_ns: u64) -> Self {
        Self::new(side, Kind::TimedOut(Duration::from_nanos(after_ns)))
    }

    pub(crate) fn stuck(side: TlsSide) -> Self {
        Self::new(side, Kind::Stuck)
    }

    fn new(side: TlsSide, kind: Kind) -> Self {
        Self { side, kind }
    }

    fn peer(&self) -> &'static str {
        match self.side {
            TlsSide::Client => "the server",
            TlsSide::Server => "the client",
        }
    }
}

impl std::error::Error for TlsFault {}

impl From<TlsFault> for io::Error {
    fn from(fault: TlsFault) -> Self {
        let kind = match fault.kind {
            // Not `TimedOut`, which is what a connect without an answer ends with.
            Kind::TimedOut(_) | Kind::Tls(_) | Kind::NoProtocol | Kind::PlainHttp2 => {
                io::ErrorKind::InvalidData
            }
            Kind::Closed => io::ErrorKind::UnexpectedEof,
            Kind::Stuck => io::ErrorKind::InvalidData,
        };
        Self::new(kind, fault)
    }
}

impl fmt::Display for TlsFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let peer = self.peer();
        match (&self.kind, self.side) {
            (Kind::Tls(error), side) => describe(f, side, peer, error),
            (Kind::Closed, TlsSide::Client) => write!(
                f,
                "the server closed the connection in the TLS handshake: if it speaks no TLS, add \
                 --insecure"
            ),
            (Kind::Closed, TlsSide::Server) => {
                write!(f, "the client closed the connection in the TLS handshake")
            }
            (Kind::PlainHttp2, _) => write!(f, "{peer} speaks HTTP/2 without TLS"),
            (Kind::NoProtocol, TlsSide::Client) => write!(
                f,
                "the server did not choose h2 by ALPN: it speaks TLS there, but not HTTP/2"
            ),
            (Kind::NoProtocol, TlsSide::Server) => {
                write!(f, "the client did not offer h2 by ALPN, which HTTP/2 needs")
            }
            (Kind::TimedOut(after), _) => {
                write!(
                    f,
                    "{peer} did not finish the TLS handshake within {after:?}"
                )
            }
            (Kind::Stuck, _) => {
                write!(
                    f,
                    "the receive buffer is full and nothing in it can be used"
                )
            }
        }
    }
}

fn describe(f: &mut fmt::Formatter<'_>, side: TlsSide, peer: &str, error: &Error) -> fmt::Result {
    match error {
        Error::InvalidCertificate(error) => describe_certificate(f, side, peer, error),
        Error::AlertReceived(alert) => describe_alert(f, side, peer, *alert),
        Error::NoCertificatesPresented => write!(f, "the client sent no certificate"),
        Error::NoApplicationProtocol => {
            write!(f, "the client did not offer h2 by ALPN, which HTTP/2 needs")
        }
        Error::InvalidMessage(InvalidMessage::InvalidContentType) if side == TlsSide::Client => {
            write!(f, "the server speaks no TLS: add --insecure")
        }
        Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
            write!(f, "the client speaks no TLS")
        }
        error => write!(f, "TLS with {peer} failed: {error}"),
    }
}

fn describe_certificate(
    f: &mut fmt::Formatter<'_>,
    side: TlsSide,
    peer: &str,
    error: &CertificateError,
) -> fmt::Result {
    match error {
        // By another authority of the same name, the signature is wrong.
        CertificateError::UnknownIssuer | CertificateError::BadSignature
            if side == TlsSide::Client =>
        {
            write!(
                f,
                "the server's certificate is signed by nobody who is trusted here: name its CA with \
             --cacert FILE"
            )
        }
        CertificateError::UnknownIssuer | CertificateError::BadSignature => write!(
            f,
            "the client's certificate is signed by nobody whom --tls-client-ca names"
        ),
        CertificateError::NotValidForNameContext {
            expected,
            presented,
        } => write!(
            f,
            "the server's certificate is not for {}: it is for {}; give the right name with --cname",
            expected.to_str(),
            names(presented)
        ),
        CertificateError::ExpiredContext { time, not_after } => write!(
            f,
            "{peer}'s certificate has expired {} ago",
            between(*not_after, *time)
        ),
        CertificateError::NotValidYetContext { time, not_before } => write!(
            f,
            "{peer}'s certificate is valid in {} only: is the clock right?",
            between(*time, *not_before)
        ),
        error => write!(f, "{peer}'s certificate is of no use: {error}"),
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

fn describe_alert(
    f: &mut fmt::Formatter<'_>,
    side: TlsSide,
    peer: &str,
    alert: AlertDescription,
) -> fmt::Result {
    use AlertDescription as Alert;
    match (alert, side) {
        (Alert::NoApplicationProtocol, TlsSide::Client) => write!(
            f,
            "the server speaks no HTTP/2 over TLS (alert no_application_protocol)"
        ),
        (Alert::CertificateRequired, TlsSide::Client) => write!(
            f,
            "the server demands a client certificate: give one with --cert FILE --key FILE"
        ),
        (
            Alert::UnknownCA
            | Alert::BadCertificate
            | Alert::CertificateUnknown
            | Alert::CertificateExpired
            | Alert::CertificateRevoked
            | Alert::UnsupportedCertificate
            | Alert::AccessDenied,
            _,
        ) => write!(
            f,
            "{peer} does not accept our certificate (alert {alert:?})"
        ),
        (Alert::UnrecognisedName, TlsSide::Client) => write!(
            f,
            "the server has no certificate for that name (alert UnrecognisedName): give another \
             with --cname"
        ),
        _ => write!(f, "{peer} refused TLS (alert {alert:?})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_as_people_write_them() {
        let presented = ["DnsName(\"a.example\")", "IpAddress(127.0.0.1)", "bare"];
        let presented = presented.map(str::to_owned);
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
            let kinds = errors.iter().map(|error| TlsFault::of(side, error.clone()));
            let ours = [
                TlsFault::closed(side),
                TlsFault::plain_http2(side),
                TlsFault::no_protocol(side),
                TlsFault::timed_out(side, 10_000_000_000),
                TlsFault::stuck(side),
            ];
            for fault in kinds.chain(ours) {
                let text = fault.to_string();
                assert!(!text.contains('\n') && text.len() > 20, "{text}");
            }
        }
    }
}
