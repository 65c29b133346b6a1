//! A case in words, for readers who do not know yet what `C` and `S` are.

use bookend_contract::transport::Transport;
use bookend_results::suite::Case;
use bookend_results::table::Table;

/// The words of a case of a table, with the transport where the table has several.
pub(crate) fn case_words_in(table: &Table, case: Case) -> String {
    let has_several = table.cells.iter().any(|cell| cell.case.transport != Transport::H2c);
    case_words(case, has_several)
}

/// `100 calls in flight on 1 connection`. With `always_transport` the default one is said too.
pub(crate) fn case_words(case: Case, always_transport: bool) -> String {
    let in_flight = match (case.calls, case.concurrency) {
        (None, 1) => "1 call at a time".to_owned(),
        (None, streams) => format!("{streams} calls in flight"),
        (Some(calls), 1) => format!("{calls} calls, 1 at a time"),
        (Some(calls), streams) => format!("{calls} calls, {streams} in flight"),
    };
    let connections = match (case.connection_per_call, case.connections) {
        (true, _) => ", each on a new connection".to_owned(),
        (false, 1) => " on 1 connection".to_owned(),
        (false, connections) => format!(" on {connections} connections"),
    };
    let transport = match case.transport {
        Transport::H2c if always_transport => " in plain text",
        Transport::H2c => "",
        Transport::Tls => " over TLS",
        Transport::Unix => " over a Unix socket",
    };
    format!("{in_flight}{connections}{transport}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_can_be_said() {
        let words = |case: &str| case_words(case.parse().expect("a case"), false);
        assert_eq!(words("C=1 S=1"), "1 call at a time on 1 connection");
        assert_eq!(words("C=50 S=100 tls"), "100 calls in flight on 50 connections over TLS");
        assert_eq!(words("C=9 S=9 per-call"), "9 calls in flight, each on a new connection");
        let counted = words("C=1 S=5 unix calls=10");
        assert_eq!(counted, "10 calls, 5 in flight on 1 connection over a Unix socket");
        let plain = case_words("C=1 S=2".parse().expect("a case"), true);
        assert_eq!(plain, "2 calls in flight on 1 connection in plain text");
    }
}
