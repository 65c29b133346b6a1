//! The command line of an instrument: words in braces stand for what this run wants.

use super::CommandTemplate;
use bookend_contract::transport::{Carrier, TlsFiles, Transport};
use bookend_results::declaration::nearest_word;
use std::fmt;
use std::path::Path;

/// What the words in braces of an instrument's `run` stand for. An argument whose word has no
/// value in this run is left out whole, so `--calls={calls}` and `--duration={measure_ms}ms` can
/// stand side by side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placeholders {
    /// `{bookend}`: the running `bookend` executable.
    pub bookend: Option<String>,
    /// `{target}`: `host:port` of the server.
    pub target: Option<String>,
    /// `{method}`: `pkg.Service/Method`.
    pub method: Option<String>,
    /// `{proto}`: the file with the service definition.
    pub proto: Option<String>,
    /// `{data_file}`: the request as JSON.
    pub data_file: Option<String>,
    /// `{request_file}`: the request as the message's bytes.
    pub request_file: Option<String>,
    /// `{framed_request_file}`: the same with the five bytes of a gRPC message before it.
    pub framed_request_file: Option<String>,
    /// `{connections}`: C.
    pub connections: Option<u32>,
    /// `{concurrency}`: S, streams in flight in all.
    pub concurrency: Option<u32>,
    /// `{streams_per_connection}`: S/C, which is what h2load counts.
    pub streams_per_connection: Option<u32>,
    /// `{cpus}`: worker threads to use.
    pub cpus: Option<u32>,
    /// `{warmup_ms}`: length of the warm-up, milliseconds.
    pub warmup_ms: Option<u64>,
    /// `{measure_ms}`: length of the window, milliseconds; absent where `{calls}` ends the run.
    pub measure_ms: Option<u64>,
    /// `{total_ms}`: warm-up and window together, for instruments that have no warm-up.
    pub total_ms: Option<u64>,
    /// `{calls}`: calls to make; absent where time ends the run.
    pub calls: Option<u64>,
    /// `{deadline_ms}`: deadline of one call, milliseconds; absent where there is none.
    pub deadline_ms: Option<u64>,
    /// `{authority}`: `host:port` for a URI, whatever carries the connection.
    pub authority: Option<String>,
    /// What carries the connection: `{scheme}`, `{tls_ca}`, `{tls_certificate}`, `{tls_key}`,
    /// `{unix_socket}`, `{if_plaintext}` and `{if_tcp}`.
    pub carrier: Carrier,
    /// `{if_per_call}`: every call has a connection of its own.
    pub connection_per_call: bool,
}

/// The words that may stand in braces, in the order of [`Placeholders`].
const WORDS: [&str; 25] = [
    "bookend",
    "target",
    "method",
    "proto",
    "data_file",
    "request_file",
    "framed_request_file",
    "connections",
    "concurrency",
    "streams_per_connection",
    "cpus",
    "warmup_ms",
    "measure_ms",
    "total_ms",
    "calls",
    "deadline_ms",
    "authority",
    "scheme",
    "tls_ca",
    "tls_certificate",
    "tls_key",
    "unix_socket",
    "if_plaintext",
    "if_tcp",
    "if_per_call",
];

impl Placeholders {
    /// Fills in a template.
    ///
    /// # Errors
    /// When a word in braces does not exist, or the program itself has no value.
    pub fn fill(&self, template: &[String]) -> Result<CommandTemplate, TemplateError> {
        let mut command = CommandTemplate::new();
        for (position, argument) in template.iter().enumerate() {
            match self.fill_argument(argument)? {
                Some(filled) => command.push(filled),
                None if position == 0 => return Err(TemplateError::NoProgram(argument.clone())),
                None => {}
            }
        }
        Ok(command)
    }

    fn fill_argument(&self, argument: &str) -> Result<Option<String>, TemplateError> {
        let mut filled = String::new();
        for piece in pieces(argument) {
            match piece {
                Piece::Text(text) => filled.push_str(text),
                Piece::Word(word) => match self.value(word)? {
                    Some(value) => filled.push_str(&value),
                    None => return Ok(None),
                },
            }
        }
        Ok(Some(filled))
    }

    fn value(&self, word: &str) -> Result<Option<String>, TemplateError> {
        Ok(match word {
            "bookend" => self.bookend.clone(),
            "target" => self.target.clone(),
            "method" => self.method.clone(),
            "proto" => self.proto.clone(),
            "data_file" => self.data_file.clone(),
            "request_file" => self.request_file.clone(),
            "framed_request_file" => self.framed_request_file.clone(),
            "connections" => self.connections.map(|n| n.to_string()),
            "concurrency" => self.concurrency.map(|n| n.to_string()),
            "streams_per_connection" => self.streams_per_connection.map(|n| n.to_string()),
            "cpus" => self.cpus.map(|n| n.to_string()),
            "warmup_ms" => self.warmup_ms.map(|n| n.to_string()),
            "measure_ms" => self.measure_ms.map(|n| n.to_string()),
            "total_ms" => self.total_ms.map(|n| n.to_string()),
            "calls" => self.calls.map(|n| n.to_string()),
            "deadline_ms" => self.deadline_ms.map(|n| n.to_string()),
            "authority" => self.authority.clone(),
            "scheme" => Some(self.scheme().to_owned()),
            "tls_ca" => self.tls_files().map(|files| text(&files.ca)),
            "tls_certificate" => self.tls_files().map(|files| text(&files.certificate)),
            "tls_key" => self.tls_files().map(|files| text(&files.key)),
            "unix_socket" => self.unix_socket().map(text),
            "if_plaintext" => condition(self.carrier.transport() != Transport::Tls),
            "if_tcp" => condition(self.carrier.transport() != Transport::Unix),
            "if_per_call" => condition(self.connection_per_call),
            _ => return Err(TemplateError::UnknownWord(word.to_owned())),
        })
    }
}

impl Placeholders {
    fn scheme(&self) -> &'static str {
        match self.carrier {
            Carrier::Tls(_) => "https",
            Carrier::H2c | Carrier::Unix(_) => "http",
        }
    }

    fn tls_files(&self) -> Option<&TlsFiles> {
        match &self.carrier {
            Carrier::Tls(files) => Some(files),
            Carrier::H2c | Carrier::Unix(_) => None,
        }
    }

    fn unix_socket(&self) -> Option<&Path> {
        match &self.carrier {
            Carrier::Unix(socket) => Some(socket),
            Carrier::H2c | Carrier::Tls(_) => None,
        }
    }
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// A word that stands for nothing: its argument is there where the condition holds.
fn condition(holds: bool) -> Option<String> {
    holds.then(String::new)
}

/// Why a template cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplateError {
    /// A word in braces that does not exist.
    UnknownWord(String),
    /// The program is given by a word that has no value in this run.
    NoProgram(String),
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownWord(word) => {
                write!(f, "`{{{word}}}` stands for nothing")?;
                match nearest_word(word, WORDS) {
                    Some(near) => write!(f, ", did you mean `{{{near}}}`?"),
                    None => write!(f, ", only these do: {}", WORDS.join(", ")),
                }
            }
            Self::NoProgram(argument) => {
                write!(f, "the program `{argument}` has no value in this run")
            }
        }
    }
}

impl std::error::Error for TemplateError {}

/// Whether `template` tells its process in words what `word` stands for.
pub(super) fn names(template: &[String], word: &str) -> bool {
    let pieces = template.iter().flat_map(|argument| pieces(argument));
    pieces
        .into_iter()
        .any(|piece| matches!(piece, Piece::Word(found) if found == word))
}

/// Whether every word in braces exists.
pub(super) fn check(template: &[String]) -> Result<(), TemplateError> {
    for piece in template.iter().flat_map(|argument| pieces(argument)) {
        if let Piece::Word(word) = piece
            && !WORDS.contains(&word)
        {
            return Err(TemplateError::UnknownWord(word.to_owned()));
        }
    }
    Ok(())
}

enum Piece<'a> {
    Text(&'a str),
    Word(&'a str),
}

/// Only lower-case words in braces are placeholders: braces of JSON stay what they are.
fn pieces(argument: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = argument;
    while let Some(open) = rest.find('{') {
        let after = &rest[open + 1..];
        let length = after.find(|c: char| !c.is_ascii_lowercase() && c != '_');
        match length {
            Some(length) if length > 0 && after[length..].starts_with('}') => {
                pieces.push(Piece::Text(&rest[..open]));
                pieces.push(Piece::Word(&after[..length]));
                rest = &after[length + 1..];
            }
            _ => {
                pieces.push(Piece::Text(&rest[..=open]));
                rest = after;
            }
        }
    }
    pieces.push(Piece::Text(rest));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(arguments: &[&str]) -> CommandTemplate {
        arguments.iter().map(|&word| word.to_owned()).collect()
    }

    #[test]
    fn an_argument_without_a_value_is_left_out_whole() {
        let run = Placeholders {
            target: Some("127.0.0.1:9".to_owned()),
            calls: Some(7),
            ..Placeholders::default()
        };
        let template = words(&[
            "ghz",
            "--total={calls}",
            "--duration={measure_ms}ms",
            "{target}",
        ]);
        assert_eq!(
            run.fill(&template),
            Ok(words(&["ghz", "--total=7", "127.0.0.1:9"]))
        );
    }

    #[test]
    fn braces_that_are_no_placeholder_stay() {
        let json = words(&["ghz", "--data={\"name\": \"{}\"}", "{", "a{b", "{A}"]);
        assert_eq!(check(&json), Ok(()));
        assert_eq!(Placeholders::default().fill(&json), Ok(json.clone()));
    }

    #[test]
    fn an_argument_can_depend_on_what_carries_the_connection() {
        let template = words(&[
            "load",
            "--insecure{if_plaintext}",
            "--cacert={tls_ca}",
            "--base-uri=unix:{unix_socket}",
            "--port=0{if_tcp}",
            "--one-shot{if_per_call}",
            "{scheme}://{authority}/",
        ]);
        let filled = |carrier, connection_per_call| {
            let run = Placeholders {
                carrier,
                connection_per_call,
                authority: Some("localhost".to_owned()),
                ..Placeholders::default()
            };
            run.fill(&template).expect("every word exists")[1..].to_vec()
        };
        let plain = ["--insecure", "--port=0", "http://localhost/"];
        assert_eq!(filled(Carrier::H2c, false), words(&plain));
        let tls = TlsFiles {
            ca: "/ca.pem".into(),
            certificate: "/own.pem".into(),
            key: "/own.key".into(),
        };
        let secured = [
            "--cacert=/ca.pem",
            "--port=0",
            "--one-shot",
            "https://localhost/",
        ];
        assert_eq!(filled(Carrier::Tls(tls), true), words(&secured));
        let local = ["--insecure", "--base-uri=unix:/s.sock", "http://localhost/"];
        let unix = Carrier::Unix("/s.sock".into());
        assert_eq!(filled(unix, false), words(&local));
    }

    #[test]
    fn a_misspelt_word_is_named_with_the_right_one() {
        let error = check(&words(&["ghz", "{conections}"])).expect_err("misspelt");
        assert_eq!(
            error.to_string(),
            "`{conections}` stands for nothing, did you mean `{connections}`?"
        );
    }

    #[test]
    fn a_program_must_have_a_value() {
        let error = Placeholders::default().fill(&words(&["{bookend}", "load"]));
        assert_eq!(error, Err(TemplateError::NoProgram("{bookend}".to_owned())));
    }

    #[test]
    fn every_word_can_be_filled() {
        for word in WORDS {
            assert!(Placeholders::default().value(word).is_ok(), "{word}");
        }
    }
}
