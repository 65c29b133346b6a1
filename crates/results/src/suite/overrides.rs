//! The environment variables of grpc_bench, so that its command lines have the same meaning here.

use super::{UnitError, parse_duration, parse_size};
use crate::declaration::nearest_word;
use std::time::Duration;

/// The settings from the environment. `None`: not set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides {
    /// `GRPC_BENCHMARK_DURATION`: length of the window.
    pub window: Option<Duration>,
    /// `GRPC_BENCHMARK_WARMUP`: length of the warm-up.
    pub warmup: Option<Duration>,
    /// `GRPC_SERVER_CPUS`; a fraction is a share of CPU time.
    pub server_cpus: Option<f64>,
    /// `GRPC_SERVER_RAM`, bytes.
    pub server_memory_bytes: Option<u64>,
    /// `GRPC_CLIENT_CONNECTIONS`: C.
    pub connections: Option<u32>,
    /// `GRPC_CLIENT_CONCURRENCY`: S.
    pub concurrency: Option<u32>,
    /// `GRPC_CLIENT_QPS`: calls a second; 0 means as many as possible.
    pub rate: Option<u32>,
    /// `GRPC_CLIENT_CPUS`: CPUs of the generator.
    pub client_cpus: Option<f64>,
    /// `GRPC_REQUEST_SCENARIO`: the name of a service definition.
    pub scenario: Option<String>,
    /// `GRPC_GHZ_TAG`: the version of ghz.
    pub ghz_version: Option<String>,
}

/// A variable that configures grpc_bench, and its place in [`Overrides`].
type Variable = (&'static str, fn(&mut Overrides, &str) -> Result<(), String>);

const VARIABLES: [Variable; 10] = [
    ("GRPC_BENCHMARK_DURATION", |all, text| {
        all.window = Some(window(text)?);
        Ok(())
    }),
    ("GRPC_BENCHMARK_WARMUP", |all, text| {
        all.warmup = Some(parse_duration(text).map_err(said)?);
        Ok(())
    }),
    ("GRPC_SERVER_CPUS", |all, text| {
        all.server_cpus = Some(cpus(text)?);
        Ok(())
    }),
    ("GRPC_SERVER_RAM", |all, text| {
        all.server_memory_bytes = Some(parse_size(text).map_err(said)?);
        Ok(())
    }),
    ("GRPC_CLIENT_CONNECTIONS", |all, text| {
        all.connections = Some(whole(text)?);
        Ok(())
    }),
    ("GRPC_CLIENT_CONCURRENCY", |all, text| {
        all.concurrency = Some(whole(text)?);
        Ok(())
    }),
    ("GRPC_CLIENT_QPS", |all, text| {
        all.rate = Some(whole(text)?);
        Ok(())
    }),
    ("GRPC_CLIENT_CPUS", |all, text| {
        all.client_cpus = Some(cpus(text)?);
        Ok(())
    }),
    ("GRPC_REQUEST_SCENARIO", |all, text| {
        all.scenario = Some(text.to_owned());
        Ok(())
    }),
    ("GRPC_GHZ_TAG", |all, text| {
        all.ghz_version = Some(text.to_owned());
        Ok(())
    }),
];

/// Prefixes of names that belong to grpc_bench. Other names that begin with `GRPC_` (such as
/// `GRPC_TRACE`) belong to the libraries under test and are ignored.
const PREFIXES: [&str; 5] =
    ["GRPC_BENCHMARK_", "GRPC_SERVER_", "GRPC_CLIENT_", "GRPC_REQUEST_", "GRPC_GHZ_"];

impl Overrides {
    /// Reads the variables from an environment; an empty value counts as not set.
    ///
    /// # Errors
    /// When a value cannot be read, or a name looks like one of grpc_bench's but is unknown.
    pub fn from_environment<K, V>(
        environment: impl IntoIterator<Item = (K, V)>,
    ) -> Result<Self, OverrideError>
    where
        K: AsRef<str>,
        V: AsRef<str>,
    {
        let mut overrides = Self::default();
        for (name, value) in environment {
            let (name, value) = (name.as_ref(), value.as_ref().trim());
            if value.is_empty() || !PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
                continue;
            }
            overrides.apply(name, value)?;
        }
        Ok(overrides)
    }

    fn apply(&mut self, name: &str, value: &str) -> Result<(), OverrideError> {
        let Some((_, set)) = VARIABLES.iter().find(|(known, _)| *known == name) else {
            let known = VARIABLES.iter().map(|(known, _)| *known);
            return Err(OverrideError::Unknown {
                variable: name.to_owned(),
                nearest: nearest_word(name, known).map(str::to_owned),
            });
        };
        set(self, value)
            .map_err(|reason| OverrideError::Malformed { variable: name.to_owned(), reason })
    }
}

fn said(error: UnitError) -> String {
    error.to_string()
}

fn window(text: &str) -> Result<Duration, String> {
    let window = parse_duration(text).map_err(said)?;
    if window.is_zero() {
        return Err("the window must have a length".to_owned());
    }
    Ok(window)
}

fn whole(text: &str) -> Result<u32, String> {
    let reason = |_| format!("`{text}` is not a whole number from 0 to {}", u32::MAX);
    text.parse().map_err(reason)
}

fn cpus(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|&n: &f64| n.is_finite() && n > 0.0);
    number.ok_or_else(|| format!("`{text}` is not a number of CPUs: write 1 or 0.5"))
}

/// Why the environment cannot be applied. The user can always correct it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OverrideError {
    /// A value cannot be read.
    #[error("{variable}: {reason}")]
    Malformed {
        /// The variable.
        variable: String,
        /// What is wrong and what to write instead.
        reason: String,
    },
    /// The variable looks like one of grpc_bench's but is unknown.
    #[error("{variable} is not {}", instead(nearest.as_deref()))]
    Unknown {
        /// The name as it stands in the environment.
        variable: String,
        /// The variable that was probably meant.
        nearest: Option<String>,
    },
}

/// Ends the sentence about an unknown variable.
fn instead(nearest: Option<&str>) -> String {
    if let Some(word) = nearest {
        return format!("a variable of grpc_bench, did you mean {word}?");
    }
    let known: Vec<&str> = VARIABLES.iter().map(|(known, _)| *known).collect();
    format!("one of: {}", known.join(", "))
}
