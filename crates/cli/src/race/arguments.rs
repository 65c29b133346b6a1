//! The flags of `bookend race`, as typed.

use crate::gates::GateArguments;
use crate::terminal::Failure;
use bookend_contract::{duration, secrets};
use bookend_lab::race::{RacePlan, RaceStarts};
use bookend_load::flags::pacing::{PacingFlags, rate};
use bookend_load::flags::{CallFlags, LoadFlags, whole};
use bookend_results::race::{RaceCell, STARTS_MIN};
use bookend_server::tls::TlsAdvice;
use clap::{Args, Command, FromArgMatches as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// How long a race may take that is to end by itself.
const UNTIL_BUDGET: Duration = Duration::from_secs(30 * 60);

/// How long other races may take.
const BUDGET: Duration = Duration::from_secs(60);

/// How long a lap is of servers, which go on between two laps.
const LAP: Duration = Duration::from_millis(100);

/// And of clients, each of which takes about as long to start.
const CLIENT_LAP: Duration = Duration::from_millis(500);

/// Fewest calls at a rate in a lap.
const LAP_CALLS_MIN: f64 = 20.0;

/// Calls in flight where connections alone are given, and of clients: a cell of theirs takes as
/// many starts as it has laps.
const CONCURRENCY: u32 = 50;

/// The default cells of a race, connections and calls in flight: one call at a time, many on one
/// connection, one on each of many, and many on many. A server may be good at one of these and bad
/// at another.
const CELLS: [(u32, u32); 4] = [(1, 1), (1, 100), (100, 100), (100, 1000)];

/// The default lists of a grid.
const GRID: [&[u32]; 2] = [&[1, 10, 100], &[1, 100, 1000]];

/// What its flags for TLS are called in advice: plain text is the default.
static TLS_FLAGS: TlsAdvice = TlsAdvice {
    encrypt: "add --cacert FILE, or --skipTLS",
    plain_text: "leave --cacert, --cert, --cname and --skipTLS out, or add --insecure",
    authorities: "--cacert FILE",
    server_name: "--cname",
    identity: "--cert FILE --key FILE",
    any_certificate: "--skipTLS",
};

/// The same where `--insecure` is given: it wins over the flags that would otherwise do.
static TLS_FLAGS_OF_INSECURE: TlsAdvice =
    TlsAdvice { encrypt: "leave --insecure out, and add --cacert FILE, or --skipTLS", ..TLS_FLAGS };

/// The same where such a flag is given with it.
static TLS_FLAGS_OF_CONTRADICTION: TlsAdvice =
    TlsAdvice { encrypt: "leave --insecure out", ..TLS_FLAGS };

const EXAMPLES: &str = r#"Examples:
  bookend race --proto greeter.proto --call pkg.Greeter/SayHello -d '{"name":"x"}' \
      'old=./old --port {port}' 'new=./new --port {port}'
  bookend race --proto greeter.proto --call pkg.Greeter/SayHello --rev main --rev HEAD \
      --build 'cargo build --release' './target/release/server --port {port}'"#;

/// Arguments of `bookend race`. Flags that `bookend load` also has mean the same.
#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLES,
    mut_arg("targets", |servers| servers
        .value_name("NAME=COMMAND")
        .help_heading("Servers")
        .help("Server to start, with {port} for a free port; NAME@PORT=COMMAND if it listens on a \
               port of its own, 0 if on one that it chooses")),
    mut_arg("insecure", |insecure| insecure
        .help("Use plain text [default, unless another of these flags is given]")),
    mut_arg("data", |data| data.help("Request as JSON; @ is standard input")),
    mut_args(|flag| match flag.get_help_heading() {
        Some("TLS") => flag.hide_short_help(true),
        _ => flag,
    }),
)]
pub struct RaceArguments {
    /// Git revision to race; repeatable. The one COMMAND, without a name, is started in a checkout
    /// of each
    #[arg(long, value_name = "REVISION", help_heading = "Servers")]
    pub rev: Vec<String>,
    /// Command that builds a revision, run in its folder
    #[arg(long, value_name = "COMMAND", requires = "rev", help_heading = "Servers")]
    pub build: Option<String>,
    /// Set an environment variable of every command; repeatable
    #[arg(
        long, value_name = "NAME=VALUE", value_parser = variable, help_heading = "Servers",
        hide_short_help = true
    )]
    pub env: Vec<(String, String)>,
    /// Command to run before every start, in the same folder; the start fails if it does
    #[arg(long, value_name = "COMMAND", help_heading = "Servers", hide_short_help = true)]
    pub prepare: Option<String>,
    /// Server that already runs on this machine
    #[arg(long, value_name = "NAME=HOST:PORT", help_heading = "Servers")]
    pub at: Vec<String>,
    /// Race clients instead of servers: commands that speak the contract of measured clients, each
    /// started for every lap, calling Bookend's own server
    #[arg(long, help_heading = "Servers", hide_short_help = true)]
    pub client: bool,
    /// Number of CPUs for each server, the same ones for both
    #[arg(
        long, value_name = "N", value_parser = whole::<u32>, default_value_t = 1,
        allow_negative_numbers = true, help_heading = "Servers", hide_short_help = true
    )]
    pub server_cpus: u32,
    /// Number of CPUs for each client of --client, the same ones for both
    #[arg(
        long, value_name = "N", value_parser = whole::<u32>, default_value_t = 1,
        allow_negative_numbers = true, requires = "client", help_heading = "Servers",
        hide_short_help = true
    )]
    pub client_cpus: u32,
    /// Server that the other is compared with [default: the first]
    #[arg(long, value_name = "NAME", help_heading = "Servers", hide_short_help = true)]
    pub baseline: Option<String>,
    /// The servers as commands, and the call.
    #[command(flatten)]
    pub call: CallFlags,
    /// Calls in flight over all connections; a list makes a cell of each number [default: four
    /// cells: 1, 100, 100 and 1000 over 1, 1, 100 and 100 connections; 50 with --connections, --rps
    /// or --client]
    #[arg(
        short, long, value_name = "LIST", value_parser = whole::<u32>, value_delimiter = ',',
        allow_negative_numbers = true, help_heading = "Rate"
    )]
    pub concurrency: Vec<u32>,
    /// Connections to each server: one number, or one per cell [default: 1]
    #[arg(
        long, value_name = "LIST", value_parser = whole::<u32>, value_delimiter = ',',
        allow_negative_numbers = true, help_heading = "Rate"
    )]
    pub connections: Vec<u32>,
    /// Combine every --concurrency with every --connections that is not above it [default:
    /// 1,100,1000 with 1,10,100]
    #[arg(long, help_heading = "Rate", hide_short_help = true)]
    pub grid: bool,
    /// Calls per second to each server, evenly spaced, with up to --concurrency in flight; 0 sets
    /// no rate
    #[arg(
        short, long, value_name = "RATE", value_parser = rate, default_value = "0",
        allow_negative_numbers = true, help_heading = "Rate"
    )]
    pub rps: f64,
    /// Time that the race may take [default: 60s, or 30m with --until]
    #[arg(long, value_name = "TIME", value_parser = duration::parse, help_heading = "How long")]
    pub budget: Option<Duration>,
    /// Stop once the interval is this narrow to either side, such as 1%
    #[arg(long, value_name = "SHARE", value_parser = share, help_heading = "How long")]
    pub until: Option<f64>,
    /// Treat differences up to this share as equal
    #[arg(
        long, value_name = "SHARE", value_parser = share, default_value = "1%",
        help_heading = "Gates"
    )]
    pub margin: f64,
    /// Time for which a server is called before the other's turn [default: 100ms, or 500ms with
    /// --client]
    #[arg(
        long, value_name = "TIME", value_parser = lap_length, help_heading = "How long",
        hide_short_help = true
    )]
    pub lap: Option<Duration>,
    /// Time for which each server is called after every start before measuring
    #[arg(
        long, value_name = "TIME", value_parser = duration::parse, default_value = "200ms",
        help_heading = "How long", hide_short_help = true
    )]
    pub warmup: Duration,
    /// Start both servers exactly this often, with shorter starts or beyond the budget if need be
    /// [default: every 2s, while half of the time is left for calls]
    #[arg(
        long, value_name = "N", value_parser = starts, allow_negative_numbers = true,
        conflicts_with = "no_restart", help_heading = "How long", hide_short_help = true
    )]
    pub starts: Option<u32>,
    /// Start both servers only once: the answer is about these two processes
    #[arg(long, help_heading = "How long", hide_short_help = true)]
    pub no_restart: bool,
    #[command(flatten)]
    pub gates: GateArguments,
    /// Record both servers with perf, and name the functions that differ
    #[arg(long, help_heading = "Output")]
    pub profile: bool,
    /// Length of each recording
    #[arg(
        long, value_name = "TIME", value_parser = duration::parse, default_value = "10s",
        requires = "profile", help_heading = "Output", hide_short_help = true
    )]
    pub profile_window: Duration,
    /// Folder for a flame graph of each server, and its stacks
    #[arg(
        long,
        value_name = "DIR",
        requires = "profile",
        help_heading = "Output",
        hide_short_help = true
    )]
    pub profile_folder: Option<PathBuf>,
    /// Program that records
    #[arg(
        long,
        value_name = "FILE",
        default_value = "perf",
        requires = "profile",
        help_heading = "Output",
        hide_short_help = true
    )]
    pub perf: PathBuf,
    /// Print the answer as JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Save all laps to a file, as JSON
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub save: Option<PathBuf>,
    /// Compare one server with its laps in a file of --save
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub against: Option<PathBuf>,
    /// Seed of the order of laps [default: a new one]
    #[arg(
        long, value_name = "N", value_parser = whole::<u64>, allow_negative_numbers = true,
        help_heading = "Expert", hide_short_help = true
    )]
    pub seed: Option<u64>,
    /// Wait while another lab measures on this machine, instead of exiting
    #[arg(long, help_heading = "Expert", hide_short_help = true)]
    pub wait_for_lock: bool,
    /// Show no progress
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    pub quiet: bool,
}

impl RaceArguments {
    /// How long the race may take.
    pub fn budget(&self) -> Duration {
        let usual = if self.until.is_some() { UNTIL_BUDGET } else { BUDGET };
        self.budget.unwrap_or(usual)
    }

    /// What the race is to be, in that many cells.
    pub fn plan(&self, cells: usize, starts: RaceStarts) -> RacePlan {
        let (lap, warmup, budget) = (self.lap(), self.warmup, self.budget());
        RacePlan { cells, lap, warmup, budget, until: self.until, starts }
    }

    /// Calls a second; `None`: as soon as others end.
    pub fn rps(&self) -> Option<f64> {
        Some(self.rps).filter(|rps| *rps > 0.0)
    }

    /// Whether a lap has enough calls.
    ///
    /// # Errors
    /// There are too few for percentiles.
    pub fn check_rate(&self) -> Result<(), Failure> {
        let Some(rps) = self.rps() else {
            return Ok(());
        };
        let (lap, calls) = (self.lap(), rps * self.lap().as_secs_f64());
        if calls >= LAP_CALLS_MIN {
            return Ok(());
        }
        let (lap_ms, longer) = (lap.as_millis(), (LAP_CALLS_MIN / rps).ceil());
        // Rounded down: it is not to look like enough.
        let calls = (calls * 10.0).floor() / 10.0;
        Err(Failure::usage(format!(
            "--rps {rps} makes {calls} calls in a lap of {lap_ms} ms, too few for a percentile: \
             add --lap {longer}s"
        )))
    }

    /// How long a lap is.
    pub fn lap(&self) -> Duration {
        self.lap.unwrap_or(if self.client { CLIENT_LAP } else { LAP })
    }

    /// The ways in which the servers are called.
    ///
    /// # Errors
    /// The lists do not fit, or a number is 0.
    pub fn cells(&self) -> Result<Vec<RaceCell>, Failure> {
        if self.concurrency.iter().chain(&self.connections).any(|number| *number == 0) {
            return Err(Failure::usage("--concurrency and --connections are at least 1"));
        }
        if self.grid {
            return self.grid_cells();
        }
        let is_told_none = self.concurrency.is_empty() && self.connections.is_empty();
        // A rate that many connections hold is too much for one call at a time.
        if is_told_none && !self.client && self.rps().is_none() {
            return Ok(CELLS.map(cell).to_vec());
        }
        let concurrency = given(&self.concurrency, &[CONCURRENCY]);
        let connections = given(&self.connections, &[1]);
        let count = concurrency.len().max(connections.len());
        let fits = |list: &[u32]| list.len() == 1 || list.len() == count;
        if !fits(concurrency) || !fits(connections) {
            return Err(Failure::usage(
                "--concurrency and --connections: one number for all cells, or one for each; with \
                 --grid every number of one with every number of the other",
            ));
        }
        let numbered = |number: usize| {
            let connections = connections[number % connections.len()];
            cell((connections, concurrency[number % concurrency.len()].max(connections)))
        };
        Ok((0..count).map(numbered).collect())
    }

    fn grid_cells(&self) -> Result<Vec<RaceCell>, Failure> {
        let [connections, concurrency] = GRID;
        let connections = given(&self.connections, connections);
        let concurrency = given(&self.concurrency, concurrency);
        let cells: Vec<RaceCell> = connections
            .iter()
            .flat_map(|c| concurrency.iter().map(move |s| (*c, *s)))
            .filter(|(c, s)| c <= s)
            .map(cell)
            .collect();
        if cells.is_empty() {
            return Err(Failure::usage(
                "--grid: no number of --concurrency is as large as one of --connections",
            ));
        }
        Ok(cells)
    }

    /// The flags of `bookend load` that mean the same calls to the server at `address`.
    pub fn load_flags(&self, address: SocketAddr, cell: RaceCell) -> LoadFlags {
        let command = LoadFlags::augment_args(Command::new("load").no_binary_name(true));
        let matches = command.get_matches_from(std::iter::empty::<&str>());
        let usual = LoadFlags::from_arg_matches(&matches).expect("no flag is required");
        let mut call = self.call.clone();
        call.targets = vec![address.to_string()];
        call.insecure = !self.wants_tls();
        call.tls_advice = match (self.call.insecure, self.has_tls_flag()) {
            (false, _) => &TLS_FLAGS,
            (true, false) => &TLS_FLAGS_OF_INSECURE,
            (true, true) => &TLS_FLAGS_OF_CONTRADICTION,
        };
        let RaceCell { connections, concurrency } = cell;
        // The end comes lap by lap.
        let duration = Some(Duration::from_secs(1));
        let pacing = PacingFlags { rps: self.rps, ..usual.pacing };
        LoadFlags { call, concurrency, connections, duration, pacing, ..usual }
    }

    /// Servers that are raced are seldom given certificates, so plain text is the default here.
    pub fn wants_tls(&self) -> bool {
        !self.call.insecure && self.has_tls_flag()
    }

    fn has_tls_flag(&self) -> bool {
        let call = &self.call;
        let names_file = [&call.cacert, &call.cert, &call.key].into_iter().any(Option::is_some);
        names_file || call.skip_tls || call.cname.is_some()
    }
}

fn cell((connections, concurrency): (u32, u32)) -> RaceCell {
    RaceCell { connections, concurrency }
}

/// A list, or the usual one where it was not given.
fn given<'a>(list: &'a [u32], usual: &'a [u32]) -> &'a [u32] {
    if list.is_empty() { usual } else { list }
}

/// One start, or enough of them for an interval.
fn starts(text: &str) -> Result<u32, String> {
    let starts = whole::<u32>(text)?;
    if starts != 1 && u64::from(starts) < STARTS_MIN {
        return Err(format!("an interval needs {STARTS_MIN} starts, or 1 with all its rounds"));
    }
    Ok(starts)
}

/// `NAME=VALUE`, with a name that a shell takes.
fn variable(text: &str) -> Result<(String, String), String> {
    let fits = |name: &str| {
        let is_letter = |letter: char| letter == '_' || letter.is_ascii_alphabetic();
        let is_part = |letter: char| is_letter(letter) || letter.is_ascii_digit();
        name.starts_with(is_letter) && name.chars().all(is_part)
    };
    text.split_once('=')
        .filter(|(name, _)| fits(name))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .ok_or_else(|| format!("\"{}\" is no variable: write NAME=VALUE", unnamed(text)))
}

/// A value of `--env` that is refused. One without a name may be a secret as a whole.
fn unnamed(text: &str) -> String {
    if text.contains('=') { secrets::in_command(text) } else { secrets::masked(text) }
}

/// How long a lap is: the contract with whatever makes the calls tells it in milliseconds.
fn lap_length(text: &str) -> Result<Duration, String> {
    let length = duration::parse(text).map_err(|error| error.to_string())?;
    let is_whole = length.subsec_nanos() % 1_000_000 == 0;
    match is_whole && !length.is_zero() {
        true => Ok(length),
        false => Err("a lap is a whole number of milliseconds, and at least one".to_owned()),
    }
}

/// `1%` or `0.01`.
fn share(text: &str) -> Result<f64, String> {
    let (number, unit) = match text.strip_suffix('%') {
        Some(number) => (number, 0.01),
        None => (text, 1.0),
    };
    number
        .trim()
        .parse::<f64>()
        .ok()
        .map(|number| number * unit)
        .filter(|share| *share > 0.0 && *share < 1.0)
        .ok_or_else(|| format!("\"{text}\" is not a share: write one like 1% or 0.01"))
}

#[cfg(test)]
mod tests {
    use super::{RaceArguments, RaceCell, lap_length, share};
    use clap::{Args as _, Command, FromArgMatches as _};

    fn cells(words: &[&str]) -> Result<Vec<String>, String> {
        let command = RaceArguments::augment_args(Command::new("race").no_binary_name(true));
        let matches = command.try_get_matches_from(words).map_err(|error| error.to_string())?;
        let arguments = RaceArguments::from_arg_matches(&matches).unwrap();
        let cells = arguments.cells().map_err(|failure| format!("{failure:?}"))?;
        Ok(cells.iter().map(RaceCell::to_string).collect())
    }

    #[test]
    fn a_race_that_is_told_no_cell_has_four() {
        let four = ["C=1 S=1", "C=1 S=100", "C=100 S=100", "C=100 S=1000"];
        assert_eq!(cells(&[]).unwrap(), four);
        assert_eq!(cells(&["-c", "7"]).unwrap(), ["C=1 S=7"]);
        assert_eq!(cells(&["--connections", "100"]).unwrap(), ["C=100 S=100"]);
        assert_eq!(cells(&["--connections", "2,4", "-c", "8"]).unwrap(), ["C=2 S=8", "C=4 S=8"]);
        assert_eq!(cells(&["--client"]).unwrap(), ["C=1 S=50"], "they are started for each lap");
        assert_eq!(cells(&["--rps", "9"]).unwrap(), ["C=1 S=50"], "the same as of a load");
    }

    #[test]
    fn a_grid_has_no_connection_without_a_call() {
        let grid = ["--grid", "--connections", "1,10", "-c", "1,50"];
        assert_eq!(cells(&grid).unwrap(), ["C=1 S=1", "C=1 S=50", "C=10 S=50"]);
        assert_eq!(cells(&["--grid"]).unwrap().len(), 7);
        assert!(cells(&["--grid", "--connections", "9", "-c", "1"]).is_err());
    }

    #[test]
    fn plain_text_is_the_default_and_wins_where_it_is_asked_for() {
        let is_plain = |words: &[&str]| {
            let command = RaceArguments::augment_args(Command::new("race").no_binary_name(true));
            let matches = command.get_matches_from(words);
            let arguments = RaceArguments::from_arg_matches(&matches).unwrap();
            let cell = arguments.cells().unwrap()[0];
            arguments.load_flags(([127, 0, 0, 1], 1).into(), cell).call.insecure
        };
        assert!(is_plain(&[]) && is_plain(&["--insecure"]));
        for flag in ["--skipTLS", "--cacert=a.pem", "--cname=a", "--cert=a.pem"] {
            assert!(!is_plain(&[flag]), "{flag}");
            assert!(is_plain(&[flag, "--insecure"]), "{flag}");
        }
    }

    #[test]
    fn who_has_asked_for_plain_text_is_not_told_to_add_what_it_overrules() {
        let advice = |words: &[&str]| {
            let command = RaceArguments::augment_args(Command::new("race").no_binary_name(true));
            let matches = command.get_matches_from(words);
            let arguments = RaceArguments::from_arg_matches(&matches).unwrap();
            let cell = arguments.cells().unwrap()[0];
            arguments.load_flags(([127, 0, 0, 1], 1).into(), cell).call.tls_advice.encrypt
        };
        assert_eq!(advice(&[]), "add --cacert FILE, or --skipTLS");
        let of_insecure = "leave --insecure out, and add --cacert FILE, or --skipTLS";
        assert_eq!(advice(&["--insecure"]), of_insecure);
        for flag in ["--skipTLS", "--cacert=a.pem", "--cname=a", "--cert=a.pem"] {
            assert_eq!(advice(&[flag, "--insecure"]), "leave --insecure out", "{flag}");
        }
    }

    #[test]
    fn a_lap_is_as_long_as_whatever_makes_its_calls_can_be_told() {
        for (text, length_ms) in [("1ms", 1), ("100ms", 100), ("1.5s", 1_500)] {
            assert_eq!(lap_length(text).map(|length| length.as_millis()), Ok(length_ms), "{text}");
        }
        for text in ["0", "0s", "999us", "1500us", "1ns", "x"] {
            assert!(lap_length(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_share_is_a_percentage_or_a_fraction() {
        assert_eq!(share("1%"), Ok(0.01));
        assert_eq!(share("0.25"), Ok(0.25));
        for text in ["", "%", "1", "0%", "-1%", "200%", "nan", "x%"] {
            assert!(share(text).is_err(), "{text}");
        }
    }
}
