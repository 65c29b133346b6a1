//! The contestants: servers by `NAME=COMMAND`, `NAME@PORT=COMMAND` or `--at NAME=HOST:PORT`, or
//! clients by `NAME=COMMAND`.

use super::arguments::RaceArguments;
use crate::shell::quoted;
use crate::terminal::Failure;
use bookend_contract::gate::Gate;
use bookend_contract::secrets::in_command;
use bookend_lab::race::{PORT_WORD, RaceClient, RacePort, RaceServerSpec, RaceStart};
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::PathBuf;

/// The contestants: two, or one; the baseline first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Specs {
    /// Servers, which are called.
    Servers(Vec<RaceServerSpec>),
    /// Clients, which call the reference server.
    Clients(Vec<RaceClient>),
}

impl Specs {
    /// Reads them.
    ///
    /// # Errors
    /// [`Failure`] naming the word that is wrong.
    pub fn read(arguments: &RaceArguments) -> Result<Specs, Failure> {
        let words = &arguments.call.targets;
        let specs = if arguments.client {
            let clients = words
                .iter()
                .map(|word| client(word))
                .collect::<Result<_, _>>()
                .map_err(Failure::usage)?;
            Specs::Clients(clients)
        } else if !arguments.rev.is_empty() {
            Specs::Servers(of_revisions(arguments).map_err(Failure::usage)?)
        } else {
            let commands = words.iter().map(|word| command(word));
            let running = arguments.at.iter().map(|word| running(word));
            let servers =
                commands.chain(running).collect::<Result<_, _>>().map_err(Failure::usage)?;
            Specs::Servers(servers)
        };
        specs.begun_with(arguments)?.in_order(arguments.baseline.as_deref())
    }

    /// Every command with `--env` and `--prepare` before it.
    fn begun_with(mut self, arguments: &RaceArguments) -> Result<Specs, Failure> {
        let beginning = beginning(&arguments.env, arguments.prepare.as_deref());
        if beginning.is_empty() {
            return Ok(self);
        }
        let mut commands: Vec<&mut String> = match &mut self {
            Specs::Servers(servers) => servers.iter_mut().filter_map(started).collect(),
            Specs::Clients(clients) => clients.iter_mut().map(|one| &mut one.command).collect(),
        };
        if commands.is_empty() {
            return Err(Failure::usage("--env and --prepare: no command is started"));
        }
        commands.iter_mut().for_each(|command| command.insert_str(0, &beginning));
        Ok(self)
    }

    /// Their names.
    pub fn names(&self) -> Vec<&str> {
        match self {
            Specs::Servers(servers) => servers.iter().map(|server| server.name.as_str()).collect(),
            Specs::Clients(clients) => clients.iter().map(|client| client.name.as_str()).collect(),
        }
    }

    fn in_order(mut self, baseline: Option<&str>) -> Result<Specs, Failure> {
        let (what, names) = (self.what(), self.names());
        if let [first, second] = names.as_slice()
            && first == second
        {
            return Err(Failure::usage(format!("both {what}s are called `{first}`")));
        }
        if !(1..=2).contains(&names.len()) {
            let at = if what == "server" { ", or --at NAME=HOST:PORT" } else { "" };
            return Err(Failure::usage(format!(
                "two {what}s are raced, and one is measured: give each as 'NAME=COMMAND'{at}"
            )));
        }
        let Some(baseline) = baseline else {
            return Ok(self);
        };
        let missing = || Failure::usage(format!("--baseline: no {what} is called `{baseline}`"));
        let place = names.iter().position(|name| *name == baseline).ok_or_else(missing)?;
        match &mut self {
            Specs::Servers(servers) => servers.swap(0, place),
            Specs::Clients(clients) => clients.swap(0, place),
        }
        Ok(self)
    }

    fn what(&self) -> &'static str {
        match self {
            Specs::Servers(_) => "server",
            Specs::Clients(_) => "client",
        }
    }

    /// What the race has to show, or must not.
    ///
    /// # Errors
    /// A gate names nobody who is compared.
    pub fn gates(&self, arguments: &RaceArguments) -> Result<Vec<Gate>, Failure> {
        let figures = match self.names().as_slice() {
            [first, second] => vec![*second, *first, "ratio"],
            _ => Vec::new(),
        };
        arguments.gates.gates(&figures)
    }
}

fn started(server: &mut RaceServerSpec) -> Option<&mut String> {
    match &mut server.start {
        RaceStart::Command { command, .. } => Some(command),
        RaceStart::Running(_) => None,
    }
}

/// What a command line of the shell begins with for its variables and what is run before it.
fn beginning(variables: &[(String, String)], prepare: Option<&str>) -> String {
    variables
        .iter()
        .map(|(name, value)| format!("export {name}={}; ", quoted(value)))
        // On lines of its own, so that a comment at its end hides nothing.
        .chain(prepare.map(|prepare| format!("(\n{prepare}\n) >&2 || exit; ")))
        .collect()
}

/// A client gets its target from variables.
fn client(word: &str) -> Result<RaceClient, String> {
    let (name, command) = split(word, "NAME=COMMAND")?;
    if command.contains(PORT_WORD) {
        let word = in_command(word);
        return Err(format!(
            "`{word}`: a client gets its target from the variable BOOKEND_TARGET, not from \
             {PORT_WORD}"
        ));
    }
    Ok(RaceClient { name: named(name, word)?, command: command.to_owned() })
}

fn command(word: &str) -> Result<RaceServerSpec, String> {
    let (name, command) = split(word, "NAME=COMMAND")?;
    let (name, port) = match name.split_once('@') {
        Some((name, port)) => {
            let no_port = |_| format!("`{}` names no port after the @", in_command(word));
            let port = port.parse().map_err(no_port)?;
            (name, if port == 0 { RacePort::Unknown } else { RacePort::Own(port) })
        }
        None => (name, RacePort::Told),
    };
    let name = named(name, word)?;
    if port == RacePort::Told && !command.contains(PORT_WORD) {
        let word = in_command(word);
        return Err(format!(
            "`{word}` is not told its port: put {{port}} where the command takes it, or write \
             {name}@PORT=COMMAND, with 0 where it chooses one by itself"
        ));
    }
    let (command, folder) = (command.to_owned(), PathBuf::from("."));
    let start = RaceStart::Command { command, port, folder };
    Ok(RaceServerSpec { name, start })
}

/// A server for each revision, which is its name. Where it is checked out is known later.
fn of_revisions(arguments: &RaceArguments) -> Result<Vec<RaceServerSpec>, String> {
    let ([command], []) = (arguments.call.targets.as_slice(), arguments.at.as_slice()) else {
        return Err("--rev: one command is started in each revision, and nothing else".to_owned());
    };
    if !command.contains(PORT_WORD) {
        let command = in_command(command);
        return Err(format!("`{command}` is not told its port: put {PORT_WORD} where it takes it"));
    }
    let spec = |revision: &String| RaceServerSpec {
        name: revision.clone(),
        start: RaceStart::Command {
            command: command.clone(),
            port: RacePort::Told,
            folder: PathBuf::from("."),
        },
    };
    Ok(arguments.rev.iter().map(spec).collect())
}

fn running(word: &str) -> Result<RaceServerSpec, String> {
    let (name, target) = split(word, "NAME=HOST:PORT")?;
    let found: Vec<SocketAddr> = target
        .to_socket_addrs()
        .map_err(|error| format!("--at {word}: {error}: a server that runs is NAME=HOST:PORT"))?
        .collect();
    let address = found
        .iter()
        .find(|address| address.is_ipv4())
        .or(found.first())
        .ok_or_else(|| format!("--at {word}: no address"))?;
    Ok(RaceServerSpec { name: named(name, word)?, start: RaceStart::Running(*address) })
}

fn split<'a>(word: &'a str, form: &str) -> Result<(&'a str, &'a str), String> {
    word.split_once('=').ok_or_else(|| format!("`{}` has no name: write {form}", in_command(word)))
}

/// A name stands in sentences and in conditions.
fn named(name: &str, word: &str) -> Result<String, String> {
    let fits = |letter: char| letter.is_alphanumeric() || "-_.+/".contains(letter);
    if name.is_empty() || !name.chars().all(fits) {
        let word = in_command(word);
        return Err(format!("`{word}` begins with no name: letters, digits and -_.+/ make one"));
    }
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_a_name_and_a_port() {
        let free = command("old=./server --port {port} --x=1").unwrap();
        assert_eq!(free.name, "old");
        let start = |command: &str, port| RaceStart::Command {
            command: command.into(),
            port,
            folder: ".".into(),
        };
        assert_eq!(free.start, start("./server --port {port} --x=1", RacePort::Told));
        assert_eq!(command("a@7=./b").unwrap().start, start("./b", RacePort::Own(7)));
        assert_eq!(command("a@0=./b").unwrap().start, start("./b", RacePort::Unknown));
    }

    #[test]
    fn a_command_begins_with_its_variables_and_what_prepares_it() {
        let run = |line: &str| {
            let output = std::process::Command::new("/bin/sh").args(["-c", line]).output().unwrap();
            (output.status.success(), String::from_utf8(output.stdout).unwrap())
        };
        let variables = [("WHOM".to_owned(), "it's $HOME".to_owned())];
        let begun = beginning(&variables, Some("echo unseen # a comment"));
        assert_eq!(run(&format!("{begun}echo \"$WHOM\"")), (true, "it's $HOME\n".to_owned()));
        let failing = beginning(&[], Some("exit 7"));
        assert_eq!(run(&format!("{failing}echo started")), (false, String::new()));
        assert_eq!(beginning(&[], None), "");
    }

    #[test]
    fn what_is_wrong_with_a_server_is_said_with_what_to_write() {
        for (word, said) in [
            ("./server", "has no name"),
            ("=./server {port}", "begins with no name"),
            ("=x", "begins with no name"),
            ("a b=x", "begins with no name"),
            ("a b=./server {port}", "begins with no name"),
            ("a=./server", "put {port}"),
            ("a@x=./server", "no port after the @"),
            ("a@70000=./server", "no port after the @"),
        ] {
            let error = command(word).unwrap_err();
            assert!(error.contains(said), "{word}: {error}");
        }
        for word in
            ["./a --token abc", "=TOKEN=abc ./a {port}", "a=./a --token abc", "a@x=T_KEY=abc"]
        {
            let error = command(word).unwrap_err();
            assert!(error.contains("masked (3 bytes)") && !error.contains("abc"), "{error}");
        }
        assert!(client("a@5=./client").unwrap_err().contains("begins with no name"));
        assert!(client("a=./client {port}").unwrap_err().contains("BOOKEND_TARGET"));
        let error = running("a=nowhere").unwrap_err();
        assert!(error.contains("--at") && error.contains("NAME=HOST:PORT"), "{error}");
        let there = running("a=127.0.0.1:5").unwrap().start;
        assert_eq!(there, RaceStart::Running(([127, 0, 0, 1], 5).into()));
    }
}
