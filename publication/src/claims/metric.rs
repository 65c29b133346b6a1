//! What a claim can be about besides a measured row: the same metrics of a printed row and of a
//! profile.
//!
//! Names are those of the columns of published tables, so that one word means the same thing on
//! both sides.

use crate::document::PrintedRow;
use bookend_results::audit::Span;
use bookend_results::metric::{Metric, PROFILE_PREFIX};
use bookend_results::profile::{SAMPLES_MIN, Split};
use bookend_results::statistics::Interval;

/// The share of the samples, with its range if each sample is independent; or why it has no figure.
pub(super) fn of_samples(layers: &str, split: &Split) -> Result<Span, String> {
    let value = split
        .named_share(layers)
        .ok_or_else(|| format!("a profile has no {PROFILE_PREFIX}{layers}"))?;
    let Interval { low, high } = split
        .share_interval(value)
        .ok_or_else(|| format!("fewer than {SAMPLES_MIN} samples of {layers}"))?;
    Ok(Span { low, value, high })
}

/// The figure of a printed row, within the range that its digits leave open.
pub(super) fn of_printed(metric: &Metric, row: &PrintedRow) -> Option<Span> {
    let name = metric.to_string();
    let seconds = Span::exact(1e-9);
    let printed = match name.as_str() {
        "requests_per_cpu_second" => row.requests_per_cpu_second(),
        "requests_per_client_cpu_second" => {
            let rate = row.figure("requests_per_second")?;
            rate.over(row.client_cpu()?)
        }
        "server_cpu_mean" => row.server_cpu(),
        "client_cpu_mean" => row.client_cpu(),
        "in_flight_share" => {
            let streams = Span::exact(row.streams()?);
            row.calls_in_flight()?.over(streams)
        }
        "goodput_per_second" => row.figure("ok")?.over(row.figure("total_time")?.times(seconds)),
        "error_share" => row.failures()?.over(row.figure("count")?),
        "errors" => row.failures(),
        name if name.starts_with("errors.") => {
            let none = row.failures().map(|_| Span::exact(0.0));
            row.figure(name).or(none)
        }
        _ => None,
    };
    printed.or_else(|| row.figure(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_in_nanoseconds_is_a_time() {
        let unit = |name: &str| name.parse::<Metric>().expect("a note").unit();
        let pause = unit("server_note.gc_pause_max_ns");
        assert_eq!(pause.text(812_345.0), "812 µs");
        assert_eq!(unit("server_note.gc_cycles").text(57.0), "57");
    }
}
