//! The Universal Scalability Law: how the rate of a server follows from the calls in flight.
//!
//! `X(N) = λN / (1 + σ(N-1) + κN(N-1))` (N. Gunther, *Guerrilla Capacity Planning*, chapter 4). As
//! `N/X` it is linear in `1/λ`, `σ/λ` and `κ/λ`, so that least squares have one solution.

use bookend_contract::capacity::{ClosedLoop, ScalabilityFit};

/// Fewer points say nothing of three parameters.
pub(super) const POINTS_MIN: usize = 4;

/// The law that fits these points; `None` where there are too few, or they follow no such law.
pub fn fit(points: &[ClosedLoop]) -> Option<ScalabilityFit> {
    let usable: Vec<ClosedLoop> =
        points.iter().filter(|point| point.ok_per_second > 0.0).copied().collect();
    if usable.len() < POINTS_MIN {
        return None;
    }
    // Neither may be negative: then the law is the one without it.
    let [alone, contention, coherency] =
        [[true, true, true], [true, true, false], [true, false, true]]
            .iter()
            .filter_map(|mask| coefficients(&usable, *mask))
            .find(|fit| fit.iter().all(|coefficient| *coefficient >= 0.0))?;
    (alone > 0.0).then(|| law(&usable, 1.0 / alone, contention / alone, coherency / alone))
}

fn law(points: &[ClosedLoop], alone: f64, contention: f64, coherency: f64) -> ScalabilityFit {
    let peak_in_flight =
        (coherency > 0.0).then(|| ((1.0 - contention).max(0.0) / coherency).sqrt().max(1.0));
    let mut law = ScalabilityFit {
        alone_per_second: alone,
        contention,
        coherency,
        peak_in_flight,
        peak_per_second: None,
        explained: 0.0,
    };
    law.peak_per_second = match peak_in_flight {
        Some(in_flight) => Some(law.at(in_flight)),
        None => (contention > 0.0).then(|| alone / contention),
    };
    law.explained = explained(&law, points);
    law
}

/// The share of the variance of the rates that the law explains.
fn explained(law: &ScalabilityFit, points: &[ClosedLoop]) -> f64 {
    let mean = points.iter().map(|point| point.ok_per_second).sum::<f64>() / points.len() as f64;
    let squares =
        |of: &dyn Fn(&ClosedLoop) -> f64| points.iter().map(|point| of(point).powi(2)).sum::<f64>();
    let left = squares(&|point| point.ok_per_second - law.at(f64::from(point.in_flight)));
    let all = squares(&|point| point.ok_per_second - mean);
    if all > 0.0 { 1.0 - left / all } else { 0.0 }
}

/// Least squares of `N/X` in relative terms, with the terms that the mask leaves; others are 0.
fn coefficients(points: &[ClosedLoop], mask: [bool; 3]) -> Option<[f64; 3]> {
    let mut matrix = [[0.0; 4]; 3];
    for point in points {
        let in_flight = f64::from(point.in_flight);
        let time = in_flight / point.ok_per_second;
        let terms = [1.0, in_flight - 1.0, in_flight * (in_flight - 1.0)].map(|term| term / time);
        for (row, equation) in matrix.iter_mut().enumerate() {
            for (column, cell) in equation.iter_mut().enumerate() {
                *cell += terms[row] * terms.get(column).copied().unwrap_or(1.0);
            }
        }
    }
    for (place, is_there) in mask.into_iter().enumerate() {
        if !is_there {
            matrix.iter_mut().for_each(|equation| equation[place] = 0.0);
            matrix[place] = [0.0; 4];
            matrix[place][place] = 1.0;
        }
    }
    solve(matrix)
}

/// Gauss-Jordan elimination with pivots.
fn solve(mut matrix: [[f64; 4]; 3]) -> Option<[f64; 3]> {
    for column in 0..3 {
        let largest = |row: &usize, other: &usize| {
            matrix[*row][column].abs().total_cmp(&matrix[*other][column].abs())
        };
        let pivot = (column..3).max_by(largest)?;
        matrix.swap(column, pivot);
        let divisor = matrix[column][column];
        if divisor.abs() < f64::MIN_POSITIVE {
            return None;
        }
        matrix[column].iter_mut().for_each(|cell| *cell /= divisor);
        let equation = matrix[column];
        for (row, other) in matrix.iter_mut().enumerate() {
            if row != column {
                let factor = other[column];
                other.iter_mut().zip(equation).for_each(|(cell, of)| *cell -= factor * of);
            }
        }
    }
    Some(matrix.map(|equation| equation[3]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(alone: f64, contention: f64, coherency: f64) -> Vec<ClosedLoop> {
        let law = ScalabilityFit {
            alone_per_second: alone,
            contention,
            coherency,
            peak_in_flight: None,
            peak_per_second: None,
            explained: 1.0,
        };
        let point = |in_flight: u32| ClosedLoop {
            in_flight,
            ok_per_second: law.at(f64::from(in_flight)),
            error_share: 0.0,
        };
        (0..10).map(|power| point(1 << power)).collect()
    }

    fn is_near(value: f64, expected: f64) -> bool {
        (value - expected).abs() <= expected.abs() * 1e-6 + 1e-9
    }

    #[test]
    fn a_law_is_found_again_in_its_points() {
        let fit = fit(&points(10_000.0, 0.02, 0.000_5)).unwrap();
        assert!(is_near(fit.alone_per_second, 10_000.0), "{fit:?}");
        assert!(is_near(fit.contention, 0.02) && is_near(fit.coherency, 0.000_5), "{fit:?}");
        assert!(is_near(fit.peak_in_flight.unwrap(), (0.98_f64 / 0.000_5).sqrt()));
        assert!(is_near(fit.explained, 1.0));
    }

    #[test]
    fn without_a_cost_of_pairs_the_rate_approaches_a_limit() {
        let fit = fit(&points(10_000.0, 0.1, 0.0)).unwrap();
        assert!(fit.contention > 0.099 && fit.coherency < 1e-6, "{fit:?}");
        assert!(fit.peak_per_second.unwrap() > 99_000.0);
    }

    #[test]
    fn a_few_points_are_no_law() {
        assert_eq!(fit(&points(10.0, 0.1, 0.1)[..3]), None);
    }
}
