//! The flags of `bookend load` and `bookend probe` as they are typed, each for itself: ghz's first,
//! then ours. [`CallOptions`](crate::options::CallOptions) and [`LoadPlan`](crate::plan::LoadPlan)
//! are what they mean. Each flag has its name, its default and its help here and nowhere else.

pub mod config_file;
pub mod files;
mod number;
pub mod pacing;
pub mod streaming;
pub mod switches;
pub mod thrift;

pub use number::whole;

use crate::error_text::{choice, choose};
use crate::live::LiveFormat;
use crate::objective::Objective;
use crate::output::{OutputFormat, UnknownEnding};
use crate::plan::DurationStop;
use crate::targets::LoadBalancingPolicy;
use bookend_contract::duration;
use bookend_io::tls::TlsAdvice;
use bookend_io::{Io, Wait};
use clap::{Args, Command, FromArgMatches};
use pacing::PacingFlags;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use streaming::StreamingFlags;
use thrift::ThriftFlags;

/// The flags for TLS of `bookend load` and `bookend probe`.
static TLS_FLAGS: TlsAdvice = TlsAdvice {
    encrypt: "leave --insecure out",
    plain_text: "add --insecure",
    authorities: "--cacert FILE",
    server_name: "--cname",
    identity: "--cert FILE --key FILE",
    any_certificate: "--skipTLS",
};

/// What is called, where, over which transport and with which message. `bookend load` and
/// `bookend probe` have these in common.
#[derive(Args, Clone, Debug, PartialEq)]
pub struct CallFlags {
    /// Where the servers listen: HOST:PORT, dns:///HOST:PORT, unix:PATH; several get the
    /// connections in turn
    #[arg(value_name = "TARGET")]
    pub targets: Vec<String>,

    /// The .proto file; without it and --protoset the server is asked by reflection
    #[arg(long, value_name = "FILE")]
    pub proto: Option<PathBuf>,
    /// The compiled descriptor set
    #[arg(long, value_name = "FILE")]
    pub protoset: Option<PathBuf>,
    /// Folders for imports, separated by commas
    #[arg(short, long, value_name = "LIST")]
    pub import_paths: Vec<OsString>,
    /// The method, as pkg.Service/Method or pkg.Service.Method
    #[arg(long = "call", value_name = "METHOD")]
    pub method: Option<String>,

    /// Plain text instead of TLS
    #[arg(long)]
    pub insecure: bool,
    /// TLS: the authorities that may sign the server's certificate [default: this machine's]
    #[arg(long, value_name = "FILE")]
    pub cacert: Option<PathBuf>,
    /// TLS: the client's own certificate, with --key
    #[arg(long, value_name = "FILE")]
    pub cert: Option<PathBuf>,
    /// TLS: the key of --cert
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// TLS: the name that the server's certificate is for, and the :authority
    #[arg(long, value_name = "NAME")]
    pub cname: Option<String>,
    /// TLS: accept any certificate, even that of an attacker in between
    #[arg(long = "skipTLS")]
    pub skip_tls: bool,
    /// What the command calls its flags for TLS where they help.
    #[arg(skip = &TLS_FLAGS)]
    pub tls_advice: &'static TlsAdvice,
    /// The :authority of every request [default: the target]
    #[arg(long, value_name = "NAME")]
    pub authority: Option<String>,

    /// The request as JSON; an array is several, sent in turn; @ is standard input
    #[arg(short, long, value_name = "JSON")]
    pub data: Option<String>,
    /// The request as JSON in a file; - is standard input
    #[arg(short = 'D', long, value_name = "FILE")]
    pub data_file: Option<PathBuf>,
    /// The request, serialized, on standard input
    #[arg(short, long)]
    pub binary: bool,
    /// The request, serialized, in a file; - is standard input
    #[arg(short = 'B', long, value_name = "FILE")]
    pub binary_file: Option<PathBuf>,
    /// Metadata of every call, a JSON object of strings
    #[arg(short, long, value_name = "JSON")]
    pub metadata: Option<String>,
    /// Metadata of every call in a file
    #[arg(short = 'M', long, value_name = "FILE")]
    pub metadata_file: Option<PathBuf>,
    /// Send {{ in data and metadata as it stands
    #[arg(long)]
    pub disable_template_data: bool,
    /// Let templates in data and metadata call no functions
    #[arg(long)]
    pub disable_template_functions: bool,

    /// Metadata of the calls that ask for the schema by reflection, a JSON object of strings
    /// [default: that of the calls]
    #[arg(long, value_name = "JSON")]
    pub reflect_metadata: Option<String>,

    /// Show secrets in results: the values of names such as authorization, cookie or api-key
    #[arg(long)]
    pub show_secrets: bool,

    /// Deadline of each call, 0 is none
    #[arg(short, long, value_name = "TIME", value_parser = duration::parse, default_value = "20s")]
    pub timeout: Duration,
    /// How long a connection may take to be made, 0 is as long as the system allows
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "10s")]
    pub connect_timeout: Duration,
}

impl CallFlags {
    /// The folders of `--import-paths`.
    pub fn import_folders(&self) -> Vec<PathBuf> {
        self.import_paths
            .iter()
            .flat_map(|list| list.as_bytes().split(|byte| *byte == b','))
            .map(<[u8]>::trim_ascii)
            .filter(|folder| !folder.is_empty())
            .map(|folder| OsStr::from_bytes(folder).into())
            .collect()
    }

    /// Whether the request is read from standard input.
    pub fn reads_standard_input(&self) -> bool {
        let mut files = self.data_file.iter().chain(&self.binary_file);
        self.binary
            || self.data.as_deref() == Some("@")
            || files.any(|file| is_standard_input(file))
    }
}

/// `-D @` is `-d @`, and most programs write `-`.
pub(crate) fn is_standard_input(file: &Path) -> bool {
    file == Path::new("-") || file == Path::new("@")
}

/// All flags of `bookend load`.
#[derive(Args, Clone, Debug, PartialEq)]
pub struct LoadFlags {
    /// Those about the call.
    #[command(flatten)]
    pub call: CallFlags,
    /// Addresses of a name: round_robin is all of them, pick_first the first that answers
    /// [default: round_robin for dns:]
    #[arg(long, value_name = "STRATEGY")]
    pub lb_strategy: Option<LoadBalancingPolicy>,

    /// More flags from a file, in JSON, TOML or YAML; those that are typed hold
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Calls in flight over all connections
    #[arg(
        short, long, value_name = "N", value_parser = whole::<u32>, default_value_t = 50,
        allow_negative_numbers = true
    )]
    pub concurrency: u32,
    /// Connections
    #[arg(
        long, value_name = "N", value_parser = whole::<u32>, default_value_t = 1,
        allow_negative_numbers = true
    )]
    pub connections: u32,
    /// Those that say when calls are made.
    #[command(flatten)]
    pub pacing: PacingFlags,

    /// Those about streams.
    #[command(flatten)]
    pub streaming: StreamingFlags,

    /// Those about calls by Thrift.
    #[command(flatten)]
    pub thrift: ThriftFlags,

    /// Compress request messages by gzip, and accept compressed responses
    #[arg(short, long)]
    pub enable_compression: bool,
    /// Fail calls whose response message is larger, such as 10mb
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub max_recv_message_size: Option<u64>,
    /// Refuse request messages that are larger, such as 10mb
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub max_send_message_size: Option<u64>,

    /// Calls in all
    #[arg(
        short = 'n', long, value_name = "N", value_parser = whole::<u64>, default_value_t = 200,
        allow_negative_numbers = true
    )]
    pub total: u64,
    /// How long to run; replaces --total
    #[arg(short = 'z', long, value_name = "TIME", value_parser = duration::parse)]
    pub duration: Option<Duration>,
    /// How long to run at most, instead of --duration; --total still holds without that
    #[arg(short = 'x', long, value_name = "TIME", value_parser = duration::parse)]
    pub max_duration: Option<Duration>,
    /// Calls in flight when the time is up: close, wait, ignore
    #[arg(
        long, value_name = "HOW", value_parser = choice::<DurationStop>, default_value = "ignore"
    )]
    pub duration_stop: DurationStop,
    /// Send a PING to a server that has been silent for this long while calls wait for it, at least
    /// 10s, and give it up if it is silent for as long again; 0 is never
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "0")]
    pub keepalive: Duration,

    /// Write the result to a file, in the format of its ending unless --format says another; - is
    /// standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// summary, csv, json, pretty, html, influx-summary, influx-details or prometheus [default: by
    /// the ending of --output, else summary]
    #[arg(short = 'O', long, value_name = "FORMAT", value_parser = OutputFormat::of_name)]
    pub format: Option<OutputFormat>,
    /// Calls that csv, json, pretty and influx-details list one by one: the first ones
    #[arg(
        long, value_name = "N", value_parser = whole::<u64>, default_value_t = 1_000_000,
        allow_negative_numbers = true
    )]
    pub calls_listed: u64,
    /// Leave the first calls that end out of the result
    #[arg(
        long = "skipFirst", value_name = "N", value_parser = whole::<u64>, default_value_t = 0,
        allow_negative_numbers = true
    )]
    pub skip_first: u64,
    /// Show the run on standard error while it goes on: auto (a view on a terminal), off, lines,
    /// json
    #[arg(
        long, value_name = "FORMAT", value_parser = choice::<LiveFormat>, default_value = "auto"
    )]
    pub live: LiveFormat,
    /// Write the latencies of each second to a file, in the log format of HdrHistogram
    #[arg(long, value_name = "FILE")]
    pub hdr: Option<PathBuf>,
    /// Write the calls one by one to a file, as many as --calls-listed, a JSON object a line
    #[arg(long, value_name = "FILE")]
    pub debug: Option<PathBuf>,
    /// Record the latencies of failed calls too
    #[arg(long)]
    pub count_errors: bool,
    /// What the run has to reach, such as p99<20ms,errors<0.1%, else the exit status is 3, or 6
    /// where that is not decided; may be given again
    #[arg(long, value_name = "EXPR")]
    pub slo: Vec<Objective>,
    /// What it must not, such as p99>20ms: the exit status is 3 if it holds, and 6 where that is
    /// not decided; may be given again
    #[arg(long, value_name = "EXPR")]
    pub fail_if: Vec<Objective>,
    /// Search the highest rate that keeps an objective such as p99<5ms, trying each for --duration
    #[arg(long, value_name = "EXPR")]
    pub find_capacity: Option<Objective>,
    /// A label of the run
    #[arg(long, value_name = "TEXT")]
    pub name: Option<String>,
    /// More labels, a JSON object of strings
    #[arg(long, value_name = "JSON")]
    pub tags: Option<String>,
    /// Worker threads [default: as --io needs, at most one for each processor]
    #[arg(
        long, visible_alias = "cpus", value_name = "N", value_parser = whole::<u32>,
        allow_negative_numbers = true
    )]
    pub threads: Option<u32>,

    /// Make calls for this long before measuring
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "0")]
    pub warmup: Duration,
    /// Id of the first stream of each connection; near 2147483647 the ids run out at once
    #[arg(long, value_name = "ID", value_parser = whole::<u32>, default_value_t = 1)]
    pub first_stream_id: u32,
    /// Metadata field whose value differs from call to call
    #[arg(long, value_name = "NAME")]
    pub varying_metadata: Option<String>,
    /// How bytes are moved: auto, blocking, epoll, uring
    #[arg(long, value_name = "DRIVER", value_parser = io, default_value = "auto")]
    pub io: Io,
    /// How threads wait: sleep, or spin, which makes CPU figures meaningless
    #[arg(long, value_name = "HOW", value_parser = wait, default_value = "sleep")]
    pub wait: Wait,
    /// Make and end a connection for each call; both count in its latency
    #[arg(long)]
    pub one_shot: bool,
    /// Begin the run at once, and make the connections during it
    #[arg(long)]
    pub connects_in_window: bool,
}

impl LoadFlags {
    /// Reads the words of a command line, without the name of the command.
    ///
    /// # Errors
    /// What is wrong with them, in words for the user.
    pub fn of_words<W: Into<OsString> + Clone>(
        words: impl IntoIterator<Item = W>,
    ) -> Result<Self, clap::Error> {
        let command = Self::augment_args(Command::new("load").no_binary_name(true));
        Self::from_arg_matches(&command.try_get_matches_from(words)?)
    }

    /// How the result is written.
    ///
    /// # Errors
    /// [`UnknownEnding`]: no format is given, and the name of the output stands for none.
    pub fn output_format(&self) -> Result<OutputFormat, UnknownEnding> {
        if let Some(format) = self.format {
            return Ok(format);
        }
        let by_name = self.output.as_deref().map(OutputFormat::of_file).transpose()?;
        Ok(by_name.flatten().unwrap_or_default())
    }

    /// Whether calls are listed one by one.
    pub fn lists_calls(&self) -> bool {
        self.output_format().is_ok_and(OutputFormat::lists_calls) || self.debug.is_some()
    }
}

fn io(name: &str) -> Result<Io, String> {
    choose(name, &Io::ALL, Io::to_string)
}

fn wait(name: &str) -> Result<Wait, String> {
    choose(name, &Wait::ALL, Wait::to_string)
}

/// Reads a size in bytes. As in ghz, `kb`, `mb` and `gb` are powers of a thousand, `kib`, `mib` and
/// `gib` of 1,024, in any case.
///
/// # Errors
/// What is expected instead, for an error message.
fn size(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u64); 8] = [
        ("kib", 1 << 10),
        ("mib", 1 << 20),
        ("gib", 1 << 30),
        ("kb", 1_000),
        ("mb", 1_000_000),
        ("gb", 1_000_000_000),
        ("b", 1),
        ("", 1),
    ];
    let lower = text.trim().to_ascii_lowercase();
    let expected = || "a size such as 10mb or 65536 is expected".to_owned();
    let split = lower.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(lower.len());
    let (number, unit) = lower.split_at(split);
    let unit = UNITS.iter().find(|(name, _)| *name == unit.trim()).ok_or_else(expected)?.1;
    let number: f64 = number.trim().parse().map_err(|_| expected())?;
    let bytes = number * unit as f64;
    if bytes.is_finite() && bytes >= 1.0 { Ok(bytes as u64) } else { Err(expected()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Alone {
        #[command(flatten)]
        flags: LoadFlags,
    }

    /// Those of an empty command line.
    fn unwritten() -> LoadFlags {
        let command = LoadFlags::augment_args(Command::new("unwritten").no_binary_name(true));
        let matches = command.get_matches_from(std::iter::empty::<&str>());
        LoadFlags::from_arg_matches(&matches).expect("no flag is required")
    }

    fn read(words: &[&str]) -> LoadFlags {
        let words = std::iter::once("load").chain(words.iter().copied());
        let alone = Alone::try_parse_from(words).unwrap_or_else(|error| panic!("{error}"));
        alone.flags
    }

    /// Asserts that a flag can be spelled in every way that kingpin takes, before the target and
    /// after it, and that each spelling means what `set` does.
    fn every_spelling(
        long: &str,
        short: Option<&str>,
        value: &str,
        set: impl FnOnce(&mut LoadFlags),
    ) {
        let mut spellings = vec![vec![format!("--{long}={value}")]];
        spellings.push(vec![format!("--{long}"), value.to_owned()]);
        if let Some(letter) = short {
            spellings.push(vec![format!("-{letter}{value}")]);
            spellings.push(vec![format!("-{letter}"), value.to_owned()]);
        }
        let mut expected = with(set);
        expected.call.targets = vec!["host:1".to_owned()];
        for spelling in spellings {
            let words: Vec<&str> = spelling.iter().map(String::as_str).collect();
            let (before, after) = ([&["host:1"], &words[..]], [&words[..], &["host:1"]]);
            assert_eq!(read(&before.concat()), expected, "{words:?}");
            assert_eq!(read(&after.concat()), expected, "{words:?}");
        }
    }

    fn with(set: impl FnOnce(&mut LoadFlags)) -> LoadFlags {
        let mut flags = unwritten();
        set(&mut flags);
        flags
    }

    fn text(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    fn file() -> Option<PathBuf> {
        Some(PathBuf::from("file"))
    }

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn nothing_given_is_the_default() {
        assert_eq!(read(&[]), unwritten());
    }

    #[test]
    fn what_to_call_is_read_in_every_spelling() {
        every_spelling("proto", None, "file", |flags| flags.call.proto = file());
        every_spelling("protoset", None, "file", |flags| flags.call.protoset = file());
        every_spelling("call", None, "a.B/C", |flags| flags.call.method = text("a.B/C"));
        every_spelling("authority", None, "x", |flags| flags.call.authority = text("x"));
        every_spelling("cname", None, "x", |flags| flags.call.cname = text("x"));
        every_spelling("cacert", None, "file", |flags| flags.call.cacert = file());
        every_spelling("cert", None, "file", |flags| flags.call.cert = file());
        every_spelling("key", None, "file", |flags| flags.call.key = file());
        every_spelling("lb-strategy", None, "round_robin", |flags| {
            flags.lb_strategy = Some(LoadBalancingPolicy::RoundRobin);
        });
        let folders = vec!["a,b".into()];
        every_spelling("import-paths", Some("i"), "a,b", |flags| {
            flags.call.import_paths = folders;
        });
    }

    #[test]
    fn targets_are_separated_by_commas_or_by_spaces() {
        for words in [&["a:1,unix:b,c:3"][..], &["a:1", "unix:b", "c:3"]] {
            let targets = read(words).call.targets.join(",");
            assert_eq!(targets, "a:1,unix:b,c:3");
        }
    }

    #[test]
    fn how_much_to_call_is_read_in_every_spelling() {
        every_spelling("concurrency", Some("c"), "7", |flags| flags.concurrency = 7);
        every_spelling("connections", None, "7", |flags| flags.connections = 7);
        every_spelling("total", Some("n"), "7", |flags| flags.total = 7);
        every_spelling("cpus", None, "7", |flags| flags.threads = Some(7));
        every_spelling("threads", None, "7", |flags| flags.threads = Some(7));
        every_spelling("io", None, "epoll", |flags| flags.io = Io::Epoll);
        every_spelling("wait", None, "spin", |flags| flags.wait = Wait::Spin);
        every_spelling("io", None, "uring", |flags| flags.io = Io::Uring);
    }

    #[test]
    fn how_long_to_call_is_read_in_every_spelling() {
        every_spelling("duration", Some("z"), "1m", |flags| flags.duration = Some(MINUTE));
        every_spelling("max-duration", Some("x"), "1m", |flags| flags.max_duration = Some(MINUTE));
        every_spelling("timeout", Some("t"), "1m", |flags| flags.call.timeout = MINUTE);
        every_spelling("connect-timeout", None, "1m", |flags| flags.call.connect_timeout = MINUTE);
        every_spelling("keepalive", None, "1m", |flags| flags.keepalive = MINUTE);
        every_spelling("first-stream-id", None, "7", |flags| flags.first_stream_id = 7);
        every_spelling("warmup", None, "1m", |flags| flags.warmup = MINUTE);
        let wait = DurationStop::Wait;
        every_spelling("duration-stop", None, "wait", |flags| flags.duration_stop = wait);
    }

    #[test]
    fn what_to_send_is_read_in_every_spelling() {
        every_spelling("data", Some("d"), "{}", |flags| flags.call.data = text("{}"));
        every_spelling("data", Some("d"), "@", |flags| flags.call.data = text("@"));
        every_spelling("data-file", Some("D"), "file", |flags| flags.call.data_file = file());
        every_spelling("binary-file", Some("B"), "file", |flags| flags.call.binary_file = file());
        every_spelling("metadata", Some("m"), "{}", |flags| flags.call.metadata = text("{}"));
        every_spelling("metadata-file", Some("M"), "file", |flags| {
            flags.call.metadata_file = file()
        });
        every_spelling("varying-metadata", None, "x", |flags| {
            flags.varying_metadata = text("x");
        });
    }

    #[test]
    fn what_to_print_is_read_in_every_spelling() {
        every_spelling("output", Some("o"), "file", |flags| flags.output = file());
        every_spelling("format", Some("O"), "json", |flags| {
            flags.format = Some(OutputFormat::Json);
        });
        every_spelling("name", None, "x", |flags| flags.name = text("x"));
        every_spelling("tags", None, "{}", |flags| flags.tags = text("{}"));
    }

    #[test]
    fn switches_are_read_alone_and_together() {
        assert_eq!(read(&["--insecure"]), with(|flags| flags.call.insecure = true));
        assert_eq!(read(&["--skipTLS"]), with(|flags| flags.call.skip_tls = true));
        assert_eq!(read(&["--count-errors"]), with(|flags| flags.count_errors = true));
        let literal = with(|flags| flags.call.disable_template_data = true);
        assert_eq!(read(&["--disable-template-data"]), literal);
        assert_eq!(read(&["--binary"]), with(|flags| flags.call.binary = true));
        let together = with(|flags| (flags.call.binary, flags.concurrency) = (true, 2));
        assert_eq!(read(&["-bc2"]), together);
    }

    #[test]
    fn sizes_are_read_as_ghz_reads_them() {
        assert_eq!(size("10mb"), Ok(10_000_000));
        assert_eq!(size("1 GB"), Ok(1_000_000_000));
        assert_eq!(size("1.5KiB"), Ok(1_536));
        assert_eq!(size("65536"), Ok(65_536));
        for wrong in ["", "mb", "-1", "0", "10 parsecs", "1e400"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }
}
