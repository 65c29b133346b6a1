//! The figures that the audit of a row works on.

/// The figures of a row, as far as they are known. Published tables contain few of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AuditedRow {
    /// S: total streams in flight of a closed loop.
    pub concurrency: Option<u32>,
    /// Length of the window, seconds.
    pub window_seconds: Option<f64>,
    /// Answered calls a second.
    pub requests_per_second: Option<f64>,
    /// Mean latency, nanoseconds.
    pub latency_mean_ns: Option<f64>,
    /// Shortest latency, nanoseconds.
    pub latency_min_ns: Option<f64>,
    /// Longest latency, nanoseconds.
    pub latency_max_ns: Option<f64>,
    /// Latencies by percentile, nanoseconds: `(90.0, 130000.0)`, in ascending order of percent.
    pub percentiles_ns: Vec<(f64, f64)>,
    /// How far a printed latency may be off by rounding, nanoseconds.
    pub latency_resolution_ns: f64,
    /// Mean CPU of the server, 1.0 = one CPU.
    pub server_cpu: Option<f64>,
    /// CPU that the server may use, 1.0 = one CPU.
    pub server_cpu_limit: Option<f64>,
    /// Memory of the server, bytes.
    pub memory_bytes: Option<f64>,
    /// Memory that the server may use, bytes.
    pub memory_limit_bytes: Option<f64>,
}
