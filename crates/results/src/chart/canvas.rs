//! A picture that grows downwards: text stays text, colours come from a theme, and nothing is
//! scripted.

/// The width of every picture, in pixels at the size at which a page shows it.
pub(super) const WIDTH: f64 = 820.0;

pub(super) const MARGIN: f64 = 20.0;

const TITLE_SIZE: f64 = 18.0;

/// An estimate of a bold letter's width, in parts of the size of the type.
const BOLD_WIDTH: f64 = 0.65;

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
        let Self { background, text, faint, grid, series } = self;
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
}

impl Theme {
    fn style(self) -> String {
        match self {
            Self::Light => LIGHT.rules(),
            Self::Dark => DARK.rules(),
            Self::Both => {
                let dark = DARK.rules();
                format!("{}@media (prefers-color-scheme:dark){{{dark}}}", LIGHT.rules())
            }
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
    pub(super) y: f64,
    body: String,
}

impl Canvas {
    pub(super) fn new(theme: Theme, y: f64) -> Self {
        Self { theme, y, body: String::new() }
    }

    /// The heading, and the lines under it.
    pub(super) fn heading(&mut self, title: &str, subtitle: &str) {
        let fitting = (WIDTH - 2.0 * MARGIN) / (title.chars().count().max(1) as f64 * BOLD_WIDTH);
        let size = (fitting.min(TITLE_SIZE) * 10.0).floor() / 10.0;
        self.text((MARGIN, 34.0), size, "text", "font-weight=\"600\"", title);
        self.text((MARGIN, 57.0), 13.0, "faint", "", subtitle);
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
        let height = self.y + MARGIN / 2.0;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
             viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" font-family=\"{FONT}\">\n\
             <title>{}</title>\n<style>{}</style>\n\
             <rect width=\"{WIDTH}\" height=\"{height}\" rx=\"8\" class=\"background\"/>\n\
             {}</svg>\n",
            escaped(title),
            self.theme.style(),
            self.body
        )
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
