//! The client library over TLS.

#[path = "../../io/tests/support/certificates.rs"]
mod certificates;
#[path = "../../server/tests/support/echo.rs"]
mod echo;

use bookend_client::tls::{Authorities, ClientConfig, Identity, Trust};
use bookend_client::{Channel, ChannelOptions, Code, StreamCall, UnaryCall};
use bookend_server::tls::ServerConfig;
use bookend_server::{Io, Server, ServerHandle};
use bookend_wire::grpc::base64;
use certificates::{Authority, Files};
use echo::{ECHO, Echo};
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

/// Ends a test that would hang; no test comes near it.
const GUARD: Duration = Duration::from_secs(30);

fn identity(files: &Files) -> Identity {
    Identity::read(&files.certificate, &files.key).unwrap()
}

fn authorities(authority: &Authority) -> Authorities {
    Authorities::read(&authority.file()).unwrap()
}

/// A server with a certificate for the loopback's address, that may demand one of its clients.
fn server(authority: &Authority, io: Io, demands_certificates: bool) -> ServerHandle {
    let own = identity(&authority.issue(&["127.0.0.1"]));
    let of_clients = demands_certificates.then(|| authorities(authority));
    let config = ServerConfig::new(own, of_clients).unwrap();
    server_at("127.0.0.1", io, config)
}

fn server_at(host: &str, io: Io, config: ServerConfig) -> ServerHandle {
    Server::builder()
        .add_service(Echo::default())
        .bind((host, 0))
        .unwrap()
        .io(io)
        .tls(config)
        .spawn()
        .unwrap()
}

fn options(authority: &Authority, files: Option<&Files>) -> ChannelOptions {
    let trust = Trust::Signed(authorities(authority));
    let config = ClientConfig::new(trust, files.map(identity)).unwrap();
    ChannelOptions { tls: Some(config), ..ChannelOptions::default() }
}

fn channel(server: &ServerHandle, options: ChannelOptions) -> Channel {
    Channel::connect(&server.local_address().to_string(), options).unwrap()
}

/// Why there is no connection.
fn refused(server: &ServerHandle, options: &ChannelOptions) -> String {
    let connected = channel(server, options.clone()).wait_for_connection();
    connected.unwrap_err().to_string()
}

/// The bytes of the certificate in that file.
fn in_der(files: &Files) -> Vec<u8> {
    let pem = fs::read_to_string(&files.certificate).unwrap();
    let body: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
    base64::decode(body.as_bytes()).unwrap()
}

fn echo(message: &[u8]) -> UnaryCall {
    UnaryCall { timeout: Some(GUARD), ..UnaryCall::new(ECHO, message.to_vec()) }
}

#[test]
fn calls_go_over_tls_whatever_drives_the_server() {
    let authority = Authority::new();
    for io in [Io::Blocking, Io::Epoll] {
        let server = server(&authority, io, false);
        let options = options(&authority, None);
        for large in [0, 1, 100_000, 3 << 20] {
            let message = vec![7; large];
            let channel = channel(&server, options.clone());
            let answer = channel.unary(echo(&message));
            assert!(answer.single_message() == Ok(&message), "{io:?} {large}");
        }
        server.stop();
        let statistics = server.join().unwrap();
        assert_eq!(statistics.calls.answered_ok, 4);
        let handshakes = statistics.handshakes;
        assert_eq!((handshakes.full + handshakes.resumed, handshakes.failed), (4, 0));
        assert!(handshakes.resumed >= 3, "{handshakes:?}");
    }
}

#[test]
fn a_handler_sees_the_certificate_of_its_client() {
    let authority = Authority::new();
    for io in [Io::Blocking, Io::Epoll, Io::Uring] {
        let server = server(&authority, io, true);
        let files = authority.issue(&["client"]);
        let options = options(&authority, Some(&files));
        // The second connection resumes the session of the first.
        for _ in 0..2 {
            let channel = channel(&server, options.clone());
            let call = UnaryCall { path: "/test.Echo/Certificate".into(), ..echo(b"") };
            let shown = channel.unary(call).into_single_message().unwrap();
            assert_eq!(shown, in_der(&files), "{io:?}");
        }
        server.stop();
        server.join().unwrap();
    }
}

#[test]
fn ten_thousand_calls_share_one_connection() {
    let authority = Authority::new();
    let server = server(&authority, Io::Epoll, false);
    let channel = channel(&server, options(&authority, None));
    let (tell, hear) = std::sync::mpsc::channel();
    for number in 0..10_000_u32 {
        let tell = tell.clone();
        let call = UnaryCall::new(ECHO, number.to_be_bytes().to_vec());
        channel.call(call, move |answer| {
            let is_right = answer.single_message() == Ok(&number.to_be_bytes()[..]);
            tell.send(is_right).unwrap();
        });
    }
    assert!(hear.iter().take(10_000).all(|is_right| is_right));
    server.stop();
    assert_eq!(server.join().unwrap().io.accepted, 1);
}

#[test]
fn a_client_shows_the_certificate_that_is_demanded() {
    let authority = Authority::new();
    let server = server(&authority, Io::Epoll, true);
    let files = authority.issue(&["a client"]);
    let with = channel(&server, options(&authority, Some(&files)));
    assert_eq!(with.unary(echo(b"x")).status.code, Code::Ok);
    let without = channel(&server, options(&authority, None));
    let status = without.unary(echo(b"x")).status;
    assert_eq!(status.code, Code::Unavailable);
    assert!(
        status
            .message
            .contains("the server demands a client certificate: give one with the identity"),
        "{status}"
    );
}

#[test]
fn what_is_in_memory_does_as_what_is_in_files() {
    let authority = Authority::new();
    let bytes = |file: &Path| fs::read(file).unwrap();
    let identity = |name: &str| {
        let files = authority.issue(&[name]);
        Identity::from_pem(&bytes(&files.certificate), &bytes(&files.key)).unwrap()
    };
    let authorities = || Authorities::from_pem(&bytes(&authority.file())).unwrap();
    let demanding = ServerConfig::new(identity("127.0.0.1"), Some(authorities())).unwrap();
    let server = Server::builder()
        .add_service(Echo::default())
        .bind("127.0.0.1:0")
        .unwrap()
        .tls(demanding)
        .spawn()
        .unwrap();
    let with = |identity| ChannelOptions {
        tls: Some(ClientConfig::new(Trust::Signed(authorities()), identity).unwrap()),
        ..ChannelOptions::default()
    };
    let code = |options| channel(&server, options).unary(echo(b"x")).status.code;
    assert_eq!(code(with(Some(identity("a client")))), Code::Ok);
    assert_eq!(code(with(None)), Code::Unavailable);
}

#[test]
fn an_untrusted_certificate_is_named_once_and_clearly() {
    let authority = Authority::new();
    let server = server(&authority, Io::Epoll, false);
    let address = server.local_address().to_string();
    let strangers = options(&Authority::new(), None);
    let told = refused(&server, &strangers);
    let expected = format!(
        "cannot connect to {address}: the server's certificate is signed by nobody who is trusted \
         here: name its CA with Trust::Signed, or the certificate itself"
    );
    assert_eq!(told, expected);
    let status = channel(&server, strangers).unary(echo(b"x")).status;
    assert_eq!((status.code, status.message), (Code::Unavailable, expected));
    let for_another = ChannelOptions {
        authority: Some("other.example:443".to_owned()),
        ..options(&authority, None)
    };
    let told = refused(&server, &for_another);
    assert!(told.contains("is not for other.example: it is for 127.0.0.1"), "{told}");
}

#[test]
fn each_server_of_a_channel_is_verified_by_its_own_name() {
    let authority = Authority::new();
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for (certified, known_as, is_good) in [
        ("127.0.0.2", None, true),
        ("127.0.0.1", None, false),
        ("127.0.0.1", Some("127.0.0.1"), true),
        ("127.0.0.2", Some("127.0.0.1"), false),
    ] {
        let own = identity(&authority.issue(&[certified]));
        let config = ServerConfig::new(own, None).unwrap();
        let server = server_at("127.0.0.2", Io::Epoll, config);
        let address = server.local_address().to_string();
        let options =
            ChannelOptions { authority: known_as.map(str::to_owned), ..options(&authority, None) };
        // The first is tried first.
        let channel = Channel::connect(&format!("{nobody},{address}"), options).unwrap();
        let status = channel.unary(echo(b"x")).status;
        if is_good {
            assert_eq!(status.code, Code::Ok, "{certified} {known_as:?}: {status}");
            continue;
        }
        let name = known_as.unwrap_or("127.0.0.2");
        let told = format!(
            "cannot connect to {address}: the server's certificate is not for {name}: it is for \
             {certified}"
        );
        assert_eq!(status.code, Code::Unavailable);
        assert!(status.message.starts_with(&told), "{status}");
    }
}

#[test]
fn plain_text_and_tls_that_meet_each_other_say_so() {
    let authority = Authority::new();
    let secured = server(&authority, Io::Epoll, false);
    let plain = Server::builder()
        .add_service(Echo::default())
        .bind("127.0.0.1:0")
        .unwrap()
        .spawn()
        .unwrap();
    let told = refused(&secured, &ChannelOptions::default());
    assert!(told.ends_with("and wants TLS: set ChannelOptions::tls"), "{told}");
    let status = channel(&secured, ChannelOptions::default()).unary(echo(b"x")).status;
    assert!(status.message.ends_with("wants TLS: set ChannelOptions::tls"), "{status}");
    let told = refused(&plain, &options(&authority, None));
    assert!(told.ends_with("the server speaks no TLS: leave ChannelOptions::tls out"), "{told}");
    let status = channel(&plain, options(&authority, None)).unary(echo(b"x")).status;
    assert!(status.message.ends_with("leave ChannelOptions::tls out"), "{status}");
}

#[test]
fn streams_go_over_tls_as_well() {
    let authority = Authority::new();
    let server = server(&authority, Io::Epoll, false);
    let channel = channel(&server, options(&authority, None));
    let (mut requests, responses) = channel.open(StreamCall::new(ECHO));
    requests.send(&vec![3; 1 << 20]).unwrap();
    requests.finish();
    let answer = responses.into_response();
    assert!(answer.single_message() == Ok(&vec![3; 1 << 20]));
}
