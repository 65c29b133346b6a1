//! gRPC's status codes under the names that ghz, being written in Go, prints.

use bookend_contract::code;

/// The name of a status code in Go: `InvalidArgument`, `Unavailable`, and `Canceled` with one l.
pub(super) fn name_in_go(number: u32) -> String {
    match code::name(number) {
        "OK" => "OK".to_owned(),
        "CANCELLED" => "Canceled".to_owned(),
        capitals => capitals.split('_').map(capitalized).collect(),
    }
}

fn capitalized(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_owned() + &rest.to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::name_in_go;

    #[test]
    fn the_names_are_those_of_grpc_go() {
        let names: Vec<String> = (0..17).map(name_in_go).collect();
        assert_eq!(
            names,
            [
                "OK",
                "Canceled",
                "Unknown",
                "InvalidArgument",
                "DeadlineExceeded",
                "NotFound",
                "AlreadyExists",
                "PermissionDenied",
                "ResourceExhausted",
                "FailedPrecondition",
                "Aborted",
                "OutOfRange",
                "Unimplemented",
                "Internal",
                "Unavailable",
                "DataLoss",
                "Unauthenticated",
            ]
        );
    }
}
