//! The flags of `bookend race`, as typed.

use super::contestant_flags::ContestantFlags;
use super::flag_values::{lap_length, share, starts};
use super::profile_flags::ProfileFlags;
use crate::fleet::FleetFlags;
use crate::gates::GateArguments;
use crate::terminal::Failure;
use bookend_contract::duration;
use bookend_lab::race::{RacePlan, RaceStarts};
use bookend_load::flags::pacing::rate;
use bookend_load::flags::{CallFlags, whole};
use clap::Args;
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
    mut_arg("agents", |agents| agents.help_heading("Rate").hide_short_help(true)),
    mut_arg("data", |data| data.help("Request as JSON; @ is standard input")),
    mut_args(|flag| match flag.get_help_heading() {
        Some("TLS") => flag.hide_short_help(true),
        _ => flag,
    }),
)]
pub struct RaceArguments {
    #[command(flatten)]
    pub contestants: ContestantFlags,
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
    /// Those that say which machines make the calls.
    #[command(flatten)]
    pub fleet: FleetFlags,
    #[command(flatten)]
    pub gates: GateArguments,
    #[command(flatten)]
    pub profile: ProfileFlags,
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
        self.lap.unwrap_or(if self.contestants.client { CLIENT_LAP } else { LAP })
    }
}

#[cfg(test)]
mod tests {
    use super::RaceArguments;
    use bookend_results::race::RaceCell;
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
}
