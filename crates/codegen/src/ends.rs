/// Which ends of calls the generated code is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    Server,
    Client,
    Both,
}

impl Ends {
    pub fn has_server(self) -> bool {
        self != Ends::Client
    }

    pub fn has_client(self) -> bool {
        self != Ends::Server
    }

    /// The crate that messages take prost from.
    pub fn runtime(self) -> &'static str {
        if self.has_server() { "::bookend_server" } else { "::bookend_client" }
    }
}
