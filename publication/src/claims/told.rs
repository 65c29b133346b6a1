//! Whether figures bear out a sentence, and the sentence with them.

use super::evaluation::Evaluation;
use super::failed_calls::FailedCells;
use super::finding::{ClaimFinding, FigureCondition};
use bookend_results::grouping::each_once;
use bookend_results::statistics::Interval;
use std::borrow::Cow;

impl ClaimFinding {
    /// The sentence, if every condition has its figure and is so. `figure` computes those of names.
    pub(super) fn told<'a>(
        &self,
        published: &str,
        figure: impl Fn(&FigureCondition) -> Option<Cow<'a, Evaluation>>,
    ) -> Option<String> {
        let mut text = self.text.replace("{published}", published);
        for condition in &self.conditions {
            let evaluation = figure(condition)?;
            if !condition.is_so(&evaluation) {
                return None;
            }
            let name = format!("{{{}}}", condition.figure);
            text = text.replace(&name, &evaluation.short_text());
        }
        Some(text)
    }

    /// What follows the sentence: ` But 26.4 % of a's calls failed at C=1 S=1000.` Empty where no
    /// more calls failed in the cells of its figures than may fail without a word.
    pub(super) fn failed_beside(
        &self,
        cells: impl Fn(&FigureCondition) -> Option<FailedCells>,
    ) -> String {
        let failed = self.conditions.iter().filter_map(cells);
        let said = each_once(failed.filter_map(|failed| failed.in_words()));
        if said.is_empty() { String::new() } else { format!(" But {}.", said.join("; ")) }
    }
}

impl FigureCondition {
    /// Whether there is the figure in every case, and its whole interval is within.
    fn is_so(&self, of: &Evaluation) -> bool {
        let within = |Interval { low, high }: Interval| {
            self.at_least.is_none_or(|least| low >= least)
                && self.at_most.is_none_or(|most| high <= most)
        };
        let shown = of.shown_estimates();
        let is_whole = of.missing.is_empty() && !shown.is_empty();
        is_whole && shown.iter().all(|one| one.interval.is_some_and(within))
    }
}
