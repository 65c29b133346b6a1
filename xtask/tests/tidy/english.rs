//! English as the rest of the field writes it. A construction that only this project uses makes
//! every reader read twice: say which number, name the subject of a sentence, and name what is
//! absent.

use crate::offence::Offence;
use crate::rust_source::RustSource;

/// What is written, and what to write instead. The first word may be capitalised.
const PHRASES: [(&str, &str); 20] = [
    ("so many", "name the quantity"),
    ("so much", "name the quantity"),
    ("so often", "name the number"),
    ("so wide", "name the width"),
    ("for so long", "name the time"),
    ("after so long", "name the time"),
    ("within so long", "name the time"),
    ("beside", "next to, with, besides, in addition to, or compared with"),
    ("is none", "say what is missing, or what it is instead"),
    ("are none", "say what is missing, or what they are instead"),
    ("was none", "say what was missing, or what it was instead"),
    ("were none", "say what was missing, or what they were instead"),
    ("what stands", "name it"),
    ("anything may be", "say what is not known"),
    ("foretell", "estimate, or predict"),
    ("foretells", "estimates, or predicts"),
    ("foretold", "estimated, or predicted"),
    ("of which there is", "say how many in a clause of its own"),
    ("of which there are", "say how many in a clause of its own"),
    ("of which there may be", "say how many in a clause of its own"),
];

/// Where the words of others are quoted, or have to stand.
const QUOTES: [(&str, &str); 1] = [("xtask/tests/tidy/english.rs", "the offenders of its test")];

/// Whether people wrote the file's prose. `attributes`: the file that lists what is generated.
pub fn is_written(path: &str, attributes: &str) -> bool {
    let is_note = path.starts_with("records/")
        && path.ends_with(".md")
        && !path.starts_with("records/pages/");
    let mut generated = attributes.lines().filter_map(|line| {
        let (pattern, attribute) = line.split_once(char::is_whitespace)?;
        (attribute.trim() == "linguist-generated").then_some(pattern)
    });
    let is_exempt = QUOTES.iter().any(|(quote, _)| *quote == path) || path.contains("/snapshots/");
    !is_exempt && (is_note || !generated.any(|pattern| matches(pattern, path)))
}

/// Whether a pattern with at most one kind of wildcard fits, as those of `.gitattributes` do.
fn matches(pattern: &str, path: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == path,
        Some((before, after)) => {
            path.starts_with(before) && path.ends_with(after.trim_start_matches('*'))
        }
    }
}

/// Phrases of [`PHRASES`], reports in the passive voice, and clauses whose subject is `who` alone.
pub fn odd_english(path: &str, text: &str) -> Vec<Offence> {
    let kind = Kind::of(path);
    let mut offences = Vec::new();
    for part in kind.parts(text) {
        for words in kind.paragraphs(&part) {
            offences.extend(odd_in_paragraph(path, &words));
        }
    }
    offences
}

fn odd_in_paragraph(path: &str, words: &[Word]) -> Vec<Offence> {
    let odd = |at: usize| {
        let before = at.checked_sub(1).map(|before| &words[before]);
        let rest = &words[at..];
        phrase(rest).or_else(|| passive(rest)).or_else(|| headless(before, rest))
    };
    let all = (0..words.len()).filter_map(|at| Some(Offence::new(path, words[at].line, odd(at)?)));
    all.collect()
}

fn phrase(words: &[Word]) -> Option<String> {
    let is_at = |phrase: &str| {
        let mut at = 0;
        phrase.split(' ').all(|part| {
            let word = words.get(at);
            at += 1;
            word.is_some_and(|word| word.is(part, at == 1) && !(at > 1 && word.is_after_pause))
        })
    };
    let (found, instead) = PHRASES.iter().find(|(phrase, _)| is_at(phrase))?;
    Some(format!("'{found}': {instead}"))
}

/// `is told` is for people and instructions: what a program prints, it reports.
fn passive(words: &[Word]) -> Option<String> {
    let [verb, told, rest @ ..] = words else { return None };
    let is_passive = ["is", "are", "be"].iter().any(|form| verb.is(form, true));
    let is_order = match rest {
        [to, ..] if to.is("to", false) => true,
        [not, to, ..] => not.is("not", false) && to.is("to", false),
        _ => false,
    };
    (is_passive && told.is("told", false) && !is_order)
        .then(|| "'is told': it is reported, printed or distinguished".to_owned())
}

/// `Who holds more goes first.` has no subject: a connection, a client or a caller does.
fn headless(before: Option<&Word>, words: &[Word]) -> Option<String> {
    let who = words.first()?;
    let is_first = |before: &Word| before.ends_sentence || before.text.ends_with("'''");
    let begins = who.is("Who", false) && (who.text.starts_with('"') || before.is_none_or(is_first))
        || who.is("who", false) && before.is_some_and(|before| before.text.ends_with(';'));
    let last = words.iter().find(|word| word.ends_sentence).or(words.last())?;
    (begins && !last.text.ends_with('?')).then(|| "a clause without a subject: 'who'".to_owned())
}

/// A word of prose.
struct Word<'a> {
    /// With its punctuation; of code in backticks, the punctuation after it.
    text: &'a str,
    /// Without it.
    bare: &'a str,
    line: usize,
    is_after_pause: bool,
    ends_sentence: bool,
}

impl Word<'_> {
    fn is(&self, word: &str, may_be_capital: bool) -> bool {
        self.bare.len() == word.len()
            && (self.bare == word || may_be_capital && self.bare.eq_ignore_ascii_case(word))
    }
}

fn words<'a>(lines: &[(usize, &'a str)]) -> Vec<Word<'a>> {
    let mut words: Vec<Word<'a>> = Vec::new();
    let mut in_code = false;
    let all =
        lines.iter().flat_map(|(line, text)| text.split_whitespace().map(|word| (*line, word)));
    for (line, word) in all {
        let has_code = in_code || word.contains('`');
        in_code ^= word.matches('`').count() % 2 == 1;
        if in_code {
            continue;
        }
        let text = if has_code { word.rsplit('`').next().unwrap_or_default() } else { word };
        let sentence = text.trim_end_matches(['"', '\'', ')', '*', '_', '\\']);
        let is_after_pause =
            words.last().is_some_and(|last| last.text.ends_with([',', ';', ':', '.', '?', '!']));
        let ends_sentence = sentence.ends_with(['.', '?', '!']);
        let joins = |c: char| c.is_alphanumeric() || c == '-' || c == '/' || c == '_';
        let bare = text.trim_matches(|c| !joins(c));
        words.push(Word { text, bare, line, is_after_pause, ends_sentence });
    }
    words
}

/// Where a file's prose is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Everywhere: Markdown, and declarations whose values are shown.
    Text,
    /// In comments and in strings.
    Rust,
    /// In comments like those of C.
    Slashes,
    /// In lines that begin with `#`.
    Hashes,
    /// It has none.
    Other,
}

impl Kind {
    fn of(path: &str) -> Self {
        let name = path.rsplit('/').next().unwrap_or_default();
        match name.rsplit_once('.').map(|(_, ending)| ending) {
            Some("md" | "toml") => Kind::Text,
            Some("rs") => Kind::Rust,
            Some("c" | "cc" | "cpp" | "go" | "h" | "java" | "js" | "proto") => Kind::Slashes,
            Some("py" | "sh" | "yml") | None => Kind::Hashes,
            Some(_) => Kind::Other,
        }
    }

    /// The text with all but its prose blanked; comments and strings each for themselves.
    fn parts(self, text: &str) -> Vec<String> {
        match self {
            // Claims are words of the documents that they are of.
            Kind::Text => {
                let quotes = |line: &str| line.starts_with("claim = ");
                let own = |line| if quotes(line) { "\n".to_owned() } else { format!("{line}\n") };
                vec![text.lines().map(own).collect()]
            }
            Kind::Rust => {
                let source = RustSource::parse(text);
                vec![source.comments(), source.literals()]
            }
            Kind::Slashes => vec![RustSource::parse(text).comments()],
            Kind::Hashes => {
                let comment = |line: &str| match line.trim_start().starts_with('#') {
                    true => line.to_owned() + "\n",
                    false => "\n".to_owned(),
                };
                vec![text.lines().map(comment).collect()]
            }
            Kind::Other => Vec::new(),
        }
    }

    /// The words of each paragraph: all of Markdown but its code, comments, what programs print.
    fn paragraphs(self, part: &str) -> Vec<Vec<Word<'_>>> {
        let mut paragraphs = Vec::new();
        let mut lines = Vec::new();
        let mut is_fenced = false;
        for (number, line) in part.lines().enumerate() {
            let own = self.unmarked(line);
            let is_fence = own.starts_with("```");
            is_fenced ^= is_fence;
            let is_prose = !own.is_empty() && !is_fenced && !is_fence;
            if (!is_prose || own.starts_with(['-', '|', '#', '>'])) && !lines.is_empty() {
                paragraphs.push(words(&lines));
                lines.clear();
            }
            if is_prose {
                lines.push((number + 1, own));
            }
        }
        paragraphs.push(words(&lines));
        paragraphs
    }

    /// A line without the signs of a comment.
    fn unmarked(self, line: &str) -> &str {
        let signs: &[char] = match self {
            Kind::Rust | Kind::Slashes => &['/', '!', '*', ' '],
            Kind::Hashes => &['#', '!', ' '],
            Kind::Text | Kind::Other => &[' '],
        };
        line.trim_start_matches(signs).trim_end()
    }
}

#[test]
fn what_is_read_twice_is_found() {
    let offenders = [
        "So many of them are kept.",
        "It holds so much, and no more.",
        "What missed is measured again, so often at most.",
        "A message that makes no progress for so long.",
        "printed beside it",
        "Beside that it counts.",
        "A difference up to this is none.",
        "Templates there are none.",
        "0 where there is none",
        "What stands after the name.",
        "the bar foretells when that will be",
        "In short, anything may be.",
        "flags, of which there may be many",
        "What is missing is told at once.",
        "The rest can be told apart.",
        "It ends. Who has none waits.",
        "Who has a service\nalready may come from tonic.",
        "the largest goes first; who is idle goes last",
    ];
    for offender in offenders {
        let found = |path: &str, text: &str| odd_english(path, text).len();
        assert_eq!(found("a.md", offender), 1, "{offender}");
        assert_eq!(found("a.toml", &format!("analysis = '''\n{offender}'''\n")), 1, "{offender}");
        for mark in ["///", "//!", "//"] {
            let comment = offender.replace('\n', &format!("\n{mark} "));
            assert_eq!(found("a.rs", &format!("{mark} {comment}\nfn a() {{}}\n")), 1, "{offender}");
            assert_eq!(found("a.go", &format!("{mark} {comment}\n")), 1, "{offender}");
        }
        assert_eq!(found("a.sh", &format!("# {}\n", offender.replace('\n', "\n# "))), 1);
        assert_eq!(found("a.rs", &format!("let a = \"{}\";", offender.replace('\n', " "))), 1);
    }
    let lines = odd_english("a.md", "One.\n\nIt is printed\nbeside it.\n");
    assert_eq!(lines, [Offence::new("a.md", 4, format!("'beside': {}", PHRASES[7].1))]);
}

#[test]
fn plain_english_passes() {
    let sentences = [
        "Besides, it is so small that nobody counts it.",
        "A server that is told to stop stops, and one that is told not to goes on.",
        "Who reads this page?",
        "A client who waits, and none of the others.",
        "`beside` is a word, and `so many` are two; so, many pass.",
        "[metrics](docs/beside.md#beside) and side-by-side",
        "None is left. Some are `None`, and this is None.",
        "It does not say who has it.",
    ];
    for sentence in sentences {
        assert_eq!(odd_english("a.md", sentence), [], "{sentence}");
        assert_eq!(odd_english("a.rs", &format!("/// {sentence}\n")), [], "{sentence}");
    }
    let code = "```sh\nbeside\n```\n";
    assert_eq!(odd_english("a.md", code), []);
    assert_eq!(odd_english("a.rs", "fn beside(so: many) { is.none() }"), []);
    assert_eq!(odd_english("a.sh", "beside() { who; }\n"), []);
    assert_eq!(odd_english("a.svg", "beside"), []);
}

#[test]
fn generated_pages_follow_from_their_sources() {
    let list =
        "# made\nrecords/** linguist-generated\nexamples/*/RESULTS.md   linguist-generated\n";
    for generated in ["records/a/full.csv", "examples/a/RESULTS.md", "xtask/tests/tidy/english.rs"]
    {
        assert!(!is_written(generated, list), "{generated}");
    }
    for written in ["records/findings/README.md", "examples/a/suite.toml", "CHANGELOG.md"] {
        assert!(is_written(written, list), "{written}");
    }
}
