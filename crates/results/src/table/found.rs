//! Marks of rows that come from what the probe found of their server.

use super::{CellResult, Summary, Table};
use crate::metric::{LATENCY_MEAN, LATENCY_P90, LATENCY_P95, LATENCY_P99, LATENCY_P99_9};
use crate::suite::TestedEnd;
use crate::text::precise_latency_text;
use bookend_contract::verdict::Verdict;
use std::collections::BTreeMap;

/// The checks, as the probe labels them, of a server that closes the connection, with every call on
/// it, on what RFC 9113 lets a client do at any time.
pub const CUT: [&str; 2] = ["messages cut anywhere", "frames cut anywhere"];

/// The check, as the probe labels it, of a server whose answers wait for acknowledgements.
pub const ACK_WAITS: &str = "answers without waiting for ACKs";

/// What the marks begin with that follow from them.
pub const CLOSES_ON_CUT: &str = "closes-on-cut";
/// As above.
pub const WAITS_ON_ACK: &str = "waits-on-ack";

/// Where a latency lies to which a delayed acknowledgement was added: Linux delays by 40 ms
/// (`TCP_DELACK_MIN`) and counts in ticks of up to 4 ms, and the call takes a moment besides.
const DELAYED_NS: std::ops::RangeInclusive<f64> = 38e6..=48e6;

impl Table {
    /// Takes what each server was found to skip, by subject, and marks the rows that it speaks of.
    #[must_use]
    pub fn with_skips(mut self, skips: BTreeMap<String, Vec<String>>) -> Self {
        for cell in &mut self.cells {
            let CellResult::Measured(summary) = &mut cell.result else {
                continue;
            };
            if let Some(skips) = skips.get(&cell.id.subject)
                && summary.side == TestedEnd::Server
            {
                let marks = marks(summary, skips);
                summary.marks.extend(marks);
            }
        }
        self.skips = skips;
        self
    }
}

fn marks(summary: &Summary, skips: &[String]) -> Vec<String> {
    let has = |label: &&str| skips.iter().any(|skip| skip == label);
    let cut: Vec<&str> = CUT.into_iter().filter(has).collect();
    let cut = (!cut.is_empty()).then(|| {
        let what = cut.join(" and ");
        format!("{CLOSES_ON_CUT}: the probe found that this server does not take {what}")
    });
    let waits = has(&ACK_WAITS).then(|| waits_on_ack(summary)).flatten();
    cut.into_iter().chain(waits).collect()
}

/// The mark of a row whose latency lies where a delayed acknowledgement puts it. Where the server
/// was the limit and the mean is of the same size, calls waited for the server.
fn waits_on_ack(summary: &Summary) -> Option<String> {
    let mean_ns = summary.value(&LATENCY_MEAN)?;
    let is_delayed = |value_ns: f64| {
        let waits_in_line = summary.verdict == Verdict::ServerBound && mean_ns * 2.0 > value_ns;
        DELAYED_NS.contains(&value_ns) && !waits_in_line
    };
    let latencies = [&LATENCY_MEAN, &LATENCY_P90, &LATENCY_P95, &LATENCY_P99, &LATENCY_P99_9];
    let (name, value_ns) = latencies
        .into_iter()
        .filter_map(|metric| Some((metric.name, summary.value(metric)?)))
        .find(|(_, value_ns)| is_delayed(*value_ns))?;
    let name = name.strip_prefix("latency_").unwrap_or(name);
    Some(format!(
        "{WAITS_ON_ACK}: {name} is {}, a delayed acknowledgement, for which the probe found answers \
         of this server to wait: no handler takes that long",
        precise_latency_text(value_ns)
    ))
}
