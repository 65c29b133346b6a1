//! The people who measured, when and on what, and why it can be believed.

use super::address::FRONT_FILE;
use crate::pages::circumstances;
use bookend_results::grouping::each_once;
use bookend_results::record::Record;
use maud::{Markup, html};
use std::collections::BTreeSet;

/// The part of the front page that says how was measured.
pub(super) const METHOD: &str = "method";

/// Whether a server, a client or a generator is the project's own.
pub(super) fn is_ours(name: &str) -> bool {
    let folder = name.split('/').next().unwrap_or(name);
    folder.contains("bookend")
}

/// Of all records: who, when, on what, and whose interest it is.
pub(super) fn of_all(records: &[Record]) -> Markup {
    let days: BTreeSet<String> = records.iter().map(day).collect();
    let span = match (days.first(), days.last()) {
        (Some(first), Some(last)) if first != last => format!("from {first} to {last}"),
        (Some(only), _) => format!("on {only}"),
        _ => "at no time yet".to_owned(),
    };
    let machines: BTreeSet<String> = records.iter().map(machine).collect();
    let machines = machines.into_iter().collect::<Vec<_>>().join("; ");
    html! {
        p class="who" {
            "The Bookend project measured this itself, " (span) ", on its own machines (" (machines) "). "
            b { "Systems that are called bookend are the project\u{2019}s own" }
            ": its authors wrote the load generator and one of the servers that are compared here. "
            a href={ "#" (METHOD) } { "Why the figures can be believed all the same" } "."
        } "\n"
    }
}

/// Of one record, for the page of its suite.
pub(super) fn of_record(record: &Record, raw: Option<&String>) -> Markup {
    let ours = ours(record);
    html! {
        p class="note" {
            "Measured by the Bookend project: " (circumstances(record)) ", " (machine(record)) ". "
            @if !ours.is_empty() { (ours.join(" and ")) " " (is_or_are(&ours)) " the project\u{2019}s own. " }
            a href={ (FRONT_FILE) "#" (METHOD) } { "How" }
            @if let Some(raw) = raw { "; " a href=(raw) { "the raw record" } }
            "."
        } "\n"
    }
}

/// The same, where the method stands on the page itself and the record is cited with its age.
pub(super) fn of_section(record: &Record, raw: Option<&String>, since: Option<&String>) -> Markup {
    let ours = ours(record);
    html! {
        p class="note" {
            @if !ours.is_empty() {
                b { (ours.join(" and ")) " " (is_or_are(&ours)) " the project\u{2019}s own" }
                ", so its authors measured themselves. "
            }
            "Measured by the Bookend project: " (circumstances(record)) ", " (machine(record))
            @if let Some(since) = since { "; " (since) }
            ". " a href={ "#" (METHOD) } { "How" }
            @if let Some(raw) = raw { "; " a href=(raw) { "the raw record" } }
            "."
        } "\n"
    }
}

/// Why a reader need not take the word of whoever measured.
pub(super) fn method() -> Markup {
    html! {
        section id=(METHOD) {
            "\n" h2 { "Why the figures can be believed" } "\n"
            ul {
                "\n" li { "Every system is started anew in each round, and all are measured in random order, several \
                    times. A ratio has its 95 % interval over the rounds." } "\n"
                li { "Status and length of every answer are checked, and calls that failed are counted apart." } "\n"
                li { "The project\u{2019}s own server and load generator are started as processes like all \
                    others, with the same limits. Their protocol code is shared, which may suit our \
                    server: so ghz and h2load measure it, too, where they can." } "\n"
                li { "The raw record next to each table has every round of every cell. " code { "scripts/recompute" }
                    " in the repository computes the published figures from it again, with no code of ours." } "\n"
                li { "The command that repeats a run stands at the end of its page: " code { "bookend run SUITE" }
                    " measures the same on your machine, and " code { "bookend check" }
                    " shows how far the instrument is right there." } "\n"
                li { "What may bias the figures, and in which verdicts we were wrong, stands in "
                    code { "docs/measure/bias.md" } " and " code { "docs/measure/changed-verdicts.md" }
                    "; the method in " code { "docs/measure/methodology.md" } "." } "\n"
            } "\n"
        } "\n"
    }
}

/// The project's own systems under test, without their variants.
fn ours(record: &Record) -> Vec<&str> {
    let compared = record.facts.plan.subjects.iter().filter(|one| !one.calibration);
    let names = compared.filter_map(|one| one.name.split('/').next());
    each_once(names.filter(|name| is_ours(name)))
}

fn is_or_are(names: &[&str]) -> &'static str {
    if names.len() == 1 { "is" } else { "are" }
}

fn day(record: &Record) -> String {
    let started = record.facts.started.to_string();
    started.split('T').next().unwrap_or_default().to_owned()
}

fn machine(record: &Record) -> String {
    let machine = &record.facts.machine;
    let kind = if machine.virtual_machine { ", a virtual machine" } else { "" };
    format!("{} CPUs, {}{kind}", machine.cpus, machine.os)
}
