//! What is raced, as users write it: servers by `NAME=COMMAND`, `NAME@PORT=COMMAND` or, where they
//! run already, `NAME=HOST:PORT`, or clients by `NAME=COMMAND`. Errors name the word that is wrong.

use super::clients::RaceClient;
use super::server::{PORT_WORD, RacePort, RaceServerSpec, RaceStart};
use bookend_contract::secrets::in_command;
use bookend_contract::shell_words::quoted;
use bookend_results::race::RaceServerName;
use bookend_results::suite::TestedEnd;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::PathBuf;

/// The contestants: two, or one; the baseline first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContestantSpecs {
    /// Servers, which are called.
    Servers(Vec<RaceServerSpec>),
    /// Clients, which call the reference server.
    Clients(Vec<RaceClient>),
}

impl ContestantSpecs {
    /// Servers by their commands, and by the addresses of those that run already.
    ///
    /// # Errors
    /// A word is wrong.
    pub fn servers(commands: &[String], running: &[String]) -> Result<ContestantSpecs, String> {
        let commands = commands.iter().map(|word| command(word));
        let running = running.iter().map(|word| running_server(word));
        commands.chain(running).collect::<Result<_, _>>().map(ContestantSpecs::Servers)
    }

    /// A server for each revision, which is its name. Where it is checked out is known later.
    ///
    /// # Errors
    /// The command is not told its port.
    pub fn of_revisions(command: &str, revisions: &[String]) -> Result<ContestantSpecs, String> {
        if !command.contains(PORT_WORD) {
            let command = in_command(command);
            return Err(format!(
                "`{command}` is not told its port: put {PORT_WORD} where it takes it"
            ));
        }
        let spec = |revision: &String| started_by(revision, command, RacePort::Told);
        Ok(ContestantSpecs::Servers(revisions.iter().map(spec).collect()))
    }

    /// Clients by their commands.
    ///
    /// # Errors
    /// A word is wrong.
    pub fn clients(commands: &[String]) -> Result<ContestantSpecs, String> {
        let clients = commands.iter().map(|word| client(word));
        clients.collect::<Result<_, _>>().map(ContestantSpecs::Clients)
    }

    /// The same with these variables set for every command, and `prepare` run before it.
    ///
    /// # Errors
    /// No command is started.
    pub fn begun_with(
        mut self,
        variables: &[(String, String)],
        prepare: Option<&str>,
    ) -> Result<ContestantSpecs, String> {
        let beginning = beginning(variables, prepare);
        if beginning.is_empty() {
            return Ok(self);
        }
        let mut commands: Vec<&mut String> = match &mut self {
            ContestantSpecs::Servers(servers) => servers.iter_mut().filter_map(started).collect(),
            ContestantSpecs::Clients(clients) => {
                clients.iter_mut().map(|one| &mut one.command).collect()
            }
        };
        if commands.is_empty() {
            return Err("--env and --prepare: no command is started".to_owned());
        }
        commands.iter_mut().for_each(|command| command.insert_str(0, &beginning));
        Ok(self)
    }

    /// The same with the baseline first.
    ///
    /// # Errors
    /// There are too few or too many, two have one name, or none is called like the baseline.
    pub fn in_order(mut self, baseline: Option<&str>) -> Result<ContestantSpecs, String> {
        let (what, at) = match self {
            ContestantSpecs::Servers(_) => ("server", ", or --at NAME=HOST:PORT"),
            ContestantSpecs::Clients(_) => ("client", ""),
        };
        let names = self.names();
        if let [first, second] = names.as_slice()
            && first == second
        {
            return Err(format!("both {what}s are called `{first}`"));
        }
        if !(1..=2).contains(&names.len()) {
            return Err(format!(
                "two {what}s are raced, and one is measured: give each as 'NAME=COMMAND'{at}"
            ));
        }
        let Some(baseline) = baseline else {
            return Ok(self);
        };
        let missing = || format!("--baseline: no {what} is called `{baseline}`");
        let place = names.iter().position(|name| *name == baseline).ok_or_else(missing)?;
        match &mut self {
            ContestantSpecs::Servers(servers) => servers.swap(0, place),
            ContestantSpecs::Clients(clients) => clients.swap(0, place),
        }
        Ok(self)
    }

    /// Which end they are.
    pub fn tested(&self) -> TestedEnd {
        match self {
            ContestantSpecs::Servers(_) => TestedEnd::Server,
            ContestantSpecs::Clients(_) => TestedEnd::Client,
        }
    }

    /// Their names.
    pub fn names(&self) -> Vec<&str> {
        match self {
            ContestantSpecs::Servers(servers) => {
                servers.iter().map(|server| server.name.as_str()).collect()
            }
            ContestantSpecs::Clients(clients) => {
                clients.iter().map(|client| client.name.as_str()).collect()
            }
        }
    }

    /// How they are named and started.
    pub fn named(&self) -> Vec<RaceServerName> {
        let commands: Vec<String> = match self {
            ContestantSpecs::Servers(servers) => servers.iter().map(shown_start).collect(),
            ContestantSpecs::Clients(clients) => {
                clients.iter().map(|client| client.command.clone()).collect()
            }
        };
        let named =
            |(name, command): (&str, String)| RaceServerName { name: name.to_owned(), command };
        self.names().into_iter().zip(commands).map(named).collect()
    }
}

fn shown_start(server: &RaceServerSpec) -> String {
    match &server.start {
        RaceStart::Command { command, .. } => command.clone(),
        RaceStart::Running(address) => address.to_string(),
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
    Ok(started_by(&name, command, port))
}

fn started_by(name: &str, command: &str, port: RacePort) -> RaceServerSpec {
    let (command, folder) = (command.to_owned(), PathBuf::from("."));
    let start = RaceStart::Command { command, port, folder };
    RaceServerSpec { name: name.to_owned(), start }
}

fn running_server(word: &str) -> Result<RaceServerSpec, String> {
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
        let error = running_server("a=nowhere").unwrap_err();
        assert!(error.contains("--at") && error.contains("NAME=HOST:PORT"), "{error}");
        let there = running_server("a=127.0.0.1:5").unwrap().start;
        assert_eq!(there, RaceStart::Running(([127, 0, 0, 1], 5).into()));
    }
}
