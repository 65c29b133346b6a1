//! Which requests get an answer: those with the token that call this machine by its own name.

use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use std::fs::File;
use std::io::{self, Read as _};

/// Bytes of a token. No one guesses 128 bits.
const TOKEN_BYTES: usize = 16;

/// A secret in the address of every page. Other users of this machine can reach the port, and a
/// page of another site can have a browser call it; neither knows the token.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// A token that nobody else knows.
    ///
    /// # Errors
    /// When the kernel gives no random numbers.
    pub fn random() -> io::Result<Self> {
        let mut bytes = [0; TOKEN_BYTES];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// The address of the first page, which all others begin with.
    pub fn root(&self) -> String {
        format!("/{}/", self.0)
    }

    fn lets_in(&self, request: &Request) -> bool {
        let given = request.uri().path().split('/').nth(1).unwrap_or_default();
        let host = request.headers().get(HOST).and_then(|host| host.to_str().ok());
        self.is(given) && host.is_some_and(is_this_machine)
    }

    /// All bytes are looked at, so the time that it takes says nothing of where they differ.
    fn is(&self, given: &str) -> bool {
        let pairs = given.bytes().zip(self.0.bytes());
        given.len() == self.0.len() && pairs.fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
    }
}

/// A name of a stranger's that leads here is a stranger's page that wants to read these.
fn is_this_machine(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, _port)| name);
    name == "127.0.0.1" || name.eq_ignore_ascii_case("localhost")
}

/// Lets a request through or refuses it, and tells the browser to keep the answer to itself.
pub async fn gate(State(token): State<Token>, request: Request, next: Next) -> Response {
    let mut response = match token.lets_in(&request) {
        true => next.run(request).await,
        false => {
            (StatusCode::FORBIDDEN, "open the address that bookend ui printed\n").into_response()
        }
    };
    let headers = response.headers_mut();
    for (name, value) in [
        // What a page may do beyond that, it says itself.
        (CONTENT_SECURITY_POLICY, "frame-ancestors 'none'"),
        (REFERRER_POLICY, "no-referrer"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

    fn request(path: &str, host: Option<&str>) -> Request {
        let request = axum::http::Request::builder().uri(path);
        let request = match host {
            Some(host) => request.header(HOST, host),
            None => request,
        };
        request.body(Body::empty()).expect("a request")
    }

    #[test]
    fn only_the_token_and_the_own_name_open_a_page() {
        let token = Token("0123".to_owned());
        let is_let_in = |path: &str, host: &str| token.lets_in(&request(path, Some(host)));
        for path in ["/0123/", "/0123/runs/1", "/0123"] {
            assert!(is_let_in(path, "127.0.0.1:8000") && is_let_in(path, "LocalHost"), "{path}");
        }
        for path in ["/", "/012", "/01234/", "/0124/", "/runs/0123", "//0123/", "/?a=/0123/"] {
            assert!(!is_let_in(path, "127.0.0.1"), "{path}");
        }
        for host in ["example.org", "127.0.0.1.example.org:80", "localhost:1:2", "", ":80"] {
            assert!(!is_let_in("/0123/", host), "{host}");
        }
        assert!(!token.lets_in(&request("/0123/", None)));
    }

    #[test]
    fn no_two_tokens_are_the_same() {
        let root = || Token::random().expect("the kernel has random numbers").root();
        assert_ne!(root(), root());
        assert_eq!(root().len(), 2 * TOKEN_BYTES + 2);
    }
}
