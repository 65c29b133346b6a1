//! Student's t distribution through the regularised incomplete beta function.

use std::f64::consts::PI;

/// The probability that a t-distributed value with `degrees` of freedom is at most `t`. `None`
/// unless `degrees` is positive and both are finite.
pub fn student_t_cdf(t: f64, degrees: f64) -> Option<f64> {
    if !(t.is_finite() && degrees.is_finite() && degrees > 0.0) {
        return None;
    }
    let upper_tail = upper_tail(t.abs(), degrees);
    Some(if t < 0.0 { upper_tail } else { 1.0 - upper_tail })
}

/// The `t` below which a t-distributed value with `degrees` of freedom lies with `probability`.
/// `None` unless `degrees` is positive and finite and `probability` is between 0 and 1, exclusive.
pub fn student_t_quantile(probability: f64, degrees: f64) -> Option<f64> {
    let between = probability > 0.0 && probability < 1.0;
    if !(between && degrees.is_finite() && degrees > 0.0) {
        return None;
    }
    if probability < 0.5 {
        return student_t_quantile(1.0 - probability, degrees).map(|t| -t);
    }
    let tail = 1.0 - probability;
    let mut high = 1.0;
    while upper_tail(high, degrees) > tail && high < f64::MAX / 2.0 {
        high *= 2.0;
    }
    Some(bisect(high, |t| upper_tail(t, degrees) > tail))
}

/// The point between 0 and `high` where `is_below` turns false, to the last bit: a bisection always
/// converges.
fn bisect(high: f64, is_below: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, high);
    loop {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            return middle;
        }
        if is_below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// The probability of a value above `t`, for `t` that is not negative.
fn upper_tail(t: f64, degrees: f64) -> f64 {
    let square = t * t;
    if !square.is_finite() {
        return 0.0;
    }
    let total = degrees + square;
    0.5 * incomplete_beta(degrees / 2.0, 0.5, degrees / total, square / total)
}

/// The regularised incomplete beta function I_x(a, b). The caller passes `y` = 1 - x, which it can
/// compute without cancellation.
fn incomplete_beta(a: f64, b: f64, x: f64, y: f64) -> f64 {
    if x <= 0.0 || y >= 1.0 {
        return 0.0;
    }
    if y <= 0.0 || x >= 1.0 {
        return 1.0;
    }
    let log_front = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * y.ln();
    let front = log_front.exp();
    // The continued fraction converges fast only below the mean of the distribution.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * beta_fraction(a, b, x) / a
    } else {
        1.0 - front * beta_fraction(b, a, y) / b
    }
}

/// Terms of the continued fraction; it needs a small multiple of the root of the larger argument.
const FRACTION_TERMS_MAX: u32 = 10_000;

/// Lentz's evaluation of the continued fraction of the incomplete beta function (DLMF 8.17.22).
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    let not_zero = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / not_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for m in (1..FRACTION_TERMS_MAX).map(f64::from) {
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / not_zero(1.0 + term * d);
            c = not_zero(1.0 + term / c);
            change = c * d;
            fraction *= change;
        }
        if (change - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    fraction
}

/// Coefficients of Lanczos' approximation for g = 7 and nine terms, as Godfrey computed them.
const LANCZOS: [f64; 9] = [
    0.999_999_999_999_809_9,
    676.520_368_121_885_1,
    -1_259.139_216_722_402_8,
    771.323_428_777_653_1,
    -176.615_029_162_140_6,
    12.507_343_278_686_905,
    -0.138_571_095_265_720_12,
    9.984_369_578_019_572e-6,
    1.505_632_735_149_311_6e-7,
];

/// The natural logarithm of the gamma function, for positive `x`.
fn ln_gamma(x: f64) -> f64 {
    if x < 0.5 {
        return (PI / (PI * x).sin()).ln() - ln_gamma(1.0 - x);
    }
    let x = x - 1.0;
    let terms = LANCZOS.iter().enumerate().skip(1);
    let sum = terms.fold(LANCZOS[0], |sum, (i, term)| sum + term / (x + i as f64));
    let shifted = x + 7.5;
    0.5 * (2.0 * PI).ln() + (x + 0.5) * shifted.ln() - shifted + sum.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_of_gamma_is_that_of_the_factorials() {
        let mut factorial = 1.0;
        for n in 1..=20 {
            let expected = f64::ln(factorial);
            assert!((ln_gamma(f64::from(n)) - expected).abs() < 1e-12, "{n}");
            factorial *= f64::from(n);
        }
        assert!((ln_gamma(0.5) - PI.sqrt().ln()).abs() < 1e-14);
        assert!((ln_gamma(0.25) - 1.288_022_524_698_077_4).abs() < 1e-13);
    }

    #[test]
    fn the_incomplete_beta_function_has_its_closed_forms() {
        for x in [0.001, 0.1, 0.3, 0.5, 0.77, 0.999] {
            let linear = incomplete_beta(1.0, 1.0, x, 1.0 - x);
            assert!((linear - x).abs() < 1e-14, "I(1,1) at {x}");
            let cubic = incomplete_beta(3.0, 1.0, x, 1.0 - x);
            assert!((cubic - x.powi(3)).abs() < 1e-14, "I(3,1) at {x}");
            let arcsine = incomplete_beta(0.5, 0.5, x, 1.0 - x);
            assert!((arcsine - 2.0 / PI * x.sqrt().asin()).abs() < 1e-14, "I(½,½) at {x}");
        }
    }
}
