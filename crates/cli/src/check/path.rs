//! What the path between both ends takes by itself: bare sockets where the witness and the
//! generator are, on both sides read again and again. The witness begins when it has read a
//! request and ends before it writes its answer, so the kernel's part of both is in every latency
//! and not in the witness's record.

use super::bench::Bench;
use super::stop::CheckStop;
use bookend_lab::launch;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// Enough for a p99, of which ten are above.
const EXCHANGES: usize = 1000;

/// A request and an answer of a small call have about as many.
const MESSAGE_BYTES: usize = 100;

/// Whether all exchanges are on one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connections {
    One,
    /// One for each, from when it is established.
    Each,
}

/// Time from sending a request to having its answer, less the time that the other end had it.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// Half of the exchanges took no longer, nanoseconds.
    pub p50_ns: f64,
    /// Of a hundred, one took longer, nanoseconds.
    pub p99_ns: f64,
}

impl Path {
    /// Measures it with answers that take so long.
    ///
    /// # Errors
    /// There is no port or thread.
    pub fn measure(
        bench: &Bench,
        delay: Duration,
        connections: Connections,
    ) -> Result<Path, CheckStop> {
        let cpus = bench.placement.server.clone();
        let place = move || launch::pin(&cpus);
        let taken = exchange(EXCHANGES, delay, connections, place).map_err(CheckStop::because)?;
        Ok(Path::of(taken))
    }

    fn of(mut taken: Vec<Duration>) -> Path {
        taken.sort_unstable();
        let at = |percent: usize| {
            let place = (taken.len() * percent).div_ceil(100).saturating_sub(1);
            taken.get(place).map_or(f64::NAN, |one| one.as_nanos() as f64)
        };
        Path { p50_ns: at(50), p99_ns: at(99) }
    }
}

/// What the path took of each exchange. The other end is a thread that calls `place` first.
fn exchange(
    count: usize,
    delay: Duration,
    connections: Connections,
    place: impl FnOnce() -> io::Result<()> + Send + 'static,
) -> io::Result<Vec<Duration>> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let target = listener.local_addr()?;
    let server = thread::Builder::new().name("path".to_owned()).spawn(move || {
        place()?;
        listener.set_nonblocking(true)?;
        answer(&listener, count, delay, connections)
    })?;
    let ours = call(target, count, connections);
    let theirs =
        server.join().map_err(|_| io::Error::other("the other end of the path panicked"))?;
    let pairs = ours?.into_iter().zip(theirs?);
    Ok(pairs.map(|(whole, had)| whole.saturating_sub(had)).collect())
}

/// How long each exchange takes here.
fn call(target: SocketAddr, count: usize, connections: Connections) -> io::Result<Vec<Duration>> {
    let mut connection = None;
    let mut taken = Vec::with_capacity(count);
    for _ in 0..count {
        let mut socket = match connection.take() {
            Some(socket) => socket,
            None => connected(TcpStream::connect(target)?)?,
        };
        let begun = Instant::now();
        socket.write_all(&[1; MESSAGE_BYTES])?;
        read_message(&mut socket)?;
        taken.push(begun.elapsed());
        connection = (connections == Connections::One).then_some(socket);
    }
    Ok(taken)
}

/// How long the server has had each request when it answers.
fn answer(
    listener: &TcpListener,
    count: usize,
    delay: Duration,
    connections: Connections,
) -> io::Result<Vec<Duration>> {
    let mut connection = None;
    let mut had = Vec::with_capacity(count);
    for _ in 0..count {
        let mut socket = match connection.take() {
            Some(socket) => socket,
            None => connected(until_there(|| listener.accept())?.0)?,
        };
        read_message(&mut socket)?;
        let begun = Instant::now();
        while begun.elapsed() < delay {
            std::hint::spin_loop();
        }
        had.push(begun.elapsed());
        socket.write_all(&[2; MESSAGE_BYTES])?;
        connection = (connections == Connections::One).then_some(socket);
    }
    Ok(had)
}

fn connected(socket: TcpStream) -> io::Result<TcpStream> {
    socket.set_nodelay(true)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

fn read_message(socket: &mut TcpStream) -> io::Result<()> {
    let (mut message, mut filled) = ([0; MESSAGE_BYTES], 0);
    while filled < MESSAGE_BYTES {
        match until_there(|| socket.read(&mut message[filled..]))? {
            0 => return Err(ErrorKind::UnexpectedEof.into()),
            count => filled += count,
        }
    }
    Ok(())
}

/// Tries again and again, as both ends of a calibration do that is not to wait for being woken up.
fn until_there<T>(mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match attempt() {
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::hint::spin_loop(),
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_at_the_other_end_is_no_part_of_it() {
        for connections in [Connections::One, Connections::Each] {
            let taken = exchange(20, Duration::from_millis(50), connections, || Ok(())).unwrap();
            assert_eq!(taken.len(), 20);
            let path = Path::of(taken);
            assert!(path.p50_ns > 0.0 && path.p50_ns < 50e6, "{path:?}");
            assert!(path.p50_ns <= path.p99_ns);
        }
    }

    #[test]
    fn percentiles_are_of_what_was_taken() {
        let path = Path::of((1..=100).rev().map(Duration::from_nanos).collect());
        assert_eq!((path.p50_ns, path.p99_ns), (50.0, 99.0));
    }
}
