//! The flags of `bookend load`, as they are spelled. ghz's come first, then ours.

use super::not_built::NotBuilt;
use crate::failure::Failure;
use crate::number::whole;
use bookend_load::duration;
use bookend_load::options::{DurationStop, Flags, Format, Io};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// What stands after `bookend load`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Where the server listens
    #[arg(value_name = "HOST:PORT")]
    target: Option<String>,

    /// The .proto file; without it and --protoset the server is asked by reflection
    #[arg(long, value_name = "FILE")]
    proto: Option<PathBuf>,
    /// The compiled descriptor set
    #[arg(long, value_name = "FILE")]
    protoset: Option<PathBuf>,
    /// Folders for imports, separated by commas
    #[arg(short, long, value_name = "LIST")]
    import_paths: Vec<String>,
    /// The method, as pkg.Service/Method or pkg.Service.Method
    #[arg(long, value_name = "METHOD")]
    call: Option<String>,
    /// Plain text instead of TLS
    #[arg(long)]
    insecure: bool,
    /// Do not verify the server's certificate
    #[arg(long = "skipTLS", hide = true)]
    skip_tls: bool,
    /// The :authority of every request [default: the target]
    #[arg(long, value_name = "NAME")]
    authority: Option<String>,

    /// Calls in flight over all connections [default: 50]
    #[arg(short, long, value_name = "N", value_parser = whole::<u32>, allow_negative_numbers = true)]
    concurrency: Option<u32>,
    /// Connections [default: 1]
    #[arg(long, value_name = "N", value_parser = whole::<u32>, allow_negative_numbers = true)]
    connections: Option<u32>,
    /// Calls in all [default: 200]
    #[arg(short = 'n', long, value_name = "N", value_parser = whole::<u64>, allow_negative_numbers = true)]
    total: Option<u64>,
    /// How long to run; replaces --total
    #[arg(short = 'z', long, value_name = "TIME", value_parser = duration::parse)]
    duration: Option<Duration>,
    /// How long to run at most; --total still holds
    #[arg(short = 'x', long, value_name = "TIME", value_parser = duration::parse)]
    max_duration: Option<Duration>,
    /// What happens to the calls in flight at --duration: close, wait, ignore [default: close]
    #[arg(long, value_name = "HOW")]
    duration_stop: Option<DurationStop>,
    /// Deadline of each call, 0 is none [default: 20s]
    #[arg(short, long, value_name = "TIME", value_parser = duration::parse)]
    timeout: Option<Duration>,
    /// How long a connection may take to be made [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    connect_timeout: Option<Duration>,

    /// The request as JSON; an array is several, sent in turn; @ is standard input
    #[arg(short, long, value_name = "JSON")]
    data: Option<String>,
    /// The request as JSON in a file
    #[arg(short = 'D', long, value_name = "FILE")]
    data_file: Option<PathBuf>,
    /// The request, serialized, on standard input
    #[arg(short, long)]
    binary: bool,
    /// The request, serialized, in a file
    #[arg(short = 'B', long, value_name = "FILE")]
    binary_file: Option<PathBuf>,
    /// Metadata of every call, a JSON object of strings
    #[arg(short, long, value_name = "JSON")]
    metadata: Option<String>,
    /// Metadata of every call in a file
    #[arg(short = 'M', long, value_name = "FILE")]
    metadata_file: Option<PathBuf>,
    /// Send {{ in data and metadata as it stands
    #[arg(long)]
    disable_template_data: bool,
    /// Nothing to disable: there are no template functions
    #[arg(long, hide = true)]
    disable_template_functions: bool,

    /// Write the result to a file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// summary, json or pretty [default: summary]
    #[arg(short = 'O', long, value_name = "FORMAT")]
    format: Option<Format>,
    /// Results to drop at the start
    #[arg(long = "skipFirst", value_name = "N", value_parser = whole::<u64>, allow_negative_numbers = true)]
    skip_first: Option<u64>,
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
    #[arg(long, visible_alias = "cpus", value_name = "N", value_parser = whole::<u32>, allow_negative_numbers = true)]
    threads: Option<u32>,

    /// Answer calls for so long before the measurement [default: 0]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    warmup: Option<Duration>,
    /// Metadata field whose value is another in each call
    #[arg(long, value_name = "NAME")]
    varying_metadata: Option<String>,
    /// How bytes are moved: auto, blocking, epoll [default: auto]
    #[arg(long, value_name = "DRIVER")]
    io: Option<Io>,

    #[command(flatten)]
    not_built: NotBuilt,
}

impl Arguments {
    /// The flags with ghz's defaults filled in.
    ///
    /// # Errors
    /// [`Failure`] naming a flag of ghz that is not built yet.
    pub fn into_flags(self) -> Result<Flags, Failure> {
        self.not_built.refuse()?;
        let default = Flags::default();
        Ok(Flags {
            target: self.target,
            proto: self.proto,
            protoset: self.protoset,
            import_paths: self.import_paths,
            call: self.call,
            insecure: self.insecure,
            authority: self.authority,
            connections: self.connections.unwrap_or(default.connections),
            concurrency: self.concurrency.unwrap_or(default.concurrency),
            total: self.total.unwrap_or(default.total),
            duration: self.duration.unwrap_or(default.duration),
            max_duration: self.max_duration.unwrap_or(default.max_duration),
            duration_stop: self.duration_stop.unwrap_or(default.duration_stop),
            timeout: self.timeout.unwrap_or(default.timeout),
            warmup: self.warmup.unwrap_or(default.warmup),
            connect_timeout: self.connect_timeout.unwrap_or(default.connect_timeout),
            data: self.data,
            data_file: self.data_file,
            binary: self.binary,
            binary_file: self.binary_file,
            metadata: self.metadata,
            metadata_file: self.metadata_file,
            varying_metadata: self.varying_metadata,
            disable_template_data: self.disable_template_data,
            io: self.io.unwrap_or(default.io),
            threads: self.threads,
            format: self.format.unwrap_or(default.format),
            output: self.output,
            name: self.name,
            tags: self.tags,
            skip_first: self.skip_first.unwrap_or(default.skip_first),
            count_errors: self.count_errors,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Alone {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn read(words: &[&str]) -> Flags {
        let words = std::iter::once("load").chain(words.iter().copied());
        let alone = Alone::try_parse_from(words).unwrap_or_else(|error| panic!("{error}"));
        alone
            .arguments
            .into_flags()
            .unwrap_or_else(|failure| panic!("{failure:?}"))
    }

    /// Asserts that a flag can be spelled in every way that kingpin takes, before the target and
    /// after it, and that each spelling means `expected`.
    fn every_spelling(long: &str, short: Option<&str>, value: &str, expected: Flags) {
        let mut spellings = vec![vec![format!("--{long}={value}")]];
        spellings.push(vec![format!("--{long}"), value.to_owned()]);
        if let Some(letter) = short {
            spellings.push(vec![format!("-{letter}{value}")]);
            spellings.push(vec![format!("-{letter}"), value.to_owned()]);
        }
        let expected = Flags {
            target: Some("host:1".to_owned()),
            ..expected
        };
        for spelling in spellings {
            let words: Vec<&str> = spelling.iter().map(String::as_str).collect();
            assert_eq!(
                read(&[&["host:1"], words.as_slice()].concat()),
                expected,
                "{words:?}"
            );
            assert_eq!(
                read(&[words.as_slice(), &["host:1"]].concat()),
                expected,
                "{words:?}"
            );
        }
    }

    fn flags() -> Flags {
        Flags::default()
    }

    fn text(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn nothing_given_is_the_default() {
        assert_eq!(read(&[]), flags());
    }

    #[test]
    fn what_to_call_is_read_in_every_spelling() {
        let file = || Some(PathBuf::from("file"));
        every_spelling(
            "proto",
            None,
            "file",
            Flags {
                proto: file(),
                ..flags()
            },
        );
        every_spelling(
            "protoset",
            None,
            "file",
            Flags {
                protoset: file(),
                ..flags()
            },
        );
        every_spelling(
            "call",
            None,
            "a.B/C",
            Flags {
                call: text("a.B/C"),
                ..flags()
            },
        );
        every_spelling(
            "authority",
            None,
            "x",
            Flags {
                authority: text("x"),
                ..flags()
            },
        );
        let folders = vec!["a,b".to_owned()];
        let expected = Flags {
            import_paths: folders,
            ..flags()
        };
        every_spelling("import-paths", Some("i"), "a,b", expected);
    }

    #[test]
    fn how_much_to_call_is_read_in_every_spelling() {
        every_spelling(
            "concurrency",
            Some("c"),
            "7",
            Flags {
                concurrency: 7,
                ..flags()
            },
        );
        every_spelling(
            "connections",
            None,
            "7",
            Flags {
                connections: 7,
                ..flags()
            },
        );
        every_spelling(
            "total",
            Some("n"),
            "7",
            Flags {
                total: 7,
                ..flags()
            },
        );
        every_spelling(
            "duration",
            Some("z"),
            "1m",
            Flags {
                duration: MINUTE,
                ..flags()
            },
        );
        every_spelling(
            "max-duration",
            Some("x"),
            "1m",
            Flags {
                max_duration: MINUTE,
                ..flags()
            },
        );
        every_spelling(
            "timeout",
            Some("t"),
            "1m",
            Flags {
                timeout: MINUTE,
                ..flags()
            },
        );
        let connect = Flags {
            connect_timeout: MINUTE,
            ..flags()
        };
        every_spelling("connect-timeout", None, "1m", connect);
        let wait = Flags {
            duration_stop: DurationStop::Wait,
            ..flags()
        };
        every_spelling("duration-stop", None, "wait", wait);
        every_spelling(
            "warmup",
            None,
            "1m",
            Flags {
                warmup: MINUTE,
                ..flags()
            },
        );
        every_spelling(
            "skipFirst",
            None,
            "7",
            Flags {
                skip_first: 7,
                ..flags()
            },
        );
        every_spelling(
            "cpus",
            None,
            "7",
            Flags {
                threads: Some(7),
                ..flags()
            },
        );
        every_spelling(
            "threads",
            None,
            "7",
            Flags {
                threads: Some(7),
                ..flags()
            },
        );
        every_spelling(
            "io",
            None,
            "epoll",
            Flags {
                io: Io::Epoll,
                ..flags()
            },
        );
    }

    #[test]
    fn what_to_send_and_print_is_read_in_every_spelling() {
        let file = || Some(PathBuf::from("file"));
        every_spelling(
            "data",
            Some("d"),
            "{}",
            Flags {
                data: text("{}"),
                ..flags()
            },
        );
        every_spelling(
            "data",
            Some("d"),
            "@",
            Flags {
                data: text("@"),
                ..flags()
            },
        );
        every_spelling(
            "data-file",
            Some("D"),
            "file",
            Flags {
                data_file: file(),
                ..flags()
            },
        );
        every_spelling(
            "binary-file",
            Some("B"),
            "file",
            Flags {
                binary_file: file(),
                ..flags()
            },
        );
        every_spelling(
            "metadata",
            Some("m"),
            "{}",
            Flags {
                metadata: text("{}"),
                ..flags()
            },
        );
        let metadata = Flags {
            metadata_file: file(),
            ..flags()
        };
        every_spelling("metadata-file", Some("M"), "file", metadata);
        let varying = Flags {
            varying_metadata: text("x"),
            ..flags()
        };
        every_spelling("varying-metadata", None, "x", varying);
        every_spelling(
            "output",
            Some("o"),
            "file",
            Flags {
                output: file(),
                ..flags()
            },
        );
        every_spelling(
            "format",
            Some("O"),
            "json",
            Flags {
                format: Format::Json,
                ..flags()
            },
        );
        every_spelling(
            "name",
            None,
            "x",
            Flags {
                name: text("x"),
                ..flags()
            },
        );
        every_spelling(
            "tags",
            None,
            "{}",
            Flags {
                tags: text("{}"),
                ..flags()
            },
        );
    }

    #[test]
    fn switches_are_read_alone_and_together() {
        assert_eq!(
            read(&["--insecure"]),
            Flags {
                insecure: true,
                ..flags()
            }
        );
        assert_eq!(
            read(&["--count-errors"]),
            Flags {
                count_errors: true,
                ..flags()
            }
        );
        let literal = Flags {
            disable_template_data: true,
            ..flags()
        };
        assert_eq!(read(&["--disable-template-data"]), literal);
        assert_eq!(
            read(&["--binary"]),
            Flags {
                binary: true,
                ..flags()
            }
        );
        let together = Flags {
            binary: true,
            concurrency: 2,
            ..flags()
        };
        assert_eq!(read(&["-bc2"]), together);
    }

    #[test]
    fn flags_that_change_nothing_are_accepted() {
        let nothing = [
            "--disable-template-functions",
            "--skipTLS",
            "--rps=0",
            "-r0",
            "--load-schedule=const",
            "--load-step-duration=0s",
            "--concurrency-step=1",
            "--keepalive=0",
        ];
        for word in nothing {
            assert_eq!(read(&[word]), flags(), "{word}");
        }
    }
}
