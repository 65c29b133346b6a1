/// What a plain request of HTTP gets, such as a page for people or for monitoring:
/// [`crate::ServerBuilder::page`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpPage {
    /// The HTTP status, from 200 to 599.
    pub status: u16,
    /// The value of `content-type`.
    pub content_type: &'static str,
    /// The whole page; empty where the request is HEAD.
    pub body: Vec<u8>,
}

impl HttpPage {
    /// A page of plain text with the status 200.
    pub fn text(text: impl Into<String>) -> Self {
        HttpPage {
            status: 200,
            content_type: "text/plain; charset=utf-8",
            body: text.into().into_bytes(),
        }
    }

    /// The same page with another status.
    pub fn with_status(self, status: u16) -> Self {
        HttpPage { status, ..self }
    }
}

/// Makes a page anew for each request.
pub(crate) type PageMaker = dyn Fn() -> HttpPage + Send + Sync;
