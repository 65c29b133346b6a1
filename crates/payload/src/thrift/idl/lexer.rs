//! The tokens of an IDL file and where they stand. Comments and blanks are not tokens.

/// Bytes of the longest name or number: more than anybody's, and few enough for a message.
const WORD_MAX_BYTES: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'a> {
    /// A keyword or a name, perhaps with dots in it.
    Word(&'a str),
    Int(i64),
    Double(f64),
    /// The text between quotes, escapes as they are written.
    Text(&'a str),
    /// Any other character.
    Symbol(char),
    /// What follows cannot be split into tokens.
    Fault(&'static str),
    End,
}

/// A place in a text, behind which the next token is.
#[derive(Clone, Copy)]
pub(super) struct Lexer<'a> {
    text: &'a str,
    position: usize,
    line: u32,
    line_start: usize,
    /// Where the last token begins.
    token_start: usize,
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { text, position: 0, line: 1, line_start: 0, token_start: 0 }
    }

    /// The line of the last token, from 1.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// The column of the last token in characters, from 1.
    pub fn column(&self) -> usize {
        self.text[self.line_start..self.token_start].chars().count() + 1
    }

    pub fn next(&mut self) -> Token<'a> {
        let (blanks_end, is_whole) = self.blanks_end();
        self.pass_lines(blanks_end);
        self.token_start = self.position;
        if !is_whole {
            return self.fault("a comment that does not end");
        }
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            return Token::End;
        };
        match first {
            'a'..='z' | 'A'..='Z' | '_' => self.word(),
            '"' | '\'' => self.text(first),
            _ => self.number().unwrap_or_else(|| {
                self.position += first.len_utf8();
                Token::Symbol(first)
            }),
        }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.position..]
    }

    /// Where blanks and comments end; or where a comment begins that does not, and `false`.
    fn blanks_end(&self) -> (usize, bool) {
        let mut rest = self.rest();
        loop {
            rest = rest.trim_start_matches([' ', '\t', '\r', '\n']);
            let is_comment = rest.starts_with("/*");
            rest = if rest.starts_with('#') || rest.starts_with("//") {
                rest.split_once('\n').map_or("", |(_, behind)| behind)
            } else if is_comment && let Some((_, behind)) = rest[2..].split_once("*/") {
                behind
            } else {
                return (self.text.len() - rest.len(), !is_comment);
            };
        }
    }

    /// Goes to `end` and counts the lines on the way.
    fn pass_lines(&mut self, end: usize) {
        let passed = &self.text[self.position..end];
        self.line += passed.bytes().filter(|byte| *byte == b'\n').count() as u32;
        if let Some(last) = passed.rfind('\n') {
            self.line_start = self.position + last + 1;
        }
        self.position = end;
    }

    fn fault(&mut self, what: &'static str) -> Token<'a> {
        self.position = self.text.len();
        Token::Fault(what)
    }

    fn word(&mut self) -> Token<'a> {
        let rest = self.rest();
        let is_in_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.';
        let word = &rest[..count(rest, 0, is_in_word)];
        let word = word.trim_end_matches('.');
        if word.len() > WORD_MAX_BYTES {
            return self.fault("a name of more than 256 letters");
        }
        self.position += word.len();
        Token::Word(word)
    }

    /// A whole number, decimal or hexadecimal, or one with a fraction or an exponent.
    fn number(&mut self) -> Option<Token<'a>> {
        let rest = self.rest();
        let sign = usize::from(rest.starts_with(['+', '-']));
        if rest[sign..].starts_with("0x") || rest[sign..].starts_with("0X") {
            let digits = sign + 2;
            let end = digits + count(rest, digits, |byte| byte.is_ascii_hexdigit());
            let number = &rest[digits..end.min(digits + WORD_MAX_BYTES)];
            let number = format!("{}{number}", &rest[..sign]);
            return Some(self.counted(end, i64::from_str_radix(&number, 16).ok().map(Token::Int)));
        }
        let digits = |from| count(rest, from, |byte| byte.is_ascii_digit());
        let whole = sign + digits(sign);
        let fraction = match rest[whole..].starts_with('.') {
            true if digits(whole + 1) > 0 => 1 + digits(whole + 1),
            _ => 0,
        };
        let mut end = whole + fraction;
        if end == sign {
            return None;
        }
        if rest[end..].starts_with(['e', 'E']) {
            let exponent = end + 1 + usize::from(rest[end + 1..].starts_with(['+', '-']));
            end = if digits(exponent) > 0 { exponent + digits(exponent) } else { end };
        }
        let number = &rest[..end.min(WORD_MAX_BYTES)];
        let token = match end == whole {
            true => number.parse().ok().map(Token::Int),
            false => number.parse().ok().map(Token::Double),
        };
        Some(self.counted(end, token))
    }

    fn counted(&mut self, length: usize, token: Option<Token<'a>>) -> Token<'a> {
        match token.filter(|_| length <= WORD_MAX_BYTES) {
            Some(token) => {
                self.position += length;
                token
            }
            None => self.fault("a number that 64 bits do not hold"),
        }
    }

    fn text(&mut self, quote: char) -> Token<'a> {
        let rest = self.rest();
        let mut is_escaped = false;
        for (place, letter) in rest.char_indices().skip(1) {
            match letter {
                '\n' => break,
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = true,
                _ if letter == quote => {
                    self.position += place + 1;
                    return Token::Text(&rest[1..place]);
                }
                _ => {}
            }
        }
        self.fault("a string that does not end on its line")
    }
}

/// How many bytes from there on are such.
fn count(text: &str, from: usize, is_such: impl Fn(u8) -> bool) -> usize {
    text.as_bytes()[from..].iter().take_while(|byte| is_such(**byte)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<Token<'_>> {
        let mut lexer = Lexer::new(text);
        std::iter::from_fn(|| Some(lexer.next()).filter(|token| *token != Token::End)).collect()
    }

    #[test]
    fn numbers_are_as_the_compiler_reads_them() {
        use Token::{Double, Int, Symbol, Word};
        for (text, token) in [
            ("7", Int(7)),
            ("+7", Int(7)),
            ("-007", Int(-7)),
            ("0x1F", Int(31)),
            ("-0x1f", Int(-31)),
            ("0x000000000000000000001f", Int(31)),
            ("-9223372036854775808", Int(i64::MIN)),
            ("1e5", Double(1e5)),
            ("1.5E-2", Double(0.015)),
            ("-.5", Double(-0.5)),
            ("1e400", Double(f64::INFINITY)),
        ] {
            assert_eq!(tokens(text), [token], "{text}");
        }
        assert_eq!(tokens("1.x"), [Int(1), Symbol('.'), Word("x")]);
        assert_eq!(tokens("1e"), [Int(1), Word("e")]);
        assert_eq!(tokens("- e10"), [Symbol('-'), Word("e10")]);
        let too_large = "9".repeat(1 << 20);
        for text in ["9223372036854775808", "0xffffffffffffffff", "0x", &too_large] {
            assert!(matches!(tokens(text)[..], [Token::Fault(_)]), "{text}");
        }
    }

    #[test]
    fn comments_are_passed_and_strings_are_not_comments() {
        let text = "a # ' \n// \"\r\n/** * / */ /**/ b.c \"//\" '#\"' \"\\\"\" é";
        use Token::{Symbol, Text, Word};
        let expected = [Word("a"), Word("b.c"), Text("//"), Text("#\""), Text("\\\""), Symbol('é')];
        assert_eq!(tokens(text), expected);
    }

    #[test]
    fn a_token_is_found_by_its_line_and_its_column() {
        let mut lexer = Lexer::new("a\r\n /* é\n */ é\tb");
        let places: Vec<_> = std::iter::from_fn(|| {
            let token = lexer.next();
            Some((token, lexer.line(), lexer.column())).filter(|(token, ..)| *token != Token::End)
        })
        .collect();
        let [a, e, b] = [Token::Word("a"), Token::Symbol('é'), Token::Word("b")];
        assert_eq!(places, [(a, 1, 1), (e, 3, 5), (b, 3, 7)]);
    }

    #[test]
    fn what_does_not_end_is_a_fault() {
        let long = "x".repeat(257);
        for text in ["/* ", "\"a", "'a\n'", "'\\\n'", "'\\", &long] {
            assert!(matches!(tokens(text)[0], Token::Fault(_)), "{text}");
        }
    }
}
