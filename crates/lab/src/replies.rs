//! What servers answer to the same verified call: one that answers less has less to do, and its
//! rate is not to be compared with those of the others.

use bookend_results::grouping::grouped;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The first reply of each server.
#[derive(Debug, Default)]
pub struct FirstReplies(Mutex<BTreeMap<String, ProbedReply>>);

/// A reply as the probe reports it.
#[derive(Clone, Debug, PartialEq)]
struct ProbedReply {
    bytes: u64,
    /// Its messages; `null` where they are too long to be printed.
    messages: Value,
}

impl FirstReplies {
    /// Keeps what the probe found of a server, unless it was called before.
    pub fn keep(&self, server: &str, findings: &Value) {
        let Some(bytes) = findings.pointer("/call/reply_bytes").and_then(Value::as_u64) else {
            return;
        };
        let messages = findings.pointer("/call/reply_base64").cloned().unwrap_or_default();
        let reply = ProbedReply { bytes, messages };
        self.kept().entry(server.to_owned()).or_insert(reply);
    }

    /// The different answers in a sentence, if not all answered the same.
    pub fn difference(&self) -> Option<String> {
        let kept = self.kept().clone();
        let groups = grouped(kept.into_iter().map(|(server, reply)| (reply, server)));
        if groups.len() < 2 {
            return None;
        }
        let clause = |(reply, servers): &(ProbedReply, Vec<String>)| {
            format!("{} bytes by {}", reply.bytes, servers.join(", "))
        };
        let clauses: Vec<String> = groups.iter().map(clause).collect();
        Some(format!("replies to the same call differ: {}", clauses.join("; ")))
    }

    fn kept(&self) -> MutexGuard<'_, BTreeMap<String, ProbedReply>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn answered(bytes: u64, message: &str) -> Value {
        json!({ "call": { "reply_bytes": bytes, "reply_base64": [message] } })
    }

    #[test]
    fn servers_that_answer_the_same_are_not_told_of() {
        let replies = FirstReplies::default();
        replies.keep("a", &answered(3, "abcd"));
        replies.keep("b", &answered(3, "abcd"));
        replies.keep("of another protocol", &Value::Null);
        assert_eq!(replies.difference(), None);
    }

    #[test]
    fn an_empty_reply_stands_beside_the_others() {
        let replies = FirstReplies::default();
        replies.keep("honest", &answered(3, "abcd"));
        replies.keep("empty", &answered(0, ""));
        replies.keep("other", &answered(3, "efgh"));
        let said = replies.difference().expect("they differ");
        let all = "replies to the same call differ: 0 bytes by empty; 3 bytes by honest; 3 \
                   bytes by other";
        assert_eq!(said, all);
    }

    #[test]
    fn the_first_reply_of_a_server_counts() {
        let replies = FirstReplies::default();
        replies.keep("a", &answered(3, "abcd"));
        replies.keep("a", &answered(4, "now with the time"));
        replies.keep("b", &answered(3, "abcd"));
        assert_eq!(replies.difference(), None);
    }
}
