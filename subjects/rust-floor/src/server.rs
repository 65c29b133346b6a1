//! The server's end: one canned reply for each DATA frame that ends a stream.

use std::{
    error::Error,
    io,
    net::{Ipv4Addr, TcpListener},
    os::fd::AsRawFd,
    process,
    sync::atomic::{AtomicU64, Ordering},
    thread,
};

use rustix::{buffer::spare_capacity, event::epoll};

use crate::{
    frames::{self, Canned, DATA, END_STREAM, Link, PREFACE},
    settings::{Settings, not_supported},
};

static SERVED: AtomicU64 = AtomicU64::new(0);

/// Calls that were answered.
pub fn served() -> u64 {
    SERVED.load(Ordering::Relaxed)
}

/// Listens, says so, and serves on threads of its own.
pub fn start(settings: &Settings) -> io::Result<()> {
    let message = answer(settings);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    println!("ready {}", listener.local_addr()?.port());
    let serve = if settings.epoll { serve_by_epoll } else { serve_by_threads };
    thread::spawn(move || {
        if let Err(error) = serve(&listener, &message) {
            eprintln!("{error}");
            process::exit(1);
        }
    });
    Ok(())
}

/// "Hello NAME!" to the greeting. To all else an echo: request and reply are encoded alike there.
fn answer(settings: &Settings) -> Vec<u8> {
    if settings.method != "helloworld.Greeter/SayHello" {
        return settings.request.clone();
    }
    let name = settings.request.get(2..).unwrap_or_default();
    match u8::try_from(name.len() + b"Hello !".len()) {
        Ok(length @ ..128) => [b"\x0a", &[length][..], b"Hello ", name, b"!"].concat(),
        _ => not_supported("names beyond 120 bytes"),
    }
}

fn serve_by_threads(listener: &TcpListener, message: &[u8]) -> Result<(), Box<dyn Error>> {
    for stream in listener.incoming() {
        let (mut link, mut replies) = (Link::new(stream?, PREFACE, b"")?, frames::reply(message));
        thread::Builder::new().spawn(move || {
            let mut buffer = frames::read_buffer();
            while turn(&mut link, &mut buffer, &mut replies).is_ok() {}
        })?;
    }
    Ok(())
}

/// epoll says whom to read. Writes block: a peer that does not read is not served here.
fn serve_by_epoll(listener: &TcpListener, message: &[u8]) -> Result<(), Box<dyn Error>> {
    let (mut buffer, mut replies) = (frames::read_buffer(), frames::reply(message));
    let mut links: Vec<Option<Link>> = Vec::new();
    let mut events = Vec::with_capacity(1024);
    let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let listening = listener.as_raw_fd() as u64;
    epoll::add(&poll, listener, epoll::EventData::new_u64(listening), epoll::EventFlags::IN)?;
    loop {
        events.clear();
        epoll::wait(&poll, spare_capacity(&mut events), None)?;
        for number in events.iter().map(|event: &epoll::Event| event.data.u64()) {
            if number == listening {
                let (stream, _) = listener.accept()?;
                let number = stream.as_raw_fd() as usize;
                let data = epoll::EventData::new_u64(number as u64);
                epoll::add(&poll, &stream, data, epoll::EventFlags::IN)?;
                links.resize_with(links.len().max(number + 1), || None);
                links[number] = Some(Link::new(stream, PREFACE, b"")?);
            } else if let Some(link) = &mut links[number as usize]
                && turn(link, &mut buffer, &mut replies).is_err()
            {
                links[number as usize] = None;
            }
        }
    }
}

/// One read, one write.
#[inline(always)]
fn turn(link: &mut Link, buffer: &mut [u8], replies: &mut Canned<3>) -> io::Result<()> {
    let mut ended = 0;
    link.read(buffer, |kind, flags, stream_id| {
        if kind == DATA && flags & END_STREAM != 0 {
            replies.address(ended, stream_id);
            ended += 1;
        }
    })?;
    SERVED.fetch_add(ended as u64, Ordering::Relaxed);
    link.write(replies.first(ended))
}
