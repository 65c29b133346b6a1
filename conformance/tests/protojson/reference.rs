//! Go's protojson, and the schema that both sides read.

use bookend_conformance::outside;
use bookend_payload::data;
use bookend_payload::schema::Schema;
use std::cell::RefCell;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use tempfile::TempDir;

/// What becomes of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is a message, with these bytes.
    Taken(Vec<u8>),
    /// Not valid, for this reason.
    Refused(String),
}

/// What both sides make of one text.
#[derive(Clone, Debug)]
pub struct Comparison {
    pub text: String,
    pub ours: Outcome,
    pub go: Outcome,
    pub agree: bool,
}

/// The program, and the schema that it has compiled.
pub struct Reference {
    program: RefCell<Program>,
    schema: Schema,
    _folder: TempDir,
}

struct Program {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Program {
    fn ask(&mut self, question: &str) -> String {
        writeln!(self.questions, "{question}").expect("the program reads");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("the program answers in UTF-8");
        assert!(answer.ends_with('\n'), "the program ended at {question}");
        answer.trim_end().to_owned()
    }
}

impl Reference {
    pub fn start() -> Self {
        let folder = write_schemas();
        let mut child = Command::new(outside("protojson"))
            .arg(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("scripts/conformance-tools has built it");
        let questions = child.stdin.take().expect("it is piped");
        let answers = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut program = Program { child, questions, answers };
        let set = bytes(&program.ask("set"));
        let schema = Schema::decode(&set, "Go".to_owned()).expect("it is complete");
        Self { program: RefCell::new(program), schema, _folder: folder }
    }

    fn ask(&self, question: &str) -> String {
        self.program.borrow_mut().ask(question)
    }

    /// A random message: in JSON, and its bytes.
    pub fn random_message(&self, kind: Kind, seed: u64) -> (String, Vec<u8>) {
        let answer = self.ask(&format!("message {} {seed}", kind.message));
        let (json, encoded) = answer.split_once(' ').unwrap_or((&answer, ""));
        assert_ne!(json, "refused", "{answer}");
        (String::from_utf8(bytes(json)).expect("JSON is text"), bytes(encoded))
    }

    /// Whether two encodings are the same message, with as many bytes.
    pub fn are_same(&self, kind: Kind, one: &[u8], other: &[u8]) -> bool {
        let question = || format!("same {} x{} x{}", kind.message, hex(one), hex(other));
        one == other || (one.len() == other.len() && self.ask(&question()) == "yes")
    }

    pub fn compare(&self, kind: Kind, text: &str) -> Comparison {
        let ours = self.ours(kind, text);
        let answer = self.ask(&format!("read {} {}", kind.message, hex(text.as_bytes())));
        let go = match answer.split_once(' ') {
            Some(("refused", reason)) => Outcome::Refused(reason.to_owned()),
            Some((_, encoded)) => Outcome::Taken(bytes(encoded)),
            None => Outcome::Taken(Vec::new()),
        };
        let agree = match (&ours, &go) {
            (Outcome::Taken(ours), Outcome::Taken(go)) => self.are_same(kind, ours, go),
            (Outcome::Refused(_), Outcome::Refused(_)) => true,
            _ => false,
        };
        Comparison { text: text.to_owned(), ours, go, agree }
    }

    pub fn ours(&self, kind: Kind, text: &str) -> Outcome {
        let method = self.schema.method(kind.call).expect("it is in the schema");
        match data::from_json(text, "-d", &method.input()) {
            Ok(messages) => Outcome::Taken(messages.concat()),
            Err(error) => Outcome::Refused(error.to_string()),
        }
    }
}

/// A type of messages, and a method that takes them.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub message: &'static str,
    call: &'static str,
}

pub const PROTO3: Kind = Kind { message: "json3.All", call: "json3.S/AllTypes" };
pub const PROTO2: Kind = Kind { message: "json2.All", call: "json2.S/AllTypes" };
pub const EDITION_2023: Kind = Kind { message: "json2023.All", call: "json2023.S/AllTypes" };
const REQUIRED2: Kind = Kind { message: "json2.Required", call: "json2.S/RequiredFields" };
const REQUIRED2023: Kind = Kind { message: "json2023.Required", call: "json2023.S/RequiredFields" };
const TIMESTAMP: Kind = Kind { message: "google.protobuf.Timestamp", call: "json3.S/Timestamp" };
const VALUE: Kind = Kind { message: "google.protobuf.Value", call: "json3.S/Value" };
const ANY: Kind = Kind { message: "google.protobuf.Any", call: "json3.S/Any" };

/// The types with a field of every kind.
pub const ALL_FIELDS: [Kind; 3] = [PROTO3, PROTO2, EDITION_2023];
/// All types.
pub const KINDS: [Kind; 8] =
    [PROTO3, PROTO2, EDITION_2023, REQUIRED2, REQUIRED2023, TIMESTAMP, VALUE, ANY];

/// Puts the schemas together: the fields are the same in all, as far as a syntax has them.
fn write_schemas() -> TempDir {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("proto/json");
    let read = |name: &str| fs::read_to_string(source.join(name)).expect("it is committed");
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    for (name, singular, explicit, other, reserved) in [
        ("proto2", "optional", "optional", "packed = true", "\"reserved_field\""),
        ("proto3", "", "optional", "packed = false", "\"reserved_field\""),
        ("edition2023", "", "", "features.repeated_field_encoding = EXPANDED", "reserved_field"),
    ] {
        let text = read(&format!("{name}.txt"))
            .replace("TYPES", &read("types.txt"))
            .replace("FIELDS", &read("fields.txt"))
            .replace("SINGULAR", singular)
            .replace("EXPLICIT", explicit)
            .replace("OTHER", other)
            .replace("RESERVED", reserved);
        fs::write(folder.path().join(format!("{name}.proto")), text).expect("it is ours");
    }
    folder
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits = |at| u8::from_str_radix(&hex[at..at + 2], 16).expect("two digits");
    (0..hex.len()).step_by(2).map(digits).collect()
}
