//! The flags of `bookend load`, as they are spelled. ghz's come first, then ours.

use super::not_built::NotBuilt;
use crate::call_flags::{MessageFlags, MethodFlags, TransportFlags};
use crate::failure::Failure;
use crate::number::whole;
use bookend_load::contract::duration;
use bookend_load::options::{DurationStop, Flags, Format, Io, Waiting};
use bookend_load::targets::Strategy;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// What stands after `bookend load`.
#[derive(Debug, Args)]
pub struct LoadArguments {
    /// Where the servers listen: HOST:PORT, dns:///HOST:PORT, unix:PATH; several get the
    /// connections in turn
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,

    #[command(flatten)]
    method: MethodFlags,
    #[command(flatten)]
    transport: TransportFlags,
    /// Addresses of a name: round_robin is all of them, pick_first the first that answers
    /// [default: round_robin for dns:]
    #[arg(long, value_name = "STRATEGY")]
    lb_strategy: Option<Strategy>,

    /// Calls in flight over all connections [default: 50]
    #[arg(
        short, long, value_name = "N", value_parser = whole::<u32>,
        allow_negative_numbers = true
    )]
    concurrency: Option<u32>,
    /// Connections [default: 1]
    #[arg(long, value_name = "N", value_parser = whole::<u32>, allow_negative_numbers = true)]
    connections: Option<u32>,
    /// Calls in all [default: 200]
    #[arg(
        short = 'n', long, value_name = "N", value_parser = whole::<u64>,
        allow_negative_numbers = true
    )]
    total: Option<u64>,
    /// How long to run; replaces --total
    #[arg(short = 'z', long, value_name = "TIME", value_parser = duration::parse)]
    duration: Option<Duration>,
    /// How long to run at most; --total still holds
    #[arg(short = 'x', long, value_name = "TIME", value_parser = duration::parse)]
    max_duration: Option<Duration>,
    /// Calls in flight at --duration: close, wait, ignore [default: close]
    #[arg(long, value_name = "HOW")]
    duration_stop: Option<DurationStop>,
    /// Deadline of each call, 0 is none [default: 20s]
    #[arg(short, long, value_name = "TIME", value_parser = duration::parse)]
    timeout: Option<Duration>,
    /// How long a connection may take to be made [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    connect_timeout: Option<Duration>,
    /// Ask a server that says nothing for so long, at least 10s, for a sign of life, and give it up
    /// without one after as long again; 0 is never [default: 0]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    keepalive: Option<Duration>,

    #[command(flatten)]
    message: MessageFlags,
    /// Nothing to disable: there are no template functions
    #[arg(long, hide = true)]
    disable_template_functions: bool,

    /// Write the result to a file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// summary, json or pretty [default: summary]
    #[arg(short = 'O', long, value_name = "FORMAT")]
    format: Option<Format>,
    /// Record the latencies of failed calls too
    #[arg(long)]
    count_errors: bool,
    /// A label for the run
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// More labels, a JSON object of strings
    #[arg(long, value_name = "JSON")]
    tags: Option<String>,
    /// Worker threads
    #[arg(
        long, visible_alias = "cpus", value_name = "N", value_parser = whole::<u32>,
        allow_negative_numbers = true
    )]
    threads: Option<u32>,

    /// Answer calls for so long before the measurement [default: 0]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    warmup: Option<Duration>,
    /// Id of a connection's first stream; near 2147483647 the end of the ids is reached at once
    #[arg(long, value_name = "ID", value_parser = whole::<u32>)]
    first_stream_id: Option<u32>,
    /// Metadata field whose value is another in each call
    #[arg(long, value_name = "NAME")]
    varying_metadata: Option<String>,
    /// How bytes are moved: auto, blocking, epoll, uring [default: auto]
    #[arg(long, value_name = "DRIVER")]
    io: Option<Io>,
    /// How threads wait: sleep, or spin, where CPU figures say nothing [default: sleep]
    #[arg(long, value_name = "HOW")]
    wait: Option<Waiting>,
    /// A connection for each call, made and ended inside its clock
    #[arg(long)]
    one_shot: bool,
    /// Begin at once, and make the connections meanwhile
    #[arg(long)]
    connects_in_window: bool,

    #[command(flatten)]
    not_built: NotBuilt,
}

impl LoadArguments {
    /// The flags, with `default` for those that are not given.
    ///
    /// # Errors
    /// [`Failure`] naming a flag of ghz that is not built yet.
    pub fn into_flags(self, default: Flags) -> Result<Flags, Failure> {
        self.not_built.refuse()?;
        let mut flags = Flags {
            target: (!self.targets.is_empty()).then(|| self.targets.join(",")),
            lb_strategy: self.lb_strategy.or(default.lb_strategy),
            connections: self.connections.unwrap_or(default.connections),
            concurrency: self.concurrency.unwrap_or(default.concurrency),
            total: self.total.unwrap_or(default.total),
            duration: self.duration.unwrap_or(default.duration),
            max_duration: self.max_duration.unwrap_or(default.max_duration),
            duration_stop: self.duration_stop.unwrap_or(default.duration_stop),
            timeout: self.timeout.unwrap_or(default.timeout),
            warmup: self.warmup.unwrap_or(default.warmup),
            first_stream_id: self.first_stream_id.unwrap_or(default.first_stream_id),
            connect_timeout: self.connect_timeout.unwrap_or(default.connect_timeout),
            keepalive: self.keepalive.unwrap_or(default.keepalive),
            varying_metadata: self.varying_metadata,
            io: self.io.unwrap_or(default.io),
            wait: self.wait.unwrap_or(default.wait),
            one_shot: self.one_shot,
            connects_in_window: self.connects_in_window,
            threads: self.threads,
            format: self.format.unwrap_or(default.format),
            output: self.output,
            name: self.name,
            tags: self.tags,
            count_errors: self.count_errors,
            ..default
        };
        self.method.add_to(&mut flags);
        self.transport.add_to(&mut flags);
        self.message.add_to(&mut flags);
        Ok(flags)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Alone {
        #[command(flatten)]
        arguments: LoadArguments,
    }

    fn read(words: &[&str]) -> Flags {
        let words = std::iter::once("load").chain(words.iter().copied());
        let alone = Alone::try_parse_from(words).unwrap_or_else(|error| panic!("{error}"));
        alone
            .arguments
            .into_flags(Flags::default())
            .unwrap_or_else(|failure| panic!("{failure:?}"))
    }

    /// Asserts that a flag can be spelled in every way that kingpin takes, before the target and
    /// after it, and that each spelling means what `set` does.
    fn every_spelling(long: &str, short: Option<&str>, value: &str, set: impl FnOnce(&mut Flags)) {
        let mut spellings = vec![vec![format!("--{long}={value}")]];
        spellings.push(vec![format!("--{long}"), value.to_owned()]);
        if let Some(letter) = short {
            spellings.push(vec![format!("-{letter}{value}")]);
            spellings.push(vec![format!("-{letter}"), value.to_owned()]);
        }
        let mut expected = with(set);
        expected.target = Some("host:1".to_owned());
        for spelling in spellings {
            let words: Vec<&str> = spelling.iter().map(String::as_str).collect();
            let (before, after) = ([&["host:1"], &words[..]], [&words[..], &["host:1"]]);
            assert_eq!(read(&before.concat()), expected, "{words:?}");
            assert_eq!(read(&after.concat()), expected, "{words:?}");
        }
    }

    fn with(set: impl FnOnce(&mut Flags)) -> Flags {
        let mut flags = Flags::default();
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
        assert_eq!(read(&[]), Flags::default());
    }

    #[test]
    fn what_to_call_is_read_in_every_spelling() {
        every_spelling("proto", None, "file", |flags| flags.proto = file());
        every_spelling("protoset", None, "file", |flags| flags.protoset = file());
        every_spelling("call", None, "a.B/C", |flags| flags.call = text("a.B/C"));
        every_spelling("authority", None, "x", |flags| flags.authority = text("x"));
        every_spelling("cname", None, "x", |flags| flags.cname = text("x"));
        every_spelling("cacert", None, "file", |flags| flags.cacert = file());
        every_spelling("cert", None, "file", |flags| flags.cert = file());
        every_spelling("key", None, "file", |flags| flags.key = file());
        every_spelling("lb-strategy", None, "round_robin", |flags| {
            flags.lb_strategy = Some(Strategy::RoundRobin);
        });
        let folders = vec!["a,b".to_owned()];
        every_spelling("import-paths", Some("i"), "a,b", |flags| {
            flags.import_paths = folders;
        });
    }

    #[test]
    fn targets_are_separated_by_commas_or_by_spaces() {
        let several = with(|flags| flags.target = text("a:1,unix:b,c:3"));
        assert_eq!(read(&["a:1,unix:b,c:3"]), several);
        assert_eq!(read(&["a:1", "unix:b", "c:3"]), several);
    }

    #[test]
    fn how_much_to_call_is_read_in_every_spelling() {
        every_spelling("concurrency", Some("c"), "7", |flags| flags.concurrency = 7);
        every_spelling("connections", None, "7", |flags| flags.connections = 7);
        every_spelling("total", Some("n"), "7", |flags| flags.total = 7);
        every_spelling("cpus", None, "7", |flags| flags.threads = Some(7));
        every_spelling("threads", None, "7", |flags| flags.threads = Some(7));
        every_spelling("io", None, "epoll", |flags| flags.io = Io::Epoll);
        let spin: Waiting = "spin".parse().unwrap_or_default();
        every_spelling("wait", None, "spin", |flags| flags.wait = spin);
        every_spelling("io", None, "uring", |flags| flags.io = Io::Uring);
    }

    #[test]
    fn how_long_to_call_is_read_in_every_spelling() {
        every_spelling("duration", Some("z"), "1m", |flags| flags.duration = MINUTE);
        every_spelling("max-duration", Some("x"), "1m", |flags| {
            flags.max_duration = MINUTE
        });
        every_spelling("timeout", Some("t"), "1m", |flags| flags.timeout = MINUTE);
        every_spelling("connect-timeout", None, "1m", |flags| {
            flags.connect_timeout = MINUTE
        });
        every_spelling("keepalive", None, "1m", |flags| flags.keepalive = MINUTE);
        every_spelling("first-stream-id", None, "7", |flags| {
            flags.first_stream_id = 7
        });
        every_spelling("warmup", None, "1m", |flags| flags.warmup = MINUTE);
        let wait = DurationStop::Wait;
        every_spelling("duration-stop", None, "wait", |flags| {
            flags.duration_stop = wait
        });
    }

    #[test]
    fn what_to_send_is_read_in_every_spelling() {
        every_spelling("data", Some("d"), "{}", |flags| flags.data = text("{}"));
        every_spelling("data", Some("d"), "@", |flags| flags.data = text("@"));
        every_spelling("data-file", Some("D"), "file", |flags| {
            flags.data_file = file()
        });
        every_spelling("binary-file", Some("B"), "file", |flags| {
            flags.binary_file = file()
        });
        every_spelling("metadata", Some("m"), "{}", |flags| {
            flags.metadata = text("{}")
        });
        every_spelling("metadata-file", Some("M"), "file", |flags| {
            flags.metadata_file = file()
        });
        every_spelling("varying-metadata", None, "x", |flags| {
            flags.varying_metadata = text("x");
        });
    }

    #[test]
    fn what_to_print_is_read_in_every_spelling() {
        every_spelling("output", Some("o"), "file", |flags| flags.output = file());
        every_spelling("format", Some("O"), "json", |flags| {
            flags.format = Format::Json
        });
        every_spelling("name", None, "x", |flags| flags.name = text("x"));
        every_spelling("tags", None, "{}", |flags| flags.tags = text("{}"));
    }

    #[test]
    fn switches_are_read_alone_and_together() {
        assert_eq!(read(&["--insecure"]), with(|flags| flags.insecure = true));
        assert_eq!(read(&["--skipTLS"]), with(|flags| flags.skip_tls = true));
        assert_eq!(
            read(&["--count-errors"]),
            with(|flags| flags.count_errors = true)
        );
        let literal = with(|flags| flags.disable_template_data = true);
        assert_eq!(read(&["--disable-template-data"]), literal);
        assert_eq!(read(&["--binary"]), with(|flags| flags.binary = true));
        let together = with(|flags| (flags.binary, flags.concurrency) = (true, 2));
        assert_eq!(read(&["-bc2"]), together);
    }

    #[test]
    fn flags_that_change_nothing_are_accepted() {
        let nothing = [
            "--disable-template-functions",
            "--rps=0",
            "-r0",
            "--load-schedule=const",
            "--load-step-duration=0s",
            "--concurrency-step=1",
            "--keepalive=0",
            "--skipFirst=0",
        ];
        for word in nothing {
            assert_eq!(read(&[word]), Flags::default(), "{word}");
        }
    }
}
