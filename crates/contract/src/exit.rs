//! Exit statuses that carry a meaning, of measured processes and of the `bookend` command.

/// A measured process cannot do what the lab requested, by design: its row says "unsupported".
/// BoringSSL's test shims use the same number for it.
pub const UNSUPPORTED: u8 = 89;

/// The command measured. RPC errors are counted, and are not a failure of the measurement.
pub const MEASURED: u8 = 0;
/// Nothing could be measured.
pub const NOTHING_MEASURED: u8 = 1;
/// The command line or a file it names makes no sense.
pub const USAGE: u8 = 2;
/// It is shown that `--slo` or `--fail-if` was missed.
pub const OBJECTIVE_MISSED: u8 = 3;
/// Some rows failed, the others were measured.
pub const SOME_ROWS_FAILED: u8 = 4;
/// Measured, but the result could not be written to its file: it was printed instead.
pub const NOT_DELIVERED: u8 = 5;
/// `--slo` or `--fail-if` was neither met nor missed: there is no interval, or one too wide.
pub const NOT_DECIDED: u8 = 6;
/// An agent was lost, and the run ended with it: what all agents had told is kept.
pub const AGENT_LOST: u8 = 7;
/// Interrupted: what was measured is kept. 128 + SIGINT, as in shells.
pub const INTERRUPTED: u8 = 130;
