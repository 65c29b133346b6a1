//! The lines that a measured process prints on standard output, one fact a line.

/// One line of a measured process. `Display` writes it, `FromStr` reads it.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    /// `ready PORT`: the server listens on IPv4 loopback.
    Ready(u16),
    /// `served N`: calls that the server answered, said at its end.
    Served(u64),
    /// `window start`: the measured window begins now.
    WindowStart,
    /// `window end`: the measured window is over; calls in flight may still be drained.
    WindowEnd,
    /// `LATENCY_NS COUNT`: so many answered calls of the window took so long.
    Latency {
        /// Nanoseconds from actual start to end.
        latency_ns: u64,
        /// Calls with that latency.
        count: u64,
    },
    /// `warmup N`: calls answered before the window.
    Warmup(u64),
    /// `ok N`: calls answered with status OK inside the window.
    Ok(u64),
    /// `error CODE N`: calls that ended with that gRPC code name, such as `UNAVAILABLE`.
    Error {
        /// The gRPC status code's name.
        code: String,
        /// Calls that ended so.
        count: u64,
    },
    /// `unfinished N`: calls sent but neither answered nor failed when the process stopped waiting.
    Unfinished(u64),
    /// `report JSON`: the whole [`crate::report::LoadReport`] on one line, by those that have one.
    Report(Box<crate::report::LoadReport>),
}
