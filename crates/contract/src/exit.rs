//! Exit statuses that carry a meaning, of measured processes and of the `bookend` command.

/// A measured process cannot do what was asked of it, by design: its row says "unsupported".
/// The number is the one with which BoringSSL's test shims say the same.
pub const UNSUPPORTED: u8 = 89;

/// The command measured. RPC errors are counted, they are no failure of the measurement.
pub const MEASURED: u8 = 0;
/// Nothing could be measured.
pub const NOTHING_MEASURED: u8 = 1;
/// The command line or a file it names makes no sense.
pub const USAGE: u8 = 2;
/// An objective or `--fail-if` was missed.
pub const OBJECTIVE_MISSED: u8 = 3;
/// Some rows failed, the others were measured.
pub const SOME_ROWS_FAILED: u8 = 4;
/// Measured, and the result could not be written to where it was asked for: it was printed instead.
pub const NOT_DELIVERED: u8 = 5;
/// Interrupted: what was measured is kept. 128 + SIGINT, as shells say it.
pub const INTERRUPTED: u8 = 130;
