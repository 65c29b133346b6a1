//! From figures to places on an axis.

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

/// An axis between two figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    scale: Scale,
    low: f64,
    high: f64,
}

/// On a linear axis, at most so many steps.
const STEPS_MAX: f64 = 6.0;

impl Axis {
    /// An axis that has room for all of the figures. A logarithmic one leaves out what is not
    /// positive.
    pub(super) fn around(scale: Scale, figures: impl Iterator<Item = f64>) -> Self {
        let fits = |figure: &f64| figure.is_finite() && (scale == Scale::Linear || *figure > 0.0);
        let mut figures: Vec<f64> = figures.filter(fits).collect();
        figures.sort_by(f64::total_cmp);
        let (least, most) = match (figures.first(), figures.last()) {
            (Some(least), Some(most)) => (*least, *most),
            _ => (1.0, 1.0),
        };
        match scale {
            Scale::Logarithmic => Self { scale, low: least / 1.1, high: most * 1.1 },
            Scale::Linear => Self { scale, low: 0.0, high: most.max(f64::MIN_POSITIVE) * 1.02 },
        }
    }

    /// The place of a figure, as a share of the axis; figures beyond it are at its ends.
    pub(super) fn share(&self, figure: f64) -> f64 {
        let share = match self.scale {
            Scale::Logarithmic => (figure / self.low).ln() / (self.high / self.low).ln(),
            Scale::Linear => figure / self.high,
        };
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }

    /// Round figures along the axis.
    pub(super) fn ticks(&self) -> Vec<f64> {
        match self.scale {
            Scale::Logarithmic => self.round_factors(),
            Scale::Linear => {
                let step = round_step(self.high / STEPS_MAX);
                let count = (self.high / step) as u32;
                (0..=count).map(|index| f64::from(index) * step).collect()
            }
        }
    }

    /// 1, 2 and 5 of each power of ten; the powers alone where these would be too many.
    fn round_factors(&self) -> Vec<f64> {
        let powers = (self.low.log10().floor() as i32)..=(self.high.log10().ceil() as i32);
        let digits: &[f64] = match powers.clone().count() {
            0..=4 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        let all = powers.flat_map(|power| digits.iter().map(move |digit| digit * ten_to(power)));
        all.filter(|tick| (self.low..=self.high).contains(tick)).collect()
    }
}

/// The least of 1, 2, 2.5, 5 and 10 times a power of ten that is not less.
fn round_step(least: f64) -> f64 {
    let power = ten_to(least.log10().floor() as i32);
    let digits = [1.0, 2.0, 2.5, 5.0, 10.0].map(|digit| digit * power);
    digits.into_iter().find(|step| *step >= least * 0.999).unwrap_or(least)
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
            for figure in [-1.0, 0.0, 1e300, f64::NAN] {
                assert!((0.0..=1.0).contains(&axis.share(figure)), "{scale:?} {figure}");
            }
        }
    }
}
