//! What the doctor found out about each variant, as a line each.

use bookend_contract::printable;
use bookend_lab::doctor::{VariantName, VariantState, VariantStates};

/// A line for each variant, and one that counts.
pub fn states_text(states: &VariantStates) -> String {
    let width = states.iter().map(|(name, _)| name.0.len()).max().unwrap_or(0);
    let (mut text, mut counts) = (String::new(), [0; 3]);
    for (VariantName(name), state) in states.iter() {
        let (kind, word, more) = match state {
            VariantState::Ready(version) => (0, "ready", version),
            VariantState::Missing(reason) => (1, "missing", reason),
            VariantState::Failed(error) => (2, "failed", error),
        };
        counts[kind] += 1;
        let line = format!("{word:<7}  {name:<width$}  {more}");
        text += &format!("{}\n", printable::line(line.trim_end()));
    }
    let [ready, missing, failed] = counts;
    text + &format!("\n{ready} ready, {missing} missing, {failed} failed\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variant_has_a_line_and_the_last_line_counts() {
        let mut states = VariantStates::default();
        let name = |name: &str| VariantName(name.to_owned());
        states.note(name("a/default"), VariantState::Ready("a 1".to_owned()));
        states.note(name("b/long-name"), VariantState::Missing("install b".to_owned()));
        assert_eq!(
            states_text(&states),
            "ready    a/default    a 1\n\
             missing  b/long-name  install b\n\
             \n\
             1 ready, 1 missing, 0 failed\n"
        );
    }
}
