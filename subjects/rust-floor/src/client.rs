//! The client's end: a closed loop of canned requests, counted by the answers' END_STREAM flags.

use std::{
    collections::VecDeque,
    error::Error,
    io,
    net::{SocketAddr, TcpStream, ToSocketAddrs},
    os::fd::OwnedFd,
    time::Instant,
};

use rustix::{buffer::spare_capacity, event::epoll};

use crate::{
    frames::{self, Canned, DATA, END_STREAM, HEADERS, Link, PREFACE, RST_STREAM},
    latencies::Latencies,
    settings::{Settings, not_supported},
};

/// What surely fits the sockets' buffers: with more, both ends could sit in a write for ever.
const MAX_IN_FLIGHT_BYTES: usize = 512 * 1024;
const LAST_STREAM_ID: u32 = u32::MAX >> 1;

/// One connection and what is in flight on it.
struct Caller {
    link: Link,
    next_id: u32,
    /// Calls that may start as soon as ids and the peer's window allow.
    owed: usize,
    /// When requests were written that have no answer yet, and how many.
    written: VecDeque<(Instant, usize)>,
}

struct Run<'a> {
    settings: &'a Settings,
    address: SocketAddr,
    poll: OwnedFd,
    last_id: u32,
    requests: Canned<2>,
    buffer: Vec<u8>,
    began: Instant,
    /// When the measured window began, once it has.
    window: Option<Instant>,
    data_bytes: usize,
    /// Calls that may still be sent.
    budget: usize,
    in_flight: usize,
    warmup: u64,
    ok: u64,
    latencies: Latencies,
}

/// Measures as the settings say and prints the contract's lines.
pub fn run(settings: &Settings) -> Result<(), Box<dyn Error>> {
    let requests = frames::request(&settings.method, &settings.target, &settings.request);
    let share = settings.concurrency.div_ceil(settings.connections);
    if !settings.epoll && settings.connections > 1 {
        not_supported("blocking with more than one connection");
    }
    if settings.connection_per_call && share > 1 {
        not_supported("one connection per call with more calls than connections");
    }
    if share * requests.one_bytes() > MAX_IN_FLIGHT_BYTES {
        not_supported("more in flight than the sockets' buffers hold");
    }
    let mut run = Run::new(settings, requests)?;
    run.drive().map_err(|error| format!("{}: {error}", settings.target))?;
    run.print();
    Ok(())
}

impl<'a> Run<'a> {
    fn new(settings: &'a Settings, requests: Canned<2>) -> io::Result<Self> {
        let address = settings.target.to_socket_addrs()?.next();
        let address = address.ok_or(io::ErrorKind::AddrNotAvailable)?;
        Ok(Run {
            settings,
            address,
            poll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            last_id: if settings.connection_per_call { 1 } else { LAST_STREAM_ID },
            requests,
            buffer: frames::read_buffer(),
            began: Instant::now(),
            window: None,
            data_bytes: settings.request.len() + frames::PREFIX_BYTES,
            budget: usize::MAX,
            in_flight: 0,
            warmup: 0,
            ok: 0,
            latencies: Latencies::new(),
        })
    }

    fn drive(&mut self) -> io::Result<()> {
        let (connections, concurrency) = (self.settings.connections, self.settings.concurrency);
        let mut callers = (0..connections)
            .map(|index| self.open(index, (concurrency + index) / connections))
            .collect::<io::Result<Vec<Caller>>>()?;
        self.began = Instant::now();
        if self.settings.warmup.is_zero() {
            self.open_window(self.began);
        }
        for (index, caller) in callers.iter_mut().enumerate() {
            self.send(index, caller, self.began)?;
        }
        if self.settings.epoll {
            return self.drive_by_epoll(&mut callers);
        }
        while !self.turn(0, &mut callers[0])? {}
        Ok(())
    }

    fn drive_by_epoll(&mut self, callers: &mut [Caller]) -> io::Result<()> {
        let mut events = Vec::with_capacity(1024);
        loop {
            events.clear();
            epoll::wait(&self.poll, spare_capacity(&mut events), None)?;
            for index in events.iter().map(|event: &epoll::Event| event.data.u64() as usize) {
                if self.turn(index, &mut callers[index])? {
                    return Ok(());
                }
            }
        }
    }

    fn open(&self, index: usize, owed: usize) -> io::Result<Caller> {
        let stream = TcpStream::connect(self.address)?;
        if self.settings.epoll {
            let data = epoll::EventData::new_u64(index as u64);
            epoll::add(&self.poll, &stream, data, epoll::EventFlags::IN)?;
        }
        let link = Link::new(stream, b"", PREFACE)?;
        Ok(Caller { link, next_id: 1, owed, written: VecDeque::new() })
    }

    /// One read, one clock reading, one write. True when the window is over.
    #[inline(always)]
    fn turn(&mut self, index: usize, caller: &mut Caller) -> io::Result<bool> {
        let (mut answered, mut reset) = (0, false);
        caller.link.read(&mut self.buffer, |kind, flags, _| match kind {
            DATA | HEADERS => answered += usize::from(flags & END_STREAM),
            RST_STREAM => reset = true,
            _ => {}
        })?;
        if reset {
            return Err(io::Error::other("the server reset a stream"));
        }
        let now = Instant::now();
        let over = self.count(caller, answered, now);
        if !over {
            self.send(index, caller, now)?;
        }
        Ok(over)
    }

    fn count(&mut self, caller: &mut Caller, answered: usize, now: Instant) -> bool {
        self.in_flight -= answered;
        caller.owed += answered;
        self.time(caller, answered, now);
        let Some(window) = self.window else {
            self.warmup += answered as u64;
            if now - self.began >= self.settings.warmup {
                self.open_window(now);
            }
            return false;
        };
        self.ok += answered as u64;
        let over = match self.settings.calls {
            Some(calls) => self.ok >= calls as u64,
            None => now - window >= self.settings.measure,
        };
        if over {
            println!("window end");
        }
        over
    }

    /// As if answers came in the order of their requests: the mean is exact, the spread is not.
    fn time(&mut self, caller: &mut Caller, mut answered: usize, now: Instant) {
        while answered > 0
            && let Some((written, left)) = caller.written.front_mut()
        {
            let taken = answered.min(*left);
            if self.window.is_some() {
                self.latencies.record((now - *written).as_nanos() as u64, taken as u64);
            }
            answered -= taken;
            *left -= taken;
            if *left == 0 {
                caller.written.pop_front();
            }
        }
    }

    /// Calls in flight here are answered inside the window, so they count among its calls.
    fn open_window(&mut self, now: Instant) {
        println!("window start");
        self.window = Some(now);
        if let Some(calls) = self.settings.calls {
            self.budget = calls.saturating_sub(self.in_flight);
        }
    }

    /// Writes what is owed. A connection out of stream ids is drained, then replaced.
    fn send(&mut self, index: usize, caller: &mut Caller, now: Instant) -> io::Result<()> {
        if caller.next_id > self.last_id && caller.written.is_empty() && self.budget > 0 {
            *caller = self.open(index, caller.owed)?;
        }
        let count = self.sendable(caller);
        for (number, stream_id) in (0..count).zip((caller.next_id..).step_by(2)) {
            self.requests.address(number, stream_id.to_be_bytes());
        }
        caller.next_id += 2 * count as u32;
        if count > 0 {
            caller.written.push_back((now, count));
        }
        caller.owed -= count;
        caller.link.credit_bytes -= count * self.data_bytes;
        self.in_flight += count;
        self.budget -= count;
        caller.link.write(self.requests.first(count))
    }

    fn sendable(&self, caller: &Caller) -> usize {
        let ids_left = (self.last_id + 2 - caller.next_id) / 2;
        let credit = caller.link.credit_bytes / self.data_bytes;
        let allowed = credit.min(self.budget);
        caller.owed.min(ids_left as usize).min(allowed)
    }

    fn print(&self) {
        for (latency_ns, count) in self.latencies.counts() {
            println!("{latency_ns} {count}");
        }
        println!("warmup {}\nok {}\nunfinished {}", self.warmup, self.ok, self.in_flight);
    }
}
