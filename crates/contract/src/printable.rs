//! Text that a peer, a file or a command line brought along, as a terminal may show it.
//!
//! Such text can hold characters that make a terminal do something (move its cursor, set its title,
//! answer as if its user had typed), that end a line where none ends, or that turn the direction of
//! what follows, so that a reader sees another text than there is. Each of them is replaced here,
//! once for every output: a value by [`line()`] where it enters a line, JSON by [`json`], which
//! loses nothing, and by [`PrintableWriter`] whatever is written.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Replaces a character that is not shown.
const BLANK: char = ' ';

/// Whether a terminal shows a character and does nothing else with it. That excludes control
/// characters (including escapes, some of which are one character beyond ASCII), separators of
/// lines and of paragraphs, marks that turn the direction of writing, invisible characters, and
/// code points that are not characters.
pub fn is_printable(character: char) -> bool {
    let turns = matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}')
        || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}');
    let separates = matches!(character, '\u{2028}' | '\u{2029}');
    let is_none = matches!(character, '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}');
    !(character.is_control() || turns || separates || is_none || is_invisible(character))
}

/// Whether nothing is shown for a character, so that two texts look the same, or one has another
/// in it that only programs read: Unicode's format characters (category Cf), its tags, and the
/// fillers of Hangul that stand for themselves.
///
/// Not so are the format characters that writing needs. U+200C and U+200D join letters, or keep
/// them apart, in Persian and in the scripts of India, and make one emoji of several. Signs as
/// U+0600 and U+110BD are shown, around the digits behind them. U+13430 and those that follow
/// place hieroglyphs. Selectors of variants (U+FE0F, U+E0100) are no format characters: they choose
/// how the one before them is drawn.
fn is_invisible(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{feff}')
        || matches!(character, '\u{3164}' | '\u{ffa0}')
        // Of shorthand and of music.
        || matches!(character, '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}')
        || matches!(character, '\u{e0000}'..='\u{e00ff}' | '\u{e01f0}'..='\u{e0fff}')
}

/// A text as a part of one line: what is not printable becomes a blank, line breaks and tabs too.
pub fn line(text: &str) -> Cow<'_, str> {
    replaced(text, |_| false, |safe, _| safe.push(BLANK))
}

/// Lines of ours: as [`line()`] does it, but their breaks and tabs stay.
pub fn lines(text: &str) -> Cow<'_, str> {
    replaced(text, begins_with_space, |safe, _| safe.push(BLANK))
}

/// A text in JSON, whose values stay what they are: a character that is not printable can only
/// stand in a string there, where its escape means the same.
pub fn json(text: &str) -> Cow<'_, str> {
    replaced(text, begins_with_space, |safe, character| {
        // Beyond 16 bits JSON takes two (RFC 8259, section 7).
        for unit in character.encode_utf16(&mut [0; 2]) {
            let _ = write!(safe, "\\u{unit:04x}");
        }
    })
}

/// The space between words and lines. Alone, a carriage return has what follows written over what
/// was there.
fn begins_with_space(text: &str) -> bool {
    text.starts_with(['\n', '\t']) || text.starts_with("\r\n")
}

/// `stays` is asked of a text that begins with a character that is not printable.
fn replaced(text: &str, stays: fn(&str) -> bool, replace: fn(&mut String, char)) -> Cow<'_, str> {
    let is_kept = |(at, character): &(usize, char)| is_printable(*character) || stays(&text[*at..]);
    let Some((first, _)) = text.char_indices().find(|each| !is_kept(each)) else {
        return text.into();
    };
    let mut safe = String::with_capacity(text.len());
    safe.push_str(&text[..first]);
    for each in text.char_indices().skip_while(|(at, _)| *at < first) {
        if is_kept(&each) {
            safe.push(each.1);
        } else {
            replace(&mut safe, each.1);
        }
    }
    safe.into()
}

/// Writes text on, with what is not printable replaced. What is no text becomes U+FFFD.
pub struct PrintableWriter<'a> {
    to: &'a mut dyn Write,
    make: fn(&str) -> Cow<'_, str>,
    /// The beginning of a character or of a line break whose end has not been written yet.
    begun: Vec<u8>,
}

impl<'a> PrintableWriter<'a> {
    /// A writer of [`lines`].
    pub fn of_lines(to: &'a mut dyn Write) -> Self {
        Self { to, make: lines, begun: Vec::new() }
    }

    /// A writer of JSON, as [`json`] makes it.
    pub fn of_json(to: &'a mut dyn Write) -> Self {
        Self { to, make: json, begun: Vec::new() }
    }
}

impl Write for PrintableWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let is_plain = |byte: &u8| matches!(byte, b'\n' | b'\t' | b' '..=b'~');
        if self.begun.is_empty() && bytes.iter().all(is_plain) {
            self.to.write_all(bytes)?;
            return Ok(bytes.len());
        }
        self.begun.extend_from_slice(bytes);
        let whole = match str::from_utf8(&self.begun) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.begun.len() - usize::from(self.begun.ends_with(b"\r")),
        };
        let text = String::from_utf8_lossy(&self.begun[..whole]);
        self.to.write_all((self.make)(&text).as_bytes())?;
        self.begun.drain(..whole);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window's title, a bell, colours, both ways to end a line, C1's own escape, DEL, every mark
    /// that turns what follows, and what nobody sees.
    const HOSTILE: &str = "a\u{1b}]0;x\u{7}\u{1b}[31m\r\nb\0\u{7f}\u{9b}2J\u{85}\u{2028}\u{2029}\
                           \u{61c}\u{200e}\u{200f}\u{202a}\u{202e}\u{2066}\u{2069}\u{fffe}c\td\
                           \u{ad}\u{200b}\u{2060}\u{feff}\u{180e}\u{3164}\u{e0001}\u{e0041}e";

    #[test]
    fn a_value_stays_in_its_line_and_makes_a_terminal_do_nothing() {
        assert_eq!(line("a\u{1b}[31mb\u{7}\r\nc\u{202e}"), "a [31mb   c ");
        assert!(line(HOSTILE).chars().all(is_printable));
        assert_eq!(line(HOSTILE).chars().count(), HOSTILE.chars().count());
        let harmless = "caf\u{e9} \u{5d0}\u{5d1} \u{6c34} \u{1f600} 10 \u{b5}s \u{2588}";
        assert!(matches!(line(harmless), Cow::Borrowed(text) if text == harmless));
    }

    #[test]
    fn what_nobody_sees_is_not_shown_and_what_writing_needs_is() {
        // All of category Cf in Unicode 16 but those that another test has, and the tags.
        let hidden = ['\u{ad}', '\u{180e}', '\u{200b}', '\u{feff}', '\u{e0001}', '\u{e007f}'];
        let ranges =
            ['\u{2060}'..='\u{2064}', '\u{1bca0}'..='\u{1bca3}', '\u{1d173}'..='\u{1d17a}'];
        let tags = '\u{e0020}'..='\u{e007f}';
        for character in hidden.into_iter().chain(ranges.into_iter().flatten()).chain(tags) {
            assert!(!is_printable(character), "{character:?}");
        }
        assert_eq!(line("pass\u{200b}word\u{e0041}"), "pass word ");
        for shown in [
            // Persian, Hindi, a family, a heart in colour, a name in Japanese, a year in Arabic.
            "\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645}",
            "\u{915}\u{94d}\u{200d}\u{937}",
            "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}",
            "\u{2764}\u{fe0f}",
            "\u{845b}\u{e0100}\u{57ce}",
            "\u{601}\u{661}\u{669}",
            "\u{13000}\u{13430}\u{13001}",
        ] {
            assert_eq!(line(shown), shown);
        }
    }

    #[test]
    fn our_own_lines_keep_their_breaks_and_tabs() {
        assert_eq!(lines("a\tb\r\n\u{9b}c\rd\n"), "a\tb\r\n c d\n");
    }

    #[test]
    fn json_says_the_same_in_characters_that_can_be_shown() {
        let text = serde_json::to_string_pretty(&[HOSTILE]).unwrap();
        let shown = json(&text);
        assert!(shown.chars().all(|shown| shown == '\n' || is_printable(shown)), "{shown}");
        assert!(shown.contains("\\u009b2J\\u0085\\u2028") && shown.contains("\\u007f"), "{shown}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&shown).unwrap(), [HOSTILE]);
    }

    #[test]
    fn what_is_written_byte_by_byte_is_replaced_as_well() {
        let text = format!("{HOSTILE}caf\u{e9} \u{1f600}");
        for at_once in [1, 2, 3, 1000] {
            let mut written = Vec::new();
            let mut writer = PrintableWriter::of_lines(&mut written);
            for bytes in text.as_bytes().chunks(at_once) {
                writer.write_all(bytes).unwrap();
            }
            assert_eq!(String::from_utf8(written).unwrap(), lines(&text), "{at_once}");
        }
    }

    #[test]
    fn a_byte_that_is_no_text_does_not_reach_a_terminal() {
        let mut written = Vec::new();
        PrintableWriter::of_lines(&mut written).write_all(b"a\x9b31mb").unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), "a\u{fffd}31mb");
    }
}
