//! A sentence that is printed only while figures bear out what it rests on and what it says.

use super::quantity::Quantity;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use std::fmt;

/// The figures of a claim itself, by the names that conditions use: that of the document's tables,
/// and the answers to the two questions.
pub(super) const OWN_FIGURES: [&str; 3] = ["table", "same", "other"];

/// A conclusion needs at least this many figures: one for its premise, one for itself.
const CONDITIONS_MIN: usize = 2;

/// A sentence with the figures that it rests on, its premise first.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimFinding {
    /// The sentence. `{published}` and the names of the conditions stand for their figures.
    pub text: String,
    /// Told where all of these are so.
    #[serde(rename = "if")]
    pub(super) conditions: Vec<FigureCondition>,
}

/// What must be so of a figure.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FigureCondition {
    /// One of [`OWN_FIGURES`], or a name for the figure of the quantity.
    pub(super) figure: String,
    /// Another quantity of our record.
    pub(super) recorded: Option<Quantity>,
    /// Another quantity of the document's tables.
    pub(super) printed: Option<Quantity>,
    pub(super) at_least: Option<f64>,
    pub(super) at_most: Option<f64>,
}

/// What explains an outcome: always, or only while figures bear it out.
#[derive(Clone, Debug, PartialEq)]
pub enum Explanation {
    /// What needs no figure: how a claim was read, or what a figure is of.
    Fixed(String),
    /// A conclusion.
    Conditional(ClaimFinding),
}

// By hand: of an untagged enum an error would name neither the word nor its place.
impl<'de> Deserialize<'de> for Explanation {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct EitherVisitor;
        impl<'de> Visitor<'de> for EitherVisitor {
            type Value = Explanation;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, or { text, if }")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Explanation, E> {
                Ok(Explanation::Fixed(text.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Explanation, A::Error> {
                let conclusion = ClaimFinding::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Explanation::Conditional(conclusion))
            }
        }
        from.deserialize_any(EitherVisitor)
    }
}

impl ClaimFinding {
    /// What is wrong with the declaration.
    pub(super) fn complaint(&self) -> Option<String> {
        if self.conditions.len() < CONDITIONS_MIN {
            return Some("a conclusion has two conditions, its premise and itself".to_owned());
        }
        let broken = self.conditions.iter().find_map(FigureCondition::complaint);
        if broken.is_some() {
            return broken;
        }
        let unread = self.names().find(|name| {
            *name != "published" && self.conditions.iter().all(|one| one.figure != **name)
        });
        if let Some(name) = unread {
            return Some(format!("no condition is on the figure `{{{name}}}` of the text"));
        }
        let digits = own_words(&self.text);
        digits.contains(|c: char| c.is_ascii_digit()).then(|| {
            format!("a figure in the text is that of a condition, `{{name}}`: {}", digits.trim())
        })
    }

    /// The names in braces.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.text.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0))
    }
}

impl FigureCondition {
    fn complaint(&self) -> Option<String> {
        let Self { figure, recorded, printed, at_least, at_most } = self;
        let is_own = OWN_FIGURES.contains(&figure.as_str());
        let quantities = recorded.iter().chain(printed).count();
        if quantities != usize::from(!is_own) {
            return Some(format!(
                "`{figure}` is one of {}, or the name of one `recorded` or `printed` figure",
                OWN_FIGURES.join(", ")
            ));
        }
        let is_range = match (at_least, at_most) {
            (Some(least), Some(most)) => least <= most,
            (least, most) => least.is_some() || most.is_some(),
        };
        (!is_range).then(|| format!("say what `{figure}` must be: `at_least`, `at_most`"))
    }
}

/// The text without the parts in braces, and without what it cites.
fn own_words(text: &str) -> String {
    let outside = |text: &str, open: char, close: char| {
        let mut own = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once(open) {
            own.push_str(before);
            rest = after.split_once(close).map_or("", |(_, after)| after);
        }
        own + rest
    };
    let without = outside(&outside(text, '{', '}'), '"', '"');
    outside(&without, '`', '`')
}

#[cfg(test)]
mod tests {
    use super::own_words;

    #[test]
    fn what_is_cited_and_what_is_filled_in_are_not_our_own_words() {
        let text = "\"About 10 times\" is {other} through `ghz 2`, not {published}, in 3 rows";
        assert_eq!(own_words(text), " is  through , not , in 3 rows");
    }
}
