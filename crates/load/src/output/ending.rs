//! What the ending of a file's name says of the format of what is in it.

use std::path::Path;

/// The ending of a file's name stands for no format. The user's fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: no format here has the ending .{ending}: {instead}")]
pub struct UnknownEnding {
    file: String,
    ending: String,
    /// What to write instead.
    instead: String,
}

/// The format that a file's name stands for, given the endings of all formats; `None`: it has no
/// ending. A number after a dot does not count: `run.7`, `v1.25`.
///
/// # Errors
/// [`UnknownEnding`], with the endings that there are.
pub fn format_by_ending<F: Copy>(
    file: &Path,
    endings: &[(&str, F)],
) -> Result<Option<F>, UnknownEnding> {
    let ending = file.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    let Some(ending) = ending.filter(|ending| ending.starts_with(char::is_alphabetic)) else {
        return Ok(None);
    };
    if let Some((_, format)) = endings.iter().find(|(known, _)| *known == ending) {
        return Ok(Some(*format));
    }
    let is_markdown = ending == "md" || ending == "markdown";
    let instead = if is_markdown {
        "keep .json, of which bookend report FILE.json -o FILE.md makes Markdown".to_owned()
    } else {
        let known: Vec<_> = endings.iter().map(|(known, _)| format!(".{known}")).collect();
        format!("there is {}; --format says it whatever the name is", known.join(", "))
    };
    Err(UnknownEnding { file: file.display().to_string(), ending, instead })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::OutputFormat;

    #[test]
    fn a_name_says_its_format_in_any_case() {
        let of = |name: &str| OutputFormat::of_file(Path::new(name));
        assert_eq!(of("a.b/result.json"), Ok(Some(OutputFormat::Json)));
        assert_eq!(of("RESULT.HTML"), Ok(Some(OutputFormat::Html)));
        for without in ["result", "run.7", "v1.25", "-", "/dev/stdout", ".json", "a.json/b"] {
            assert_eq!(of(without), Ok(None), "{without}");
        }
    }

    #[test]
    fn another_ending_is_refused_with_those_that_there_are() {
        let refused = |name: &str| OutputFormat::of_file(Path::new(name)).unwrap_err().to_string();
        assert_eq!(
            refused("x.pdf"),
            "x.pdf: no format here has the ending .pdf: there is .json, .csv, .html, .htm, .prom, \
             .txt, .log; --format says it whatever the name is"
        );
        assert!(refused("x.md").contains("bookend report FILE.json -o FILE.md"));
    }
}
