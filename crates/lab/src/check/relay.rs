//! A path that is slow although nobody works on it: each packet waits.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

/// Largest part that is passed on at once.
const PART_BYTES: usize = 64 << 10;

/// Listens for one connection, and passes everything on to `port` and back, each part after
/// `delay`. The number is the port that it listens on.
///
/// # Errors
/// There is no port or thread.
pub fn start(port: u16, delay: Duration) -> io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let own_port = listener.local_addr()?.port();
    thread::Builder::new().name("relay".to_owned()).spawn(move || {
        // An end that is gone shows in the counts of the run.
        let _ = relay(&listener, port, delay);
    })?;
    Ok(own_port)
}

fn relay(listener: &TcpListener, port: u16, delay: Duration) -> io::Result<()> {
    let (caller, _) = listener.accept()?;
    let server = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    let (caller_back, server_back) = (caller.try_clone()?, server.try_clone()?);
    thread::spawn(move || pass_on(server_back, caller_back, delay));
    pass_on(caller, server, delay)
}

fn pass_on(mut from: TcpStream, mut to: TcpStream, delay: Duration) -> io::Result<()> {
    to.set_nodelay(true)?;
    let mut part = vec![0; PART_BYTES];
    loop {
        let length = from.read(&mut part)?;
        if length == 0 {
            return to.shutdown(Shutdown::Write);
        }
        thread::sleep(delay);
        to.write_all(&part[..length])?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out_at_the_other_end_and_back() {
        let server = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = start(server.local_addr().unwrap().port(), Duration::ZERO).unwrap();
        let mut caller = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        caller.write_all(b"there").unwrap();
        let (mut accepted, _) = server.accept().unwrap();
        let mut heard = [0; 5];
        accepted.read_exact(&mut heard).unwrap();
        accepted.write_all(b"back").unwrap();
        drop(accepted);
        let mut answer = String::new();
        caller.read_to_string(&mut answer).unwrap();
        assert_eq!((&heard, answer.as_str()), (b"there", "back"));
    }
}
