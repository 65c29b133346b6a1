//! Calls over loopback: what arrives, what comes back, and who is blamed when nothing does.

mod peer;

use bookend_client::{Call, CallError, Client, Code, ConnectError, Metadata, Options};
use bookend_wire::frame::{flag, kind, write_frame};
use bookend_wire::{Connection, ConnectionConfig, ErrorCode, Sender, Side, StreamKey};
use peer::{Heard, REFUSED_PATH, Request, echo, head, misbehave, serve, trailers};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

const PATH: &str = "/test.Echo/Echo";

fn connect(address: &str) -> Client {
    Client::connect(address, &Options::default()).unwrap()
}

/// Makes one call to a server that answers by `handler`; gives the status.
fn status_of(
    handler: impl FnMut(&mut Sender, StreamKey, &Request) + Send + 'static,
) -> bookend_client::Status {
    let (address, _heard) = serve(ConnectionConfig::internet(), handler);
    let mut client = connect(&address);
    client.call(&Call::new(PATH, &[b"x"])).unwrap().status
}

#[test]
fn a_unary_call_comes_back_with_its_message() {
    let (address, heard) = serve(ConnectionConfig::internet(), echo);
    let mut client = connect(&address);
    for message in [&b"first"[..], b"second", b""] {
        let answer = client.call(&Call::new(PATH, &[message])).unwrap();
        assert_eq!(answer.single_message(), Ok(message));
    }
    let Heard::Request(request) = heard.recv().unwrap() else {
        panic!("the first thing heard is a request");
    };
    assert_eq!(request.field(":path"), Some(PATH));
    assert_eq!(request.field(":authority"), Some(address.as_str()));
    assert_eq!(request.field("te"), Some("trailers"));
    assert_eq!(request.field("grpc-timeout"), None);
}

#[test]
fn any_number_of_messages_goes_either_way() {
    let (address, _heard) = serve(ConnectionConfig::internet(), echo);
    let mut client = connect(&address);
    let messages: [&[u8]; 3] = [b"a", b"", b"ccc"];
    let answer = client.call(&Call::new(PATH, &messages)).unwrap();
    assert_eq!(answer.messages, messages);
    let refused = answer.single_message().unwrap_err();
    assert_eq!(refused.code, Code::Unimplemented);
    let answer = client.call(&Call::new(PATH, &[])).unwrap();
    assert!(answer.messages.is_empty() && answer.status.code == Code::Ok);
}

#[test]
fn metadata_goes_both_ways_and_binary_values_stay_what_they_are() {
    let (address, _heard) = serve(
        ConnectionConfig::internet(),
        |sender, stream, request: &Request| {
            let echoed = request.field("x-any-bin").unwrap().as_bytes().to_vec();
            sender.headers(stream, &mut head(&[(b"x-any-bin", &echoed)]), false);
            sender.message(stream, false, |_| {});
            let text = request.field("x-text").unwrap().as_bytes().to_vec();
            sender.headers(stream, &mut trailers(b"0", &[(b"x-text", &text)]), true);
        },
    );
    let mut metadata = Metadata::new();
    metadata.push("x-text", b"plain ~ text").unwrap();
    metadata.push("x-any-bin", &[0, 0xff, b'\n', 7]).unwrap();
    let call = Call {
        metadata: Some(&metadata),
        ..Call::new(PATH, &[b"x"])
    };
    let answer = connect(&address).call(&call).unwrap();
    assert_eq!(
        answer.head.find("x-any-bin"),
        Some(&[0, 0xff, b'\n', 7][..])
    );
    assert_eq!(answer.trailers.text("x-text"), Some("plain ~ text"));
}

#[test]
fn windows_of_either_side_are_kept() {
    let mut small = ConnectionConfig::internet();
    small.settings.initial_window_bytes = 1_000;
    let (address, _heard) = serve(small.clone(), echo);
    let options = Options {
        http2: small,
        ..Options::default()
    };
    let mut client = Client::connect(&address, &options).unwrap();
    let message: Vec<u8> = (0..300_000_u32).map(|number| number as u8).collect();
    let answer = client.call(&Call::new(PATH, &[&message])).unwrap();
    assert!(answer.single_message() == Ok(&message));
}

#[test]
fn two_ends_that_write_at_once_do_not_wait_for_each_other() {
    let mut large = ConnectionConfig::trusted();
    large.settings.initial_window_bytes = 1 << 26;
    // The reply is written whole before any more of the request is read.
    let config = large.clone();
    let address = misbehave(move |mut stream| {
        let mut connection = Connection::new(Side::Server, &config);
        stream.write_all(&connection.sender.output).unwrap();
        connection.sender.output.clear();
        let mut preface = [0; 24];
        stream.read_exact(&mut preface).unwrap();
        let mut reply = Vec::new();
        write_frame(&mut reply, kind::HEADERS, flag::END_HEADERS, 1, &[0x88]);
        for _ in 0..1_000 {
            write_frame(&mut reply, kind::DATA, 0, 1, &[0; 16_000]);
        }
        write_frame(&mut reply, kind::RST_STREAM, 0, 1, &[0, 0, 0, 8]);
        stream.write_all(&reply).unwrap();
        let mut rest = vec![0; 1 << 20];
        while stream.read(&mut rest).is_ok_and(|read| read > 0) {}
    });
    let options = Options {
        http2: large,
        ..Options::default()
    };
    let mut client = Client::connect(&address, &options).unwrap();
    let message = vec![0; 16_000_000];
    let answer = client.call(&Call::new(PATH, &[&message])).unwrap();
    assert_eq!(answer.status.code, Code::Cancelled);
}

#[test]
fn a_status_is_told_with_its_message_and_its_trailers() {
    let status = status_of(|sender, stream, _| {
        let extra: [(&[u8], &[u8]); 1] = [(b"grpc-message", b"caf%C3%A9")];
        sender.headers(stream, &mut head(&[]), false);
        sender.headers(stream, &mut trailers(b"5", &extra), true);
    });
    assert_eq!(
        (status.code, status.message.as_str()),
        (Code::NotFound, "café")
    );
}

#[test]
fn an_answer_may_consist_of_trailers_only() {
    let status = status_of(|sender, stream, _| {
        let only = [(&b"grpc-status"[..], &b"12"[..])];
        sender.headers(stream, &mut head(&only), true);
    });
    assert_eq!(status.code, Code::Unimplemented);
}

#[test]
fn an_early_refusal_ends_the_call_and_the_connection_goes_on() {
    let mut small = ConnectionConfig::internet();
    small.settings.initial_window_bytes = 10;
    let (address, heard) = serve(small, echo);
    let mut client = connect(&address);
    let refused = client.call(&Call::new(REFUSED_PATH, &[&[0; 100]])).unwrap();
    assert_eq!(refused.status.code, Code::Unimplemented);
    let code = heard.recv().unwrap();
    assert!(matches!(code, Heard::Reset(ErrorCode::CANCEL)), "{code:?}");
    let answer = client.call(&Call::new(PATH, &[b"after"])).unwrap();
    assert_eq!(answer.single_message(), Ok(&b"after"[..]));
}

#[test]
fn a_deadline_is_told_to_the_server_and_kept_without_it() {
    let (address, heard) = serve(
        ConnectionConfig::internet(),
        |sender, stream, request: &Request| {
            if request.field("grpc-timeout").is_none() {
                echo(sender, stream, request);
            }
        },
    );
    let mut client = connect(&address);
    let call = Call {
        timeout: Some(Duration::from_millis(30)),
        ..Call::new(PATH, &[b"never answered"])
    };
    let answer = client.call(&call).unwrap();
    assert_eq!(answer.status.code, Code::DeadlineExceeded);
    let Ok(Heard::Request(request)) = heard.recv() else {
        panic!("the request comes first");
    };
    assert_eq!(request.field("grpc-timeout"), Some("30000000n"));
    let code = heard.recv().unwrap();
    assert!(matches!(code, Heard::Reset(ErrorCode::CANCEL)), "{code:?}");
    let answer = client.call(&Call::new(PATH, &[b"after"])).unwrap();
    assert_eq!(answer.single_message(), Ok(&b"after"[..]));
}

#[test]
fn answers_that_are_no_grpc_have_the_status_that_grpc_prescribes() {
    let no_status = status_of(|sender, stream, _| sender.headers(stream, &mut head(&[]), true));
    assert_eq!(no_status.code, Code::Unknown);
    let no_trailers = status_of(|sender, stream, _| {
        sender.headers(stream, &mut head(&[]), false);
        sender.message(stream, true, |_| {});
    });
    assert_eq!(no_trailers.code, Code::Unknown);
    let http_status = status_of(|sender, stream, _| {
        let mut not_found = bookend_wire::HeaderBlock::new(&[(b":status", b"404")]);
        sender.headers(stream, &mut not_found, true);
    });
    assert_eq!(http_status.code, Code::Unimplemented);
    assert!(http_status.message.contains("404"));
    let html = status_of(|sender, stream, _| {
        let fields: [(&[u8], &[u8]); 2] = [(b":status", b"200"), (b"content-type", b"text/html")];
        sender.headers(stream, &mut bookend_wire::HeaderBlock::new(&fields), true);
    });
    assert_eq!(html.code, Code::Unknown);
    assert!(html.message.contains("text/html"));
}

#[test]
fn messages_that_are_none_are_faults_of_the_server() {
    let body = |octets: &'static [u8]| {
        status_of(move |sender, stream, _| {
            sender.headers(stream, &mut head(&[]), false);
            sender.data(stream, octets, false);
            sender.headers(stream, &mut trailers(b"0", &[]), true);
        })
    };
    assert_eq!(body(b"\0\0\0\0\x05cut").code, Code::Internal);
    assert_eq!(body(b"\x01\0\0\0\x01z").code, Code::Internal);
    assert_eq!(body(b"\x07\0\0\0\x01z").code, Code::Internal);
    assert_eq!(body(b"\0\x7f\0\0\0").code, Code::ResourceExhausted);
}

#[test]
fn a_reset_is_a_status_too() {
    let refused = status_of(|sender, stream, _| sender.reset(stream, ErrorCode::REFUSED_STREAM));
    assert_eq!(refused.code, Code::Unavailable);
    assert!(refused.message.contains("REFUSED_STREAM"));
}

#[test]
fn a_path_that_is_none_is_refused_before_anything_is_sent() {
    let (address, _heard) = serve(ConnectionConfig::internet(), echo);
    let mut client = connect(&address);
    for path in ["", "no-slash", "/with space", "/line\nbreak"] {
        let refused = client.call(&Call::new(path, &[]));
        assert_eq!(refused, Err(CallError::Path(path.to_owned())));
    }
    assert!(client.call(&Call::new(PATH, &[b"x"])).is_ok());
}

/// Connects with little patience, which must fail.
fn refused(address: &str) -> ConnectError {
    let options = Options {
        greeting_timeout: Duration::from_millis(100),
        ..Options::default()
    };
    Client::connect(address, &options).unwrap_err()
}

#[test]
fn nobody_listens() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let error = refused(&address);
    assert!(matches!(error, ConnectError::Refused { .. }), "{error:?}");
    assert!(error.to_string().starts_with("nobody listens at 127.0.0.1"));
}

#[test]
fn an_address_without_a_port_is_told() {
    let error = refused("localhost");
    assert!(matches!(error, ConnectError::Unresolved(_)));
    let advice = "target localhost has no port: write localhost:50051";
    assert_eq!(error.to_string(), advice);
}

#[test]
fn a_server_that_says_nothing() {
    let error = refused(&misbehave(std::mem::forget));
    assert!(matches!(
        error,
        ConnectError::Silent {
            received_bytes: 0,
            ..
        }
    ));
    assert!(error.to_string().contains("sent no SETTINGS within 100ms"));
}

#[test]
fn a_server_that_says_half_a_frame() {
    let error = refused(&misbehave(|mut stream| {
        stream.write_all(&[0, 0, 6, 4]).unwrap();
        std::mem::forget(stream);
    }));
    assert!(matches!(
        error,
        ConnectError::Silent {
            received_bytes: 4,
            ..
        }
    ));
}

#[test]
fn a_server_that_closes_at_once() {
    let error = refused(&misbehave(drop));
    assert!(matches!(error, ConnectError::ClosedAtOnce { .. }));
}

#[test]
fn servers_that_speak_something_else() {
    let says = |octets: &'static [u8]| {
        let error = refused(&misbehave(move |mut stream| {
            stream.write_all(octets).unwrap();
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
fn answered_by(say: impl Fn(&mut TcpStream) + Send + 'static) -> CallError {
    let address = misbehave(move |mut stream| {
        stream
            .write_all(
                &Connection::new(Side::Server, &ConnectionConfig::internet())
                    .sender
                    .output,
            )
            .unwrap();
        // The preface, SETTINGS and WINDOW_UPDATE of the client, and the beginning of its call.
        let mut request = vec![0; 100];
        stream.read_exact(&mut request).unwrap();
        say(&mut stream);
    });
    let mut client = connect(&address);
    let error = client.call(&Call::new(PATH, &[b"x"])).unwrap_err();
    assert_eq!(
        client.call(&Call::new(PATH, &[b"x"])),
        Err(error.clone()),
        "the connection stays what it is"
    );
    error
}

#[test]
fn a_server_that_goes_away_in_the_middle_of_a_call() {
    let error = answered_by(|_| {});
    assert!(matches!(error, CallError::Closed { goaway: None, .. }));
    let error = answered_by(|stream| {
        let mut goaway = Vec::new();
        let payload = b"\0\0\0\x01\0\0\0\x0btoo much";
        write_frame(&mut goaway, kind::GOAWAY, 0, 0, payload);
        stream.write_all(&goaway).unwrap();
        // Everything is read, so that the close is no reset that overtakes the GOAWAY.
        stream
            .set_read_timeout(Some(Duration::from_millis(50)))
            .unwrap();
        let mut rest = [0; 1_000];
        while stream.read(&mut rest).is_ok_and(|read| read > 0) {}
    });
    assert!(
        error.to_string().ends_with("ENHANCE_YOUR_CALM (too much)"),
        "{error}"
    );
}

#[test]
fn a_server_that_breaks_http2_in_the_middle_of_a_call() {
    let error = answered_by(|stream| {
        stream.write_all(b"\0\0\x01\0\0\0\0\0\x63x").unwrap();
        std::mem::forget(stream.try_clone().unwrap());
    });
    assert!(matches!(error, CallError::Protocol { .. }), "{error:?}");
    assert!(error.to_string().contains("idle stream"));
}
