//! The answer to one question about a claim, from its figures.

use super::claim::{Bounds, Claim};
use super::evaluation::Evaluation;
use super::known::Limit;
use super::marked::MarkedRounds;
use super::outcome::ClaimOutcome;
use super::quantity::Take;
use super::series::Estimate;
use super::statement::{Band, Favour, Statement};
use bookend_results::metric::{Metric, Unit};
use bookend_results::statistics::{CONFIDENCE, Interval, median_interval};

/// More rounds than this are a night's work for one cell: a figure that needs them lies on the
/// bound.
const ROUNDS_MAX: f64 = 100.0;

const QUIET_MACHINE: &str =
    "Most rounds were disturbed by others on the machine: a quiet one would decide it.";

/// Which of the two questions about a claim is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// Does it replicate, with the published client?
    Replicates,
    /// Is it so, with a client that is not the limit?
    IsItSo,
}

/// A figure with the band that it is judged by, and the outcome.
type JudgedFigure<'a> = (&'a Estimate, Option<Band>, ClaimOutcome);

impl Evaluation {
    /// What the figures make of the claim, and why: clauses that follow the figures.
    /// `recomputed` has the printed figures, where the claim names none, and `marked` what was
    /// noted of the rounds.
    pub(super) fn judge(
        &self,
        claim: &Claim,
        recomputed: Option<&Evaluation>,
        marked: Option<&MarkedRounds>,
        asked: Asked,
    ) -> (ClaimOutcome, String) {
        let is_disturbed = |one: &Estimate| {
            claim.bounds.is_none() && marked.is_some_and(|marked| marked.is_disturbed(&one.place))
        };
        let judge_one = |one| match self.judge_one(one, claim, recomputed) {
            (_, band, outcome) if outcome.is_decided() && is_disturbed(one) => {
                (one, band, ClaimOutcome::Undecided)
            }
            (_, band, outcome) => (one, band, self.beside_the_limit(one, band, outcome, asked)),
        };
        let judged: Vec<JudgedFigure<'_>> = self.estimates.iter().map(judge_one).collect();
        let first = |outcome| judged.iter().find(|(.., own)| *own == outcome);
        let replicated = |band: &Option<Band>| match band {
            Some(band) => format!("; replicated is {}{}", self.band_text(*band), because(claim)),
            None => "; nothing is printed to compare it with".to_owned(),
        };
        let so_far = self.how_many(&judged);
        if let Some((one, band, _)) = first(ClaimOutcome::DidNotReplicate) {
            let why = self.estimate_text(one) + &replicated(band);
            let why = format!("{why}{}.{so_far}", self.round_that_crossed(one, *band));
            return (ClaimOutcome::DidNotReplicate, why);
        }
        if let Some((one, ..)) = first(ClaimOutcome::NotComparable) {
            let why = one.limit.map_or_else(String::new, Limit::sentence);
            let why = format!("{}. {why} {}", self.estimate_text(one), self.of_a_starved_client());
            return (ClaimOutcome::NotComparable, why);
        }
        if let Some(why) = self.missing_rows(claim) {
            return (ClaimOutcome::Undecided, why + &so_far);
        }
        if let Some((one, band, _)) = first(ClaimOutcome::Undecided) {
            let deciding = match (band, one.limit) {
                _ if is_disturbed(one) => QUIET_MACHINE.to_owned(),
                (_, Some(limit)) if asked == Asked::IsItSo => {
                    format!("{} One with CPU time left would decide it.", limit.sentence())
                }
                (Some(band), _) => self.deciding(one, *band),
                (None, _) => String::new(),
            };
            let why = format!("{}{}. {deciding}", self.estimate_text(one), replicated(band));
            return (ClaimOutcome::Undecided, why.trim_end().to_owned() + &so_far);
        }
        let Some((_, band, outcome)) = judged.last() else {
            return (ClaimOutcome::Undecided, "No case to look at.".to_owned());
        };
        let all_more = judged.iter().all(|(.., own)| *own == ClaimOutcome::MoreThanClaimed);
        let outcome = if all_more { *outcome } else { ClaimOutcome::Replicated };
        let same_band = judged.iter().all(|(_, own, _)| own == band) || self.is_growth();
        let bounds = if same_band { replicated(band) } else { String::new() };
        (outcome, format!("{}{bounds}.{}", self.text(), self.in_its_favour()))
    }

    /// The outcome, where the client was at its limit: a bound of the server's figure can still
    /// decide on its own side. Costs through the published client are what was published; its
    /// latencies, and the profile of a server that it leaves idle, are not.
    fn beside_the_limit(
        &self,
        one: &Estimate,
        band: Option<Band>,
        outcome: ClaimOutcome,
        asked: Asked,
    ) -> ClaimOutcome {
        let (Some(band), Some(interval)) = (band, one.interval) else { return outcome };
        let is_at_issue =
            one.limit.is_some() && (asked == Asked::IsItSo || self.is_of_the_client());
        let stands = match outcome {
            ClaimOutcome::DidNotReplicate => one.known.refutes(band, interval),
            _ => one.known.supports(band),
        };
        match asked {
            _ if !is_at_issue || stands => outcome,
            Asked::IsItSo => ClaimOutcome::Undecided,
            Asked::Replicates => ClaimOutcome::NotComparable,
        }
    }

    /// Whether a client at its limit makes the figure, rather than bounds it.
    fn is_of_the_client(&self) -> bool {
        self.is_profile()
            || self.of.as_ref().is_some_and(|of| of.metric.unit() == Unit::Nanoseconds)
    }

    fn is_profile(&self) -> bool {
        self.of.as_ref().is_some_and(|of| matches!(of.metric, Metric::Profile(_)))
    }

    fn of_a_starved_client(&self) -> &'static str {
        if self.is_profile() {
            "This is the profile of a server that mostly waits for it, under another load than was \
             published."
        } else {
            "Such a latency is for the most part the client's own queue."
        }
    }

    /// Which row is missing. Where what a figure would be divided by did not live, a claim that
    /// favours the other is not left open by that.
    fn missing_rows(&self, claim: &Claim) -> Option<String> {
        let died = self.died.iter().filter(|_| !claim.favours_larger());
        let missing: Vec<&String> = self.missing.iter().chain(died).collect();
        let more = match missing.len() {
            0 | 1 => String::new(),
            several => format!(", and {} more", several - 1),
        };
        Some(format!("The missing row would decide it: {}{more}.", missing.first()?))
    }

    fn in_its_favour(&self) -> String {
        let clause = |died: &String| format!(" Without a ratio, in its favour: {died}.");
        self.died.iter().map(clause).collect()
    }

    /// In how many cases it is so, where it is not so in all.
    fn how_many(&self, judged: &[JudgedFigure<'_>]) -> String {
        let is_so = |(.., own): &&JudgedFigure<'_>| {
            matches!(own, ClaimOutcome::Replicated | ClaimOutcome::MoreThanClaimed)
        };
        match (judged.iter().filter(is_so).count(), judged.len()) {
            (0, _) | (_, 0 | 1) => String::new(),
            _ if self.is_of_growth() => String::new(),
            (so, all) => format!(" It is so in {so} of {all} cases."),
        }
    }

    fn is_of_growth(&self) -> bool {
        self.of.as_ref().is_some_and(|of| of.take == Take::Growth)
    }

    fn is_growth(&self) -> bool {
        self.estimates.iter().any(|one| self.is_whole(one))
    }

    fn judge_one<'a>(
        &self,
        one: &'a Estimate,
        claim: &Claim,
        recomputed: Option<&Evaluation>,
    ) -> (&'a Estimate, Option<Band>, ClaimOutcome) {
        if let Some(bounds) = &claim.bounds {
            let band = bounds.band();
            let by = if bounds.every_round { Band::round_by_round } else { Band::by_interval };
            return (one, Some(band), by(band, one));
        }
        let statement = claim.says.unwrap_or(Statement::Figure);
        let beside = |other: &&Estimate| other.place == one.place;
        let printed = || Some(recomputed?.estimates.iter().find(beside)?.value);
        let band = match statement {
            Statement::Grows if !self.is_whole(one) => Some(Band::STEP),
            _ if !statement.needs_printed() => Some(statement.band(1.0, claim.favour)),
            _ => claim.printed.or_else(printed).map(|x| statement.band(x, claim.favour)),
        };
        (one, band, band.map_or(ClaimOutcome::Undecided, |band| band.by_interval(one)))
    }
}

impl Evaluation {
    /// Where the figures look right and one round is not: that round, which decides it.
    fn round_that_crossed(&self, one: &Estimate, band: Option<Band>) -> String {
        let Some(band) = band.filter(|band| one.interval.is_some_and(|all| band.contains(all)))
        else {
            return String::new();
        };
        let Interval { low, high } = one.extremes;
        let crossed = if high > band.most { high } else { low };
        format!(", in every round, and one had {}", self.number(crossed))
    }
}

/// Why just these bounds.
fn because(claim: &Claim) -> String {
    claim
        .bounds
        .as_ref()
        .map_or_else(String::new, |bounds| format!(" ({})", bounds.because.trim_end_matches('.')))
}

impl Claim {
    /// Whether a larger figure is more of what it claims.
    fn favours_larger(&self) -> bool {
        match self.says {
            Some(Statement::More | Statement::MuchMore | Statement::Grows) => true,
            Some(Statement::Factor) => self.favour == Favour::Larger,
            _ => false,
        }
    }
}

impl Bounds {
    fn band(&self) -> Band {
        let least = self.at_least.unwrap_or(f64::NEG_INFINITY);
        let most = self.at_most.unwrap_or(f64::INFINITY);
        Band { least, most, favour: None }
    }
}

impl Band {
    fn contains(self, Interval { low, high }: Interval) -> bool {
        self.least <= low && high <= self.most
    }

    fn excludes(self, Interval { low, high }: Interval) -> bool {
        high < self.least || low > self.most
    }

    /// A bound that nothing may cross: every round must keep it, and one that does not refutes it.
    fn round_by_round(self, one: &Estimate) -> ClaimOutcome {
        if self.contains(one.extremes) {
            ClaimOutcome::Replicated
        } else if one.rounds.is_some() || self.excludes(one.extremes) {
            ClaimOutcome::DidNotReplicate
        } else {
            ClaimOutcome::Undecided
        }
    }

    /// True where the whole interval is inside, false where the whole joint interval is outside: a
    /// claim about several cases must be true in all, so that with more cases it is likelier that
    /// one is outside by chance. Towards the better side only the near end counts.
    fn by_interval(self, one: &Estimate) -> ClaimOutcome {
        let (Some(interval), Some(joint)) = (one.interval, one.joint_interval.or(one.interval))
        else {
            return ClaimOutcome::Undecided;
        };
        let at_least = match self.favour {
            None => self.contains(interval),
            Some(Favour::Larger) => interval.low >= self.least,
            Some(Favour::Smaller) => interval.high <= self.most,
        };
        let more = match self.favour {
            None => false,
            Some(Favour::Larger) => interval.low > self.most,
            Some(Favour::Smaller) => interval.high < self.least,
        };
        // A joint interval that is not known, for few rounds, excludes nothing.
        let is_outside = one.joint_interval.is_some() && self.excludes(joint);
        match (more, at_least, is_outside) {
            (true, ..) => ClaimOutcome::MoreThanClaimed,
            (_, true, _) => ClaimOutcome::Replicated,
            (.., true) => ClaimOutcome::DidNotReplicate,
            _ => ClaimOutcome::Undecided,
        }
    }
}

impl Evaluation {
    /// What would decide it.
    fn deciding(&self, one: &Estimate, band: Band) -> String {
        match (one.rounds, one.interval) {
            (Some(rounds), Some(interval)) => rounds_needed(one.value, interval, rounds, band),
            (Some(rounds), None) => {
                let has_interval =
                    |n: &usize| median_interval(&vec![0.0; *n], CONFIDENCE).is_some();
                let fewest = (1..).find(has_interval).unwrap_or(rounds);
                format!(
                    "More rounds would decide it: of {rounds} there is no interval, {fewest} are \
                     the fewest."
                )
            }
            (None, _) if self.is_profile() => "A longer recording would decide it.".to_owned(),
            (None, _) => "Only a finer printed figure would decide it.".to_owned(),
        }
    }
}

/// How many rounds like these would, if their median stays where it is: the width of an interval
/// falls with the root of the rounds.
fn rounds_needed(value: f64, interval: Interval, rounds: usize, band: Band) -> String {
    let Interval { low, high } = interval;
    let least = Some(band.least).filter(|_| band.favour != Some(Favour::Smaller));
    let most = Some(band.most).filter(|_| band.favour != Some(Favour::Larger));
    let ends = [least, most].into_iter().flatten().filter(|end| interval.contains(*end));
    // How much narrower the interval must be to leave this end out.
    let needed = ends.map(|end| {
        let width = if end < value { value - low } else { high - value };
        rounds as f64 * (width / (value - end)).powi(2)
    });
    match needed.fold(0.0, f64::max) {
        needed if needed > ROUNDS_MAX => {
            "The figure lies on the bound, where no number of rounds decides.".to_owned()
        }
        // Each case by itself is clear, but of several one can be as far off by chance.
        needed if needed <= rounds as f64 => {
            let why =
                "Of several cases one can be as far off by chance: more rounds would decide it.";
            why.to_owned()
        }
        needed => format!("About {:.0} rounds like these {rounds} would decide it.", needed.ceil()),
    }
}
