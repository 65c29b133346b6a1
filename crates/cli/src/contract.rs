//! This process under the lab: what it has to know, and when it has to end.

use bookend_contract::environment::{CONTRACT, LAPS, LISTEN};
use std::net::IpAddr;
use std::{env, io, thread};

/// Whether the lab has started this process.
pub fn is_under_the_lab() -> bool {
    is_on(CONTRACT)
}

/// Where a server of the lab is to listen, if not on the loopback.
pub fn listen() -> Option<IpAddr> {
    let address = env::var(LISTEN).ok().filter(|_| is_under_the_lab())?;
    address.parse().ok()
}

/// Whether calls are made in laps, as the lab says on standard input.
pub fn makes_laps() -> bool {
    is_on(LAPS)
}

fn is_on(name: &str) -> bool {
    env::var_os(name).is_some_and(|value| value == "1")
}

/// Does `end` when the standard input closes: the lab has closed it, or is gone.
///
/// # Errors
/// When no thread can be started.
pub fn at_end_of_input(end: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name("input".to_owned()).spawn(move || {
        // The content means nothing, and an input that cannot be read is as good as closed.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        end();
    })?;
    Ok(())
}
