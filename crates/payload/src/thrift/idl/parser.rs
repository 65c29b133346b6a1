//! From the text of an IDL file to what it says, as the grammar of Apache Thrift's compiler has it
//! (`thrifty.yy`), with the forms of its older versions.
//!
//! It is as lax as the compiler: separators may be left out, keywords may be names. What no call
//! needs is passed over.

use super::document::{
    Body, Constant, Definition, Document, Function, Service, UnknownDefinition, WrittenField,
    WrittenName, WrittenType,
};
use super::lexer::{Lexer, Token};
use crate::error_text::suggestion;
use crate::thrift::schema::{StructKind, ThriftType};

/// Brackets of types, constants and annotations stand in each other so deep. Replies may nest as
/// deep as that.
pub(super) const DEPTH_MAX: usize = 64;

/// Definitions, fields, types and constants, of all files together: some hundred bytes each.
pub(super) const ELEMENTS_MAX: usize = 1_000_000;

/// Definitions of no known kind that are remembered, to say so where one of them is asked for.
const UNKNOWN_MAX: usize = 64;

const DEFINITIONS: [&str; 9] =
    ["include", "const", "typedef", "enum", "senum", "struct", "union", "exception", "service"];

/// What tells compilers of one language something, some of it until Thrift 0.22 or earlier.
const HEADERS: [&str; 14] = [
    "namespace",
    "cpp_include",
    "cpp_namespace",
    "php_namespace",
    "py_module",
    "perl_package",
    "ruby_namespace",
    "java_package",
    "cocoa_prefix",
    "csharp_namespace",
    "delphi_namespace",
    "smalltalk_category",
    "smalltalk_prefix",
    "xsd_namespace",
];

/// Why a text is not read.
#[derive(Debug)]
pub(super) struct ParseError {
    pub line: u32,
    pub column: usize,
    pub what: String,
    /// Whether it might be IDL, and is too large or too deep.
    pub is_limit: bool,
}

type Parsed<T> = Result<T, ParseError>;

pub(super) struct Parser<'a> {
    lexer: Lexer<'a>,
    token: Token<'a>,
    document: Document,
    elements_left: usize,
}

impl<'a> Parser<'a> {
    /// What a text says, and how many of `elements_left` elements are left.
    ///
    /// # Errors
    /// [`ParseError`].
    pub fn parse(text: &'a str, elements_left: usize) -> Parsed<(Document, usize)> {
        let mut lexer = Lexer::new(text);
        let token = lexer.next();
        let mut parser = Self { lexer, token, document: Document::default(), elements_left };
        match parser.definitions() {
            Ok(()) => Ok((parser.document, parser.elements_left)),
            // Where a keyword is not known, what follows may be no Thrift at all.
            Err(error) => Err(parser.document.unknown.first().map_or(error, not_thrift)),
        }
    }

    fn definitions(&mut self) -> Parsed<()> {
        loop {
            match self.token {
                Token::End => return Ok(()),
                Token::Symbol(',' | ';') => self.advance(),
                Token::Symbol('@') => _ = self.pass_unknown()?,
                Token::Word(word) if DEFINITIONS.contains(&word) => self.definition(word)?,
                Token::Word(word) if HEADERS.contains(&word) => self.pass_header()?,
                Token::Word(word) => {
                    let place = self.lexer;
                    let name = self.pass_unknown()?;
                    self.note_unknown(word, name, &place);
                }
                _ => return Err(self.unexpected("a definition")),
            }
        }
    }

    fn definition(&mut self, keyword: &str) -> Parsed<()> {
        self.element()?;
        self.advance();
        let line = self.lexer.line();
        let (name, body) = match keyword {
            "include" => {
                let path = self.quoted("the path of a file in quotes")?;
                self.document.includes.push(WrittenName { path, line });
                return Ok(());
            }
            "typedef" => {
                let written = self.field_type(0)?;
                (self.word("the name of a type")?, Body::Typedef(written))
            }
            "const" => {
                self.field_type(0)?;
                let name = self.word("the name of a constant")?;
                self.symbol('=')?;
                (name, Body::Constant(self.constant(0)?))
            }
            "enum" => (self.word("the name of an enum")?, Body::Enum(self.enum_values()?)),
            // Strings out of a list, which nobody checks.
            "senum" => {
                let name = self.word("the name of an enum")?;
                self.pass_group('{')?;
                (name, Body::Typedef(WrittenType::Plain(ThriftType::String)))
            }
            "service" => (self.word("the name of a service")?, self.service()?),
            _ => {
                let kind = match keyword {
                    "union" => StructKind::Union,
                    "exception" => StructKind::Exception,
                    _ => StructKind::Struct,
                };
                let name = self.word("the name of a struct")?;
                self.takes_word("xsd_all");
                self.symbol('{')?;
                (name, Body::Struct(kind, self.fields('}', false)?))
            }
        };
        self.annotations()?;
        self.document.definitions.push(Definition { name: name.to_owned(), line, body });
        Ok(())
    }

    fn enum_values(&mut self) -> Parsed<Vec<(String, i32)>> {
        self.symbol('{')?;
        let (mut values, mut next) = (Vec::new(), 0);
        while !self.takes('}') {
            self.element()?;
            let place = self.lexer;
            let name = self.word("the name of a value, or }")?;
            if self.takes('=') {
                next = self.whole_number()?;
            }
            let number = i32::try_from(next).map_err(|_| {
                ParseError::new(&place, format!("{name} is {next}, which 32 bits do not hold"))
            })?;
            next += 1;
            values.push((name.to_owned(), number));
            self.annotations()?;
            self.pass_separators();
        }
        Ok(values)
    }

    fn service(&mut self) -> Parsed<Body> {
        let mut extends = None;
        if self.takes_word("extends") {
            let line = self.lexer.line();
            let path = self.word("the name of a service")?.to_owned();
            extends = Some(WrittenName { path, line });
        }
        self.symbol('{')?;
        let mut functions = Vec::new();
        while !self.takes('}') {
            functions.push(self.function()?);
        }
        Ok(Body::Service(Service { extends, functions }))
    }

    fn function(&mut self) -> Parsed<Function> {
        self.element()?;
        let is_oneway = self.takes_word("oneway") || self.takes_word("async");
        let returned = self.field_type(0)?;
        let line = self.lexer.line();
        let name = self.word("the name of a method")?.to_owned();
        self.symbol('(')?;
        // One without a default has to be given, unless it says otherwise.
        let arguments = self.fields(')', true)?;
        let mut exceptions = Vec::new();
        if self.takes_word("throws") {
            self.symbol('(')?;
            exceptions = self.fields(')', false)?;
        }
        self.annotations()?;
        self.pass_separators();
        Ok(Function { name, line, is_oneway, returned, arguments, exceptions })
    }

    fn fields(&mut self, close: char, are_required: bool) -> Parsed<Vec<WrittenField>> {
        let (mut fields, mut unnumbered) = (Vec::new(), 0);
        while !self.takes(close) {
            self.element()?;
            let mut id = 0;
            if let Token::Int(number) = self.token {
                id = number;
                self.advance();
                self.symbol(':')?;
            }
            if id <= 0 {
                // So does the compiler, unless it runs with --allow-neg-keys.
                unnumbered -= 1;
                id = unnumbered;
            }
            fields.push(self.field(id, are_required)?);
        }
        Ok(fields)
    }

    /// A field behind its id.
    fn field(&mut self, id: i64, is_required: bool) -> Parsed<WrittenField> {
        let is_required =
            self.takes_word("required") || !self.takes_word("optional") && is_required;
        let field_type = self.field_type(0)?;
        self.takes('&');
        let line = self.lexer.line();
        let name = self.word("the name of a field")?.to_owned();
        let default = if self.takes('=') { Some(self.constant(0)?) } else { None };
        self.takes_word("xsd_optional");
        self.takes_word("xsd_nillable");
        if self.takes_word("xsd_attrs") {
            self.pass_group('{')?;
        }
        self.annotations()?;
        self.pass_separators();
        Ok(WrittenField { id, name, line, is_required, field_type, default })
    }

    /// A type inside `depth` others.
    fn field_type(&mut self, depth: usize) -> Parsed<WrittenType> {
        self.element()?;
        self.deeper(depth)?;
        let line = self.lexer.line();
        let read = match self.word("a type")? {
            container @ ("list" | "set" | "map") => {
                self.cpp_type()?;
                self.symbol('<')?;
                let first = self.field_type(depth + 1)?;
                let read = match container {
                    "list" => WrittenType::List(Box::new(first)),
                    "set" => WrittenType::Set(Box::new(first)),
                    _ => {
                        self.symbol(',')?;
                        WrittenType::Map(Box::new((first, self.field_type(depth + 1)?)))
                    }
                };
                self.symbol('>')?;
                self.cpp_type()?;
                read
            }
            "void" => WrittenType::Void,
            word => plain_type(word).map_or_else(
                || WrittenType::Named(WrittenName { path: word.to_owned(), line }),
                WrittenType::Plain,
            ),
        };
        self.annotations()?;
        Ok(read)
    }

    fn cpp_type(&mut self) -> Parsed<()> {
        if self.takes_word("cpp_type") {
            self.quoted("a type of C++ in quotes")?;
        }
        Ok(())
    }

    /// A constant inside `depth` others.
    fn constant(&mut self, depth: usize) -> Parsed<Constant> {
        self.element()?;
        self.deeper(depth)?;
        let constant = match self.token {
            Token::Int(number) => Constant::Int(number),
            Token::Double(number) => Constant::Double(number),
            Token::Text(text) => Constant::Text(unescaped(text)),
            Token::Word("true") => Constant::Int(1),
            Token::Word("false") => Constant::Int(0),
            Token::Word(name) => Constant::Name(name.to_owned()),
            Token::Symbol('[') => return self.list_constant(depth + 1),
            Token::Symbol('{') => return self.map_constant(depth + 1),
            _ => return Err(self.unexpected("a value")),
        };
        self.advance();
        Ok(constant)
    }

    fn list_constant(&mut self, depth: usize) -> Parsed<Constant> {
        self.advance();
        let mut values = Vec::new();
        while !self.takes(']') {
            values.push(self.constant(depth)?);
            self.pass_separators();
        }
        Ok(Constant::List(values))
    }

    fn map_constant(&mut self, depth: usize) -> Parsed<Constant> {
        self.advance();
        let mut entries = Vec::new();
        while !self.takes('}') {
            let key = self.constant(depth)?;
            self.symbol(':')?;
            entries.push((key, self.constant(depth)?));
            self.pass_separators();
        }
        Ok(Constant::Map(entries))
    }
}

/// What is passed over.
impl<'a> Parser<'a> {
    fn annotations(&mut self) -> Parsed<()> {
        if self.token == Token::Symbol('(') { self.pass_group('(') } else { Ok(()) }
    }

    /// A namespace or the like: as far as its line goes.
    fn pass_header(&mut self) -> Parsed<()> {
        self.advance();
        let line = self.lexer.line();
        while self.lexer.line() == line && !self.is_at_definition() {
            self.pass_one()?;
        }
        Ok(())
    }

    /// What begins like no definition: to the end of its braces or to a semicolon, but not into
    /// the next definition. The word behind the first token is returned.
    fn pass_unknown(&mut self) -> Parsed<String> {
        self.advance();
        let name = if let Token::Word(word) = self.token { word.to_owned() } else { String::new() };
        while !self.is_at_definition() {
            let last = self.token;
            self.pass_one()?;
            if last == Token::Symbol('{') {
                self.annotations()?;
            }
            if matches!(last, Token::Symbol('{' | ';')) {
                break;
            }
        }
        Ok(name)
    }

    fn note_unknown(&mut self, keyword: &str, name: String, place: &Lexer<'_>) {
        if self.document.unknown.len() < UNKNOWN_MAX {
            let (keyword, line, column) = (keyword.to_owned(), place.line(), place.column());
            self.document.unknown.push(UnknownDefinition { keyword, name, line, column });
        }
    }

    fn is_at_definition(&self) -> bool {
        match self.token {
            Token::End => true,
            Token::Word(word) => DEFINITIONS.contains(&word) || HEADERS.contains(&word),
            _ => false,
        }
    }

    /// A token, or all that stands in brackets.
    fn pass_one(&mut self) -> Parsed<()> {
        match self.token {
            Token::Symbol(open @ ('(' | '[' | '{')) => return self.pass_group(open),
            Token::Symbol(')' | ']' | '}') | Token::Fault(_) => {
                return Err(self.unexpected("a definition"));
            }
            _ => self.advance(),
        }
        Ok(())
    }

    /// Brackets with all that is in them.
    fn pass_group(&mut self, open: char) -> Parsed<()> {
        self.symbol(open)?;
        let mut closing = vec![closing(open)];
        while let Some(&awaited) = closing.last() {
            match self.token {
                Token::Symbol(open @ ('(' | '[' | '{')) => {
                    self.deeper(closing.len())?;
                    closing.push(self::closing(open));
                }
                Token::Symbol(close) if close == awaited => _ = closing.pop(),
                Token::Symbol(')' | ']' | '}') | Token::End | Token::Fault(_) => {
                    return Err(self.unexpected(&awaited.to_string()));
                }
                _ => {}
            }
            self.advance();
        }
        Ok(())
    }

    fn pass_separators(&mut self) {
        while self.takes(',') || self.takes(';') {}
    }
}

/// One token after the other.
impl<'a> Parser<'a> {
    fn advance(&mut self) {
        self.token = self.lexer.next();
    }

    /// Whether that symbol came, which is passed.
    fn takes(&mut self, symbol: char) -> bool {
        let is_it = self.token == Token::Symbol(symbol);
        if is_it {
            self.advance();
        }
        is_it
    }

    /// Whether that word came, which is passed.
    fn takes_word(&mut self, word: &str) -> bool {
        let is_it = self.token == Token::Word(word);
        if is_it {
            self.advance();
        }
        is_it
    }

    fn symbol(&mut self, symbol: char) -> Parsed<()> {
        if self.takes(symbol) { Ok(()) } else { Err(self.unexpected(&symbol.to_string())) }
    }

    /// A word; keywords may be names.
    fn word(&mut self, expected: &str) -> Parsed<&'a str> {
        let Token::Word(word) = self.token else {
            return Err(self.unexpected(expected));
        };
        self.advance();
        Ok(word)
    }

    fn quoted(&mut self, expected: &str) -> Parsed<String> {
        let Token::Text(text) = self.token else {
            return Err(self.unexpected(expected));
        };
        self.advance();
        Ok(unescaped(text))
    }

    fn whole_number(&mut self) -> Parsed<i64> {
        let Token::Int(number) = self.token else {
            return Err(self.unexpected("a whole number"));
        };
        self.advance();
        Ok(number)
    }

    fn element(&mut self) -> Parsed<()> {
        let Some(left) = self.elements_left.checked_sub(1) else {
            let what = format!("there are more than {ELEMENTS_MAX} definitions, fields and values");
            return Err(ParseError { is_limit: true, ..self.wrong(what) });
        };
        self.elements_left = left;
        Ok(())
    }

    fn deeper(&self, depth: usize) -> Parsed<()> {
        if depth < DEPTH_MAX {
            return Ok(());
        }
        let what = format!("brackets stand in each other more than {DEPTH_MAX} deep");
        Err(ParseError { is_limit: true, ..self.wrong(what) })
    }

    fn unexpected(&self, expected: &str) -> ParseError {
        let found = match self.token {
            Token::Word(word) => word.to_owned(),
            Token::Int(number) => number.to_string(),
            Token::Double(number) => format!("{number:e}"),
            Token::Text(_) => "a string".to_owned(),
            Token::Symbol(symbol) if symbol.is_ascii_graphic() => symbol.to_string(),
            Token::Symbol(symbol) => format!("the character U+{:04X}", u32::from(symbol)),
            Token::Fault(what) => what.to_owned(),
            Token::End => "the end of the file".to_owned(),
        };
        self.wrong(format!("expected {expected}, found {found}"))
    }

    fn wrong(&self, what: String) -> ParseError {
        ParseError::new(&self.lexer, what)
    }
}

impl ParseError {
    /// At the last token.
    fn new(lexer: &Lexer<'_>, what: String) -> Self {
        Self { line: lexer.line(), column: lexer.column(), what, is_limit: false }
    }
}

/// What is wrong with a definition that was passed over.
pub(super) fn not_thrift(unknown: &UnknownDefinition) -> ParseError {
    let nearest = suggestion(&unknown.keyword, DEFINITIONS);
    let what = format!("{} begins no definition of Thrift{nearest}", unknown.keyword);
    ParseError { line: unknown.line, column: unknown.column, what, is_limit: false }
}

fn plain_type(word: &str) -> Option<ThriftType> {
    Some(match word {
        "bool" => ThriftType::Bool,
        "byte" | "i8" => ThriftType::I8,
        "i16" => ThriftType::I16,
        "i32" => ThriftType::I32,
        "i64" => ThriftType::I64,
        "double" => ThriftType::Double,
        "string" | "slist" => ThriftType::String,
        "binary" => ThriftType::Binary,
        "uuid" => ThriftType::Uuid,
        _ => return None,
    })
}

fn closing(open: char) -> char {
    match open {
        '(' => ')',
        '[' => ']',
        _ => '}',
    }
}

/// The text that is written like that. The compiler refuses other escapes; as older versions did,
/// they are taken for what they show.
fn unescaped(text: &str) -> String {
    let mut letters = text.chars();
    let mut read = String::with_capacity(text.len());
    while let Some(letter) = letters.next() {
        let escaped = if letter == '\\' { letters.next() } else { None };
        match escaped {
            None => read.push(letter),
            Some('r') => read.push('\r'),
            Some('n') => read.push('\n'),
            Some('t') => read.push('\t'),
            Some(escaped @ ('"' | '\'' | '\\')) => read.push(escaped),
            Some(other) => read.extend([letter, other]),
        }
    }
    read
}
