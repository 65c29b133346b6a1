//! Why there is no connection, and how calls end whose connection is lost.

use crate::service::ECHO;
use bookend_client::{Channel, ChannelOptions, Code, ConnectError, Status, UnaryCall};
use bookend_testing::{flag, frame, kind};
use bookend_wire::{Connection, ConnectionConfig, Side};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

/// Starts a server that does to every connection what `behaviour` does.
fn misbehave(mut behaviour: impl FnMut(TcpStream) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            behaviour(stream);
        }
    });
    address
}

/// Connects, which must fail.
fn refused(address: &str) -> ConnectError {
    refused_with(address, ChannelOptions::default())
}

fn refused_with(address: &str, options: ChannelOptions) -> ConnectError {
    let channel = Channel::connect(address, options).unwrap();
    let error = channel.wait_for_connection().unwrap_err();
    let status = channel.unary(UnaryCall::new(ECHO, vec![])).status;
    assert_eq!(status.code, Code::Unavailable);
    error
}

#[test]
fn a_port_on_which_nothing_listens() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let error = refused(&address);
    assert!(matches!(error, ConnectError::Refused { .. }), "{error:?}");
    assert!(error.to_string().starts_with("nobody listens at 127.0.0.1"));
}

#[test]
fn an_address_without_a_port() {
    let error = Channel::connect("localhost", ChannelOptions::default()).unwrap_err();
    assert!(matches!(error, ConnectError::Unresolved(_)));
    let advice = "target localhost has no port: write localhost:50051";
    assert_eq!(error.to_string(), advice);
}

#[test]
fn a_server_that_sends_nothing() {
    let settings_timeout = Duration::from_millis(100);
    let options = ChannelOptions { settings_timeout, ..ChannelOptions::default() };
    let error = refused_with(&misbehave(std::mem::forget), options);
    assert!(matches!(error, ConnectError::Silent { .. }), "{error:?}");
    assert!(error.to_string().contains("sent no SETTINGS within 100ms"));
}

#[test]
fn a_server_that_closes_at_once() {
    let error = refused(&misbehave(drop));
    let at_once = matches!(error, ConnectError::ClosedAtOnce { .. });
    assert!(at_once, "{error:?}");
    let told = "accepted the connection and closed it: if it wants TLS, set ChannelOptions::tls; \
                else it does not speak HTTP/2";
    assert!(error.to_string().ends_with(told), "{error}");
}

#[test]
fn servers_that_speak_another_protocol() {
    let says = |bytes: &'static [u8]| {
        let error = refused(&misbehave(move |mut stream| {
            stream.write_all(bytes).unwrap();
            let mut preface = [0; 24];
            stream.read_exact(&mut preface).unwrap();
        }));
        assert!(matches!(error, ConnectError::NotHttp2 { .. }), "{error:?}");
        error.to_string()
    };
    assert!(says(b"HTTP/1.1 400 Bad Request\r\n\r\n").contains("HTTP/1.1 400"));
    assert!(says(b"SSH-2.0-Server\r\n").contains("SSH-2.0"));
    assert!(says(b"\x15\x03\x01\x00\x02\x02\x46").contains("TLS"));
    assert!(says(b"\0\0\0\x01\x05\0\0\0\x01").contains("does not speak HTTP/2"));
}

/// Greets, lets `say` answer the first call on the bare socket, and closes.
fn answered_by(say: impl Fn(&mut TcpStream) + Send + 'static) -> Status {
    let address = misbehave(move |mut stream| {
        let greeting = Connection::new(Side::Server, &ConnectionConfig::internet());
        stream.write_all(&greeting.sender.output).unwrap();
        // The preface, SETTINGS and WINDOW_UPDATE of the client, and the beginning of its call.
        let mut request = vec![0; 100];
        stream.read_exact(&mut request).unwrap();
        say(&mut stream);
    });
    let channel = Channel::connect(&address, ChannelOptions::default()).unwrap();
    assert_eq!(channel.wait_for_connection(), Ok(()));
    let status = channel.unary(UnaryCall::new(ECHO, b"x".to_vec())).status;
    assert_eq!(status.code, Code::Unavailable);
    status
}

#[test]
fn a_server_that_goes_away_in_the_middle_of_a_call() {
    let status = answered_by(|_| {});
    let closed = "closed the connection before it had answered";
    assert!(status.message.ends_with(closed), "{status}");
    let status = answered_by(|stream| {
        let payload = b"\0\0\0\x01\0\0\0\x0btoo much";
        stream.write_all(&frame(kind::GOAWAY, 0, 0, payload)).unwrap();
        // Everything is read, so that the close is no reset that overtakes the GOAWAY.
        stream.shutdown(Shutdown::Write).unwrap();
        stream.read_to_end(&mut Vec::new()).unwrap();
    });
    let reason = "ENHANCE_YOUR_CALM (too much)";
    assert!(status.message.ends_with(reason), "{status}");
}

#[test]
fn a_server_that_breaks_http2_in_the_middle_of_a_call() {
    let status = answered_by(|stream| {
        stream.write_all(b"\0\0\x01\0\0\0\0\0\x63x").unwrap();
        std::mem::forget(stream.try_clone().unwrap());
    });
    assert!(status.message.contains("idle stream"), "{status}");
}

#[test]
fn two_ends_that_write_at_once_do_not_wait_for_each_other() {
    let mut large = ConnectionConfig::trusted();
    large.settings.initial_window_bytes = 1 << 26;
    // The reply is written whole before any more of the request is read.
    let config = large.clone();
    let address = misbehave(move |mut stream| {
        let greeting = Connection::new(Side::Server, &config);
        stream.write_all(&greeting.sender.output).unwrap();
        let mut preface = [0; 24];
        stream.read_exact(&mut preface).unwrap();
        let mut rest = vec![0; 1 << 20];
        // The call comes once the client has read the SETTINGS.
        let mut read = 0;
        while read < rest.len() {
            read += stream.read(&mut rest).unwrap();
        }
        let head = frame(kind::HEADERS, flag::END_HEADERS, 1, &[0x88]);
        let body = frame(kind::DATA, 0, 1, &[0; 16_000]).repeat(1_000);
        let end = frame(kind::RST_STREAM, 0, 1, &[0, 0, 0, 8]);
        stream.write_all(&[head, body, end].concat()).unwrap();
        while stream.read(&mut rest).is_ok_and(|read| read > 0) {}
    });
    let options = ChannelOptions { http2: large, ..ChannelOptions::default() };
    let channel = Channel::connect(&address, options).unwrap();
    let answer = channel.unary(UnaryCall::new(ECHO, vec![0; 16_000_000]));
    assert_eq!(answer.status.code, Code::Cancelled);
}

#[test]
fn a_callback_must_not_wait_for_a_connection() {
    let (server, _holding) = crate::service::start("127.0.0.1:0");
    let target = server.local_address().to_string();
    let channel = Channel::connect(&target, ChannelOptions::default()).unwrap();
    let (tell, hear) = std::sync::mpsc::channel();
    let own = channel.clone();
    channel.call(UnaryCall::new(ECHO, vec![]), move |_| {
        tell.send(own.wait_for_connection()).unwrap();
    });
    assert_eq!(hear.recv().unwrap(), Err(ConnectError::InsideCallback));
}
