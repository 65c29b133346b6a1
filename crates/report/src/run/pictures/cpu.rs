//! Where the machine's CPU went.

use super::drawn::{Drawn, DrawnGroup, names, word_of};
use crate::chart::{StackBar, StackChart, StackPanel, StackPart};
use crate::html::HtmlRow;
use crate::picture::{Drawing, Picture};
use bookend_results::table::{Cell, CpuAccount};
use bookend_results::text::cpu_text;

/// A part of the account, the number of its colour, and how it is read. The last is what is left.
type Part = (&'static str, Option<usize>, fn(&CpuAccount) -> f64);

const PARTS: [Part; 5] = [
    ("server", Some(0), |account| account.server),
    ("generator", Some(1), |account| account.generator),
    ("unattributed", Some(4), |account| account.unattributed.max(0.0)),
    ("steal", Some(5), |account| account.steal),
    ("idle", None, |account| account.idle),
];

/// The account of every cell, a picture for each group whose machine kept one.
pub(super) fn pictures(drawn: &Drawn<'_>) -> Vec<Picture> {
    drawn.groups.iter().filter_map(|group| picture(drawn, group)).collect()
}

fn picture(drawn: &Drawn<'_>, group: &DrawnGroup<'_>) -> Option<Picture> {
    let account = |cell: &Cell| cell.summary()?.cpu_account;
    group.cells.iter().find_map(|cell| account(cell))?;
    let bar = |cell: &Cell| match account(cell) {
        Some(account) => StackBar::Parts(PARTS.iter().map(|(_, _, part)| part(&account)).collect()),
        None => StackBar::Word(word_of(cell)),
    };
    let part = |(name, colour, _): &Part| StackPart { name: (*name).to_owned(), colour: *colour };
    let chart = StackChart {
        title: group.titled("Where the machine's CPU went"),
        subtitle: drawn.origin(),
        axis: "CPUs, mean over the windows".to_owned(),
        parts: PARTS.iter().map(part).collect(),
        rows: group.subjects().into_iter().cloned().collect(),
        panels: panels(group, bar),
    };
    let names = PARTS.iter().map(|(name, ..)| (*name).to_owned());
    let headings = ["case", "name"].map(str::to_owned).into_iter().chain(names).collect();
    Some(Picture {
        title: chart.title.clone(),
        caption:
            "Unattributed is what neither end was charged for: interrupts and other processes. On \
                  loopback the sender pays for receiving."
                .to_owned(),
        drawing: Drawing::Stacks(chart),
        headings,
        rows: group.cells.iter().map(|cell| figures(cell, account(cell))).collect(),
    })
}

/// A panel for each case, with a bar for each subject.
pub(super) fn panels(group: &DrawnGroup<'_>, bar: impl Fn(&Cell) -> StackBar) -> Vec<StackPanel> {
    let subjects = group.subjects();
    group
        .cases()
        .into_iter()
        .map(|case| {
            let bar_of = |name: &&String| group.find(name, case).map_or(StackBar::Empty, &bar);
            StackPanel { title: case.to_string(), bars: subjects.iter().map(bar_of).collect() }
        })
        .collect()
}

fn figures(cell: &Cell, account: Option<CpuAccount>) -> HtmlRow {
    let figures = account
        .map(|account| PARTS.iter().map(|(_, _, part)| cpu_text(part(&account))).collect())
        .ok_or_else(|| word_of(cell));
    HtmlRow { names: names(cell), figures }
}
