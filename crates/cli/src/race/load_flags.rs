//! The flags of `bookend load` that mean what those of a race mean.

use super::arguments::RaceArguments;
use bookend_load::flags::LoadFlags;
use bookend_load::flags::pacing::PacingFlags;
use bookend_results::race::RaceCell;
use bookend_server::tls::TlsAdvice;
use clap::{Args as _, Command, FromArgMatches as _};
use std::net::SocketAddr;
use std::time::Duration;

/// What its flags for TLS are called in advice: plain text is the default.
static TLS_FLAGS: TlsAdvice = TlsAdvice {
    encrypt: "add --cacert FILE, or --skipTLS",
    plain_text: "leave --cacert, --cert, --cname and --skipTLS out, or add --insecure",
    authorities: "--cacert FILE",
    server_name: "--cname",
    identity: "--cert FILE --key FILE",
    any_certificate: "--skipTLS",
};

/// The same where `--insecure` is given: it wins over the flags that would otherwise do.
static TLS_FLAGS_OF_INSECURE: TlsAdvice =
    TlsAdvice { encrypt: "leave --insecure out, and add --cacert FILE, or --skipTLS", ..TLS_FLAGS };

/// The same where such a flag is given with it.
static TLS_FLAGS_OF_CONTRADICTION: TlsAdvice =
    TlsAdvice { encrypt: "leave --insecure out", ..TLS_FLAGS };

impl RaceArguments {
    /// The flags of `bookend load` that mean the same calls to the server at `address`.
    pub fn load_flags(&self, address: SocketAddr, cell: RaceCell) -> LoadFlags {
        let command = LoadFlags::augment_args(Command::new("load").no_binary_name(true));
        let matches = command.get_matches_from(std::iter::empty::<&str>());
        let usual = LoadFlags::from_arg_matches(&matches).expect("no flag is required");
        let mut call = self.call.clone();
        call.targets = vec![address.to_string()];
        call.insecure = !self.wants_tls();
        call.tls_advice = match (self.call.insecure, self.has_tls_flag()) {
            (false, _) => &TLS_FLAGS,
            (true, false) => &TLS_FLAGS_OF_INSECURE,
            (true, true) => &TLS_FLAGS_OF_CONTRADICTION,
        };
        let RaceCell { connections, concurrency } = cell;
        // The end comes lap by lap.
        let duration = Some(Duration::from_secs(1));
        let pacing = PacingFlags { rps: self.rps, ..usual.pacing };
        LoadFlags { call, concurrency, connections, duration, pacing, ..usual }
    }

    /// Servers that are raced are seldom given certificates, so plain text is the default here.
    pub fn wants_tls(&self) -> bool {
        !self.call.insecure && self.has_tls_flag()
    }

    fn has_tls_flag(&self) -> bool {
        let call = &self.call;
        let names_file = [&call.cacert, &call.cert, &call.key].into_iter().any(Option::is_some);
        names_file || call.skip_tls || call.cname.is_some()
    }
}
