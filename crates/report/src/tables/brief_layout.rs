//! How the rows of a first look are laid out: each in one line, or, where that is too long for the
//! terminal, its name in a line and its figures below it.

use crate::wrap::within;
use bookend_results::quoted::one_line;

/// Between two columns.
const GAP: usize = 2;

/// Before a name; figures in a line of their own begin there too.
const INDENT: usize = 2;

/// Which figures are left out where even a line of figures is too long, the first of these first.
const LEFT_OUT: [&str; 3] = ["p99", "CPU", "req/s"];

/// Most lines of a reason why there is no figure.
const REASON_LINES: usize = 3;

/// A row: its names, its figures or why it has no figures, and what is odd about it.
pub(super) struct BriefRow {
    pub names: Vec<String>,
    pub figures: Result<Vec<String>, String>,
    pub note: String,
}

/// The widths of the columns.
pub(super) struct BriefLayout {
    width: usize,
    /// Between the names of a row in a text.
    joint: String,
    /// Of the names. `None`: they stand above their figures.
    names: Option<Vec<usize>>,
    /// Of the figures. `None`: left out.
    figures: Vec<Option<usize>>,
}

impl BriefLayout {
    /// The layout in which no line is longer than `width`. Figures have headings and least widths,
    /// and names have the headings `above`.
    pub(super) fn of<'r>(
        rows: impl Iterator<Item = &'r BriefRow> + Clone,
        (headings, least): (&[&str], Vec<usize>),
        above: &[&str],
        width: usize,
    ) -> Self {
        let widest = |least: usize, field: &dyn Fn(&BriefRow) -> usize| {
            rows.clone().map(field).fold(least, usize::max)
        };
        let figure = |row: &BriefRow, at: usize| match &row.figures {
            Ok(figures) => letters(figures.get(at)),
            Err(_) => 0,
        };
        let figures = (0..).zip(headings).zip(least).map(|((at, heading), least)| {
            Some(widest(least.max(heading.len()), &|row| figure(row, at)))
        });
        let mut figures: Vec<Option<usize>> = figures.collect();
        let names = (0..).zip(above);
        let names: Vec<usize> = names
            .map(|(at, above)| widest(above.len(), &|row| letters(row.names.get(at))))
            .collect();
        let in_one_line = names.iter().map(|name| name + GAP).sum::<usize>() + line(&figures);
        let names = (in_one_line <= width).then_some(names);
        for left_out in LEFT_OUT.into_iter().filter(|_| names.is_none()) {
            if line(&figures) > width
                && let Some(at) = headings.iter().position(|heading| *heading == left_out)
            {
                figures[at] = None;
            }
        }
        let joint = above.get(1).map_or(String::new(), |above| format!(" {above} "));
        Self { width, joint, names, figures }
    }

    /// The headings of all columns.
    pub(super) fn headings(&self, headings: &[&str], above: &[&str]) -> String {
        let above: Vec<String> = above.iter().map(|above| (*above).to_owned()).collect();
        let headings: Vec<String> = headings.iter().map(|one| (*one).to_owned()).collect();
        format!("{}{}\n", self.names_in_line(&above), self.figures_in_line(&headings))
    }

    /// A row, with what is odd about it behind it, or below it where that is too long.
    pub(super) fn row(&self, row: &BriefRow) -> String {
        let figures = match &row.figures {
            Ok(figures) => self.figures_in_line(figures),
            Err(reason) => return self.without_figures(row, reason),
        };
        let mut text = match &self.names {
            Some(_) => self.names_in_line(&row.names),
            None => indented(&row.names.join(&self.joint), self.width, INDENT),
        };
        let begin = text.rfind('\n').map_or(0, |end| end + 1);
        text += &figures;
        let note = one_line(&row.note);
        let taken = text[begin..].chars().count() + GAP + note.chars().count();
        match (note.is_empty(), taken <= self.width) {
            (true, _) => text + "\n",
            (false, true) => format!("{text}{:GAP$}{note}\n", ""),
            (false, false) => format!("{text}\n{}", indented(&note, self.width, 2 * INDENT)),
        }
    }

    fn without_figures(&self, row: &BriefRow, reason: &str) -> String {
        let whole = format!("{}: {}", row.names.join(&self.joint), one_line(reason));
        let lines = indented(&whole, self.width, INDENT);
        let mut lines: Vec<&str> = lines.lines().collect();
        let is_cut = lines.len() > REASON_LINES;
        lines.truncate(REASON_LINES);
        let mut text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        if is_cut {
            text += &format!("{:1$}...\n", "", INDENT);
        }
        text
    }

    /// Names, each filled up to its column. Nothing where they stand in lines of their own.
    fn names_in_line(&self, names: &[String]) -> String {
        let Some(widths) = &self.names else {
            return String::new();
        };
        let fields = names.iter().zip(widths).map(|(name, width)| format!("{name:<width$}"));
        format!("{:INDENT$}{}", "", fields.collect::<Vec<_>>().join("  "))
    }

    fn figures_in_line(&self, figures: &[String]) -> String {
        let shown = figures.iter().zip(&self.figures);
        let shown = shown.filter_map(|(figure, width)| Some((figure, (*width)?)));
        let fields = shown.map(|(figure, width)| format!("{:GAP$}{figure:>width$}", ""));
        fields.collect()
    }
}

fn letters(field: Option<&String>) -> usize {
    field.map_or(0, |field| field.chars().count())
}

/// The length of a line of these figures, with its indent.
fn line(figures: &[Option<usize>]) -> usize {
    figures.iter().flatten().map(|figure| figure + GAP).sum()
}

/// Text in lines that begin with `blanks` blanks.
pub(super) fn indented(text: &str, width: usize, blanks: usize) -> String {
    let lines = within(text, width.saturating_sub(blanks), "");
    lines.lines().map(|line| format!("{:blanks$}{line}\n", "")).collect()
}
