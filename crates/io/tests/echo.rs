//! Bytes go there and come back, over each driver and at both ends.

mod support;

use bookend_io::{Epoll, Options, Waker, blocking, listen};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use support::{Echo, loopback};

#[test]
fn an_epoll_shard_echoes() {
    let listener = listen(loopback()).unwrap();
    let address = listener.local_address();
    let waker = Waker::new().unwrap();
    let driver = Epoll::new(waker.clone(), Options::default()).unwrap();
    let driver = driver.accept_from(listener).unwrap();
    let server = thread::spawn(move || driver.run(Echo::default()).unwrap());

    let mut client = TcpStream::connect(address).unwrap();
    client.write_all(b"there and back").unwrap();
    let mut answer = [0; 14];
    client.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"there and back");

    waker.stop();
    let (echo, statistics) = server.join().unwrap();
    assert_eq!((echo.opened, echo.closed), (1, 1));
    assert_eq!((statistics.received_bytes, statistics.sent_bytes), (14, 14));
}

#[test]
fn a_blocking_shard_echoes() {
    let listener = std::net::TcpListener::bind(loopback()).unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (accepted, _) = listener.accept().unwrap();
    let waker = Waker::new().unwrap();
    let server = thread::spawn(move || {
        blocking::run_accepted(accepted, Echo::default(), waker, Options::default()).unwrap()
    });

    client.write_all(b"there and back").unwrap();
    let mut answer = [0; 14];
    client.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"there and back");

    drop(client);
    let (echo, statistics) = server.join().unwrap();
    assert_eq!((echo.opened, echo.closed), (1, 1));
    assert_eq!((statistics.received_bytes, statistics.sent_bytes), (14, 14));
}
