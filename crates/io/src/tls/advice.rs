//! What the remedies for a failure of TLS are called.

/// What the remedies for a failure of TLS are called by whoever has to apply them. A program that
/// uses the library sets options of the API; somebody who has typed a command gives a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TlsAdvice {
    /// How a client is made to use TLS, as an order.
    pub encrypt: &'static str,
    /// How a client is made to use plain text, as an order.
    pub plain_text: &'static str,
    /// What names the certificates that are trusted, for either end.
    pub authorities: &'static str,
    /// What sets the name that the server's certificate has to be for.
    pub server_name: &'static str,
    /// What gives this end a certificate and its key.
    pub identity: &'static str,
    /// What makes a client accept any certificate.
    pub any_certificate: &'static str,
}

impl TlsAdvice {
    /// The options of the client library.
    pub const CLIENT: Self = Self {
        encrypt: "set ChannelOptions::tls",
        plain_text: "leave ChannelOptions::tls out",
        authorities: "Trust::Signed",
        server_name: "ChannelOptions::authority",
        identity: "the identity of ClientConfig::new",
        any_certificate: "Trust::Anyone",
    };

    /// The options of the server library, which are about the certificates of clients alone.
    pub const SERVER: Self =
        Self { authorities: "client_authorities of ServerConfig::new", ..Self::CLIENT };
}
