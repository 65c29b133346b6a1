//! `suites/originals.toml`, read.

use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// The root of the project.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What the documents tell their readers to run.
pub struct List {
    /// Servers that commands need.
    servers: Vec<Server>,
    /// The commands, in the order of the file.
    pub commands: Vec<Command>,
}

/// A server and where it listens.
pub struct Server {
    /// Its name in the file.
    pub name: String,
    /// Relative to the root.
    pub folder: String,
    /// As printed.
    pub line: String,
    /// On loopback.
    pub port: u16,
}

/// A command as printed.
pub struct Command {
    /// The suite whose document prints it.
    pub suite: String,
    /// Relative to the root.
    pub folder: String,
    /// Names of servers.
    pub servers: Vec<String>,
    /// As printed.
    pub line: String,
    /// Our own program, which takes the same words.
    also: Option<String>,
    /// When Ctrl-C is pressed.
    pub interrupt: Interrupt,
    /// What has to be on its standard output.
    prints: Vec<String>,
}

/// When Ctrl-C is pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupt {
    Never,
    AfterSeconds(u64),
    /// Once the command has printed this.
    AfterText(&'static str),
}

impl List {
    /// Reads the file. It is ours, so whatever is wrong with it fails the test.
    pub fn read() -> Self {
        let file = root().join("suites/originals.toml");
        let text = std::fs::read_to_string(file).expect("the list of commands is in the tree");
        let table: Table = text.parse().expect("the list of commands is TOML");
        List {
            servers: tables(&table, "servers").map(Server::read).collect(),
            commands: tables(&table, "commands").map(Command::read).collect(),
        }
    }

    /// The server of that name.
    pub fn server(&self, name: &str) -> &Server {
        let mut servers = self.servers.iter();
        let found = servers.find(|server| server.name == name);
        found.unwrap_or_else(|| panic!("the list has no server {name}"))
    }
}

impl Server {
    fn read(table: &Table) -> Self {
        let port = table["port"].as_integer().expect("a port is a number");
        Server {
            name: text(&table["name"]),
            folder: text(&table["folder"]),
            line: text(&table["line"]),
            port: u16::try_from(port).expect("a port has sixteen bits"),
        }
    }
}

impl Command {
    fn read(table: &Table) -> Self {
        let interrupt = table.get("interrupt_after").map_or(Interrupt::Never, |seconds| {
            let seconds = seconds.as_integer().expect("seconds are a number");
            Interrupt::AfterSeconds(seconds.unsigned_abs())
        });
        Command {
            suite: text(&table["suite"]),
            folder: text(&table["folder"]),
            servers: texts(&table["servers"]),
            line: text(&table["line"]),
            also: table.get("also").map(text),
            interrupt,
            prints: texts(&table["prints"]),
        }
    }

    /// The same words after the name of our own program.
    pub fn line_with_ours(&self) -> Option<String> {
        let ours = self.also.as_ref()?;
        let (_, words) = self.line.split_once(' ')?;
        Some(format!("{ours} {words}"))
    }

    /// What is missing in the output of `line`.
    pub fn complaint(&self, line: &str, output: &str) -> Option<String> {
        let mut prints = self.prints.iter();
        let missing = prints.find(|text| !output.contains(text.as_str()))?;
        Some(format!("`{missing}` was not printed by\n{line}\nbut:\n{output}"))
    }
}

fn tables<'a>(table: &'a Table, key: &str) -> impl Iterator<Item = &'a Table> {
    let array = table[key].as_array().expect("an array of tables");
    array.iter().map(|value| value.as_table().expect("a table"))
}

fn texts(value: &Value) -> Vec<String> {
    let array = value.as_array().expect("an array of texts");
    array.iter().map(text).collect()
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}
