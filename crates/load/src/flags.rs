//! The flags of `bookend load` and `bookend probe` as they are typed, each for itself: ghz's first,
//! then ours. [`CallOptions`](crate::options::CallOptions) and [`LoadPlan`](crate::plan::LoadPlan)
//! are what they mean. Each flag has its name, its default and its help here and nowhere else.

pub mod config_file;
pub mod files;
mod number;
pub mod pacing;
pub mod sent;
pub mod streaming;
pub mod switches;
pub mod thrift;

pub use number::whole;

use crate::live::LiveFormat;
use crate::objective::Objective;
use crate::output::{OutputFormat, UnknownEnding};
use crate::plan::DurationStop;
use bookend_client::targets::LoadBalancingPolicy;
use bookend_contract::duration;
use bookend_io::tls::TlsAdvice;
use bookend_io::{Io, Wait};
use bookend_payload::error_text::{choice, choose};
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
    /// Servers: HOST:PORT, dns:///HOST:PORT or unix:PATH, connected to in turn
    #[arg(value_name = "TARGET", help_heading = "Call")]
    pub targets: Vec<String>,

    /// Method, as pkg.Service/Method or pkg.Service.Method
    #[arg(long = "call", value_name = "METHOD", help_heading = "Call")]
    pub method: Option<String>,
    /// Read the schema from a .proto file [default: server reflection]
    #[arg(long, value_name = "FILE", help_heading = "Call")]
    pub proto: Option<PathBuf>,
    /// Read the schema from a compiled descriptor set
    #[arg(long, value_name = "FILE", help_heading = "Call")]
    pub protoset: Option<PathBuf>,
    /// Folders to search for imports, separated by commas
    #[arg(short, long, value_name = "LIST", help_heading = "Call")]
    pub import_paths: Vec<OsString>,

    /// Use plain text instead of TLS
    #[arg(long, help_heading = "TLS")]
    pub insecure: bool,
    /// Authorities that may sign the server's certificate [default: this machine's]
    #[arg(long, value_name = "FILE", help_heading = "TLS")]
    pub cacert: Option<PathBuf>,
    /// Certificate of the client, with --key
    #[arg(long, value_name = "FILE", help_heading = "TLS")]
    pub cert: Option<PathBuf>,
    /// Private key of --cert
    #[arg(long, value_name = "FILE", help_heading = "TLS")]
    pub key: Option<PathBuf>,
    /// Name that the server's certificate is for, and the :authority
    #[arg(long, value_name = "NAME", help_heading = "TLS")]
    pub cname: Option<String>,
    /// Accept any certificate, even an attacker's
    #[arg(long = "skipTLS", help_heading = "TLS")]
    pub skip_tls: bool,
    /// What the command calls its flags for TLS where they help.
    #[arg(skip = &TLS_FLAGS)]
    pub tls_advice: &'static TlsAdvice,
    /// Set the :authority of every request [default: the target]
    #[arg(long, value_name = "NAME", help_heading = "Call", hide_short_help = true)]
    pub authority: Option<String>,

    /// Request as JSON; an array is several, sent in turn; @ is standard input
    #[arg(short, long, value_name = "JSON", help_heading = "Data")]
    pub data: Option<String>,
    /// Request as JSON, from a file; - is standard input
    #[arg(short = 'D', long, value_name = "FILE", help_heading = "Data")]
    pub data_file: Option<PathBuf>,
    /// Read the request from standard input, serialized
    #[arg(short, long, help_heading = "Data", hide_short_help = true)]
    pub binary: bool,
    /// Request from a file, serialized; - is standard input
    #[arg(short = 'B', long, value_name = "FILE", help_heading = "Data", hide_short_help = true)]
    pub binary_file: Option<PathBuf>,
    /// Metadata of every call, as a JSON object of strings
    #[arg(short, long, value_name = "JSON", help_heading = "Data")]
    pub metadata: Option<String>,
    /// Metadata of every call, as JSON from a file
    #[arg(short = 'M', long, value_name = "FILE", help_heading = "Data", hide_short_help = true)]
    pub metadata_file: Option<PathBuf>,
    /// Send {{ in data and metadata literally
    #[arg(long, help_heading = "Data", hide_short_help = true)]
    pub disable_template_data: bool,
    /// Allow no function calls in templates
    #[arg(long, help_heading = "Data", hide_short_help = true)]
    pub disable_template_functions: bool,

    /// Metadata of reflection calls, as a JSON object of strings [default: that of the calls]
    #[arg(long, value_name = "JSON", help_heading = "Data", hide_short_help = true)]
    pub reflect_metadata: Option<String>,

    /// Show secrets in results: values named authorization, cookie, api-key and the like
    #[arg(long, help_heading = "Data", hide_short_help = true)]
    pub show_secrets: bool,

    /// Deadline of each call; 0 disables it
    #[arg(
        short, long, value_name = "TIME", value_parser = duration::parse, default_value = "20s",
        help_heading = "Call"
    )]
    pub timeout: Duration,
    /// Time to wait for a connection; 0 waits as long as the system does
    #[arg(
        long, value_name = "TIME", value_parser = duration::parse, default_value = "10s",
        help_heading = "Call", hide_short_help = true
    )]
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
    /// Use all addresses of a name (round_robin), or the first that answers (pick_first) [default:
    /// round_robin for dns:]
    #[arg(long, value_name = "STRATEGY", help_heading = "Call", hide_short_help = true)]
    pub lb_strategy: Option<LoadBalancingPolicy>,

    /// Read more flags from a JSON, TOML or YAML file; typed flags win
    #[arg(long, value_name = "FILE", help_heading = "Call", hide_short_help = true)]
    pub config: Option<PathBuf>,
    /// Calls in flight over all connections
    #[arg(
        short, long, value_name = "N", value_parser = whole::<u32>, default_value_t = 50,
        allow_negative_numbers = true, help_heading = "Rate and duration"
    )]
    pub concurrency: u32,
    /// Number of connections
    #[arg(
        long, value_name = "N", value_parser = whole::<u32>, default_value_t = 1,
        allow_negative_numbers = true, help_heading = "Rate and duration"
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

    /// Compress requests with gzip, and accept compressed responses
    #[arg(short, long, help_heading = "Data", hide_short_help = true)]
    pub enable_compression: bool,
    /// Fail calls whose response message is larger, such as 10mb
    #[arg(
        long, value_name = "SIZE", value_parser = size, help_heading = "Data",
        hide_short_help = true
    )]
    pub max_recv_message_size: Option<u64>,
    /// Refuse request messages that are larger, such as 10mb
    #[arg(
        long, value_name = "SIZE", value_parser = size, help_heading = "Data",
        hide_short_help = true
    )]
    pub max_send_message_size: Option<u64>,

    /// Total number of calls
    #[arg(
        short = 'n', long, value_name = "N", value_parser = whole::<u64>, default_value_t = 200,
        allow_negative_numbers = true, help_heading = "Rate and duration"
    )]
    pub total: u64,
    /// Time to run, instead of --total
    #[arg(
        short = 'z', long, value_name = "TIME", value_parser = duration::parse,
        help_heading = "Rate and duration"
    )]
    pub duration: Option<Duration>,
    /// End the run after this time: instead of --duration, or before --total is reached
    #[arg(
        short = 'x', long, value_name = "TIME", value_parser = duration::parse,
        help_heading = "Rate and duration", hide_short_help = true
    )]
    pub max_duration: Option<Duration>,
    /// What happens to calls in flight when the time is up: close, wait or ignore
    #[arg(
        long, value_name = "HOW", value_parser = choice::<DurationStop>, default_value = "ignore",
        help_heading = "Rate and duration", hide_short_help = true
    )]
    pub duration_stop: DurationStop,
    /// Send a PING when a server with calls in flight has been silent for this long, at least 10s,
    /// and give the server up after as long again; 0 disables it
    #[arg(
        long, value_name = "TIME", value_parser = duration::parse, default_value = "0",
        help_heading = "Call", hide_short_help = true
    )]
    pub keepalive: Duration,

    /// Write the result to a file; - is standard output
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// summary, csv, json, pretty, html, influx-summary, influx-details or prometheus [default: by
    /// the ending of --output, else summary]
    #[arg(
        short = 'O', long, value_name = "FORMAT", value_parser = OutputFormat::of_name,
        help_heading = "Output"
    )]
    pub format: Option<OutputFormat>,
    /// List only the first calls one by one, in csv, json, pretty and influx-details
    #[arg(
        long, value_name = "N", value_parser = whole::<u64>, default_value_t = 1_000_000,
        allow_negative_numbers = true, help_heading = "Output", hide_short_help = true
    )]
    pub calls_listed: u64,
    /// Leave the first calls that end out of the result
    #[arg(
        long = "skipFirst", value_name = "N", value_parser = whole::<u64>, default_value_t = 0,
        allow_negative_numbers = true, help_heading = "Rate and duration", hide_short_help = true
    )]
    pub skip_first: u64,
    /// Show progress on standard error: auto, off, lines or json
    #[arg(
        long, value_name = "FORMAT", value_parser = choice::<LiveFormat>, default_value = "auto",
        help_heading = "Output"
    )]
    pub live: LiveFormat,
    /// Write the latencies of each second to a file, as a log of HdrHistogram
    #[arg(long, value_name = "FILE", help_heading = "Output", hide_short_help = true)]
    pub hdr: Option<PathBuf>,
    /// Write each call to a file as a line of JSON, as many as --calls-listed
    #[arg(long, value_name = "FILE", help_heading = "Output", hide_short_help = true)]
    pub debug: Option<PathBuf>,
    /// Record the latencies of failed calls too
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    pub count_errors: bool,
    /// Conditions to meet, such as p99<20ms,errors<0.1%; exit status 3 if missed, 6 if undecided;
    /// repeatable
    #[arg(long, value_name = "EXPR", help_heading = "Gates")]
    pub slo: Vec<Objective>,
    /// Conditions to fail on, such as p99>20ms; exit status 3 if one holds, 6 if undecided;
    /// repeatable
    #[arg(long, value_name = "EXPR", help_heading = "Gates")]
    pub fail_if: Vec<Objective>,
    /// Search for the highest rate that meets a condition such as p99<5ms, trying each rate for
    /// --duration
    #[arg(long, value_name = "EXPR", help_heading = "Gates")]
    pub find_capacity: Option<Objective>,
    /// Label the run
    #[arg(long, value_name = "TEXT", help_heading = "Output", hide_short_help = true)]
    pub name: Option<String>,
    /// More labels of the run, as a JSON object of strings
    #[arg(long, value_name = "JSON", help_heading = "Output", hide_short_help = true)]
    pub tags: Option<String>,
    /// Worker threads [default: as --io needs, at most one per processor]
    #[arg(
        long, visible_alias = "cpus", value_name = "N", value_parser = whole::<u32>,
        allow_negative_numbers = true, help_heading = "Expert", hide_short_help = true
    )]
    pub threads: Option<u32>,

    /// Make calls for this long before measuring
    #[arg(
        long, value_name = "TIME", value_parser = duration::parse, default_value = "0",
        help_heading = "Rate and duration"
    )]
    pub warmup: Duration,
    /// ID of the first stream of each connection; near 2147483647 the IDs run out at once
    #[arg(
        long, value_name = "ID", value_parser = whole::<u32>, default_value_t = 1,
        help_heading = "Expert", hide_short_help = true
    )]
    pub first_stream_id: u32,
    /// Add a metadata field of this name, with another value in each call
    #[arg(long, value_name = "NAME", help_heading = "Data", hide_short_help = true)]
    pub varying_metadata: Option<String>,
    /// Driver of the connections: auto, blocking, epoll or uring
    #[arg(
        long, value_name = "DRIVER", value_parser = io, default_value = "auto",
        help_heading = "Expert", hide_short_help = true
    )]
    pub io: Io,
    /// How threads wait: sleep, or spin, which makes CPU figures meaningless
    #[arg(
        long, value_name = "HOW", value_parser = wait, default_value = "sleep",
        help_heading = "Expert", hide_short_help = true
    )]
    pub wait: Wait,
    /// Open and close a connection for each call; its latency includes both
    #[arg(long, help_heading = "Expert", hide_short_help = true)]
    pub one_shot: bool,
    /// Start measuring at once, and open the connections during the run
    #[arg(long, help_heading = "Expert", hide_short_help = true)]
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

    /// How long the run may take. Of two durations ghz takes `--max-duration`, and so do its own
    /// examples of configuration. `None`: until `--total` is reached.
    pub fn window(&self) -> Option<Duration> {
        let given = |time: Option<Duration>| time.and_then(duration::unless_zero);
        given(self.max_duration).or(given(self.duration))
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
