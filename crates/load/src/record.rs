//! What is recorded of a run. Calls are counted in a `CallSink` as they end, into the [`Recorder`]
//! of the phase; the [`Timeline`] shows whether the rate was steady; [`WorkerMeasurements`] is what
//! a worker hands over when it ends.

mod call_log;
mod call_sink;
mod errors;
mod in_flight_ages;
mod interval_details;
mod interval_feed;
mod latencies;
mod latency_timeline;
mod listed_calls;
mod measurements;
mod open_loop;
mod peer_table;
mod recorder;
mod serialized;
mod setup;
mod stream_messages;
mod timeline;

pub use call_log::CallLog;
pub(crate) use call_sink::{CallSink, DEADLINE_EXCEEDED};
pub use errors::ErrorCounts;
pub(crate) use errors::count_text;
pub use in_flight_ages::InFlightAges;
pub use interval_details::IntervalDetails;
pub use interval_feed::RunInterval;
pub(crate) use interval_feed::{Counted, IntervalFeed};
pub use latencies::Latencies;
pub use latency_timeline::LatencyTimeline;
pub use listed_calls::{ListedCall, ListedCalls};
pub(crate) use measurements::smaller;
pub use measurements::{LateWarmupCalls, WorkerMeasurements};
pub use open_loop::{Obstacle, OpenLoopCalls};
pub use peer_table::{PeerTable, TargetOutcome};
pub use recorder::{Recorder, RecorderKind, TargetCounts};
pub(crate) use serialized::IoStatisticsShape;
pub use setup::SetupLatencies;
pub(crate) use setup::SetupTimes;
pub use stream_messages::StreamMessages;
pub use timeline::Timeline;
