//! From the text of `subject.toml` to a checked [`Subject`].

use super::template;
use super::{
    CommandTemplate, Dependency, IdleStrategy, InstrumentOutput, Protocol, SUBJECT_FILE, Subject,
    Variant,
};
use bookend_contract::environment::Role;
use bookend_contract::lines::is_note_name;
use bookend_contract::transport::Transport;
use bookend_results::declaration::{DeclarationError, Source, is_method, read_text, transports};
use regex::RegexBuilder;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::path::Path;
use toml::Spanned;

/// The name of the only variant of a subject that declares none.
const DEFAULT_VARIANT: &str = "default";

/// Bound of a compiled dependency pattern: a version pattern takes a few kilobytes, and a file
/// from elsewhere must not make the lab compile an automaton of gigabytes.
const PATTERN_BYTES_MAX: usize = 1 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeclaredSubject {
    name: Spanned<String>,
    language: String,
    description: String,
    roles: Option<Spanned<Vec<Role>>>,
    version: Option<Spanned<CommandTemplate>>,
    build: Option<Spanned<Vec<CommandTemplate>>>,
    run: Option<Spanned<CommandTemplate>>,
    run_calls: Option<Spanned<CommandTemplate>>,
    output: Option<InstrumentOutput>,
    laps: Option<bool>,
    methods: Option<Spanned<Vec<String>>>,
    protocol: Option<Protocol>,
    needs_backend: Option<Spanned<String>>,
    transports: Option<Spanned<Vec<String>>>,
    wait: Option<IdleStrategy>,
    log_notes: Option<Spanned<BTreeMap<String, String>>>,
    #[serde(default)]
    inputs: Vec<String>,
    #[serde(default)]
    variants: Vec<DeclaredVariant>,
    #[serde(default)]
    dependencies: Vec<DeclaredDependency>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeclaredVariant {
    name: Spanned<String>,
    version: Option<Spanned<CommandTemplate>>,
    build: Option<Spanned<Vec<CommandTemplate>>>,
    run: Option<Spanned<CommandTemplate>>,
    run_calls: Option<Spanned<CommandTemplate>>,
    output: Option<InstrumentOutput>,
    laps: Option<bool>,
    roles: Option<Spanned<Vec<Role>>>,
    methods: Option<Spanned<Vec<String>>>,
    protocol: Option<Protocol>,
    needs_backend: Option<Spanned<String>>,
    transports: Option<Spanned<Vec<String>>>,
    wait: Option<IdleStrategy>,
    log_notes: Option<Spanned<BTreeMap<String, String>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeclaredDependency {
    command: Spanned<CommandTemplate>,
    regex: Option<Spanned<String>>,
    install: String,
}

impl Subject {
    /// Reads and checks `FOLDER/subject.toml`.
    ///
    /// # Errors
    /// When the file cannot be read, is not TOML, has an unknown key, or declares something that
    /// cannot be run; the error names file, line and remedy.
    pub fn read(folder: &Path) -> Result<Self, DeclarationError> {
        let text = read_text(&folder.join(SUBJECT_FILE))?;
        Self::parse(folder, &text)
    }

    /// Checks the text of `FOLDER/subject.toml`. The folder's last name must be the subject's.
    ///
    /// # Errors
    /// As [`Subject::read`].
    pub fn parse(folder: &Path, text: &str) -> Result<Self, DeclarationError> {
        let file = folder.join(SUBJECT_FILE);
        let source = Source { file: &file, text };
        let required = ["name", "language", "description"];
        let declared: DeclaredSubject = source.parse_with(&required)?;
        check_name(source, folder, &declared.name)?;
        let variants = variants(source, &declared)?;
        let dependencies = declared.dependencies.iter();
        let inputs = declared.inputs.iter();
        Ok(Subject {
            variants,
            dependencies: dependencies
                .map(|declared| dependency(source, declared))
                .collect::<Result<_, _>>()?,
            inputs: inputs.map(|input| folder.join(input)).collect(),
            name: declared.name.into_inner(),
            language: declared.language,
            description: declared.description,
            folder: folder.to_owned(),
        })
    }
}

fn check_name(
    source: Source<'_>,
    folder: &Path,
    name: &Spanned<String>,
) -> Result<(), DeclarationError> {
    checked(source, name, check_word)?;
    let name_of_folder = folder.file_name().and_then(|folder| folder.to_str());
    let (folder, word) = (name_of_folder.unwrap_or(name.get_ref()), name.get_ref());
    let message = format!("the subject in the folder `{folder}` must be called so, not `{word}`");
    source.ensure(folder == word, name, message)
}

fn variants(
    source: Source<'_>,
    declared: &DeclaredSubject,
) -> Result<Vec<Variant>, DeclarationError> {
    if declared.variants.is_empty() {
        return Ok(vec![variant(source, declared, DEFAULT_VARIANT, None)?]);
    }
    let mut variants: Vec<Variant> = Vec::new();
    for own in &declared.variants {
        let name = checked(source, &own.name, check_word)?;
        let is_new = variants.iter().all(|variant| variant.name != *name);
        let message = format!("the variant `{name}` is declared twice");
        source.ensure(is_new, &own.name, message)?;
        variants.push(variant(source, declared, &name, Some(own))?);
    }
    Ok(variants)
}

/// A variant takes what it does not say itself from the subject.
fn variant(
    source: Source<'_>,
    subject: &DeclaredSubject,
    name: &str,
    own: Option<&DeclaredVariant>,
) -> Result<Variant, DeclarationError> {
    macro_rules! inherited {
        ($key:ident) => {
            own.and_then(|own| own.$key.as_ref()).or(subject.$key.as_ref())
        };
        ($key:ident, $check:expr) => {
            inherited!($key).map(|declared| checked(source, declared, $check)).transpose()?
        };
    }
    let required = |command: Option<CommandTemplate>, key| {
        let message = || format!("the variant `{name}` has no `{key}` command");
        command.ok_or_else(|| source.incomplete(message()))
    };
    let run = required(inherited!(run, check_command), "run")?;
    let message = || format!("neither the subject nor its variant `{name}` has `roles`");
    let roles = inherited!(roles, check_roles).ok_or_else(|| source.incomplete(message()))?;
    if roles.contains(&Role::Instrument) {
        inherited!(run, check_template);
    }
    let commands = |all: &[CommandTemplate]| all.iter().try_for_each(|each| check_command(each));
    let methods = |all: &[String]| all.iter().try_for_each(|each| check_method(each));
    Ok(Variant {
        name: name.to_owned(),
        version: required(inherited!(version, check_command), "version")?,
        build: inherited!(build, commands).unwrap_or_default(),
        run,
        // Only a template has a second form: a program that reads variables learns from them what
        // ends the window.
        run_calls: inherited!(run_calls, |command: &[String]| {
            check_command(command).and_then(|()| check_template(command))
        }),
        output: inherited!(output).copied().unwrap_or_default(),
        laps: inherited!(laps).copied().unwrap_or_default(),
        roles,
        methods: inherited!(methods, methods).unwrap_or_default(),
        protocol: inherited!(protocol).copied().unwrap_or_default(),
        needs_backend: inherited!(needs_backend, check_backend),
        // Plain text over TCP is what every program speaks that says nothing.
        transports: inherited!(transports).map_or(Ok(vec![Transport::H2c]), |list| {
            source.read(list, |words| transports(words))
        })?,
        idle: inherited!(wait).copied().unwrap_or_default(),
        log_notes: inherited!(log_notes)
            .map_or(Ok(BTreeMap::new()), |notes| source.read(notes, log_notes))?,
    })
}

fn dependency(
    source: Source<'_>,
    declared: &DeclaredDependency,
) -> Result<Dependency, DeclarationError> {
    let compile =
        |pattern: &String| RegexBuilder::new(pattern).size_limit(PATTERN_BYTES_MAX).build();
    Ok(Dependency {
        command: checked(source, &declared.command, check_command)?,
        pattern: source.read_some(&declared.regex, compile)?,
        install: declared.install.clone(),
    })
}

/// What was declared, if `check` has nothing to say against it.
fn checked<T: Clone + Deref>(
    source: Source<'_>,
    declared: &Spanned<T>,
    check: impl Fn(&T::Target) -> Result<(), String>,
) -> Result<T, DeclarationError> {
    source.read(declared, |value| check(value).map(|()| value.clone()))
}

/// Names stand in rows, in file names and on command lines: no blanks, no slashes.
fn check_word(word: &str) -> Result<(), String> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-._+".contains(c);
    let message = format!("`{word}` is not a name: use lower-case letters, digits and - . _ +");
    require(!word.is_empty() && word.chars().all(fits), message)
}

fn check_command(command: &[String]) -> Result<(), String> {
    let message = "a command is an array of strings, the program first: [\"cargo\", \"build\"]";
    let has_program = command.first().is_some_and(|program| !program.is_empty());
    require(has_program, message)
}

fn check_template(command: &[String]) -> Result<(), String> {
    template::check(command).map_err(|error| error.to_string())
}

fn check_roles(roles: &[Role]) -> Result<(), String> {
    let distinct: BTreeSet<&Role> = roles.iter().collect();
    let message = "give at least one role: server, client, backend or instrument";
    require(!roles.is_empty(), message)?;
    require(distinct.len() == roles.len(), "a role is named twice")
}

fn check_method(method: &str) -> Result<(), String> {
    let message = format!("`{method}` is not a method: write pkg.Service/Method");
    require(is_method(method), message)
}

fn check_backend(name: &str) -> Result<(), String> {
    let message = "name a subject, as java-grpc/persistence, or leave it out";
    require(!name.is_empty(), message)
}

fn log_notes(notes: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>, String> {
    for (name, text) in notes {
        let message = format!("`{name}`: write a note's name, and the text of the lines it counts");
        require(is_note_name(name) && !text.is_empty(), message)?;
    }
    Ok(notes.clone())
}

fn require(holds: bool, message: impl Into<String>) -> Result<(), String> {
    if holds { Ok(()) } else { Err(message.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TONIC: &str = r#"
name = "rust-tonic"
language = "Rust"
description = "tonic on one worker"
roles = ["server"]
[[variants]]
name = "default"
version = ["./target/release/rust-tonic", "--version"]
build = [["cargo", "build", "--release", "--locked"]]
run = ["./target/release/rust-tonic"]
[[dependencies]]
command = ["cargo", "--version"]
regex = 'cargo 1\.(8[89]|9\d)'
install = "https://rustup.rs"
"#;

    fn read(text: &str) -> Result<Subject, DeclarationError> {
        Subject::parse(Path::new("subjects/rust-tonic"), text)
    }

    fn refusal(text: &str) -> String {
        read(text).expect_err("must be refused").to_string()
    }

    #[test]
    fn a_server_is_read_whole() {
        let subject = read(TONIC).expect("well-formed");
        let variant = subject.default_variant();
        assert!(subject.has_role(Role::Server) && !subject.has_role(Role::Client));
        assert_eq!(subject.row_name(variant), "rust-tonic");
        assert_eq!(variant.build, [["cargo", "build", "--release", "--locked"]]);
        assert_eq!(
            subject.program(&variant.run),
            Path::new("subjects/rust-tonic/./target/release/rust-tonic")
        );
        assert_eq!(subject.program(&subject.dependencies[0].command), Path::new("cargo"));
    }

    #[test]
    fn a_dependency_accepts_only_the_versions_of_its_pattern() {
        let subject = read(TONIC).expect("well-formed");
        assert!(subject.dependencies[0].accepts("cargo 1.95.0 (abc 2026-01-01)"));
        assert!(!subject.dependencies[0].accepts("cargo 1.70.0"));
    }

    #[test]
    fn variants_take_what_they_do_not_say_from_the_subject() {
        let text = TONIC.replace("[[variants]]\nname = \"default\"\n", "").replace(
            "[[dependencies]]",
            "[[variants]]\nname = \"one\"\n[[variants]]\nname = \"two\"\nrun = [\"./two\"]\n\
             [[dependencies]]",
        );
        let subject = read(&text).expect("well-formed");
        assert_eq!(subject.variants[0].run, ["./target/release/rust-tonic"]);
        assert_eq!(subject.variants[1].run, ["./two"]);
        assert_eq!(subject.row_name(&subject.variants[1]), "rust-tonic/two");
        assert_eq!(
            subject.variant(Some("tow")).expect_err("misspelt").to_string(),
            "rust-tonic has no variant `tow`, did you mean `two`?"
        );
    }

    #[test]
    fn a_misspelt_key_is_named_with_its_line_and_the_right_word() {
        assert_eq!(
            refusal(&TONIC.replace("description", "desciption")),
            "subjects/rust-tonic/subject.toml:4: unknown key `desciption`, \
             did you mean `description`?"
        );
        assert_eq!(
            refusal(&TONIC.replace("run =", "start =")),
            "subjects/rust-tonic/subject.toml:10: unknown key `start`, expected one of: \
             name, version, build, run, run_calls, output, laps, roles, methods, protocol, \
             needs_backend, transports, wait, log_notes"
        );
    }

    #[test]
    fn transports_are_plain_text_unless_declared() {
        let of =
            |text: &str| read(text).map(|subject| subject.default_variant().transports.clone());
        assert_eq!(of(TONIC), Ok(vec![Transport::H2c]));
        let with = |list: &str| {
            let line = format!("transports = {list}\n[[variants]]");
            TONIC.replace("[[variants]]", &line)
        };
        let all = with("[\"h2c\", \"tls\", \"unix\"]");
        assert_eq!(of(&all), Ok(Transport::ALL.to_vec()));
        for (list, part) in [
            ("[]", "at least one transport"),
            ("[\"tls\", \"tls\"]", "`tls` is named twice"),
            ("[\"quic\"]", "`quic`: a transport is h2c, tls or unix"),
        ] {
            let said = refusal(&with(list));
            assert!(said.contains("subject.toml:6: "), "{said}");
            assert!(said.contains(part), "{said}");
        }
    }

    #[test]
    fn who_waits_by_spinning_says_so() {
        let wait = |text: &str| read(text).map(|subject| subject.default_variant().idle);
        assert_eq!(wait(TONIC), Ok(IdleStrategy::Sleep));
        assert_eq!(wait(&format!("wait = \"spin\"{TONIC}")), Ok(IdleStrategy::Spin));
        let said = refusal(&format!("wait = \"yield\"{TONIC}"));
        assert!(said.contains("`sleep` or `spin`"), "{said}");
    }

    #[test]
    fn what_cannot_be_run_is_refused() {
        assert_eq!(
            refusal(&TONIC.replace("run = [\"./target/release/rust-tonic\"]", "run = []")),
            "subjects/rust-tonic/subject.toml:10: a command is an array of strings, \
             the program first: [\"cargo\", \"build\"]"
        );
        assert_eq!(
            refusal(&TONIC.replace("name = \"rust-tonic\"", "name = \"tonic\"")),
            "subjects/rust-tonic/subject.toml:2: the subject in the folder `rust-tonic` \
             must be called so, not `tonic`"
        );
        assert!(refusal(&TONIC.replace("[\"server\"]", "[]")).contains("at least one role"));
        assert!(refusal(&TONIC.replace("\"server\"", "\"servant\"")).contains("servant"));
        assert!(refusal(&TONIC.replace("'cargo 1", "'(cargo 1")).contains(":13:"));
        assert!(refusal(&TONIC.replace("version =", "#")).contains("has no `version` command"));
    }

    #[test]
    fn a_variant_has_roles_methods_and_a_protocol_of_its_own() {
        let text = TONIC.replace(
            "[[dependencies]]",
            "roles = [\"server\", \"backend\"]\nmethods = [\"a.B/C\"]\nneeds_backend = \"x/y\"\n\
             [[variants]]\nname = \"long\"\nversion = [\"v\"]\nrun = [\"./long\"]\n\
             roles = [\"client\"]\nprotocol = \"thrift\"\nmethods = [\"D/e\"]\n[[dependencies]]",
        );
        let subject = read(&text).expect("well-formed");
        let [server, client] = &subject.variants[..] else {
            panic!("{:?}", subject.variants);
        };
        assert_eq!(server.roles, [Role::Server, Role::Backend]);
        assert_eq!(client.roles, [Role::Client]);
        let has_role = |role| subject.has_role(role);
        assert!([Role::Server, Role::Backend, Role::Client].into_iter().all(has_role));
        assert!(!subject.has_role(Role::Instrument));
        assert!(server.has_role(Role::Backend) && !server.has_role(Role::Client));
        assert!(client.has_role(Role::Client) && !client.has_role(Role::Server));
        assert!(server.supports_method("a.B/C") && !server.supports_method("a.B/D"));
        assert!(client.supports_method("a.B/C"), "Thrift has names of its own");
        assert_eq!(server.protocol, Protocol::Grpc);
        assert_eq!(client.protocol, Protocol::Thrift);
        assert_eq!(server.needs_backend.as_deref(), Some("x/y"));
    }

    #[test]
    fn roles_may_be_left_to_the_variants_but_not_to_nobody() {
        let none = TONIC.replace("roles = [\"server\"]\n", "");
        assert_eq!(
            refusal(&none),
            "subjects/rust-tonic/subject.toml: neither the subject nor its variant `default` has \
             `roles`"
        );
        let own = none.replace("[[dependencies]]", "roles = [\"client\"]\n[[dependencies]]");
        assert_eq!(read(&own).expect("well-formed").default_variant().roles, [Role::Client]);
    }

    #[test]
    fn what_a_variant_says_of_itself_is_checked() {
        let with = |line: &str| {
            let text = TONIC.replace("[[dependencies]]", &format!("{line}[[dependencies]]"));
            refusal(&text)
        };
        assert!(with("methods = [\"B.C\"]\n").contains("`B.C` is not a method"));
        assert!(
            with("protocol = \"smtp\"\n").contains("expected one of `grpc`, `thrift`, `http2`")
        );
        assert!(with("needs_backend = \"\"\n").contains("name a subject"));
        assert!(with("log_notes = { Gone = \"x\" }\n").contains("`Gone`: write a note's name"));
        assert!(with("log_notes = { gone = \"\" }\n").contains("the text of the lines"));
        assert!(with("run_calls = []\n").contains("a command is an array"));
        assert!(with("run_calls = [\"{cals}\"]\n").contains("`{calls}`"));
    }

    #[test]
    fn a_window_of_time_and_one_of_calls_may_be_told_in_two_ways() {
        let ghz = TONIC
            .replace("\"server\"", "\"instrument\"")
            .replace("run = [", "run = [\"x\", \"-z{measure_ms}\", \"-c{connections}\", ");
        let timed = read(&ghz).expect("well-formed");
        let variant = timed.default_variant();
        assert_eq!(variant.run_command(None), Some(&variant.run));
        assert_eq!(variant.run_command(Some(9)), None);
        assert!(!variant.can_connect_per_call());

        let in_all = read(&ghz.replace("measure_ms", "total_ms")).expect("well-formed");
        assert_eq!(in_all.default_variant().run_command(Some(9)), None);

        let both = ghz.replace("run = [", "run_calls = [\"x\", \"-n{calls}\"]\nrun = [");
        let both = read(&both).expect("well-formed");
        let variant = both.default_variant();
        assert_eq!(variant.run_command(Some(9)), variant.run_calls.as_ref());

        let told = read(TONIC).expect("well-formed");
        let variant = told.default_variant();
        assert_eq!(variant.run_command(Some(9)), Some(&variant.run));
        assert!(variant.can_connect_per_call());
    }

    #[test]
    fn the_template_of_an_instrument_is_checked_and_that_of_a_server_is_not() {
        let odd = TONIC.replace("run = [", "run = [\"--x={methd}\", ");
        assert!(read(&odd).is_ok());
        assert!(refusal(&odd.replace("server", "instrument")).contains("`{method}`"));
    }

    #[test]
    fn no_mutilated_declaration_panics() {
        for end in (0..TONIC.len()).filter(|&end| TONIC.is_char_boundary(end)) {
            let _outcome_is_either = read(&TONIC[..end]);
            let _outcome_is_either = read(&TONIC[end..]);
        }
    }
}
