//! A point of the grid, and how it is written.

use bookend_contract::transport::Transport;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// More streams in flight than one machine can hold; ten times the largest published cell.
pub const CONCURRENCY_MAX: u32 = 1_000_000;

/// More calls in one window than anyone would wait for; a guard against typing errors.
pub const CALLS_MAX: u64 = 1_000_000_000;

/// The word for a new connection for each call.
const PER_CALL: &str = "per-call";

/// The prefix of the word for a fixed number of calls.
const CALLS: &str = "calls=";

/// A point of the grid. `Display` and `FromStr` use the form `C=1 S=100`, followed where applicable
/// by the transport, `per-call` and `calls=10000`, in this order. The default transport is `h2c`,
/// which is accepted but not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Case {
    /// C: connections.
    pub connections: u32,
    /// S: total streams in flight.
    pub concurrency: u32,
    /// Every call opens and closes its own connection, which its latency includes.
    pub connection_per_call: bool,
    /// The window lasts until this many calls have ended. `None`: as long as the schedule says.
    pub calls: Option<u64>,
    /// The transport of the connections.
    pub transport: Transport,
}

impl Case {
    /// Makes a case, in which every connection must carry at least one stream.
    ///
    /// # Errors
    /// When a number is 0 or absurdly large, or there are fewer streams than connections.
    pub fn new(connections: u32, concurrency: u32) -> Result<Self, CaseError> {
        let case = Self {
            connections,
            concurrency,
            connection_per_call: false,
            calls: None,
            transport: Transport::H2c,
        };
        if connections == 0 || concurrency < connections {
            return Err(CaseError::TooFewStreams(case));
        }
        if concurrency > CONCURRENCY_MAX {
            return Err(CaseError::TooManyStreams(case));
        }
        Ok(case)
    }

    /// The same case with a new connection for each call.
    ///
    /// # Errors
    /// When there are more streams than connections: each call in flight needs its own connection.
    pub fn per_call(self) -> Result<Self, CaseError> {
        let case = Self { connection_per_call: true, ..self };
        let has_enough = self.connections == self.concurrency;
        has_enough.then_some(case).ok_or(CaseError::SharedConnections(self))
    }

    /// The same case over another transport.
    pub fn over(self, transport: Transport) -> Self {
        Self { transport, ..self }
    }

    /// The same case on connections that outlive their calls.
    pub fn lasting(self) -> Self {
        Self { connection_per_call: false, ..self }
    }

    /// The same case, lasting until `calls` calls have ended.
    ///
    /// # Errors
    /// When there are fewer calls than streams, or absurdly many.
    pub fn with_calls(self, calls: u64) -> Result<Self, CaseError> {
        let case = Self { calls: Some(calls), ..self };
        let is_sane = (u64::from(self.concurrency)..=CALLS_MAX).contains(&calls);
        is_sane.then_some(case).ok_or(CaseError::Calls(case))
    }

    /// Everything except the connections, for a heading below theirs: `S=5000 calls=10000`. In
    /// tables that have several transports it is written even where it is the default:
    /// `S=5000 h2c calls=10000`.
    pub fn streams(&self, always_transport: bool) -> String {
        let is_written = always_transport || self.transport != Transport::H2c;
        let mut words = vec![format!("S={}", self.concurrency)];
        words.extend(is_written.then(|| self.transport.to_string()));
        words.extend(self.connection_per_call.then(|| PER_CALL.to_owned()));
        words.extend(self.calls.map(|calls| format!("{CALLS}{calls}")));
        words.join(" ")
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "C={} {}", self.connections, self.streams(false))
    }
}

impl From<Case> for String {
    fn from(case: Case) -> Self {
        case.to_string()
    }
}

impl TryFrom<String> for Case {
    type Error = CaseError;

    fn try_from(text: String) -> Result<Self, CaseError> {
        text.parse()
    }
}

impl FromStr for Case {
    type Err = CaseError;

    fn from_str(text: &str) -> Result<Self, CaseError> {
        let malformed = || CaseError::Malformed(text.to_owned());
        let mut words = text.split(' ').peekable();
        let mut number = |letter| {
            words
                .next()
                .and_then(|word| word.strip_prefix(letter))
                .and_then(digits_only)
                .ok_or_else(malformed)
        };
        let (connections, concurrency) = (number("C=")?, number("S=")?);
        let narrow = |number| u32::try_from(number).map_err(|_| malformed());
        let mut case = Self::new(narrow(connections)?, narrow(concurrency)?)?;
        if let Some(transport) = words.peek().and_then(|word| word.parse().ok()) {
            case = case.over(transport);
            words.next();
        }
        if words.next_if_eq(&PER_CALL).is_some() {
            case = case.per_call()?;
        }
        if let Some(word) = words.next() {
            let calls = word.strip_prefix(CALLS).and_then(digits_only).ok_or_else(malformed);
            case = case.with_calls(calls?)?;
        }
        words.next().map_or(Ok(case), |_| Err(malformed()))
    }
}

/// `u64::from_str` would accept a leading plus sign.
fn digits_only(text: &str) -> Option<u64> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

/// Why a case is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CaseError {
    /// Not of the form `C=1 S=100`.
    #[error(
        "`{0}` is not a case: write C=1 S=100, then h2c, tls or unix, per-call and calls=10000 \
         where they are meant"
    )]
    Malformed(String),
    /// There are no connections, or there is a connection without a stream.
    #[error(
        "{0}: there must be at least one connection, and a stream for each (S counts the streams \
         of all connections)"
    )]
    TooFewStreams(Case),
    /// More than [`CONCURRENCY_MAX`].
    #[error("{0}: at most {most} streams can be in flight", most = CONCURRENCY_MAX)]
    TooManyStreams(Case),
    /// A new connection for each call, but fewer connections than calls in flight.
    #[error(
        "{0}: with a connection a call there are as many connections as calls in flight, \
         connections = \"concurrency\""
    )]
    SharedConnections(Case),
    /// Fewer calls than streams, or more than [`CALLS_MAX`].
    #[error("{0}: give at least as many calls as are in flight, at most {most}", most = CALLS_MAX)]
    Calls(Case),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Case, CaseError> {
        text.parse()
    }

    #[test]
    fn every_form_reads_as_it_is_written() {
        for text in [
            "C=1 S=100",
            "C=10 S=10 per-call",
            "C=1 S=5000 calls=10000",
            "C=50 S=50 per-call calls=50",
            "C=1 S=100 tls",
            "C=10 S=10 unix per-call calls=50",
        ] {
            assert_eq!(read(text).map(|case| case.to_string()), Ok(text.to_owned()));
        }
        let whole = read("C=50 S=50 per-call calls=60").expect("a case");
        assert_eq!((whole.connections, whole.concurrency), (50, 50));
        assert_eq!((whole.connection_per_call, whole.calls), (true, Some(60)));
    }

    #[test]
    fn plain_text_goes_without_saying_and_may_be_said() {
        let plain = read("C=1 S=5 h2c calls=7").expect("a case");
        assert_eq!(Ok(plain), read("C=1 S=5 calls=7"));
        assert_eq!(plain.to_string(), "C=1 S=5 calls=7");
        assert_eq!(plain.streams(true), "S=5 h2c calls=7");
        let tls = plain.over(Transport::Tls);
        assert_eq!(tls.to_string(), "C=1 S=5 tls calls=7");
        assert_eq!(read("C=4 S=4 per-call").map(Case::lasting), read("C=4 S=4"));
    }

    #[test]
    fn what_is_no_case_is_refused() {
        for text in [
            "",
            "C=1",
            "S=1 C=1",
            "C=1 S=+1",
            "C=1  S=1",
            "C=1 S=1 ",
            "C=1 S=1 percall",
            "C=1 S=1 calls=",
            "C=1 S=1 calls=-1",
            "C=1 S=1 calls=5 per-call",
            "C=1 S=1 per-call tls",
            "C=1 S=1 tls unix",
            "C=1 S=1 TLS",
            "C=1 S=1 calls=5 calls=5",
            "C=1 S=4294967296",
        ] {
            assert_eq!(read(text), Err(CaseError::Malformed(text.to_owned())));
        }
    }

    #[test]
    fn words_that_contradict_the_numbers_are_refused() {
        let error = |text| read(text).expect_err("must be refused");
        assert!(matches!(error("C=1 S=2 per-call"), CaseError::SharedConnections(_)));
        assert!(matches!(error("C=1 S=9 calls=8"), CaseError::Calls(_)));
        assert!(matches!(error("C=1 S=1 calls=9999999999"), CaseError::Calls(_)));
        assert!(matches!(error("C=2 S=1"), CaseError::TooFewStreams(_)));
    }
}
