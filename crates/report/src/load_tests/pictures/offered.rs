//! What was answered over what was due a second.

use crate::chart::{AxisName, AxisUnit, LineChart, LinePanel, LinePoint, LineSeries};

/// The rates of answers, to stand above latencies over the same load.
pub(in crate::load_tests) fn answered_over_offered(
    latencies: &LineChart,
    answered: Vec<LinePoint>,
) -> LineChart {
    let due = answered.iter().map(|point| LinePoint { y: point.x, is_bound: false, ..*point });
    let named = |name: &str, style| LineSeries { name: name.to_owned(), style };
    LineChart {
        up: AxisName::new("calls per second (1/s)", AxisUnit::Number),
        series: vec![named("due", DUE_STYLE), named("answered OK", 0)],
        panels: vec![LinePanel { title: String::new(), lines: vec![due.collect(), answered] }],
        ..latencies.clone()
    }
}

/// What was due is a broken line in a colour that no answer has.
pub(super) const DUE_STYLE: usize = 10;
