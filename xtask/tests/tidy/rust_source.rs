//! Just enough of Rust's grammar to tell code from comments and literals, and to find functions.

/// A Rust file of which every byte is known to be code, comment or literal.
pub struct RustSource<'a> {
    text: &'a str,
    kinds: Vec<Kind>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Code,
    Comment,
    /// Strings and characters, quotes included.
    Literal,
}

/// A function with a body.
#[derive(Debug, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    /// Of the `fn`, from 1.
    pub line: usize,
    /// From the `fn` to the closing brace, both counted.
    pub lines: usize,
}

impl<'a> RustSource<'a> {
    pub fn parse(text: &'a str) -> Self {
        let mut kinds = Vec::with_capacity(text.len());
        while kinds.len() < text.len() {
            let (kind, length) = first_token(&text[kinds.len()..]);
            kinds.resize(kinds.len() + length, kind);
        }
        RustSource { text, kinds }
    }

    /// The text with comments and literals blanked; every line keeps its number.
    pub fn code(&self) -> String {
        self.only(&[Kind::Code])
    }

    /// The text with literals blanked.
    pub fn code_and_comments(&self) -> String {
        self.only(&[Kind::Code, Kind::Comment])
    }

    /// The text with all but comments blanked.
    pub fn comments(&self) -> String {
        self.only(&[Kind::Comment])
    }

    /// The text with all but literals blanked.
    pub fn literals(&self) -> String {
        self.only(&[Kind::Literal])
    }

    /// Columns of each line, the insides of literals not counted.
    pub fn widths(&self) -> impl Iterator<Item = usize> {
        let counted = self.text.char_indices().map(|(at, c)| (c, self.kinds[at]));
        let mut widths = vec![0];
        for (c, kind) in counted {
            match (c, kind) {
                ('\n', _) => widths.push(0),
                (_, Kind::Literal) => {}
                _ => *widths.last_mut().expect("it began with one line") += 1,
            }
        }
        widths.into_iter()
    }

    /// Every function that has a body, in the order of the file.
    pub fn functions(&self) -> Vec<Function> {
        let code = self.code();
        let starts = code.match_indices("fn").map(|(start, _)| start);
        starts.filter_map(|start| function_at(&code, start)).collect()
    }

    fn only(&self, kept: &[Kind]) -> String {
        let keep = |(at, c): (usize, char)| {
            let kept = c == '\n' || kept.contains(&self.kinds[at]);
            std::iter::repeat_n(if kept { c } else { ' ' }, if kept { 1 } else { c.len_utf8() })
        };
        self.text.char_indices().flat_map(keep).collect()
    }
}

fn first_token(rest: &str) -> (Kind, usize) {
    if rest.starts_with("//") {
        return (Kind::Comment, rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return (Kind::Comment, block_comment_length(rest));
    }
    if let Some(length) = string_length(rest).or_else(|| char_length(rest)) {
        return (Kind::Literal, length);
    }
    let word = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
    let one = rest.chars().next().map_or(1, char::len_utf8);
    (Kind::Code, word.max(one))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn block_comment_length(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        let step = match rest.as_bytes()[at..] {
            [b'/', b'*', ..] => 1,
            [b'*', b'/', ..] => -1,
            _ => 0,
        };
        depth += step;
        at += if step == 0 { 1 } else { 2 };
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

/// `"…"`, `b"…"`, `c"…"`, `r#"…"#` and what can be made of them.
fn string_length(rest: &str) -> Option<usize> {
    let unprefixed = rest.trim_start_matches(['b', 'c']);
    let raw = unprefixed.strip_prefix('r');
    let body = raw.unwrap_or(unprefixed);
    let quoted = body.trim_start_matches('#');
    let hashes = body.len() - quoted.len();
    if rest.len() - unprefixed.len() > 1 || raw.is_none() && hashes > 0 {
        return None;
    }
    let inside = quoted.strip_prefix('"')?;
    let length = if raw.is_some() {
        let end = format!("\"{}", "#".repeat(hashes));
        inside.find(&end).map(|at| at + end.len())
    } else {
        escaped_length(inside, '"')
    };
    Some(rest.len() - inside.len() + length.unwrap_or(inside.len()))
}

/// `'x'` and `'\n'`, but not the lifetime `'x`.
fn char_length(rest: &str) -> Option<usize> {
    let inside = rest.strip_prefix('\'')?;
    let first = inside.chars().next()?;
    let closes = first == '\\' || inside[first.len_utf8()..].starts_with('\'');
    if closes { escaped_length(inside, '\'').map(|length| 1 + length) } else { None }
}

/// Bytes up to and with the first `end` that no backslash stands before.
fn escaped_length(inside: &str, end: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in inside.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == end => return Some(at + end.len_utf8()),
            _ => {}
        }
    }
    None
}

fn function_at(code: &str, start: usize) -> Option<Function> {
    let after = &code[start + 2..];
    if code[..start].ends_with(is_word) || !after.starts_with(char::is_whitespace) {
        return None;
    }
    let name: String = after.trim_start().chars().take_while(|c| is_word(*c)).collect();
    let body = start + body_start(&code[start..])?;
    let end = body + block_length(&code[body..]);
    let newlines = |part: &str| part.matches('\n').count();
    let line = 1 + newlines(&code[..start]);
    (!name.is_empty()).then(|| Function { name, line, lines: 1 + newlines(&code[start..end]) })
}

/// Where the body's brace is; `None` for a declaration that ends in a semicolon.
fn body_start(signature: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in signature.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            '{' if depth == 0 => return Some(at),
            ';' if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

fn block_length(block: &str) -> usize {
    let mut depth = 0;
    for (at, c) in block.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => return at + 1,
            '}' => depth -= 1,
            _ => {}
        }
    }
    block.len()
}

#[test]
fn comments_and_literals_are_not_code() {
    let cases = [
        (r#"a("fn x() {") b"#, "a( ) b"),
        (r##"a(r#"say "x" "#) b"##, "a( ) b"),
        (r#"a(b"\"}", c"}", '}', '\'', b'"') b"#, "a( , , , , b ) b"),
        ("a<'b>(c: &'b str) // }\nd", "a<'b>(c: &'b str) d"),
        ("a /* { /* } */ */ b", "a b"),
        ("let r#fn = bar; \"é\"", "let r#fn = bar;"),
    ];
    for (text, expected) in cases {
        let code = RustSource::parse(text).code();
        assert_eq!(code.split_whitespace().collect::<Vec<_>>().join(" "), expected, "of {text}");
        assert_eq!(code.len(), text.len(), "every byte keeps its place");
    }
}

#[test]
fn a_function_is_measured_from_its_name_to_its_last_brace() {
    let text = "\
trait T { fn declared(&self, a: [u8; 2]); }
fn long<F: Fn(u8)>(f: F)
where
    F: Copy,
{
    let brace = '{'; // }
    fn inner() {}
}
type Pointer = fn(u8) -> u8;
";
    let found = RustSource::parse(text).functions();
    let expected = [("long", 2, 7), ("inner", 7, 1)].map(|(name, line, lines)| Function {
        name: name.to_owned(),
        line,
        lines,
    });
    assert_eq!(found, expected);
}

#[test]
fn literals_add_nothing_to_a_lines_width() {
    let text = "ab \"cd\" e\n\"f\ng\" h";
    assert_eq!(RustSource::parse(text).widths().collect::<Vec<_>>(), [5, 0, 2]);
}
