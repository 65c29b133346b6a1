//! The share of calls that failed, which is printed with every rate and every ratio: a call that is
//! given up costs less than one that is answered.
//!
//! A call has failed that ended in the window with another status than OK, whoever made it up. One
//! without an end is `unfinished`, and no part of the share. Over several rounds it is one quotient
//! of their sums: [`ERROR_SHARE`]. It is shown wherever it is above 0, and nowhere else.

use crate::mark::{FAILED_MARKED_ABOVE, FAILED_TOLD_ABOVE};
use crate::metric::ERROR_SHARE;
use crate::round::MeasuredRounds;
use std::fmt;

/// Stands in front of a name whose calls failed.
const SIGN: char = '!';

/// A share of calls that failed, above 0 and at most 1. `Display` prints it in percent.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct FailedShare(f64);

impl FailedShare {
    /// Of a figure of [`ERROR_SHARE`]. `None`: no call failed, or none ended.
    pub fn of(share: f64) -> Option<Self> {
        (share > 0.0 && share.is_finite()).then_some(Self(share.min(1.0)))
    }

    /// Of calls that failed and of those that ended with OK. `None` as above.
    pub fn of_calls(failed: u64, ok: u64) -> Option<Self> {
        Self::of(failed as f64 / (failed as f64 + ok as f64))
    }

    /// Of the rounds of a cell. `None` as above.
    pub fn of_rounds(rounds: &MeasuredRounds<'_>) -> Option<Self> {
        ERROR_SHARE.pooled(rounds).and_then(Self::of)
    }

    /// The larger of two.
    pub fn larger(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        one.into_iter().chain(other).reduce(|a, b| if b.0 > a.0 { b } else { a })
    }

    /// As a part of 1.
    pub fn share(self) -> f64 {
        self.0
    }

    /// Whether a sign stands in front of the name.
    pub fn is_marked(self) -> bool {
        self.0 > FAILED_MARKED_ABOVE
    }

    /// Whether the line of a verdict says it.
    pub fn is_told(self) -> bool {
        self.0 > FAILED_TOLD_ABOVE
    }

    /// The name, with the sign in front of it where the share is to be marked: `! rust-tonic`.
    pub fn marked(share: Option<Self>, name: &str) -> String {
        match share {
            Some(share) if share.is_marked() => format!("{SIGN} {name}"),
            _ => name.to_owned(),
        }
    }

    /// What follows a figure where that many calls failed: `, while 26.4 % of new's calls failed`.
    /// Empty where no share is to be reported.
    pub fn clause(each: impl IntoIterator<Item = (Option<Self>, String)>) -> String {
        let told = |(share, name): (Option<Self>, String)| {
            share.filter(|share| share.is_told()).map(|share| format!("{share} of {name}'s"))
        };
        let told: Vec<String> = each.into_iter().filter_map(told).collect();
        match told.is_empty() {
            true => String::new(),
            false => format!(", while {} calls failed", told.join(" and ")),
        }
    }

    /// The field of a table that has a column of it: `26.4 %`, or `0`.
    pub fn field(share: Option<Self>) -> String {
        share.map_or_else(|| "0".to_owned(), |share| share.to_string())
    }

    /// The field after a ratio, whose divisor may have failed too: `0.5 % over 26.4 %`.
    pub fn field_of_ratio(own: Option<Self>, other: Option<Self>) -> String {
        match other {
            Some(other) => format!("{} over {other}", Self::field(own)),
            None => Self::field(own),
        }
    }
}

impl fmt::Display for FailedShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// What would be printed as `0.0 %` below it, and as `100.0 %` above the other.
        const LEAST: f64 = 0.0005;
        const MOST: f64 = 0.9995;
        match self.0 {
            share if share < LEAST => f.write_str("<0.1 %"),
            share if (MOST..1.0).contains(&share) => f.write_str(">99.9 %"),
            share => write!(f, "{:.1} %", share * 100.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_never_printed_as_none_or_as_all_if_it_is_not() {
        let text = |failed, ok| FailedShare::field(FailedShare::of_calls(failed, ok));
        assert_eq!([text(0, 10), text(0, 0)], ["0", "0"]);
        assert_eq!([text(1, 1_000_000), text(1_000_000, 1)], ["<0.1 %", ">99.9 %"]);
        assert_eq!([text(264, 736), text(5, 0)], ["26.4 %", "100.0 %"]);
        assert_eq!(text(u64::MAX, u64::MAX), "50.0 %");
    }

    #[test]
    fn the_sign_stands_above_one_in_a_thousand_and_the_words_above_one_in_a_hundred() {
        let share = |failed| FailedShare::of_calls(failed, 10_000 - failed).expect("some failed");
        assert!(!share(10).is_marked() && share(11).is_marked());
        assert!(!share(100).is_told() && share(101).is_told());
        assert_eq!(FailedShare::marked(Some(share(11)), "a"), "! a");
        assert_eq!(FailedShare::marked(Some(share(10)), "a"), "a");
        assert_eq!(FailedShare::marked(None, "a"), "a");
    }

    #[test]
    fn a_verdict_says_whose_calls_failed_above_one_in_a_hundred() {
        let clause = |shares: [f64; 2]| {
            let names = ["a", "b"].map(str::to_owned);
            FailedShare::clause(shares.map(FailedShare::of).into_iter().zip(names))
        };
        assert_eq!(clause([0.264, 0.0]), ", while 26.4 % of a's calls failed");
        assert_eq!(clause([0.264, 0.02]), ", while 26.4 % of a's and 2.0 % of b's calls failed");
        assert_eq!(clause([0.005, 0.01]), "");
    }

    #[test]
    fn a_divisor_that_failed_stands_beside_the_ratio() {
        let own = FailedShare::of(0.005);
        let other = FailedShare::of(0.264);
        assert_eq!(FailedShare::field_of_ratio(own, other), "0.5 % over 26.4 %");
        assert_eq!(FailedShare::field_of_ratio(None, other), "0 over 26.4 %");
        assert_eq!(FailedShare::field_of_ratio(own, None), "0.5 %");
        assert_eq!(FailedShare::larger(own, other), other);
        assert_eq!([FailedShare::of(f64::NAN), FailedShare::of(-1.0)], [None, None]);
    }
}
