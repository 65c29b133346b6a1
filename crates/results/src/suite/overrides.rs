//! The environment variables of grpc_bench, so that its command lines have the same meaning here.

use super::{parse_duration, parse_size};
use crate::declaration::nearest_word;
use std::collections::BTreeMap;
use std::time::Duration;

/// Declares each variable of grpc_bench once: its place in [`Overrides`], its name, and how its
/// value is read.
macro_rules! overrides {
    ($($(#[$doc:meta])* $place:ident: $kind:ty, $name:literal, $read:ident;)+) => {
        /// The settings from the environment. `None`: not set.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Overrides {
            $($(#[$doc])* pub $place: Option<$kind>,)+
            /// All of them that are set, as they were written.
            pub variables: BTreeMap<String, String>,
        }

        const VARIABLES: &[&str] = &[$($name,)+];

        impl Overrides {
            /// Takes the value of a variable. `None`: no variable has that name.
            fn set(&mut self, name: &str, value: &str) -> Option<Result<(), String>> {
                match name {
                    $($name => Some($read(value).map(|value| self.$place = Some(value))),)+
                    _ => None,
                }
            }
        }
    };
}

overrides! {
    /// `GRPC_BENCHMARK_DURATION`: length of the window.
    window: Duration, "GRPC_BENCHMARK_DURATION", window;
    /// `GRPC_BENCHMARK_WARMUP`: length of the warm-up.
    warmup: Duration, "GRPC_BENCHMARK_WARMUP", duration;
    /// `GRPC_SERVER_CPUS`; a fraction is a share of CPU time.
    server_cpus: f64, "GRPC_SERVER_CPUS", cpus;
    /// `GRPC_SERVER_RAM`, bytes.
    server_memory_bytes: u64, "GRPC_SERVER_RAM", size;
    /// `GRPC_CLIENT_CONNECTIONS`: C.
    connections: u32, "GRPC_CLIENT_CONNECTIONS", whole;
    /// `GRPC_CLIENT_CONCURRENCY`: S.
    concurrency: u32, "GRPC_CLIENT_CONCURRENCY", whole;
    /// `GRPC_CLIENT_QPS`: calls a second; 0 means as many as possible.
    rate: u32, "GRPC_CLIENT_QPS", whole;
    /// `GRPC_CLIENT_CPUS`: CPUs of the generator.
    client_cpus: f64, "GRPC_CLIENT_CPUS", cpus;
    /// `GRPC_REQUEST_SCENARIO`: the name of a service definition.
    scenario: String, "GRPC_REQUEST_SCENARIO", word;
    /// `GRPC_GHZ_TAG`: the version of ghz.
    ghz_version: String, "GRPC_GHZ_TAG", word;
}

/// Prefixes of names that belong to grpc_bench. Other names that begin with `GRPC_` (such as
/// `GRPC_TRACE`) belong to the libraries under test and are ignored.
const PREFIXES: [&str; 5] =
    ["GRPC_BENCHMARK_", "GRPC_SERVER_", "GRPC_CLIENT_", "GRPC_REQUEST_", "GRPC_GHZ_"];

impl Overrides {
    /// Reads the variables from an environment; an empty value counts as not set.
    ///
    /// # Errors
    /// When a value cannot be read, or a name looks like one of grpc_bench's but is unknown.
    pub fn from_environment(
        environment: impl IntoIterator<Item = (impl AsRef<str>, impl AsRef<str>)>,
    ) -> Result<Self, OverrideError> {
        let mut overrides = Self::default();
        for (name, value) in environment {
            let (name, value) = (name.as_ref(), value.as_ref().trim());
            if value.is_empty() || !PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
                continue;
            }
            overrides.apply(name, value)?;
            overrides.variables.insert(name.to_owned(), value.to_owned());
        }
        Ok(overrides)
    }

    fn apply(&mut self, name: &str, value: &str) -> Result<(), OverrideError> {
        let variable = name.to_owned();
        match self.set(name, value) {
            Some(taken) => taken.map_err(|reason| OverrideError::Malformed { variable, reason }),
            None => {
                let nearest = nearest_word(name, VARIABLES.iter().copied()).map(str::to_owned);
                Err(OverrideError::Unknown { variable, nearest })
            }
        }
    }
}

fn window(text: &str) -> Result<Duration, String> {
    let window = duration(text)?;
    let message = "the window must have a length";
    (!window.is_zero()).then_some(window).ok_or_else(|| message.to_owned())
}

fn duration(text: &str) -> Result<Duration, String> {
    parse_duration(text).map_err(|error| error.to_string())
}

fn size(text: &str) -> Result<u64, String> {
    parse_size(text).map_err(|error| error.to_string())
}

fn word(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

fn whole(text: &str) -> Result<u32, String> {
    let reason = |_| format!("`{text}` is not a whole number from 0 to {}", u32::MAX);
    text.parse().map_err(reason)
}

fn cpus(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|&n: &f64| n.is_finite() && n > 0.0)
        .ok_or_else(|| format!("`{text}` is not a number of CPUs: write 1 or 0.5"))
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
    format!("one of: {}", VARIABLES.join(", "))
}
