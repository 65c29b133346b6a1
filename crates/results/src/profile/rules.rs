//! Assigns samples to the layers of a server by the names of their frames.
//!
//! Rules are text, one a line: a word for the layer and a regular expression for names. The files
//! in `perf-rules/` are one for each language, one for the kernel, and one for a subject whose
//! compiler has inlined code into functions with unrelated names.

use super::layer::Layer;
use super::split::Split;
use crate::declaration::nearest_word;
use regex::Regex;
use std::collections::{BTreeSet, HashMap};
use thiserror::Error;

/// The word that begins a pattern for work that the handlers of all subjects share.
const SHARED_WORK: &str = "shared-work";

/// The word that begins the name and the pattern of a function whose samples are counted by
/// themselves, with those of what it calls, as the width of its frame in a flame graph is.
const FUNCTION: &str = "function";

/// The word that begins a pattern for what belongs to no layer, such as reading files.
const REST: &str = "rest";

/// The line after which rules apply only to samples that no rule above it has placed.
const OTHERWISE: &str = "otherwise";

/// The rule files by the name of their language or subject.
const FILES: [(&str, &str); 7] = [
    ("kernel", include_str!("../../perf-rules/kernel.rules")),
    ("rust", include_str!("../../perf-rules/rust.rules")),
    ("go", include_str!("../../perf-rules/go.rules")),
    ("java", include_str!("../../perf-rules/java.rules")),
    ("cpp", include_str!("../../perf-rules/cpp.rules")),
    ("python", include_str!("../../perf-rules/python.rules")),
    ("rust-pajamax", include_str!("../../perf-rules/rust-pajamax.rules")),
];

/// Languages, in lower case, and their rule files. A Python library is mostly C++ underneath.
const LANGUAGES: [(&str, &[&str]); 9] = [
    ("rust", &["rust"]),
    ("go", &["go"]),
    ("java", &["java"]),
    ("kotlin", &["java"]),
    ("scala", &["java"]),
    ("clojure", &["java"]),
    ("c++", &["cpp"]),
    ("c", &["cpp"]),
    ("python", &["python", "cpp"]),
];

/// One stack of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stack<'a> {
    /// Frame names from the outermost to the leaf, preceded by the name of the thread.
    pub frames: Vec<&'a str>,
    /// How often it was seen.
    pub samples: u64,
}

/// The rules for one subject.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    first: Vec<(Option<Layer>, Regex)>,
    otherwise: Vec<(Option<Layer>, Regex)>,
    shared_work: Vec<Regex>,
    functions: Vec<(String, Regex)>,
}

/// An invalid line of a rule file: always the fault of the file's author.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {kind}")]
pub struct RuleError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong with it.
    pub kind: RuleErrorKind,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RuleErrorKind {
    /// There is a word without a pattern after it.
    #[error("a word and a pattern are needed")]
    NoPattern,
    /// The first word is not a layer.
    #[error("{}", unknown_layer(.0))]
    Layer(String),
    /// The pattern is not a regular expression.
    #[error("`{0}` is no regular expression")]
    Pattern(String),
    /// `otherwise` occurs twice in a file.
    #[error("`otherwise` stands here again")]
    OtherwiseTwice,
}

impl Rules {
    /// The rules for a subject, by its folder's name and its language: its own rules, then those of
    /// the language, then those of the kernel.
    pub fn for_subject(name: &str, language: &str) -> Rules {
        let files = files_of(language).unwrap_or_default();
        let mut rules = Rules::default();
        let names = std::iter::once(&name).chain(files).chain(&["kernel"]);
        for text in names.filter_map(|name| text_of(name)) {
            // A test reads every file, so an error cannot occur here.
            rules.append(Rules::parse(text).unwrap_or_default());
        }
        rules
    }

    /// Whether there are rules for a language. Without them, only the kernel's frames are placed.
    pub fn know(language: &str) -> bool {
        files_of(language).is_some()
    }

    /// Reads the text of a rule file.
    ///
    /// # Errors
    /// [`RuleError`] for the first invalid line.
    pub fn parse(text: &str) -> Result<Rules, RuleError> {
        let mut rules = Rules::default();
        let mut is_otherwise = false;
        for (index, line) in text.lines().map(str::trim).enumerate() {
            let at = |kind| RuleError { line: index + 1, kind };
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if line == OTHERWISE {
                if std::mem::replace(&mut is_otherwise, true) {
                    return Err(at(RuleErrorKind::OtherwiseTwice));
                }
                continue;
            }
            rules.take(line, is_otherwise).map_err(at)?;
        }
        Ok(rules)
    }

    fn take(&mut self, line: &str, is_otherwise: bool) -> Result<(), RuleErrorKind> {
        let (word, pattern) = line.split_once(' ').ok_or(RuleErrorKind::NoPattern)?;
        let mut pattern = pattern.trim_start();
        let mut function = "";
        if word == FUNCTION {
            (function, pattern) = pattern.split_once(' ').ok_or(RuleErrorKind::NoPattern)?;
        }
        let place = match word {
            SHARED_WORK | REST | FUNCTION => None,
            _ => {
                let layer = Layer::of_word(word);
                Some(layer.ok_or_else(|| RuleErrorKind::Layer(word.to_owned()))?)
            }
        };
        let regex = Regex::new(pattern).map_err(|_| RuleErrorKind::Pattern(pattern.to_owned()))?;
        match word {
            SHARED_WORK => self.shared_work.push(regex),
            FUNCTION => self.functions.push((function.to_owned(), regex)),
            _ if is_otherwise => self.otherwise.push((place, regex)),
            _ => self.first.push((place, regex)),
        }
        Ok(())
    }

    fn append(&mut self, other: Rules) {
        self.first.extend(other.first);
        self.otherwise.extend(other.otherwise);
        self.shared_work.extend(other.shared_work);
        self.functions.extend(other.functions);
    }

    /// A classifier with an empty cache of names.
    pub fn classifier(&self) -> Classifier<'_> {
        Classifier { rules: self, known: HashMap::new() }
    }
}

/// Applies rules, matching each name only once.
#[derive(Debug)]
pub struct Classifier<'a> {
    rules: &'a Rules,
    known: HashMap<String, NameMatch>,
}

/// The result of the rules for one name.
#[derive(Clone, Copy, Debug)]
struct NameMatch {
    first: Option<Option<Layer>>,
    otherwise: Option<Option<Layer>>,
    is_shared_work: bool,
    /// A place in the functions of the rules.
    function: Option<usize>,
}

/// The result of the rules for one sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classification {
    /// Its layer; `None` is the rest.
    pub layer: Option<Layer>,
    /// Whether it was taken in work that all handlers share.
    pub is_shared_work: bool,
    /// The named functions on its stack.
    pub functions: BTreeSet<String>,
}

impl Classifier<'_> {
    /// Classifies a sample by its frames, given from the outermost to the leaf. The frame nearest
    /// to the leaf that matches any rule decides; if several rules match it, the first one does.
    pub fn classify(&mut self, frames: &[&str]) -> Classification {
        let named: Vec<NameMatch> = frames.iter().rev().map(|name| self.named(name)).collect();
        let first = named.iter().find_map(|frame| frame.first);
        let otherwise = || named.iter().find_map(|frame| frame.otherwise);
        Classification {
            layer: first.or_else(otherwise).flatten(),
            is_shared_work: named.iter().any(|frame| frame.is_shared_work),
            functions: named.iter().filter_map(|frame| self.function(frame)).collect(),
        }
    }

    fn function(&self, frame: &NameMatch) -> Option<String> {
        let (name, _) = &self.rules.functions[frame.function?];
        Some(name.clone())
    }

    fn named(&mut self, name: &str) -> NameMatch {
        if let Some(known) = self.known.get(name) {
            return *known;
        }
        let of = |rules: &[(Option<Layer>, Regex)]| {
            rules.iter().find(|(_, regex)| regex.is_match(name)).map(|(place, _)| *place)
        };
        let shared_work = &self.rules.shared_work;
        let named = NameMatch {
            first: of(&self.rules.first),
            otherwise: of(&self.rules.otherwise),
            is_shared_work: shared_work.iter().any(|regex| regex.is_match(name)),
            function: self.rules.functions.iter().position(|(_, regex)| regex.is_match(name)),
        };
        self.known.insert(name.to_owned(), named);
        named
    }
}

fn files_of(language: &str) -> Option<&'static [&'static str]> {
    let language = language.to_lowercase();
    let (_, files) = LANGUAGES.iter().find(|(known, _)| *known == language)?;
    Some(files)
}

fn text_of(name: &str) -> Option<&'static str> {
    let (_, text) = FILES.iter().find(|(known, _)| *known == name)?;
    Some(text)
}

fn unknown_layer(word: &str) -> String {
    let layers = Layer::ALL.map(Layer::word).into_iter();
    let near = nearest_word(word, layers.chain([SHARED_WORK, FUNCTION, REST]));
    let question = near.map(|near| format!(", did you mean `{near}`?")).unwrap_or_default();
    format!("`{word}` is no layer{question}")
}

/// Counts `stacks` by layer according to `rules`.
pub fn split<'a>(stacks: impl IntoIterator<Item = Stack<'a>>, rules: &Rules) -> Split {
    let mut split = Split::default();
    let mut classifier = rules.classifier();
    for stack in stacks {
        // The first name is that of the thread, which the program can choose.
        let frames = stack.frames.get(1..).unwrap_or_default();
        let classification = classifier.classify(frames);
        split.samples += stack.samples;
        if let Some(layer) = classification.layer {
            *split.layers.entry(layer).or_default() += stack.samples;
        }
        if classification.is_shared_work {
            split.shared_work += stack.samples;
        }
        for function in classification.functions {
            *split.functions.entry(function).or_default() += stack.samples;
        }
        if frames.last().is_none_or(|leaf| leaf.starts_with('[')) {
            split.nameless += stack.samples;
        }
    }
    split
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(rules: &str, stack: &str) -> Classification {
        let rules = Rules::parse(rules).unwrap();
        let frames: Vec<&str> = stack.split(';').collect();
        rules.classifier().classify(&frames)
    }

    #[test]
    fn every_rule_file_can_be_read_and_has_rules() {
        for (name, text) in FILES {
            let rules = Rules::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(!(rules.first.is_empty() && rules.otherwise.is_empty()), "{name}");
        }
        for (_, files) in LANGUAGES {
            assert!(files.iter().all(|file| text_of(file).is_some()), "{files:?}");
        }
    }

    #[test]
    fn the_frame_nearest_to_the_leaf_decides() {
        let rules = "runtime ^loop\nhttp2-grpc ^parse\nhandler ^greet";
        let layer = |stack| placed(rules, stack).layer;
        assert_eq!(layer("main;loop;parse;greet;malloc"), Some(Layer::Handler));
        assert_eq!(layer("main;loop;parse;memcpy"), Some(Layer::Protocol));
        assert_eq!(layer("main;loop"), Some(Layer::Runtime));
        assert_eq!(layer("main"), None);
    }

    #[test]
    fn of_two_rules_for_one_frame_the_first_decides() {
        let rules = "network-in poll_read\nruntime ^tokio";
        let layer = placed(rules, "tokio::net::poll_read").layer;
        assert_eq!(layer, Some(Layer::NetworkIn));
    }

    #[test]
    fn rules_after_otherwise_place_only_what_no_other_has_placed() {
        let rules = "handler ^greet\notherwise\nruntime ^malloc$";
        let layer = |stack| placed(rules, stack).layer;
        assert_eq!(layer("main;greet;malloc"), Some(Layer::Handler));
        assert_eq!(layer("[unknown];malloc"), Some(Layer::Runtime));
    }

    #[test]
    fn what_belongs_to_no_layer_can_be_said_too() {
        let rules = "http2-grpc ^server\nrest ^read_file";
        assert_eq!(placed(rules, "server;read_file;copy").layer, None);
    }

    #[test]
    fn shared_work_is_counted_wherever_it_stands_in_the_stack() {
        let rules = "handler ^greet\nmessages ^encode\nshared-work ^format";
        let classification = placed(rules, "greet;format;write;memcpy");
        assert_eq!(classification.layer, Some(Layer::Handler));
        assert!(classification.is_shared_work);
        assert!(!placed(rules, "greet;encode").is_shared_work);
    }

    #[test]
    fn a_function_has_the_samples_of_all_that_it_calls_once() {
        let rules = "handler ^greet\nfunction greeting ^greet\nfunction parse ^parse$";
        let rules = Rules::parse(rules).unwrap();
        let stack =
            |frames: &'static str| Stack { frames: frames.split(';').collect(), samples: 2 };
        let stacks = [
            stack("thread;loop;greet;greet_again;memcpy"),
            stack("thread;loop;parse"),
            stack("thread;loop;greet;parse"),
            stack("thread;loop;parser"),
        ];
        let split = split(stacks, &rules);
        let counted: Vec<_> = split.functions.iter().map(|(name, of)| (&**name, *of)).collect();
        assert_eq!((counted, split.samples), (vec![("greeting", 4), ("parse", 4)], 8));
        assert_eq!(split.layers[&Layer::Handler], 4, "and it is in its layer as before");
    }

    #[test]
    fn a_line_that_is_no_rule_is_named_with_its_number() {
        for (text, describe) in [
            ("# comment\n\nhandler", "line 3: a word and a pattern are needed"),
            ("network_in x", "line 1: `network_in` is no layer, did you mean `network-in`?"),
            ("function x", "line 1: a word and a pattern are needed"),
            ("handler (", "line 1: `(` is no regular expression"),
            ("otherwise\notherwise", "line 2: `otherwise` stands here again"),
        ] {
            assert_eq!(Rules::parse(text).unwrap_err().to_string(), describe);
        }
    }

    #[test]
    fn a_subjects_own_rules_come_before_those_of_its_language() {
        let stack = ["start_thread", "std::sys::backtrace::__rust_begin_short_backtrace"];
        let layer = |name| {
            let rules = Rules::for_subject(name, "Rust");
            rules.classifier().classify(&stack).layer
        };
        assert_eq!(layer("rust-pajamax"), Some(Layer::Protocol));
        assert_eq!(layer("rust-tonic"), Some(Layer::Runtime));
    }

    #[test]
    fn the_functions_of_the_published_profile_are_told_from_others_of_their_name() {
        let rules = Rules::for_subject("rust-pajamax", "Rust");
        let found = |frame: &str| rules.classifier().classify(&["main", frame]).functions;
        let handle = "<rust_pajamax::greeters::helloworld::GreeterServer<T> as \
                      pajamax::PajamaxService>::handle";
        assert!(found(handle).contains("handle"));
        for find_path in ["Decoder::find_path", "Decoder<S>::find_path"] {
            let frame = format!("pajamax::hpack_decoder::{find_path}");
            assert!(found(&frame).contains("find_path"), "{frame}");
        }
        for other in ["pajamax::connection::handle", "std::rt::handle_rt_panic", "find_path"] {
            assert_eq!(found(other), BTreeSet::new(), "{other}");
        }
    }

    #[test]
    fn in_a_language_without_rules_the_kernels_frames_are_placed() {
        assert!(Rules::know("C++") && !Rules::know("Fortran"));
        let rules = Rules::for_subject("fortran-grpc", "Fortran");
        let layer = |stack: &[&str]| rules.classifier().classify(stack).layer;
        assert_eq!(layer(&["main", "serve", "tcp_sendmsg"]), Some(Layer::NetworkOut));
        assert_eq!(layer(&["main", "serve"]), None);
    }
}
