//! The flags of `bookend serve`, as typed.

use super::lifetime::LifetimeFlags;
use bookend_load::flags::whole;
use bookend_server::Io;
use bookend_server::io::Wait;
use clap::{Args, ValueEnum};
use std::net::IpAddr;
use std::path::PathBuf;

const EXAMPLES: &str = r"Examples:
  bookend serve --port 50051
  bookend serve --tls-certificate server.pem --tls-key server.key";

/// The flags of `bookend serve`.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub struct ServeArguments {
    /// Address to listen on
    #[arg(
        long, value_name = "ADDRESS", value_parser = host, default_value = "127.0.0.1",
        help_heading = "Address"
    )]
    pub host: IpAddr,
    /// Port to listen on; 0 takes a free one
    #[arg(
        long, short, value_parser = whole::<u16>, default_value_t = 50051, help_heading = "Address"
    )]
    pub port: u16,
    /// Unix socket to listen on, instead of a port
    #[arg(
        long, value_name = "PATH", conflicts_with_all = ["host", "port"], help_heading = "Address"
    )]
    pub unix: Option<PathBuf>,
    /// Number of threads; 0 means one per processor [default: 0]
    #[arg(long, value_name = "N", value_parser = whole::<usize>, help_heading = "Threads")]
    pub threads: Option<usize>,
    /// Driver of the connections: blocking (one thread per connection), epoll (connections spread
    /// over the threads), uring (the same on io_uring; needs Linux 6.1, else epoll), or auto (epoll
    /// on one thread; with more, threads of their own for the first connections, epoll for later
    /// ones)
    #[arg(long, default_value_t = Io::Auto, help_heading = "Threads")]
    pub io: Io,
    /// How threads wait: sleep (in the kernel), or spin (each uses a whole processor)
    #[arg(long, default_value_t = Wait::Sleep, help_heading = "Threads")]
    pub wait: Wait,
    /// Let each thread accept connections itself (SO_REUSEPORT), with epoll or uring
    #[arg(long, conflicts_with = "unix", help_heading = "Threads")]
    pub reuse_port: bool,
    /// Accept only TLS, with this certificate chain (PEM, the server's own first)
    #[arg(long, value_name = "FILE", requires = "tls_key", help_heading = "TLS")]
    pub tls_certificate: Option<PathBuf>,
    /// Private key of --tls-certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_certificate", help_heading = "TLS")]
    pub tls_key: Option<PathBuf>,
    /// Accept only clients with a certificate that one of these authorities signed (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_certificate", help_heading = "TLS")]
    pub tls_client_ca: Option<PathBuf>,
    /// Limits on windows, streams and more: for hostile clients (internet) or trusted ones
    #[arg(long, value_enum, default_value_t, help_heading = "Limits")]
    pub preset: Preset,
    /// Read and write the messages of both greeters in place, without allocation
    #[arg(long, help_heading = "Threads")]
    pub borrowed: bool,
    #[command(flatten)]
    pub lifetime: LifetimeFlags,
}

/// The values of `--preset`.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum Preset {
    // Comments for help would spread it over twice the lines; the flag says what they are.
    #[default]
    Internet,
    Trusted,
}

/// Reads an address to listen on.
///
/// # Errors
/// It is not an IP address. A name has several, or other ones tomorrow.
fn host(text: &str) -> Result<IpAddr, &'static str> {
    text.parse().map_err(|_| "not an IP address such as 127.0.0.1, 0.0.0.0 or ::")
}
