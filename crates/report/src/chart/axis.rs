//! From figures to places on an axis.

use bookend_results::text::significant_text;
use serde::Deserialize;

/// How an axis divides its figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Equal factors are equally long: for ratios, and for figures of different magnitude.
    #[default]
    Logarithmic,
    /// Equal differences are equally long, from zero on.
    Linear,
}

/// What an axis measures, and so how the figures along it are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisUnit {
    /// A number: `5k`.
    Number,
    /// A time in nanoseconds: `20 ms`.
    Nanoseconds,
    /// One over the share of calls that took longer: 100 is written `99 %`.
    Percentile,
    /// A difference in percent: `+5 %`.
    Difference,
}

impl AxisUnit {
    /// A round figure, written short.
    pub(super) fn tick(self, figure: f64) -> String {
        match self {
            Self::Number => short_number(figure),
            Self::Nanoseconds => short_time(figure),
            Self::Percentile => {
                let percent = format!("{:.4}", 100.0 - 100.0 / figure.max(1.0));
                format!("{} %", percent.trim_end_matches('0').trim_end_matches('.'))
            }
            Self::Difference => {
                let sign = if figure > 0.0 { "+" } else { "" };
                format!("{sign}{} %", short_number(figure))
            }
        }
    }
}

/// `0.5`, `20`, `5k`, `2M`.
fn short_number(figure: f64) -> String {
    scaled(figure, &[(1e6, "M"), (1e3, "k")], "")
}

fn short_time(nanoseconds: f64) -> String {
    scaled(nanoseconds, &[(1e9, " s"), (1e6, " ms"), (1e3, " \u{b5}s")], " ns")
}

fn scaled(figure: f64, units: &[(f64, &'static str)], base: &'static str) -> String {
    // A quotient of powers of ten may be just below the unit.
    let unit = units.iter().copied().find(|(scale, _)| figure >= *scale * 0.9999);
    let (scale, unit) = unit.unwrap_or((1.0, base));
    // No minus before zero.
    let digits = significant_text(figure / scale + 0.0);
    let short = match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => digits.as_str(),
    };
    format!("{short}{unit}")
}

/// An axis between two figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    scale: Scale,
    low: f64,
    high: f64,
}

/// Most steps of a linear axis.
const STEPS_MAX: f64 = 6.0;

/// No measurement has figures beyond this, and an axis has no room for them: of twice as
/// many powers of ten, a quotient is still a number.
const FIGURE_MAX: f64 = 1e150;

impl Axis {
    /// An axis that has room for all of the figures up to [`FIGURE_MAX`], and a linear one for
    /// zero, too. A logarithmic one leaves out what is not positive.
    pub(super) fn around(scale: Scale, figures: impl Iterator<Item = f64>) -> Self {
        let fits = |figure: &f64| match scale {
            Scale::Linear => figure.abs() <= FIGURE_MAX,
            Scale::Logarithmic => (1.0 / FIGURE_MAX..=FIGURE_MAX).contains(figure),
        };
        let mut fitting: Vec<f64> = figures.filter(fits).collect();
        fitting.sort_by(f64::total_cmp);
        let (least, most) = match (fitting.first(), fitting.last()) {
            (Some(least), Some(most)) => (*least, *most),
            _ => (1.0, 1.0),
        };
        match scale {
            Scale::Logarithmic => Self { scale, low: least / 1.1, high: most * 1.1 },
            Scale::Linear => {
                Self { scale, low: least.min(0.0), high: most.max(f64::MIN_POSITIVE) * 1.02 }
            }
        }
    }

    /// The place of a figure, as a share of the axis; figures beyond it are at its ends.
    pub(super) fn share(&self, figure: f64) -> f64 {
        let share = match self.scale {
            Scale::Logarithmic => (figure / self.low).ln() / (self.high / self.low).ln(),
            Scale::Linear => (figure - self.low) / (self.high - self.low),
        };
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }

    /// Round figures along the axis.
    pub(super) fn ticks(&self) -> Vec<f64> {
        match self.scale {
            Scale::Logarithmic => self.round_factors(),
            Scale::Linear if self.low < 0.0 => self.ticks_at_most(STEPS_MAX as usize),
            Scale::Linear => {
                let step = round_step(self.high / STEPS_MAX);
                let count = (self.high / step).min(2.0 * STEPS_MAX) as u32;
                (0..=count).map(|index| f64::from(index) * step).collect()
            }
        }
    }

    /// The same, at most `most` of them.
    pub(super) fn ticks_at_most(&self, most: usize) -> Vec<f64> {
        let most = most.max(2);
        let span = self.high - self.low;
        let even = || {
            let step = round_step(span / most as f64);
            let first = (self.low / step).ceil() as i64;
            (first..)
                .map(|index| index as f64 * step)
                .take_while(|tick| *tick <= self.high)
                .take(most)
                .collect::<Vec<_>>()
        };
        match self.scale {
            Scale::Linear => even(),
            Scale::Logarithmic => {
                let all = [self.factors(&[1.0, 2.0, 5.0]), self.factors(&[1.0])];
                match all.iter().find(|ticks| (2..=most).contains(&ticks.len())) {
                    Some(ticks) => ticks.clone(),
                    // Too many powers of ten, or an axis so short that it has no two of them.
                    None if all[1].len() > most => {
                        let every = all[1].len().div_ceil(most);
                        all[1].iter().copied().step_by(every).collect()
                    }
                    None => even(),
                }
            }
        }
    }

    /// 1, 2 and 5 of each power of ten; the powers alone where these would be too many.
    fn round_factors(&self) -> Vec<f64> {
        match self.powers().count() {
            0..=4 => self.factors(&[1.0, 2.0, 5.0]),
            _ => self.factors(&[1.0]),
        }
    }

    fn factors(&self, digits: &[f64]) -> Vec<f64> {
        self.powers()
            .flat_map(|power| digits.iter().map(move |digit| digit * ten_to(power)))
            .filter(|tick| (self.low..=self.high).contains(tick))
            .collect()
    }

    fn powers(&self) -> std::ops::RangeInclusive<i32> {
        (self.low.log10().floor() as i32)..=(self.high.log10().ceil() as i32)
    }
}

/// The least of 1, 2, 2.5, 5 and 10 times a power of ten that is not less.
fn round_step(least: f64) -> f64 {
    let power = ten_to(least.log10().floor() as i32);
    [1.0, 2.0, 2.5, 5.0, 10.0]
        .map(|digit| digit * power)
        .into_iter()
        .find(|step| *step >= least * 0.999)
        .unwrap_or(least)
}

/// A quotient for negative powers, so that a tenth is the figure that is printed as 0.1.
fn ten_to(power: i32) -> f64 {
    if power < 0 { 1.0 / 10_f64.powi(-power) } else { 10_f64.powi(power) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(scale: Scale, figures: &[f64]) -> Axis {
        Axis::around(scale, figures.iter().copied())
    }

    #[test]
    fn ticks_are_round_and_on_the_axis() {
        let ratios = axis(Scale::Logarithmic, &[0.3, 31.0]);
        assert_eq!(ratios.ticks(), [0.5, 1.0, 2.0, 5.0, 10.0, 20.0]);
        let rates = axis(Scale::Linear, &[4_440.0, 26_000.0]);
        assert_eq!(rates.ticks(), [0.0, 5_000.0, 10_000.0, 15_000.0, 20_000.0, 25_000.0]);
        let costs = axis(Scale::Logarithmic, &[20.0, 3e6]);
        assert_eq!(costs.ticks(), [1e2, 1e3, 1e4, 1e5, 1e6]);
    }

    #[test]
    fn a_narrow_panel_has_few_ticks_and_never_less_than_two() {
        let wide = axis(Scale::Logarithmic, &[1.0, 1e6]);
        assert_eq!(wide.ticks_at_most(4), [1.0, 1e2, 1e4, 1e6]);
        assert_eq!(axis(Scale::Logarithmic, &[1.0, 9.0]).ticks_at_most(4), [1.0, 2.0, 5.0]);
        for figures in [&[21.0, 44.0][..], &[3.0], &[0.9, 1.1], &[1e-9, 1e12], &[]] {
            for most in [2, 3, 5, 8] {
                let ticks = axis(Scale::Logarithmic, figures).ticks_at_most(most);
                assert!((1..=most).contains(&ticks.len()), "{figures:?} {most}: {ticks:?}");
            }
        }
        assert_eq!(axis(Scale::Linear, &[1.9]).ticks_at_most(4), [0.0, 0.5, 1.0, 1.5]);
        assert_eq!(axis(Scale::Linear, &[-0.5, 1.0]).ticks_at_most(4), [-0.5, 0.0, 0.5, 1.0]);
    }

    #[test]
    fn ticks_are_short_in_every_unit() {
        let known = [(0.5, "0.5"), (1.0, "1"), (20.0, "20"), (2500.0, "2.5k"), (2e6, "2M")];
        for (tick, text) in known {
            assert_eq!(AxisUnit::Number.tick(tick), text);
        }
        assert_eq!(AxisUnit::Number.tick(100.0), "100");
        assert_eq!(AxisUnit::Number.tick(0.0), "0");
        let times = [(500.0, "500 ns"), (2e4, "20 \u{b5}s"), (1e8, "100 ms"), (5e10, "50 s")];
        for (tick, text) in times {
            assert_eq!(AxisUnit::Nanoseconds.tick(tick), text);
        }
        let shares = [(1.0, "0 %"), (10.0, "90 %"), (1000.0, "99.9 %"), (1e5, "99.999 %")];
        for (tick, text) in shares {
            assert_eq!(AxisUnit::Percentile.tick(tick), text);
        }
    }

    #[test]
    fn equal_factors_are_equally_long() {
        let axis = axis(Scale::Logarithmic, &[1.0, 100.0]);
        let (one, ten, hundred) = (axis.share(1.0), axis.share(10.0), axis.share(100.0));
        assert!((ten - one - (hundred - ten)).abs() < 1e-9);
        assert!(one > 0.0 && hundred < 1.0);
    }

    #[test]
    fn no_figure_leaves_the_axis() {
        for scale in [Scale::Logarithmic, Scale::Linear] {
            let axis = axis(scale, &[]);
            for figure in [-1.0, 0.0, 1e300, f64::NAN, f64::INFINITY] {
                assert!((0.0..=1.0).contains(&axis.share(figure)), "{scale:?} {figure}");
            }
        }
    }

    #[test]
    fn figures_beyond_all_reason_have_few_ticks() {
        for scale in [Scale::Linear, Scale::Logarithmic] {
            for figure in [f64::MAX, f64::MIN, f64::MIN_POSITIVE, f64::INFINITY, f64::NAN, 1e150] {
                let axis = axis(scale, &[figure, 1.0, 5.0]);
                assert!(axis.ticks().len() < 200, "{scale:?} {figure}");
                assert!(axis.ticks_at_most(5).len() <= 5, "{scale:?} {figure}");
                assert!(axis.share(figure).is_finite(), "{scale:?} {figure}");
            }
        }
    }
}
