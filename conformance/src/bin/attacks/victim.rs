//! A server that is attacked: started here, on the loopback, and ended here.

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Child, Command, Stdio};

use bookend_client::tls::{Authorities, ClientConfig, Trust};
use bookend_client::{Channel, ChannelOptions};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::CertificateDer;
use tempfile::TempDir;

/// Where a server listens.
#[derive(Clone)]
pub struct ServerEnd {
    port: u16,
    /// With TLS: its certificate, which nobody else has signed.
    pub authority: Option<CertificateDer<'static>>,
}

impl ServerEnd {
    pub fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }
}

/// A server that listens.
pub struct Victim {
    process: Child,
    pub end: ServerEnd,
    options: ChannelOptions,
}

impl Victim {
    /// Starts a command of the contract's. It has to become the server, not to start it: memory is
    /// that of one process. `BOOKEND_CPUS` says how many threads it
    /// is to have.
    pub fn start(command: &str, threads: u32, with_tls: bool) -> io::Result<Self> {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("exec {command}")]);
        shell
            .env("BOOKEND_CONTRACT", "1")
            .env("BOOKEND_ROLE", "server")
            .env("BOOKEND_CPUS", threads.to_string());
        shell.env("BOOKEND_METHOD", "helloworld.Greeter/SayHello");
        let tls = with_tls.then(|| Tls::of(&mut shell)).transpose()?;
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
        let (authority, config) = tls.map(|tls| (tls.authority, tls.config)).unzip();
        let options = ChannelOptions { tls: config, ..ChannelOptions::default() };
        Ok(Self { process, end: ServerEnd { port, authority }, options })
    }

    /// A channel to it, for somebody who is not an attacker.
    pub fn channel(&self) -> io::Result<Channel> {
        let target = self.end.address().to_string();
        Channel::connect(&target, self.options.clone()).map_err(io::Error::other)
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

/// A certificate that lives as long as it takes a server to start, and who trusts it.
struct Tls {
    authority: CertificateDer<'static>,
    config: ClientConfig,
    _folder: TempDir,
}

impl Tls {
    /// Gives the server files, as docs/extend/subject-contract.md says.
    fn of(server: &mut Command) -> io::Result<Self> {
        let names = ["localhost", "127.0.0.1"].map(str::to_owned);
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(names).map_err(io::Error::other)?;
        let folder = tempfile::tempdir()?;
        let [certificate, key] = ["server.pem", "server.key"].map(|name| folder.path().join(name));
        fs::write(&certificate, cert.pem())?;
        fs::write(&key, signing_key.serialize_pem())?;
        server
            .env("BOOKEND_TRANSPORT", "tls")
            .env("BOOKEND_TLS_CA", &certificate)
            .env("BOOKEND_TLS_CERTIFICATE", &certificate)
            .env("BOOKEND_TLS_KEY", &key);
        let trusted = Authorities::from_pem(cert.pem().as_bytes()).map_err(io::Error::other)?;
        let config = ClientConfig::new(Trust::Signed(trusted), None).map_err(io::Error::other)?;
        Ok(Self { authority: cert.der().clone(), config, _folder: folder })
    }
}
