//! The names of gRPC's status codes, as they stand in `error CODE N`.

/// Every status code of gRPC; the index is the number on the wire.
pub const NAMES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

/// The name of a status code. Numbers that gRPC does not define are `UNKNOWN`, as its
/// specification asks of receivers.
pub fn name(number: u32) -> &'static str {
    let index = usize::try_from(number).unwrap_or(usize::MAX);
    NAMES.get(index).copied().unwrap_or("UNKNOWN")
}

/// The number of a status code's name in capitals, if gRPC defines it.
pub fn number(name: &str) -> Option<u32> {
    let index = NAMES.iter().position(|known| *known == name)?;
    u32::try_from(index).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_and_name_find_each_other() {
        for (index, known) in NAMES.iter().enumerate() {
            let code = u32::try_from(index).unwrap();
            assert_eq!(name(code), *known);
            assert_eq!(number(known), Some(code));
        }
    }

    #[test]
    fn what_grpc_does_not_define_is_unknown() {
        assert_eq!(name(17), "UNKNOWN");
        assert_eq!(name(u32::MAX), "UNKNOWN");
        assert_eq!(number("TIRED"), None);
        assert_eq!(number("unavailable"), None);
    }
}
