//! A server that is attacked: started here, on the loopback, and ended here.

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// A server that listens.
pub struct Victim {
    process: Child,
    pub port: u16,
}

impl Victim {
    /// Starts a command of the contract's. It has to become the server, not to start it: memory is
    /// that of one process. `BOOKEND_CPUS` says how many threads it
    /// is to have.
    pub fn start(command: &str, threads: u32) -> io::Result<Self> {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("exec {command}")]);
        shell
            .env("BOOKEND_CONTRACT", "1")
            .env("BOOKEND_ROLE", "server")
            .env("BOOKEND_CPUS", threads.to_string());
        shell.env("BOOKEND_METHOD", "helloworld.Greeter/SayHello");
        shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = shell.spawn()?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().expect("it is piped")).read_line(&mut line)?;
        let port = line.strip_prefix("ready ").and_then(|port| port.trim_end().parse().ok());
        let Some(port) = port else {
            let _ = process.kill();
            let _ = process.wait();
            return Err(io::Error::other(format!("it said {line:?}, not where it listens")));
        };
        Ok(Self { process, port })
    }

    /// Memory that it occupies now, bytes; 0 once it has ended.
    pub fn memory_bytes(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        kilobytes.unwrap_or_default() << 10
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
