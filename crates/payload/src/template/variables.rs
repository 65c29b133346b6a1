//! What a template may ask of its call: ghz's variables and the functions whose value differs from
//! call to call.

use super::encoding::write_integer;
use bookend_contract::timestamp::Timestamp;
use prost_reflect::MethodDescriptor;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use uuid::Builder;
use uuid::fmt::Hyphenated;

/// The letters of ghz's random strings.
const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
/// The length of a random string of which none is given, as in ghz.
const RANDOM_LENGTH: std::ops::RangeInclusive<usize> = 2..=16;

/// What differs from call to call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallFacts<'a> {
    /// The call's number in the run, from 0.
    pub number: u64,
    /// The name of the run, or empty.
    pub run_name: &'a str,
    /// The number of the connection that carries it.
    pub connection: u32,
    /// Its place among the calls in flight on that connection.
    pub place: u32,
}

/// A variable or a function of ghz's whose value differs from call to call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variable {
    /// `.RequestNumber`
    RequestNumber,
    /// `.WorkerID`: `g` and the call's place on its connection, `c` and the connection's number.
    WorkerId,
    /// `.Timestamp`: RFC 3339 in UTC, to the second.
    Timestamp,
    /// `.TimestampUnix`
    TimestampUnix,
    /// `.TimestampUnixMilli`
    TimestampUnixMilli,
    /// `.TimestampUnixNano`
    TimestampUnixNano,
    /// `.UUID` and `newUUID`
    Uuid,
    /// `randomString LENGTH`; where that is not above zero, between 2 and 16.
    RandomString(i64),
    /// `randomInt MIN MAX`: at least the one, below the other.
    RandomInt(i64, i64),
}

impl Variable {
    /// The variables that have a field's name.
    pub const FIELDS: [(&'static str, Self); 7] = [
        ("RequestNumber", Self::RequestNumber),
        ("WorkerID", Self::WorkerId),
        ("Timestamp", Self::Timestamp),
        ("TimestampUnix", Self::TimestampUnix),
        ("TimestampUnixMilli", Self::TimestampUnixMilli),
        ("TimestampUnixNano", Self::TimestampUnixNano),
        ("UUID", Self::Uuid),
    ];

    /// The variable of that field.
    pub fn of_field(name: &str) -> Option<Self> {
        Self::FIELDS.iter().find(|(known, _)| *known == name).map(|(_, variable)| *variable)
    }

    /// Its value, where that is a number.
    #[inline]
    pub fn number(self, facts: &CallFacts<'_>) -> Option<i64> {
        Some(match self {
            Self::RequestNumber => facts.number as i64,
            Self::TimestampUnix => since_1970().as_secs() as i64,
            Self::TimestampUnixMilli => since_1970().as_millis() as i64,
            Self::TimestampUnixNano => since_1970().as_nanos() as i64,
            Self::RandomInt(from, before) => fastrand::i64(from..before),
            Self::WorkerId | Self::Timestamp | Self::Uuid | Self::RandomString(_) => return None,
        })
    }

    /// Appends its value as text.
    #[inline]
    pub fn write(self, facts: &CallFacts<'_>, text: &mut Vec<u8>) {
        if let Some(number) = self.number(facts) {
            return write_integer(number, text);
        }
        match self {
            Self::WorkerId => write_worker_id(facts, text),
            Self::Uuid => write_uuid(text),
            Self::RandomString(length) => write_random_string(length, text),
            _ => text.extend_from_slice(Timestamp::from(SystemTime::now()).to_string().as_bytes()),
        }
    }
}

fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

fn write_worker_id(facts: &CallFacts<'_>, text: &mut Vec<u8>) {
    if !facts.run_name.is_empty() {
        text.extend_from_slice(facts.run_name.as_bytes());
        text.push(b':');
    }
    text.push(b'g');
    write_integer(i64::from(facts.place), text);
    text.push(b'c');
    write_integer(i64::from(facts.connection), text);
}

fn write_uuid(text: &mut Vec<u8>) {
    let uuid = Builder::from_random_bytes(fastrand::u128(..).to_ne_bytes()).into_uuid();
    let mut digits = [0; Hyphenated::LENGTH];
    text.extend_from_slice(uuid.hyphenated().encode_lower(&mut digits).as_bytes());
}

fn write_random_string(length: i64, text: &mut Vec<u8>) {
    let length = match usize::try_from(length) {
        Ok(length) if length > 0 => length,
        _ => fastrand::usize(RANDOM_LENGTH),
    };
    text.extend((0..length).map(|_| LETTERS[fastrand::usize(..LETTERS.len())]));
}

/// The variables of a method, which are the same in every call, as Go prints them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MethodFacts {
    /// Names with their values.
    pub texts: [(&'static str, String); 5],
    /// Names with their values.
    pub flags: [(&'static str, bool); 2],
}

impl MethodFacts {
    pub fn new(method: &MethodDescriptor) -> Self {
        Self {
            texts: [
                ("FullyQualifiedName", method.full_name().to_owned()),
                ("MethodName", method.name().to_owned()),
                ("ServiceName", method.parent_service().name().to_owned()),
                ("InputName", method.input().name().to_owned()),
                ("OutputName", method.output().name().to_owned()),
            ],
            flags: [
                ("IsClientStreaming", method.is_client_streaming()),
                ("IsServerStreaming", method.is_server_streaming()),
            ],
        }
    }

    /// The value of one of them, as Go prints it.
    pub fn text(&self, name: &str) -> Option<String> {
        let text = self.texts.iter().find(|(known, _)| *known == name);
        let flag = self.flags.iter().find(|(known, _)| *known == name);
        text.map(|(_, text)| text.clone()).or_else(|| flag.map(|(_, flag)| flag.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(variable: Variable, facts: &CallFacts<'_>) -> String {
        let mut text = Vec::new();
        variable.write(facts, &mut text);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn a_worker_has_the_name_of_the_run_in_front() {
        let facts = CallFacts { number: 7, run_name: "", connection: 3, place: 2 };
        assert_eq!(written(Variable::WorkerId, &facts), "g2c3");
        let named = CallFacts { run_name: "night", ..facts };
        assert_eq!(written(Variable::WorkerId, &named), "night:g2c3");
        assert_eq!(written(Variable::RequestNumber, &facts), "7");
    }

    #[test]
    fn random_values_keep_to_their_limits() {
        let facts = CallFacts::default();
        for _ in 0..1_000 {
            let number: i64 = written(Variable::RandomInt(-2, 3), &facts).parse().unwrap();
            assert!((-2..3).contains(&number));
            assert_eq!(written(Variable::RandomString(5), &facts).len(), 5);
            assert!(RANDOM_LENGTH.contains(&written(Variable::RandomString(0), &facts).len()));
        }
    }

    #[test]
    fn a_uuid_is_of_version_4_and_another_each_time() {
        let facts = CallFacts::default();
        let first = written(Variable::Uuid, &facts);
        assert_eq!((first.len(), &first[14..15]), (36, "4"));
        assert_ne!(first, written(Variable::Uuid, &facts));
    }

    #[test]
    fn times_are_of_now() {
        let facts = CallFacts::default();
        let before = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let nanoseconds = Variable::TimestampUnixNano.number(&facts).unwrap();
        assert!(nanoseconds as u128 >= before.as_nanos());
        assert_eq!(written(Variable::Timestamp, &facts).len(), "2024-01-31T00:00:00Z".len());
    }
}
