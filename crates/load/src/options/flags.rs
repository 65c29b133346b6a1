//! The flags as the user wrote them, and the step from there to their meaning.

use super::{
    DurationStop, Format, Io, Options, OptionsError, SchemaSource, Security, Until, Waiting,
    security,
};
use crate::metadata::Metadata;
use crate::payload::{DataSource, Templates};
use crate::plan::Connecting;
use crate::system::reason;
use crate::targets::{Strategy, TargetNames};
use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

/// The flags of `bookend load`, each for itself and nothing decided. `Default` is ghz's default.
#[derive(Clone, Debug, PartialEq)]
pub struct Flags {
    /// The positional argument: one target, or several with commas between them.
    pub target: Option<String>,
    /// `--lb-strategy`
    pub lb_strategy: Option<Strategy>,
    /// `--proto`
    pub proto: Option<PathBuf>,
    /// `--protoset`
    pub protoset: Option<PathBuf>,
    /// `--import-paths`, each a list with commas.
    pub import_paths: Vec<String>,
    /// `--call`
    pub call: Option<String>,
    /// `--insecure`
    pub insecure: bool,
    /// `--skipTLS`
    pub skip_tls: bool,
    /// `--cacert`
    pub cacert: Option<PathBuf>,
    /// `--cert`
    pub cert: Option<PathBuf>,
    /// `--key`
    pub key: Option<PathBuf>,
    /// `--cname`
    pub cname: Option<String>,
    /// `--authority`
    pub authority: Option<String>,
    /// `--connections`
    pub connections: u32,
    /// `--concurrency`
    pub concurrency: u32,
    /// `--total`
    pub total: u64,
    /// `--duration`
    pub duration: Duration,
    /// `--max-duration`
    pub max_duration: Duration,
    /// `--duration-stop`
    pub duration_stop: DurationStop,
    /// `--timeout`
    pub timeout: Duration,
    /// `--first-stream-id`
    pub first_stream_id: u32,
    /// `--warmup`
    pub warmup: Duration,
    /// `--connect-timeout`
    pub connect_timeout: Duration,
    /// `--keepalive`
    pub keepalive: Duration,
    /// `--data`
    pub data: Option<String>,
    /// `--data-file`
    pub data_file: Option<PathBuf>,
    /// `--binary`
    pub binary: bool,
    /// `--binary-file`
    pub binary_file: Option<PathBuf>,
    /// `--metadata`
    pub metadata: Option<String>,
    /// `--metadata-file`
    pub metadata_file: Option<PathBuf>,
    /// `--varying-metadata`
    pub varying_metadata: Option<String>,
    /// `--disable-template-data`
    pub disable_template_data: bool,
    /// `--io`
    pub io: Io,
    /// `--wait`
    pub wait: Waiting,
    /// `--one-shot`
    pub one_shot: bool,
    /// `--connects-in-window`
    pub connects_in_window: bool,
    /// `--threads`
    pub threads: Option<u32>,
    /// `--format`
    pub format: Format,
    /// `--output`
    pub output: Option<PathBuf>,
    /// `--name`
    pub name: Option<String>,
    /// `--tags`
    pub tags: Option<String>,
    /// `--count-errors`
    pub count_errors: bool,
}

impl Default for Flags {
    fn default() -> Flags {
        Flags {
            target: None,
            lb_strategy: None,
            proto: None,
            protoset: None,
            import_paths: Vec::new(),
            call: None,
            insecure: false,
            skip_tls: false,
            cacert: None,
            cert: None,
            key: None,
            cname: None,
            authority: None,
            connections: 1,
            concurrency: 50,
            total: 200,
            duration: Duration::ZERO,
            max_duration: Duration::ZERO,
            duration_stop: DurationStop::Ignore,
            timeout: Duration::from_secs(20),
            first_stream_id: 1,
            warmup: Duration::ZERO,
            connect_timeout: Duration::from_secs(10),
            keepalive: Duration::ZERO,
            data: None,
            data_file: None,
            binary: false,
            binary_file: None,
            metadata: None,
            metadata_file: None,
            varying_metadata: None,
            disable_template_data: false,
            io: Io::Auto,
            wait: Waiting::default(),
            one_shot: false,
            connects_in_window: false,
            threads: None,
            format: Format::Summary,
            output: None,
            name: None,
            tags: None,
            count_errors: false,
        }
    }
}

impl Options {
    /// The meaning of the flags. Reads the file of `--metadata-file`, and the certificates that TLS
    /// needs.
    ///
    /// # Errors
    /// [`OptionsError`] naming the flag to change.
    pub fn from_flags(flags: Flags) -> Result<Options, OptionsError> {
        let targets = read_targets(&flags)?;
        let templates = if flags.disable_template_data {
            Templates::Literal
        } else {
            Templates::Refuse
        };
        let (connections, concurrency) = check_concurrency(&flags)?;
        Ok(Options {
            authority: security::authority(&flags)?,
            schema: choose_schema(&flags),
            data: choose_data(&flags)?,
            templates,
            metadata: read_metadata(&flags, templates)?,
            connecting: choose_connecting(&flags)?,
            connections,
            concurrency,
            until: choose_until(&flags)?,
            timeout: unless_zero(flags.timeout),
            first_stream_id: stream_id(flags.first_stream_id)?,
            warmup: flags.warmup,
            connect_timeout: unless_zero(flags.connect_timeout),
            keepalive: choose_keepalive(&flags)?,
            io: flags.io,
            wait: flags.wait.0,
            threads: flags
                .threads
                .map(|threads| at_least_one("--threads", threads))
                .transpose()?,
            format: flags.format,
            tags: read_tags(&flags)?,
            duration_stop: flags.duration_stop,
            count_errors: flags.count_errors,
            targets,
            strategy: flags.lb_strategy,
            call: flags.call.clone().ok_or(OptionsError::CallMissing)?,
            // Last, because it may read a hundred certificates.
            security: Security::from_flags(&flags)?,
            output: flags.output,
            name: flags.name,
        })
    }
}

fn read_targets(flags: &Flags) -> Result<TargetNames, OptionsError> {
    let text = flags.target.as_deref().unwrap_or_default();
    text.parse().map_err(OptionsError::Target)
}

fn check_concurrency(flags: &Flags) -> Result<(NonZeroU32, NonZeroU32), OptionsError> {
    let connections = at_least_one("--connections", flags.connections)?;
    let concurrency = at_least_one("--concurrency", flags.concurrency)?;
    if flags.one_shot {
        return match connections {
            NonZeroU32::MIN => Ok((concurrency, concurrency)),
            _ if connections == concurrency => Ok((concurrency, concurrency)),
            _ => Err(OptionsError::OneShotConnections {
                connections: flags.connections,
                concurrency: flags.concurrency,
            }),
        };
    }
    if connections > concurrency {
        return Err(OptionsError::ConnectionsIdle {
            connections: flags.connections,
            concurrency: flags.concurrency,
        });
    }
    Ok((connections, concurrency))
}

fn choose_connecting(flags: &Flags) -> Result<Connecting, OptionsError> {
    match (flags.one_shot, flags.connects_in_window) {
        (false, false) => Ok(Connecting::BeforeRun),
        (false, true) => Ok(Connecting::InRun),
        (true, false) => Ok(Connecting::PerCall),
        (true, true) => Err(OptionsError::Conflict {
            one: "--one-shot",
            other: "--connects-in-window",
        }),
    }
}

/// A connection for each call ends with its call, which has a deadline.
fn choose_keepalive(flags: &Flags) -> Result<Option<Duration>, OptionsError> {
    match unless_zero(flags.keepalive) {
        Some(_) if flags.one_shot => Err(OptionsError::Conflict {
            one: "--one-shot",
            other: "--keepalive",
        }),
        time => Ok(time),
    }
}

fn at_least_one(flag: &'static str, number: u32) -> Result<NonZeroU32, OptionsError> {
    NonZeroU32::new(number).ok_or(OptionsError::Zero { flag })
}

fn unless_zero(duration: Duration) -> Option<Duration> {
    Some(duration).filter(|duration| !duration.is_zero())
}

/// ghz's order: `--proto` before `--protoset`, and reflection when there is neither.
fn choose_schema(flags: &Flags) -> SchemaSource {
    let folders = flags.import_paths.iter().flat_map(|list| list.split(','));
    let import_paths = folders.map(str::trim).filter(|folder| !folder.is_empty());
    match (&flags.proto, &flags.protoset) {
        (Some(file), _) => SchemaSource::Proto {
            file: file.clone(),
            import_paths: import_paths.map(PathBuf::from).collect(),
        },
        (None, Some(file)) => SchemaSource::Protoset(file.clone()),
        (None, None) => SchemaSource::Reflection,
    }
}

fn choose_data(flags: &Flags) -> Result<DataSource, OptionsError> {
    let given = [
        ("--data", flags.data.is_some()),
        ("--data-file", flags.data_file.is_some()),
        ("--binary", flags.binary),
        ("--binary-file", flags.binary_file.is_some()),
    ];
    only_one(&given)?;
    Ok(match (&flags.data, &flags.data_file, &flags.binary_file) {
        (Some(text), _, _) if text == "@" => DataSource::JsonInput,
        (Some(text), _, _) if text.trim().is_empty() => DataSource::Nothing,
        (Some(text), _, _) => DataSource::Json(text.clone()),
        (None, Some(file), _) => DataSource::JsonFile(file.clone()),
        (None, None, Some(file)) => DataSource::BinaryFile(file.clone()),
        (None, None, None) if flags.binary => DataSource::BinaryInput,
        (None, None, None) => DataSource::Nothing,
    })
}

fn only_one(flags: &[(&'static str, bool)]) -> Result<(), OptionsError> {
    let mut given = flags
        .iter()
        .filter(|(_, given)| *given)
        .map(|(flag, _)| *flag);
    match (given.next(), given.next()) {
        (Some(one), Some(other)) => Err(OptionsError::Conflict { one, other }),
        _ => Ok(()),
    }
}

fn read_metadata(flags: &Flags, templates: Templates) -> Result<Metadata, OptionsError> {
    only_one(&[
        ("--metadata", flags.metadata.is_some()),
        ("--metadata-file", flags.metadata_file.is_some()),
    ])?;
    let (text, place) = match (&flags.metadata, &flags.metadata_file) {
        (Some(text), _) => (text.clone(), "--metadata".to_owned()),
        (None, Some(file)) => {
            let text = fs::read_to_string(file).map_err(|error| OptionsError::Unreadable {
                file: file.clone(),
                reason: reason(&error),
            })?;
            (text, file.display().to_string())
        }
        (None, None) => ("{}".to_owned(), String::new()),
    };
    let varying = flags.varying_metadata.as_deref();
    Metadata::from_json(&text, &place, varying, templates).map_err(OptionsError::Metadata)
}

fn read_tags(flags: &Flags) -> Result<BTreeMap<String, String>, OptionsError> {
    let text = flags.tags.as_deref().unwrap_or("{}");
    serde_json::from_str(text).map_err(|error| OptionsError::Tags {
        reason: error.to_string(),
    })
}

fn choose_until(flags: &Flags) -> Result<Until, OptionsError> {
    let until = match (unless_zero(flags.duration), unless_zero(flags.max_duration)) {
        (Some(_), Some(_)) => {
            return Err(OptionsError::Conflict {
                one: "--duration",
                other: "--max-duration",
            });
        }
        (Some(elapsed), None) => Until::Elapsed(elapsed),
        (None, Some(elapsed)) => Until::Either {
            calls: flags.total,
            elapsed,
        },
        (None, None) => Until::Calls(flags.total),
    };
    match until.calls() {
        Some(0) => Err(OptionsError::Zero { flag: "--total" }),
        _ => Ok(until),
    }
}

/// Clients open streams with odd ids below 2^31 (RFC 9113 section 5.1.1).
fn stream_id(id: u32) -> Result<u32, OptionsError> {
    match id % 2 == 1 && id < 1 << 31 {
        true => Ok(id),
        false => Err(OptionsError::FirstStreamId { id }),
    }
}
