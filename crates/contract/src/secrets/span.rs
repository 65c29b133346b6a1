//! Where secrets stand in a text, and what is shown in their place.

use std::ops::Range;

/// The bytes of secrets in a text, in any order; they may overlap.
pub type Spans = Vec<Range<usize>>;

/// One secret.
pub fn one(span: Range<usize>) -> Spans {
    std::iter::once(span).collect()
}

/// What is shown in the place of a secret.
pub fn masked(value: &str) -> String {
    format!("masked ({} bytes)", value.len())
}

/// The text with a mask for each of the spans. A mask that stands there already stays.
pub fn mask(text: &str, mut spans: Spans) -> String {
    spans.sort_by_key(|span| (span.start, span.end));
    let mut shown = String::with_capacity(text.len());
    let mut end = 0;
    for span in joined(spans) {
        let secret = &text[span.clone()];
        shown.push_str(&text[end..span.start]);
        match secret.len() <= mask_length(&text[span.start..]) {
            true => shown.push_str(secret),
            false => shown.push_str(&masked(secret.trim_matches(['\'', '"']))),
        }
        end = span.end;
    }
    shown + &text[end..]
}

/// Sorted spans without the overlaps, and without those of nothing.
fn joined(spans: Spans) -> Spans {
    let mut joined = Spans::new();
    for span in spans.into_iter().filter(|span| !span.is_empty()) {
        match joined.last_mut().filter(|last| span.start < last.end) {
            Some(last) => last.end = last.end.max(span.end),
            None => joined.push(span),
        }
    }
    joined
}

/// How long the mask is that the text begins with; 0: with none.
fn mask_length(text: &str) -> usize {
    let length = text.strip_prefix("masked (").and_then(|rest| {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit()).filter(|at| *at > 0)?;
        let end = " bytes)";
        rest[digits..].starts_with(end).then_some("masked (".len() + digits + end.len())
    });
    length.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_that_overlap_have_one_mask_and_a_mask_has_none() {
        assert_eq!(mask("abcdef", vec![3..5, 1..4, 2..2]), "amasked (4 bytes)f");
        assert_eq!(mask("ab", vec![1..2, 0..1]), "masked (1 bytes)masked (1 bytes)");
        let once = "x=masked (3 bytes) y";
        assert_eq!(mask(once, one(2..8)), once);
        assert_eq!(mask(once, one(2..18)), once);
        assert_eq!(mask(once, one(2..20)), "x=masked (18 bytes)");
        assert_eq!(mask("masked (x bytes)", one(0..6)), "masked (6 bytes) (x bytes)");
    }
}
