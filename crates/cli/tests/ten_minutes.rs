//! docs/use/ten-minutes.md, typed word by word: each file is written, each command is run, and each
//! says what the page says. Then cargo builds every manifest that some page prints.
//!
//! Three things are not as for a reader. The port is a free one, since tests run at the same time;
//! cargo stays offline and builds into this workspace's own folder; and without openssl, its
//! commands are left out and the same files are made without it.
#![forbid(unsafe_code)]

#[path = "../../io/tests/support/certificates.rs"]
mod certificates;

use certificates::Authority;
use std::collections::HashSet;
use std::env;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const PAGE: &str = include_str!("../../../docs/use/ten-minutes.md");
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const BOOKEND: &str = env!("CARGO_BIN_EXE_bookend");
/// The port of the page.
const PORT: &str = "50051";
/// What goes on until it is ended.
const SERVER: &str = "cargo run";

/// The rest of a project of which a page prints the manifest alone.
const MAIN: &str = "fn main() {}\n";

/// What a reader does.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    Write { path: String, text: String },
    Run { command: String, says: Vec<String> },
}

/// The steps of a page. A block of commands is marked `sh`, what they say `text`, and all others
/// are files, whose path ends the line above.
fn steps(page: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut above = "";
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(language) = line.strip_prefix("```") else {
            above = if line.is_empty() { above } else { line };
            continue;
        };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let text = block.join("\n");
        match language {
            "sh" => steps.push(Step::Run { command: text, says: vec![] }),
            "text" => match steps.last_mut() {
                Some(Step::Run { says, .. }) => *says = text.lines().map(str::to_owned).collect(),
                _ => panic!("nobody says {text:?}"),
            },
            _ => {
                let before = above.strip_suffix("`:").and_then(|above| above.rsplit_once('`'));
                let (_, path) = before.unwrap_or_else(|| panic!("no path above: {above:?}"));
                steps.push(Step::Write { path: path.to_owned(), text: text + "\n" });
            }
        }
    }
    steps
}

/// The manifests that a page prints, whole ones and dependencies alone.
fn manifests(page: &str) -> Vec<&str> {
    let blocks = page.split("\n```").skip(1).step_by(2).filter_map(|block| block.split_once('\n'));
    let is_manifest = |text: &str| text.lines().any(|line| line == "[dependencies]");
    let of_cargo = blocks.filter(|(language, text)| *language == "toml" && is_manifest(text));
    of_cargo.map(|(_, text)| text).collect()
}

/// All pages of the tree but those that builds and tools have put there.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let found = entries.flat_map(|entry| {
        let (path, name) = (entry.path(), entry.file_name());
        let is_ours = !["target", ".git", "node_modules", ".venv"].iter().any(|made| name == *made);
        match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            true if is_ours => pages(&path),
            false if path.extension().is_some_and(|ending| ending == "md") => vec![path],
            _ => vec![],
        }
    });
    found.collect()
}

/// Whether a line is as the page has it, where `…` stands for anything.
fn is_said(line: &str, expected: &str) -> bool {
    let mut rest = line;
    let mut parts = expected.split('…');
    let begins = parts.next().is_some_and(|first| {
        let behind = rest.strip_prefix(first);
        rest = behind.unwrap_or(rest);
        behind.is_some()
    });
    let goes_on = parts.all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    });
    begins && goes_on && rest.is_empty()
}

/// A folder of one name for each clone, so that what cargo has built for it can be used again; with
/// the clone in it, as the page wants it.
struct Desk {
    folder: PathBuf,
    /// Where the reader is.
    here: PathBuf,
    server: Option<Child>,
    port: String,
}

impl Desk {
    fn new() -> Self {
        let mut hasher = DefaultHasher::new();
        ROOT.hash(&mut hasher);
        let folder = env::temp_dir().join(format!("bookend-ten-minutes-{:x}", hasher.finish()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).expect("a folder");
        std::os::unix::fs::symlink(ROOT, folder.join("bookend")).expect("a link");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let port = listener.local_addr().expect("its address").port().to_string();
        Self { here: folder.clone(), folder, server: None, port }
    }

    fn shell(&self, command: &str) -> Command {
        let own = Path::new(BOOKEND).parent().expect("a folder");
        let path = env::var_os("PATH").unwrap_or_default();
        let paths = [own.to_owned()].into_iter().chain(env::split_paths(&path));
        let mut shell = Command::new("sh");
        shell.args(["-ec", command]).current_dir(&self.here);
        shell.env("PATH", env::join_paths(paths).expect("paths without colons"));
        shell.env("CARGO_NET_OFFLINE", "true").env("CARGO_TERM_QUIET", "true");
        shell.env("CARGO_TARGET_DIR", own.parent().expect("the folder of all profiles"));
        // As scripts/packages builds the same libraries: each uses what the other has built.
        shell.env("CARGO_PROFILE_DEV_DEBUG", "false");
        shell.stderr(self.errors());
        shell
    }

    fn errors(&self) -> File {
        let file = self.folder.join("errors");
        File::options().create(true).append(true).open(file).expect("a file")
    }

    fn said_errors(&self) -> String {
        fs::read_to_string(self.folder.join("errors")).unwrap_or_default()
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Write { path, text } => {
                let path = self.here.join(path);
                fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
                fs::write(path, text.replace(PORT, &self.port)).expect("a file");
            }
            Step::Run { command, says } => {
                let says: Vec<String> =
                    says.iter().map(|line| line.replace(PORT, &self.port)).collect();
                match command.as_str() {
                    SERVER => self.serve(&says),
                    _ if command.starts_with("openssl") && !has_openssl() => self.certify(),
                    _ => self.run(&command.replace(PORT, &self.port), &says),
                }
            }
        }
    }

    /// Runs to the end. The folder may be another one afterwards.
    fn run(&mut self, command: &str, says: &[String]) {
        let output = self.shell(&format!("{command}\npwd")).output().expect("a shell");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{command}\n{said}\n{}", self.said_errors());
        let mut lines: Vec<&str> = said.lines().collect();
        self.here = lines.pop().expect("the folder").into();
        let all = says.len() == lines.len() || says.is_empty();
        let each = std::iter::zip(&lines, says).all(|(line, expected)| is_said(line, expected));
        assert!(all && each, "{command}\nsays {lines:#?}\nnot {says:#?}");
    }

    fn serve(&mut self, says: &[String]) {
        self.end_server();
        let mut command = self.shell(&format!("exec {SERVER}"));
        let mut server = command.stdout(Stdio::piped()).spawn().expect("a shell");
        let mut lines = BufReader::new(server.stdout.take().expect("a pipe")).lines();
        self.server = Some(server);
        for expected in says {
            let line = lines.next().and_then(Result::ok).unwrap_or_default();
            assert!(is_said(&line, expected), "{line:?}, not {expected:?}\n{}", self.said_errors());
        }
    }

    /// Each in a folder of its own next to the clone; how many there are.
    fn build_printed_manifests(&mut self) -> usize {
        let texts = pages(Path::new(ROOT)).into_iter().map(fs::read_to_string);
        let pages: Vec<String> = texts.map(|text| text.expect("a text")).collect();
        let all: Vec<&str> = pages.iter().flat_map(|page| manifests(page)).collect();
        for (number, manifest) in all.iter().enumerate() {
            let package = "[package]\nname = \"printed\"\nedition = \"2024\"\n\n";
            let is_whole = manifest.contains("[package]\n");
            let whole =
                if is_whole { (*manifest).to_owned() } else { package.to_owned() + manifest };
            self.here = self.folder.join(format!("printed-{number}"));
            let files = [("Cargo.toml", &*whole), ("build.rs", MAIN), ("src/main.rs", MAIN)];
            for (path, text) in files {
                self.take(Step::Write { path: path.into(), text: text.into() });
            }
            println!("{manifest}");
            self.run("cargo build", &[]);
        }
        all.len()
    }

    fn end_server(&mut self) {
        if let Some(mut server) = self.server.take() {
            let _ = server.kill();
            let _ = server.wait();
        }
    }

    fn certify(&self) {
        let authority = Authority::new();
        let own = authority.issue(&["localhost", "127.0.0.1"]);
        let all = [
            (authority.file(), "ca.pem"),
            (own.certificate, "server.pem"),
            (own.key, "server.key"),
        ];
        for (from, to) in all {
            fs::copy(from, self.here.join(to)).expect("a file");
        }
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        self.end_server();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn has_openssl() -> bool {
    Command::new("openssl").arg("version").output().is_ok_and(|output| output.status.success())
}

#[test]
fn whoever_types_the_page_has_a_service() {
    let mut desk = Desk::new();
    for step in steps(PAGE) {
        desk.take(step);
    }
    let errors = desk.said_errors();
    assert!(!errors.lines().any(|line| line.starts_with("warning")), "{errors}");
    // At the same desk: the libraries lie at the same path, and are built already.
    let printed = desk.build_printed_manifests();
    assert!(printed >= 3, "{printed} manifests");
}

/// Characters that a practised typist writes in a minute.
const TYPED_A_MINUTE: usize = 320;

#[test]
fn ten_minutes_are_enough_to_type_it() {
    let mut known = HashSet::new();
    let steps = steps(PAGE);
    let texts = steps.iter().map(|step| match step {
        Step::Write { text, .. } => text,
        Step::Run { command, .. } => command,
    });
    // A line that is there already, as where a file grows, is not typed again; nor are indents.
    let lines = texts.flat_map(|text| text.lines()).map(str::trim);
    let typed: usize = lines.filter(|line| known.insert(*line)).map(|line| line.len() + 1).sum();
    assert!(typed <= 10 * TYPED_A_MINUTE, "{typed} characters");
}

#[test]
fn a_page_is_files_and_commands_and_what_they_say() {
    let page =
        "# A\n\nIn `a/b`:\n\n```c\nd\n\ne\n```\n\nf\n\n```sh\ng\n```\n\n```text\nh\ni\n```\n";
    let write = Step::Write { path: "a/b".into(), text: "d\n\ne\n".into() };
    let run = Step::Run { command: "g".into(), says: vec!["h".into(), "i".into()] };
    assert_eq!(steps(page), [write, run]);
}

#[test]
fn a_manifest_is_a_block_with_dependencies_of_cargo() {
    let page = "# A\n\n```toml\n[dependencies]\na = \"1\"\n```\n\n[dependencies]\n\n\
                ```toml\n[[dependencies]]\n```\n\n```text\n[dependencies]\n```\n";
    assert_eq!(manifests(page), ["[dependencies]\na = \"1\""]);
}

#[test]
fn what_is_said_is_compared_but_for_what_varies() {
    assert!(is_said("OK, 14 bytes in 0.3 ms", "OK, 14 bytes in … ms"));
    assert!(is_said("OK", "OK"));
    for other in ["OK, 15 bytes in 0.3 ms", "OK, 14 bytes in 0.3 ms.", "no, OK, 14 bytes in 1 ms"] {
        assert!(!is_said(other, "OK, 14 bytes in … ms"), "{other}");
    }
}
