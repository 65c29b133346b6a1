//! records/pages/probed.md: what the probe found of every server.

use bookend_report::markdown::{table, words};
use bookend_results::findings::{ProbeFindings, ProbedServer};
use bookend_results::grouping::grouped;

/// Where it is.
pub const PROBED_PAGE: &str = "records/pages/probed.md";

const INTRODUCTION: &str = "\
# What the probe found of every server

`bookend probe` sends each server what HTTP/2 and gRPC allow any client to send ([the
checks](../../docs/use/probe.md#the-checks)). `publication claims` writes this page from
`records/findings/probe.jsonl`, which has a line for each server and is made by

```sh
bookend doctor --call --findings records/findings/probe.jsonl
```

Every claim about a server names the checks that it fails. [Findings](../findings/README.md) describe the worst failures,
with their place in the server's source.

";

/// The page. `None`: nothing is kept.
pub fn probed_page(findings: &ProbeFindings) -> Option<String> {
    let first = findings.0.first()?;
    let checks = first.semantics.len();
    let rows = findings.0.iter().map(|one| {
        let failed = one.skips.len().to_string();
        vec![one.subject.clone(), one.version.clone(), failed, words_or_dash(&one.skips)]
    });
    let headings = ["server", "version", "fails", "what"];
    let reasons: String = findings.0.iter().map(reasons).collect();
    let text = format!(
        "{INTRODUCTION}There are {checks} checks.\n\n{}\n## Why\n\nBy the key of the check, with what the server did \
         instead.\n\n{reasons}",
        table(&headings, 2, rows)
    );
    Some(text)
}

fn words_or_dash(words: &[String]) -> String {
    if words.is_empty() { "-".to_owned() } else { words.join(", ") }
}

/// The reasons of a server, those that are alike together.
fn reasons(one: &ProbedServer) -> String {
    let pairs = one.reasons.iter().map(|(check, why)| {
        let word = one.semantics.get(check).map_or("", String::as_str);
        let unmade = if word == "no" { "" } else { "not checked: " };
        (format!("{unmade}{why}"), format!("`{check}`"))
    });
    let alike = grouped(pairs).into_iter();
    let said: Vec<String> =
        alike.map(|(why, checks)| format!("{} ({why})", checks.join(", "))).collect();
    match said.as_slice() {
        [] => String::new(),
        said => format!("- {}: {}.\n", one.subject, words(&said.join("; "))),
    }
}
