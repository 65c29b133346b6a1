//! How a user names a server: `host:port`, or with a scheme of gRPC's naming.

use bookend_io::{Address, reason};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::num::NonZeroU16;
use std::path::PathBuf;
use std::str::FromStr;
use thiserror::Error;

/// A server as a user names it. `Display` writes it so that it can be read again.
///
/// - `host:port`: the first address of the host that can be connected to; `:port` is this machine's
/// - `dns:host:port`, `dns:///host:port`: all addresses of the host
/// - `ipv4:address:port`, `ipv6:[address]:port`
/// - `unix:path`, `unix:///path`, `unix-abstract:name`
/// - `passthrough:///target`: the target
///
/// Schemes may have capital letters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TargetName {
    scheme: Scheme,
    /// As it was written.
    text: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Scheme {
    Host {
        host: String,
        port: u16,
        /// Whether all of its addresses are meant.
        all: bool,
    },
    Ip(SocketAddr),
    Unix(PathBuf),
}

/// Why a text is not a target, or has no address. Always the user's fault; the message says what to
/// write instead.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TargetError {
    /// No target was named.
    #[error("the target is missing: add HOST:PORT")]
    Missing,
    /// There is no port after this host.
    #[error("target {0} has no port: write {0}:50051")]
    PortMissing(String),
    /// This port is not a number from 1 to 65535.
    #[error("port \"{0}\" is not a number from 1 to 65535")]
    PortWrong(String),
    /// The name has no address.
    #[error(
        "cannot find the address of {host} ({reason}): correct the target, or look after this \
         machine's DNS"
    )]
    Unresolved {
        /// The name.
        host: String,
        /// The resolver's words.
        reason: String,
    },
    /// This name server was given: names are resolved as the system does it.
    #[error("names are resolved as the system does it, not by {0}: write dns:///HOST:PORT")]
    NameServer(String),
    /// The address is not of the kind that the scheme is for.
    #[error("\"{address}\" is no {scheme} address: write one like {example}")]
    AddressWrong {
        /// `ipv4` or `ipv6`.
        scheme: &'static str,
        /// A target of this scheme.
        example: &'static str,
        /// The text in its place.
        address: String,
    },
    /// The path of this text is empty, or relative where it may not be.
    #[error("target \"{0}\" has no path: write unix:PATH, or unix:///PATH for one from the root")]
    PathWrong(String),
    /// This scheme is one of gRPC's, and what to write instead.
    #[error("{0} targets are not supported: {1}")]
    SchemeUnsupported(String, &'static str),
    /// The text is a URL.
    #[error("target \"{target}\" is a URL: write {instead}")]
    Url {
        /// The text.
        target: String,
        /// A target for the same server.
        instead: String,
    },
    /// This text has an unknown scheme, or a path.
    #[error(
        "target \"{0}\" is not HOST:PORT: write one like localhost:50051, dns:///HOST:PORT or \
         unix:PATH"
    )]
    NotHostPort(String),
}

impl TargetName {
    /// The `:authority` of calls to it, as grpc-go has it: host and port; `localhost` for a unix
    /// socket.
    pub fn authority(&self) -> String {
        match &self.scheme {
            Scheme::Host { host, port, .. } => format!("{}:{port}", bracketed(host)),
            Scheme::Ip(address) => address.to_string(),
            Scheme::Unix(_) => UNIX_AUTHORITY.to_owned(),
        }
    }

    /// The name that a certificate has to be for: the host without its port, and without brackets;
    /// `localhost` for a unix socket.
    pub fn host(&self) -> String {
        match &self.scheme {
            Scheme::Host { host, .. } => host.clone(),
            Scheme::Ip(address) => address.ip().to_string(),
            Scheme::Unix(_) => UNIX_AUTHORITY.to_owned(),
        }
    }

    /// Whether all addresses are meant, not any of them.
    pub(super) fn means_all(&self) -> bool {
        matches!(self.scheme, Scheme::Host { all: true, .. })
    }

    /// Whether it may have other addresses later.
    pub(super) fn may_change(&self) -> bool {
        match &self.scheme {
            Scheme::Host { host, .. } => host.parse::<IpAddr>().is_err(),
            Scheme::Ip(_) | Scheme::Unix(_) => false,
        }
    }

    /// All addresses that it stands for, each once, as the system's resolver gives them. At least
    /// one.
    ///
    /// # Errors
    /// [`TargetError::Unresolved`].
    pub fn resolve(&self) -> Result<Vec<Address>, TargetError> {
        let (host, port) = match &self.scheme {
            Scheme::Ip(address) => return Ok(vec![(*address).into()]),
            Scheme::Unix(path) => return Ok(vec![Address::Unix(path.clone())]),
            Scheme::Host { host, port, .. } => (host, *port),
        };
        let unresolved = |reason: String| TargetError::Unresolved { host: host.clone(), reason };
        let found = (host.as_str(), port).to_socket_addrs().map_err(|error| {
            let text = reason(&error);
            unresolved(text.strip_prefix(OF_STD).unwrap_or(&text).to_owned())
        })?;
        let mut addresses: Vec<Address> = Vec::new();
        for address in found.map(Address::Tcp) {
            if !addresses.contains(&address) {
                addresses.push(address);
            }
        }
        if addresses.is_empty() {
            return Err(unresolved("it has no address".to_owned()));
        }
        Ok(addresses)
    }
}

/// What the standard library says before the resolver's words.
const OF_STD: &str = "failed to lookup address information: ";

/// Stands in for the host of a unix socket, which has none: grpc-go's word.
const UNIX_AUTHORITY: &str = "localhost";

impl FromStr for TargetName {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        let text = without_passthrough(text);
        let (scheme, rest) = split_scheme(text);
        let scheme = match scheme.as_str() {
            "dns" => host_of_dns(rest)?,
            "unix" => unix(text, rest)?,
            "unix-abstract" => unix_abstract(text, rest)?,
            "ipv4" => ip::<Ipv4Addr>("ipv4", "ipv4:127.0.0.1:50051", rest)?,
            "ipv6" => ip::<Ipv6Addr>("ipv6", "ipv6:[::1]:50051", &with_brackets(rest))?,
            // A host of such a name may have a port.
            scheme if rest.parse::<u16>().is_err() => {
                check_scheme(text, scheme, rest)?;
                host(text, false)?
            }
            _ => host(text, false)?,
        };
        let mut name = Self { scheme, text: text.to_owned() };
        if matches!(name.scheme, Scheme::Host { all: false, .. }) {
            name.text = name.authority();
        }
        Ok(name)
    }
}

/// What precedes the first colon, in small letters, and what comes after it.
fn split_scheme(text: &str) -> (String, &str) {
    let (scheme, rest) = text.split_once(':').unwrap_or(("", text));
    (scheme.to_ascii_lowercase(), rest)
}

/// gRPC's `passthrough:[//anything/]target` is for programs that resolve names themselves: it is
/// the target.
fn without_passthrough(text: &str) -> &str {
    let mut target = text;
    while let ("passthrough", rest) = (split_scheme(target).0.as_str(), split_scheme(target).1) {
        target = match rest.strip_prefix("//") {
            Some(rest) => rest.split_once('/').map_or("", |(_, target)| target),
            None => rest,
        };
    }
    target
}

/// Refuses what is known not to be a host, and says what to write instead.
fn check_scheme(text: &str, scheme: &str, rest: &str) -> Result<(), TargetError> {
    const OF_CONTROL_PLANES: &str = "no control plane is asked where servers are; name them \
         themselves, as HOST:PORT or dns:///HOST:PORT";
    const OF_MACHINES: &str = "give the server an IP address or a unix socket, and write HOST:PORT \
         or unix:PATH";
    let refused = |instead| Err(TargetError::SchemeUnsupported(scheme.to_owned(), instead));
    match scheme {
        "xds" | "google-c2p" | "google-c2p-experimental" => refused(OF_CONTROL_PLANES),
        "vsock" => refused(OF_MACHINES),
        "http" | "https" | "grpc" | "grpcs" | "h2c" | "tcp" if rest.starts_with("//") => {
            let host = rest.trim_start_matches('/').split(['/', '?', '#']).next();
            // The user before it may be a secret, and means nothing to gRPC.
            let host = host.and_then(|host| host.rsplit('@').next());
            let instead = match host.unwrap_or_default() {
                "" => "HOST:PORT".to_owned(),
                host if host.contains(':') => host.to_owned(),
                host if scheme == "https" => format!("{host}:443"),
                host => format!("{host}:50051, with the server's port"),
            };
            Err(TargetError::Url { target: text.to_owned(), instead })
        }
        _ => Ok(()),
    }
}

/// gRPC's naming has the brackets of IPv6 encoded as in URLs.
fn with_brackets(text: &str) -> String {
    ["%5B", "%5b"]
        .iter()
        .fold(text.to_owned(), |text, code| text.replace(code, "["))
        .replace("%5D", "]")
        .replace("%5d", "]")
}

/// `[//server/]host:port`
fn host_of_dns(rest: &str) -> Result<Scheme, TargetError> {
    let Some(rest) = rest.strip_prefix("//") else {
        return host(rest, true);
    };
    match rest.split_once('/') {
        Some(("", name)) => host(name, true),
        Some((server, _)) => Err(TargetError::NameServer(server.to_owned())),
        None => Err(TargetError::NotHostPort(format!("dns://{rest}"))),
    }
}

/// `path`, or `///path`
fn unix(text: &str, rest: &str) -> Result<Scheme, TargetError> {
    let path = rest.strip_prefix("//").unwrap_or(rest);
    let must_be_absolute = path.len() < rest.len();
    if path.is_empty() || (must_be_absolute && !path.starts_with('/')) {
        return Err(TargetError::PathWrong(text.to_owned()));
    }
    Ok(Scheme::Unix(path.into()))
}

/// `name`: a unix socket without a file.
fn unix_abstract(text: &str, name: &str) -> Result<Scheme, TargetError> {
    if name.is_empty() {
        return Err(TargetError::PathWrong(text.to_owned()));
    }
    Ok(Scheme::Unix(format!("\0{name}").into()))
}

fn ip<A: FromStr + Into<IpAddr>>(
    scheme: &'static str,
    example: &'static str,
    rest: &str,
) -> Result<Scheme, TargetError> {
    let (address, port) = host_and_port(rest)?;
    match address.parse::<A>() {
        Ok(address) => Ok(Scheme::Ip(SocketAddr::new(address.into(), port))),
        Err(_) => Err(TargetError::AddressWrong { scheme, example, address: address.to_owned() }),
    }
}

fn host(text: &str, all: bool) -> Result<Scheme, TargetError> {
    let (host, port) = host_and_port(text)?;
    // As in ghz, a port alone is a port of this machine.
    let host = if host.is_empty() { "localhost" } else { host };
    Ok(Scheme::Host { host: host.to_owned(), port, all })
}

fn host_and_port(text: &str) -> Result<(&str, u16), TargetError> {
    let (host, rest) = split_host(text)?;
    let Some(port) = rest.strip_prefix(':') else {
        return Err(TargetError::PortMissing(bracketed(host)));
    };
    match port.parse::<NonZeroU16>() {
        Ok(port) => Ok((host, port.get())),
        Err(_) => Err(TargetError::PortWrong(port.to_owned())),
    }
}

/// The host, and the rest from the colon on.
/// RFC 9113, section 8.3.1.
fn split_host(text: &str) -> Result<(&str, &str), TargetError> {
    let refuse = || TargetError::NotHostPort(text.to_owned());
    let illegal = |c: char| c == '/' || c == '@' || c.is_whitespace() || c.is_control();
    if text.is_empty() || text.contains(illegal) {
        return Err(refuse());
    }
    if let Some(inner) = text.strip_prefix('[') {
        return inner.split_once(']').ok_or_else(refuse);
    }
    match text.split_once(':') {
        Some((_, port)) if port.contains(':') => Ok((text, "")),
        Some((host, _)) => Ok((host, &text[host.len()..])),
        None => Ok((text, "")),
    }
}

fn bracketed(host: &str) -> String {
    if host.contains(':') { format!("[{host}]") } else { host.to_owned() }
}

impl fmt::Display for TargetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<TargetName, String> {
        text.parse().map_err(|error: TargetError| error.to_string())
    }

    /// What it is called in certificates, and in requests.
    fn names(text: &str) -> (String, String) {
        let name = read(text).unwrap();
        (name.host(), name.authority())
    }

    fn pair(host: &str, authority: &str) -> (String, String) {
        (host.to_owned(), authority.to_owned())
    }

    #[test]
    fn hosts_and_addresses_are_read() {
        let localhost = pair("localhost", "localhost:50051");
        assert_eq!(names("localhost:50051"), localhost);
        assert_eq!(names(":50051"), localhost);
        assert_eq!(names("dns:localhost:50051"), localhost);
        assert_eq!(names("dns:///localhost:50051"), localhost);
        assert_eq!(names("127.0.0.1:1"), pair("127.0.0.1", "127.0.0.1:1"));
        assert_eq!(names("ipv4:127.0.0.1:1"), pair("127.0.0.1", "127.0.0.1:1"));
        assert_eq!(names("[::1]:65535"), pair("::1", "[::1]:65535"));
        assert_eq!(names("ipv6:[::1]:65535"), pair("::1", "[::1]:65535"));
    }

    #[test]
    fn the_authority_of_a_unix_socket_is_localhost_as_in_grpc_go() {
        for text in ["unix:/run/echo", "unix:///run/echo", "unix:echo"] {
            assert_eq!(names(text), pair("localhost", "localhost"));
        }
    }

    #[test]
    fn both_ways_to_write_an_absolute_path_mean_the_same_and_one_may_be_relative() {
        let address = |text| read(text).unwrap().resolve().unwrap();
        let unix = |path: &str| vec![Address::Unix(path.into())];
        assert_eq!(address("unix:/run/echo"), unix("/run/echo"));
        assert_eq!(address("unix:///run/echo"), unix("/run/echo"));
        assert_eq!(address("unix:run/echo"), unix("run/echo"));
    }

    #[test]
    fn an_address_is_itself_and_a_host_is_what_the_system_says() {
        let tcp = |address: &str| Address::Tcp(address.parse().unwrap());
        let address = |text| read(text).unwrap().resolve().unwrap();
        assert_eq!(address("ipv6:[::1]:80"), [tcp("[::1]:80")]);
        assert_eq!(address("127.0.0.1:80"), [tcp("127.0.0.1:80")]);
        assert!(address("dns:///localhost:80").contains(&tcp("127.0.0.1:80")));
        let nowhere = read("name.invalid:80").unwrap().resolve().unwrap_err();
        let text = nowhere.to_string();
        assert!(text.starts_with("cannot find the address of name.invalid ("), "{text}");
        assert!(!text.contains("failed to lookup") && !text.contains("os error"), "{text}");
        assert!(text.ends_with("): correct the target, or look after this machine's DNS"));
    }

    #[test]
    fn each_spelling_of_grpc_means_what_it_means_there() {
        let address = |text| read(text).unwrap().resolve().unwrap();
        for text in [
            "passthrough:///127.0.0.1:80",
            "passthrough:127.0.0.1:80",
            "passthrough://any/127.0.0.1:80",
            "Passthrough:///passthrough:///ipv4:127.0.0.1:80",
            "IPv4:127.0.0.1:80",
        ] {
            assert_eq!(address(text), [Address::Tcp("127.0.0.1:80".parse().unwrap())], "{text}");
        }
        assert_eq!(read("passthrough:///a:1").unwrap(), read("a:1").unwrap());
        assert_eq!(address("ipv6:%5B::1%5D:80"), address("ipv6:[::1]:80"));
        assert_eq!(names("DNS:///localhost:1"), pair("localhost", "localhost:1"));
        assert_eq!(address("unix-abstract:echo"), [Address::Unix("\0echo".into())]);
        assert_eq!(names("unix-abstract:echo"), pair("localhost", "localhost"));
        // A host may be called like a scheme.
        assert_eq!(names("xds:50051"), pair("xds", "xds:50051"));
        assert_eq!(names("http:80"), pair("http", "http:80"));
    }

    #[test]
    fn only_the_address_of_a_name_may_change_and_only_dns_means_all() {
        let moves = |text| read(text).unwrap().may_change();
        assert!(moves("localhost:1") && moves("dns:///localhost:1"));
        assert!(!moves("127.0.0.1:1") && !moves("[::1]:1") && !moves("unix:echo"));
        assert!(read("dns:localhost:1").unwrap().means_all());
        assert!(!read("localhost:1").unwrap().means_all());
    }

    #[test]
    fn what_is_printed_can_be_read() {
        for text in [
            "localhost:50051",
            "[::1]:50051",
            "dns:///localhost:50051",
            "ipv6:[::1]:50051",
            "unix:///run/echo",
            "unix-abstract:echo",
        ] {
            assert_eq!(read(text).unwrap().to_string(), text);
        }
        assert_eq!(read(":50051").unwrap().to_string(), "localhost:50051");
    }

    #[test]
    fn what_is_not_supported_comes_with_what_is() {
        for (text, advice) in [
            (
                "xds:///a.example",
                "xds targets are not supported: no control plane is asked where servers are; name \
                 them themselves, as HOST:PORT or dns:///HOST:PORT",
            ),
            (
                "google-c2p:///a.example",
                "google-c2p targets are not supported: no control plane is asked where servers \
                 are; name them themselves, as HOST:PORT or dns:///HOST:PORT",
            ),
            (
                "vsock:2:50051",
                "vsock targets are not supported: give the server an IP address or a unix socket, \
                 and write HOST:PORT or unix:PATH",
            ),
            (
                "http://localhost:80/a",
                "target \"http://localhost:80/a\" is a URL: write localhost:80",
            ),
            ("https://a.example", "target \"https://a.example\" is a URL: write a.example:443"),
            ("http://me:pw@a:1", "target \"http://me:pw@a:1\" is a URL: write a:1"),
            (
                "passthrough:///",
                "target \"\" is not HOST:PORT: write one like localhost:50051, dns:///HOST:PORT \
                 or unix:PATH",
            ),
            (
                "unix-abstract:",
                "target \"unix-abstract:\" has no path: write unix:PATH, or unix:///PATH for one \
                 from the root",
            ),
        ] {
            assert_eq!(read(text), Err(advice.to_owned()));
        }
    }

    #[test]
    fn what_is_wrong_comes_with_the_fix() {
        for (text, advice) in [
            ("localhost", "target localhost has no port: write localhost:50051"),
            ("::1", "target [::1] has no port: write [::1]:50051"),
            ("[::1]", "target [::1] has no port: write [::1]:50051"),
            ("dns:///a", "target a has no port: write a:50051"),
            ("localhost:", "port \"\" is not a number from 1 to 65535"),
            ("localhost:0", "port \"0\" is not a number from 1 to 65535"),
            ("localhost:70000", "port \"70000\" is not a number from 1 to 65535"),
            (
                "user@host:1",
                "target \"user@host:1\" is not HOST:PORT: write one like localhost:50051, \
                 dns:///HOST:PORT or unix:PATH",
            ),
            (
                "dns://8.8.8.8/a:1",
                "names are resolved as the system does it, not by 8.8.8.8: write dns:///HOST:PORT",
            ),
            (
                "ipv4:localhost:1",
                "\"localhost\" is no ipv4 address: write one like ipv4:127.0.0.1:50051",
            ),
            (
                "ipv6:127.0.0.1:1",
                "\"127.0.0.1\" is no ipv6 address: write one like ipv6:[::1]:50051",
            ),
            (
                "unix:",
                "target \"unix:\" has no path: write unix:PATH, or unix:///PATH for one from the root",
            ),
            (
                "unix://echo",
                "target \"unix://echo\" has no path: write unix:PATH, or unix:///PATH for one from \
                 the root",
            ),
        ] {
            assert_eq!(read(text), Err(advice.to_owned()));
        }
        for text in ["consul://x:1", "etcd:///x", "dns://x:1", "a:1/b", "", "[::1", "a b:1"] {
            assert!(read(text).unwrap_err().contains("is not HOST:PORT"), "{text}");
        }
    }
}
