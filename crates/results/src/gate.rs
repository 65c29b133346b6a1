//! What `--slo` and `--fail-if` are judged by where two things are compared: a ratio with its
//! interval, of which the whole has to lie on one side of the bound.

use crate::statistics::Interval;
use crate::text::significant_text;
use bookend_contract::gate::KnownFigure;

/// What is known of a ratio.
///
/// # Errors
/// There is no interval, and a ratio alone decides nothing: in words.
pub fn known_ratio(ratio: f64, interval: Option<Interval>) -> Result<KnownFigure, String> {
    let ratio = significant_text(ratio);
    let Some(Interval { low, high }) = interval else {
        return Err(format!("{ratio}, and there are too few rounds or starts for an interval"));
    };
    let text = format!("{ratio} ({} to {})", significant_text(low), significant_text(high));
    Ok(KnownFigure { low, high, text })
}

/// The same of the ratio the other way round.
pub fn known_inverse(ratio: f64, interval: Option<Interval>) -> Result<KnownFigure, String> {
    let inverse = |Interval { low, high }| Interval { low: 1.0 / high, high: 1.0 / low };
    known_ratio(1.0 / ratio, interval.map(inverse))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_known_as_far_as_its_interval_is() {
        let interval = Some(Interval { low: 0.5, high: 1.0 });
        let known = known_ratio(0.8, interval).unwrap();
        assert_eq!((known.low, known.high), (0.5, 1.0));
        let inverse = known_inverse(0.8, interval).unwrap();
        assert_eq!((inverse.low, inverse.high), (1.0, 2.0));
        let error = known_ratio(0.8, None).unwrap_err();
        assert!(error.starts_with("0.800, and there are too few rounds"), "{error}");
    }
}
