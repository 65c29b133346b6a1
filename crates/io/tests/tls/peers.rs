//! Peers that are rustls itself, so that no mistake of ours stands at both ends.

use super::ends::{Setup, pattern};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{RootCertStore, SupportedProtocolVersion};
use std::io::{Read, Write};
use std::sync::Arc;

/// A client as rustls makes them.
pub fn client(
    setup: &Setup,
    protocols: &[&[u8]],
    versions: &[&'static SupportedProtocolVersion],
) -> rustls::Connection {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(setup.authority.file()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    let name = ServerName::try_from("localhost").unwrap();
    rustls::ClientConnection::new(Arc::new(config), name).unwrap().into()
}

/// A server as rustls makes them.
pub fn server(
    setup: &Setup,
    protocols: &[&[u8]],
    versions: &[&'static SupportedProtocolVersion],
) -> rustls::Connection {
    let files = setup.authority.issue(&["localhost"]);
    let chain = vec![CertificateDer::from_pem_file(files.certificate).unwrap()];
    let key = PrivateKeyDer::from_pem_file(files.key).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    rustls::ServerConnection::new(Arc::new(config)).unwrap().into()
}

/// What it has to send.
pub fn outgoing(connection: &mut rustls::Connection) -> Vec<u8> {
    let mut bytes = Vec::new();
    while connection.wants_write() {
        connection.write_tls(&mut bytes).unwrap();
    }
    bytes
}

/// Takes what has come, and gives what was in it.
pub fn incoming(connection: &mut rustls::Connection, mut bytes: &[u8]) -> Vec<u8> {
    let mut plaintext = Vec::new();
    while !bytes.is_empty() {
        connection.read_tls(&mut bytes).unwrap();
        connection.process_new_packets().unwrap();
        let mut chunk = [0; 1 << 15];
        while let Ok(count @ 1..) = connection.reader().read(&mut chunk) {
            plaintext.extend_from_slice(&chunk[..count]);
        }
    }
    plaintext
}

/// Encrypts a pattern of that length, in records of at most `record_bytes`.
pub fn encrypted(
    connection: &mut rustls::Connection,
    bytes: usize,
    record_bytes: usize,
) -> Vec<u8> {
    let mut records = Vec::new();
    for part in pattern(bytes).chunks(record_bytes) {
        connection.writer().write_all(part).unwrap();
        records.extend(outgoing(connection));
    }
    records
}
