//! Test binaries that `make check` leaves to `make test`.

/// The name of each, and why it takes long. At most fifteen: a rule is quicker to keep while it is
/// checked at once.
pub const SLOW: &[(&str, &str)] = &[];
