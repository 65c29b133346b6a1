//! The secret that a coordinator and its agents share. Each shows the other that it knows it, and
//! it never goes over the wire (RFC 2104: a keyed digest of what both have just drawn).

use crate::terminal::Failure;
use bookend_contract::input;
use ring::hmac;
use ring::rand::{SecureRandom as _, SystemRandom};
use std::env;
use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;

/// The variable that has the token where no file is given.
pub const VARIABLE: &str = "BOOKEND_FLEET_TOKEN";

/// A shorter one can be guessed.
const BYTES_MIN: usize = 16;
/// A longer one is another file.
const BYTES_MAX: u64 = 4096;

/// A token.
#[derive(Clone)]
pub struct FleetToken {
    key: hmac::Key,
    text: String,
}

/// Which end shows that it knows the token. Their proofs differ, so that neither can be sent back.
#[derive(Clone, Copy)]
pub enum ProvingEnd {
    Coordinator,
    Agent,
}

impl FleetToken {
    /// The token of `file`, or of the variable; `None` where there is neither.
    ///
    /// # Errors
    /// [`Failure`] when the file cannot be read, or has no token.
    pub fn read(file: Option<&Path>) -> Result<Option<FleetToken>, Failure> {
        let (text, place) = match file {
            Some(file) => {
                let place = file.display().to_string();
                let read = File::open(file).and_then(|file| input::bytes(file, BYTES_MAX));
                let bytes =
                    read.map_err(|error| Failure::usage(format!("--token-file {place}: {error}")))?;
                (bytes, format!("--token-file {place}"))
            }
            None => match env::var(VARIABLE) {
                Ok(text) => (text.into_bytes(), VARIABLE.to_owned()),
                Err(_) => return Ok(None),
            },
        };
        let text = std::str::from_utf8(&text).map_or("", str::trim).as_bytes();
        if text.len() < BYTES_MIN {
            return Err(Failure::usage(format!(
                "{place}: a token is text of {BYTES_MIN} bytes or more; `openssl rand -hex 32` makes one"
            )));
        }
        Ok(Some(FleetToken::of(text)))
    }

    /// The token of that text.
    pub fn of(text: &[u8]) -> FleetToken {
        let key = hmac::Key::new(hmac::HMAC_SHA256, text);
        FleetToken { key, text: String::from_utf8_lossy(text).into_owned() }
    }

    /// The text itself, for a process that this one starts.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What shows that an end knows it: of the numbers that agent and coordinator have drawn.
    pub fn proof(&self, end: ProvingEnd, agent_nonce: &str, coordinator_nonce: &str) -> String {
        hex(hmac::sign(&self.key, &signed(end, agent_nonce, coordinator_nonce)).as_ref())
    }

    /// Whether that shows it.
    pub fn is_shown(&self, end: ProvingEnd, nonces: (&str, &str), proof: &str) -> bool {
        let Some(proof) = bytes(proof) else {
            return false;
        };
        hmac::verify(&self.key, &signed(end, nonces.0, nonces.1), &proof).is_ok()
    }
}

fn signed(end: ProvingEnd, agent_nonce: &str, coordinator_nonce: &str) -> Vec<u8> {
    let end = match end {
        ProvingEnd::Coordinator => "coordinator",
        ProvingEnd::Agent => "agent",
    };
    format!("bookend fleet {end} {agent_nonce} {coordinator_nonce}").into_bytes()
}

/// A number that nobody can guess, hexadecimal.
pub fn nonce() -> String {
    let mut bytes = [0; 32];
    SystemRandom::new().fill(&mut bytes).expect("the kernel gives random bytes");
    hex(&bytes)
}

/// Bytes in hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let digits = hex.as_bytes();
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits.len().is_multiple_of(2).then(|| digits.chunks(2).map(pair).collect())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_token_and_the_same_end_are_believed() {
        let (token, other) =
            (FleetToken::of(b"one secret of many"), FleetToken::of(b"another secret here"));
        let proof = token.proof(ProvingEnd::Agent, "a", "c");
        assert!(token.is_shown(ProvingEnd::Agent, ("a", "c"), &proof));
        assert!(!other.is_shown(ProvingEnd::Agent, ("a", "c"), &proof));
        assert!(!token.is_shown(ProvingEnd::Coordinator, ("a", "c"), &proof));
        assert!(!token.is_shown(ProvingEnd::Agent, ("a", "d"), &proof));
        for wrong in ["", "zz", "0", &proof[2..]] {
            assert!(!token.is_shown(ProvingEnd::Agent, ("a", "c"), wrong));
        }
    }
}
