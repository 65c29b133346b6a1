//! A picture that grows downwards: text stays text, colours come from a theme, and nothing is
//! scripted.

use crate::html::only_printable;
use bookend_results::quoted::cut_in_the_middle;
use maud::html;

/// The width of a picture, in pixels at the size at which a page shows it.
pub(super) const WIDTH: f64 = 820.0;

pub(super) const MARGIN: f64 = 20.0;

/// The same of a picture for a narrow screen: what a page has room for that is 400 pixels wide.
const NARROW_WIDTH: f64 = 376.0;

const NARROW_MARGIN: f64 = 4.0;

const TITLE_SIZE: f64 = 18.0;

/// Where a picture begins below its heading.
const HEADING_BOTTOM: f64 = 72.0;

/// An estimate of a bold letter's width, in parts of the size of the type.
const BOLD_WIDTH: f64 = 0.65;

/// The same of a letter that is not bold, with the spaces between words.
const LETTER_WIDTH: f64 = 0.48;

/// Type is not made smaller than this to make a text fit: that is cut instead.
const SIZE_MIN: f64 = 9.0;

const FONT: &str = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif";

/// The background that a picture is drawn for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Dark on white.
    #[default]
    Light,
    /// Light on black.
    Dark,
    /// Whichever of the two the reader prefers.
    Both,
    /// That of the page in which it stands, which has [`page_rules`] and the picture's heading.
    Page,
    /// The same for a narrow screen, on which its page shows this one instead.
    NarrowPage,
}

/// The colours of a background. Series differ in lightness as well as in hue, so that they can be
/// distinguished in greyscale and by colour-blind readers.
struct Palette {
    background: &'static str,
    text: &'static str,
    faint: &'static str,
    grid: &'static str,
    series: [&'static str; 6],
}

const LIGHT: Palette = Palette {
    background: "#ffffff",
    text: "#1f2328",
    faint: "#59636e",
    grid: "#d8dee4",
    series: ["#0969da", "#d4762c", "#1a7f5a", "#8250df", "#6e7781", "#bf3989"],
};

const DARK: Palette = Palette {
    background: "#0d1117",
    text: "#e6edf3",
    faint: "#9198a1",
    grid: "#30363d",
    series: ["#58a6ff", "#f0a35e", "#4ac790", "#bc8cff", "#8b949e", "#f778ba"],
};

impl Palette {
    /// One class a use of a colour. Text that stands over lines has an edge in the background's.
    fn rules(&self) -> String {
        let Self { background, text, faint, grid, series, .. } = self;
        let mut rules = format!(
            ".background{{fill:{background}}}.text{{fill:{text}}}.faint{{fill:{faint}}}\
             .stroke{{stroke:{text}}}.grid{{stroke:{grid}}}\
             .over{{fill:{text};stroke:{background};stroke-width:3px;paint-order:stroke}}"
        );
        for (index, colour) in series.iter().enumerate() {
            rules += &format!(".fill{index}{{fill:{colour}}}.stroke{index}{{stroke:{colour}}}");
        }
        rules
    }

    fn all_rules(&self) -> String {
        format!("{}.hole{{stroke:{}}}", self.rules(), self.background)
    }
}

/// The rules of a page in which pictures stand. On paper they are light.
pub fn page_rules() -> String {
    let (light, dark) = (LIGHT.all_rules(), DARK.all_rules());
    format!("{light}\n@media screen and (prefers-color-scheme:dark){{{dark}}}\n")
}

impl Theme {
    fn style(self, rules: impl Fn(&Palette) -> String) -> String {
        match self {
            Self::Light => rules(&LIGHT),
            Self::Dark => rules(&DARK),
            Self::Both => {
                let dark = rules(&DARK);
                format!("{}@media (prefers-color-scheme:dark){{{dark}}}", rules(&LIGHT))
            }
            Self::Page | Self::NarrowPage => String::new(),
        }
    }
}

/// The class with the colour of a series: `fill` or `stroke`.
pub(super) fn coloured(kind: &str, series: usize) -> String {
    format!("{kind}{}", series % LIGHT.series.len())
}

/// What is drawn so far, and where the next line goes.
pub(super) struct Canvas {
    theme: Theme,
    pub(super) width: f64,
    /// Free on both sides.
    pub(super) margin: f64,
    pub(super) y: f64,
    body: String,
    /// Whether it may have holes in dots.
    has_all_rules: bool,
}

impl Canvas {
    pub(super) fn new(theme: Theme, y: f64) -> Self {
        let (width, margin) = match theme {
            Theme::NarrowPage => (NARROW_WIDTH, NARROW_MARGIN),
            _ => (WIDTH, MARGIN),
        };
        Self { theme, width, margin, y, body: String::new(), has_all_rules: false }
    }

    pub(super) fn is_narrow(&self) -> bool {
        self.theme == Theme::NarrowPage
    }

    /// The room between the margins.
    pub(super) fn room(&self) -> f64 {
        self.width - 2.0 * self.margin
    }

    /// A picture that begins with its heading, unless its page has that.
    pub(super) fn titled(theme: Theme, title: &str, subtitle: &str) -> Self {
        let mut canvas = Self { has_all_rules: true, ..Self::new(theme, HEADING_BOTTOM) };
        match theme {
            Theme::Page | Theme::NarrowPage => canvas.y = 4.0,
            _ => canvas.heading(title, subtitle),
        }
        canvas
    }

    /// The heading, and the lines under it.
    pub(super) fn heading(&mut self, title: &str, subtitle: &str) {
        let fitting = self.room() / (title.chars().count().max(1) as f64 * BOLD_WIDTH);
        let size = (fitting.min(TITLE_SIZE) * 10.0).floor() / 10.0;
        self.text((self.margin, 34.0), size, "text", "font-weight=\"600\"", title);
        self.text((self.margin, 57.0), 13.0, "faint", "", subtitle);
    }

    /// The name of an axis so far below `y`, in as many lines as it needs: at the left edge, or at
    /// the right one for the axis along the bottom.
    pub(super) fn axis_name(&mut self, name: &str, below: f64, is_along_bottom: bool) {
        const SIZE: f64 = 11.0;
        const LINE_HEIGHT: f64 = 14.0;
        let (x, anchor) = match is_along_bottom {
            true => (self.width - self.margin, "text-anchor=\"end\""),
            false => (self.margin, ""),
        };
        for (number, line) in wrapped(name, SIZE, self.room()).iter().enumerate() {
            if number > 0 {
                self.y += LINE_HEIGHT;
            }
            self.text((x, self.y + below), SIZE, "faint", anchor, line);
        }
    }

    /// A text in a room of that width: in smaller type, and without its middle where that
    /// is not enough.
    pub(super) fn text_within(
        &mut self,
        room: f64,
        at: (f64, f64),
        size: f64,
        (class, more): (&str, &str),
        text: &str,
    ) {
        let fitting = room / (text.chars().count().max(1) as f64 * LETTER_WIDTH);
        let size = (fitting.clamp(SIZE_MIN, size) * 10.0).floor() / 10.0;
        let letters = (room / (size * LETTER_WIDTH)) as usize;
        self.text(at, size, class, more, &cut_in_the_middle(text, letters));
    }

    pub(super) fn text(&mut self, at: (f64, f64), size: f64, class: &str, more: &str, text: &str) {
        let ((x, y), text) = (at, escaped(text));
        let space = if more.is_empty() { "" } else { " " };
        self.element(&format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" class=\"{class}\"{space}{more}>\
             {text}</text>"
        ));
    }

    /// A stroke along a path.
    pub(super) fn stroke(&mut self, path: &str, width: f64, class: &str) {
        self.element(&format!(
            "<path d=\"{path}\" stroke-width=\"{width}\" fill=\"none\" class=\"{class}\"/>"
        ));
    }

    /// An interval from one `x` to the other, so far below `y`, with caps at its ends.
    pub(super) fn whisker(&mut self, ends: (f64, f64), below: f64, cap: f64, class: &str) {
        let ((low, high), middle) = (ends, self.y + below);
        let (top, bottom) = (middle - cap, middle + cap);
        let path = format!(
            "M{low:.1} {middle}H{high:.1}M{low:.1} {top}V{bottom}M{high:.1} {top}V{bottom}"
        );
        self.stroke(&path, 1.5, class);
    }

    pub(super) fn element(&mut self, element: &str) {
        self.body.push_str(element);
        self.body.push('\n');
    }

    /// The whole document.
    pub(super) fn document(self, title: &str) -> String {
        let (width, height) = (self.width, self.y + self.margin / 2.0);
        let rules = |palette: &Palette| match self.has_all_rules {
            true => palette.all_rules(),
            false => palette.rules(),
        };
        let title = escaped(title);
        only_printable(match self.theme {
            Theme::Page | Theme::NarrowPage => format!(
                "<svg class=\"{}\" viewBox=\"0 0 {width} {height:.1}\" role=\"img\" \
                 aria-label=\"{title}\">\n{}</svg>",
                if self.is_narrow() { "narrow" } else { "wide" },
                self.body
            ),
            _ => format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
                 viewBox=\"0 0 {width} {height}\" role=\"img\" font-family=\"{FONT}\">\n\
                 <title>{title}</title>\n<style>{}</style>\n\
                 <rect width=\"{width}\" height=\"{height}\" rx=\"8\" class=\"background\"/>\n\
                 {}</svg>\n",
                self.theme.style(rules),
                self.body
            ),
        })
    }
}

/// Text as the content of an element or as the value of a quoted attribute. The elements are not
/// written by `html!`: it has no `/>`, which XML asks for, and an end of its own would make each of
/// the many paths longer.
fn escaped(text: &str) -> String {
    html! { (text) }.into_string()
}

/// The same where texts are next to each other: rather too much room than too little.
const ROOM_OF_LETTER: f64 = 0.57;

/// Names of codes have nothing else.
const ROOM_OF_CAPITAL: f64 = 0.72;

/// About how wide a text is.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    let room = |letter: char| if letter.is_uppercase() { ROOM_OF_CAPITAL } else { ROOM_OF_LETTER };
    text.chars().map(room).sum::<f64>() * size
}

/// The words in lines that are no wider than that, as far as single words are not.
fn wrapped(text: &str, size: f64, room: f64) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("it begins with one");
        let longer = format!("{line} {word}");
        if line.is_empty() {
            word.clone_into(line);
        } else if text_width(&longer, size) <= room {
            *line = longer;
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// The text, or as much of its beginning and end as fits: names differ at either.
pub(super) fn fitted(text: &str, size: f64, room: f64) -> String {
    let most = (room / (size * ROOM_OF_LETTER) + 0.01) as usize;
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let kept = most.saturating_sub(1);
    let (front, back) = (kept - kept / 2, kept / 2);
    let end: String = text.chars().skip(count - back).collect();
    format!("{}\u{2026}{end}", text.chars().take(front).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_keeps_both_ends() {
        let fits = |text: &str| fitted(text, 10.0, 10.0 * 10.0 * ROOM_OF_LETTER);
        assert_eq!(fits("rust-tonic"), "rust-tonic");
        assert_eq!(fits("rust-tonic via ghz"), "rust-\u{2026} ghz");
        assert_eq!(fits(&"a".repeat(1 << 20)).chars().count(), 10);
        assert_eq!(fitted("rust-tonic", 10.0, 0.0), "\u{2026}");
    }

    #[test]
    fn a_narrow_picture_breaks_names_between_words() {
        let lines = |room| wrapped("calls answered OK", 10.0, room * 10.0 * ROOM_OF_LETTER);
        assert_eq!(lines(40.0), ["calls answered OK"]);
        assert_eq!(lines(14.5), ["calls answered", "OK"]);
        assert_eq!(lines(3.0), ["calls", "answered", "OK"]);
        let mut canvas = Canvas::titled(Theme::NarrowPage, "a", "b");
        canvas.axis_name(&"calls ".repeat(20), 10.0, true);
        let svg = canvas.document("a");
        assert!(svg.starts_with("<svg class=\"narrow\" viewBox=\"0 0 376 "), "{svg}");
        assert!(svg.matches("<text ").count() > 1, "{svg}");
    }

    #[test]
    fn a_page_gives_its_pictures_their_colours_once() {
        let mut canvas = Canvas::titled(Theme::Page, "a", "b");
        canvas.text((0.0, 0.0), 12.0, "text", "", "c<d\u{1b}");
        let svg = canvas.document("a \"<b>");
        assert!(svg.contains(">c&lt;d\u{fffd}</text>"), "{svg}");
        assert!(!svg.contains("<style>") && !svg.contains("font-weight"), "{svg}");
        assert!(svg.contains("aria-label=\"a &quot;&lt;b&gt;\""), "{svg}");
        assert!(page_rules().contains(".hole{") && page_rules().contains("@media screen and"));
    }
}
