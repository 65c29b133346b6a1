//! Whose certificates are trusted, and what is said of the others.

use super::certificates::{Authority, Files};
use super::ends::{Inner, Setup, client, echoes, listens};
use super::peers;
use bookend_io::tls::{Authorities, ClientConfig, Identity, ServerConfig, Trust};
use rcgen::{
    CertificateParams, CustomExtension, DnType, Error, ExtendedKeyUsagePurpose, GeneralSubtree,
    IsCa, Issuer, KeyPair, KeyUsagePurpose, NameConstraints, PKCS_ECDSA_P256_SHA256,
    PKCS_ECDSA_P384_SHA384, PKCS_ED25519, PKCS_RSA_SHA256, PublicKeyData, SignatureAlgorithm,
    SigningKey, date_time_ymd,
};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::version::{TLS12, TLS13};
use rustls::{ServerConnection, SupportedProtocolVersion};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn identity(files: &Files) -> Identity {
    Identity::read(&files.certificate, &files.key).unwrap()
}

fn named(file: &Path) -> Trust {
    Trust::Signed(Authorities::read(file).unwrap())
}

/// A server with that certificate.
fn serving(setup: &mut Setup, files: &Files) {
    setup.server = ServerConfig::new(identity(files), None).unwrap();
}

/// What a client hears of such a server; `opened Connected(7)` where all is well.
fn heard(setup: &Setup) -> String {
    let mut pair = setup.pair(Inner::dialling(listens), Inner::new(echoes));
    pair.carry(usize::MAX);
    pair.client_log().last().cloned().unwrap_or_default()
}

/// What a client hears that trusts the certificates in `trusted`, of a server with `shown`.
fn heard_of(setup: &mut Setup, shown: &Files, trusted: &Path) -> String {
    serving(setup, shown);
    setup.client = client(named(trusted), None);
    heard(setup)
}

/// Why a server has refused a client with that certificate; `None` where it has not.
fn refused(setup: &mut Setup, shown: &Files, trusted: &Path) -> Option<String> {
    let own = setup.authority.issue(&["localhost"]);
    let authorities = Authorities::read(trusted).unwrap();
    setup.server = ServerConfig::new(identity(&own), Some(authorities)).unwrap();
    setup.client = client(named(&setup.authority.file()), Some(identity(shown)));
    heard(setup);
    let handshakes = setup.server.handshakes();
    assert_eq!(handshakes.full + handshakes.failed, 1);
    handshakes.first_failure
}

const OPENED: &str = "opened Connected(7)";
const BY_NOBODY: &str = "not connected 7: the server's certificate is signed by nobody who is \
     trusted here: name its CA with --cacert FILE, or the certificate itself";

#[test]
fn a_certificate_that_is_named_itself_is_trusted_whoever_has_signed_it() {
    let mut setup = Setup::new();
    let other = Authority::new();
    let by_itself = setup.authority.self_signed(&["localhost"], |_| {});
    let no_authority =
        setup.authority.self_signed(&["localhost"], |params| params.is_ca = IsCa::NoCa);
    for files in [by_itself, no_authority, other.issue(&["localhost"])] {
        assert_eq!(heard_of(&mut setup, &files, &files.certificate), OPENED);
        // Among others too, as in a file of several.
        let texts = [&setup.authority.file(), &files.certificate].map(fs::read_to_string);
        let several = texts.map(Result::unwrap).concat();
        let several = setup.authority.write("several.pem", &several);
        assert_eq!(heard_of(&mut setup, &files, &several), OPENED);
    }
}

#[test]
fn the_name_and_the_dates_of_a_named_certificate_are_verified() {
    let mut setup = Setup::new();
    let elsewhere = setup.authority.self_signed(&["a.example"], |_| {});
    assert_eq!(
        heard_of(&mut setup, &elsewhere, &elsewhere.certificate),
        "not connected 7: the server's certificate is not for localhost: it is for a.example; \
         give the right name with --cname"
    );
    for is_ca in [IsCa::NoCa, IsCa::Ca(rcgen::BasicConstraints::Unconstrained)] {
        let expired = setup.authority.self_signed(&["localhost"], |params| {
            params.is_ca = is_ca;
            params.not_after = date_time_ymd(2001, 1, 1);
        });
        let text = heard_of(&mut setup, &expired, &expired.certificate);
        assert!(text.contains("the server's certificate has expired"), "{text}");
        let future = setup.authority.self_signed(&["localhost"], |params| {
            params.is_ca = is_ca;
            params.not_before = date_time_ymd(4000, 1, 1);
        });
        let text = heard_of(&mut setup, &future, &future.certificate);
        assert!(text.contains("is valid in") && text.contains("is the clock right?"), "{text}");
    }
}

#[test]
fn one_that_looks_like_a_named_certificate_is_not_trusted() {
    let mut setup = Setup::new();
    let [named, alike] = [(); 2].map(|()| setup.authority.self_signed(&["localhost"], |_| {}));
    assert_eq!(heard_of(&mut setup, &alike, &named.certificate), BY_NOBODY);
    let authority = setup.authority.file();
    assert_eq!(heard_of(&mut setup, &alike, &authority), BY_NOBODY);
}

#[test]
fn a_client_with_a_certificate_that_is_named_itself_is_let_in() {
    let mut setup = Setup::new();
    let client = setup.authority.self_signed(&["client"], |_| {});
    assert_eq!(refused(&mut setup, &client, &client.certificate), None);
    let expired = setup
        .authority
        .self_signed(&["client"], |params| params.not_after = date_time_ymd(2001, 1, 1));
    let why = refused(&mut setup, &expired, &expired.certificate).unwrap();
    assert!(why.starts_with("the client's certificate has expired"), "{why}");
    let authority = setup.authority.file();
    let why = refused(&mut setup, &client, &authority).unwrap();
    assert!(why.starts_with("the client's certificate is signed by nobody whom"), "{why}");
}

#[test]
fn each_fault_of_a_certificate_is_told_with_its_cause() {
    let mut setup = Setup::new();
    let authority = setup.authority.file();
    type Change = Box<dyn FnOnce(&mut CertificateParams)>;
    let changes: [(Change, &str); 3] = [
        (
            Box::new(|params| {
                params.subject_alt_names.clear();
                params.distinguished_name.push(DnType::CommonName, "localhost");
            }),
            "is for no name: its subjectAltName has none, and its common name does not count (RFC \
             9525): make one with -addext subjectAltName=DNS:localhost, or accept any with --skipTLS",
        ),
        (
            Box::new(|params| {
                params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth]
            }),
            "is not for servers, but for client authentication: make one with \
             extendedKeyUsage=serverAuth",
        ),
        (
            Box::new(|params| params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained)),
            "is one of a CA (CA:TRUE), and is trusted only where it is named itself: name it with \
             --cacert FILE, or make one with CA:FALSE",
        ),
    ];
    for (change, fault) in changes {
        let files = setup.authority.issue_with(&["localhost"], change);
        let expected = format!("not connected 7: the server's certificate {fault}");
        assert_eq!(heard_of(&mut setup, &files, &authority), expected);
    }
}

#[test]
fn a_certificate_that_no_peer_could_read_is_refused_where_it_is_shown() {
    let authority = Authority::new();
    let mut extension =
        CustomExtension::from_oid_content(&[1, 3, 6, 1, 4, 1, 99999, 1], vec![5, 0]);
    extension.set_criticality(true);
    let add = move |params: &mut CertificateParams| params.custom_extensions = vec![extension];
    let files = authority.issue_with(&["localhost"], add);
    let text = ServerConfig::new(identity(&files), None).unwrap_err().to_string();
    let said = " cannot be used: the certificate has a critical extension that is not supported: \
         make one without it";
    assert!(text.ends_with(said), "{text}");
}

/// Made by `openssl x509 -req -signkey` from a request for `/CN=localhost`: one of version 1.
const VERSION_1: [&str; 2] = [
    "\
-----BEGIN CERTIFICATE-----
MIIBJDCBywIUT4kKv5hZUFuOasInSR0n8IcNXAwwCgYIKoZIzj0EAwIwFDESMBAG
A1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyNjEyNTI0OVoYDzIxMjYxMTAyMTI1MjQ5
WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
AATAwMjco0iyEhuGo4vVIK95etDNVg6r2xHprSauENmfI+kF61l9ku1ESSSQyFah
PFwl9+6NHkyVY4RVrWjqL1C8MAoGCCqGSM49BAMCA0gAMEUCIQCYsjiVx+JJ8O+M
M7AezszyYQ5eSgLs/OpoiUpEy3zJjAIgPnxY5PycKL4G6iuWo12F8yWWWnAQtTM6
+wT8z+Vxe8g=
-----END CERTIFICATE-----
",
    "\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgq5MpGo9Yzyh7vUuD
qARwi15BvndJSk0+JsDU9PlitJyhRANCAATAwMjco0iyEhuGo4vVIK95etDNVg6r
2xHprSauENmfI+kF61l9ku1ESSSQyFahPFwl9+6NHkyVY4RVrWjqL1C8
-----END PRIVATE KEY-----
",
];

/// What a client hears of a server with that certificate, which another TLS library shows.
fn heard_of_version_1(client: ClientConfig, version: &'static SupportedProtocolVersion) -> String {
    let mut setup = Setup::new();
    setup.client = client;
    let mut client = setup.client(Inner::dialling(listens));
    let id = client.connect_all()[0];
    let provider = Arc::new(ring::default_provider());
    let [certificate, key] = VERSION_1.map(str::as_bytes);
    let chain = vec![CertificateDer::from_pem_slice(certificate).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(key).unwrap();
    let key = provider.key_provider.load_private_key(key).unwrap();
    let shown = SingleCertAndKey::from(CertifiedKey::new(chain, key));
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[version])
        .unwrap()
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(shown));
    config.alpn_protocols = vec![b"h2".to_vec()];
    let mut server = rustls::Connection::from(ServerConnection::new(Arc::new(config)).unwrap());
    for _ in 0..3 {
        let mut bytes = &client.take(id, usize::MAX)[..];
        while !bytes.is_empty() && server.read_tls(&mut bytes).is_ok() {
            // An alert is what ends it, where it ends.
            let _ = server.process_new_packets();
        }
        client.give(id, &peers::outgoing(&mut server));
    }
    client.shard().inner().log.last().cloned().unwrap_or_default()
}

#[test]
fn a_certificate_of_version_1_is_for_no_name_and_has_a_key_all_the_same() {
    let authority = Authority::new();
    let file = authority.write("version-1.pem", VERSION_1[0]);
    for version in [&TLS12, &TLS13] {
        assert_eq!(
            heard_of_version_1(client(named(&file), None), version),
            "not connected 7: the server's certificate is not of version 3 of X.509, so it has no \
             subjectAltName: make one that has one"
        );
        assert_eq!(heard_of_version_1(client(Trust::Anyone, None), version), OPENED);
    }
}

/// A certificate for `localhost` that a key has signed, and the authority's with that key.
fn signed_by(
    setup: &Setup,
    key: impl SigningKey,
    change: impl FnOnce(&mut CertificateParams),
) -> (Files, PathBuf) {
    let mut of_authority = CertificateParams::default();
    of_authority.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    of_authority.distinguished_name.push(DnType::CommonName, "an authority of its own");
    change(&mut of_authority);
    let authority = of_authority.self_signed(&key).unwrap().pem();
    let issuer = Issuer::new(of_authority, key);
    let own = KeyPair::generate().unwrap();
    let params = CertificateParams::new(["localhost".to_owned()]).unwrap();
    let certificate = params.signed_by(&own, &issuer).unwrap().pem();
    let files = Files {
        certificate: setup.authority.write("signed.pem", &certificate),
        key: setup.authority.write("signed.key", &own.serialize_pem()),
    };
    (files, setup.authority.write("signer.pem", &authority))
}

/// An RSA key of 1024 bits, whose signatures nobody looks at.
struct ShortKey(Vec<u8>);

impl ShortKey {
    fn new() -> Self {
        // INTEGER of 129 bytes, and 65537.
        let modulus = [&[0x02, 0x81, 129, 0, 0xc5][..], &[7; 127]].concat();
        let numbers = [&modulus[..], &[0x02, 3, 1, 0, 1]].concat();
        Self([&[0x30, 0x81, u8::try_from(numbers.len()).unwrap()][..], &numbers].concat())
    }
}

impl PublicKeyData for ShortKey {
    fn der_bytes(&self) -> &[u8] {
        &self.0
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        &PKCS_RSA_SHA256
    }
}

impl SigningKey for ShortKey {
    fn sign(&self, _: &[u8]) -> Result<Vec<u8>, Error> {
        Ok(vec![7; 128])
    }
}

#[test]
fn an_rsa_key_that_is_too_short_is_called_so() {
    let mut setup = Setup::new();
    let (files, authority) = signed_by(&setup, ShortKey::new(), |_| {});
    assert_eq!(
        heard_of(&mut setup, &files, &authority),
        "not connected 7: the CA that has signed the server's certificate has an RSA key of 1024 \
         bits, which is not supported: make a key of P-256, P-384, Ed25519, or RSA of 2048 to 8192 \
         bits"
    );
    // Named itself, it needs nobody to have signed it.
    assert_eq!(heard_of(&mut setup, &files, &files.certificate), OPENED);
}

/// A CA made anew, under the name of the one of `signed_by` and with a key of that kind.
fn made_anew(setup: &Setup, kind: &'static SignatureAlgorithm) -> PathBuf {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, "an authority of its own");
    let anew = params.self_signed(&KeyPair::generate_for(kind).unwrap()).unwrap().pem();
    setup.authority.write("anew.pem", &anew)
}

#[test]
fn an_authority_made_anew_has_not_signed_what_the_old_one_has() {
    let mut setup = Setup::new();
    let (files, authority) = signed_by(&setup, KeyPair::generate().unwrap(), |_| {});
    assert_eq!(heard_of(&mut setup, &files, &authority), OPENED);
    for kind in [&PKCS_ECDSA_P256_SHA256, &PKCS_ECDSA_P384_SHA384, &PKCS_ED25519] {
        let anew = made_anew(&setup, kind);
        assert_eq!(heard_of(&mut setup, &files, &anew), BY_NOBODY, "{kind:?}");
        let why = refused(&mut setup, &files, &anew).unwrap();
        assert!(why.starts_with("the client's certificate is signed by nobody whom"), "{why}");
    }
}

/// The certificates of an authority and of a server that it has signed with SHA-1, and the server's
/// key, made by OpenSSL.
const SHA_1: [&str; 3] = [
    "\
-----BEGIN CERTIFICATE-----
MIIBhDCCASugAwIBAgIUQkFAiSz7tnOfiXUZbpvTWNjDgs4wCgYIKoZIzj0EAwIw
FzEVMBMGA1UEAwwMb2YteWVzdGVyZGF5MCAXDTI2MTEyNjE2MTUwMloYDzIxMjYx
MTAyMTYxNTAyWjAXMRUwEwYDVQQDDAxvZi15ZXN0ZXJkYXkwWTATBgcqhkjOPQIB
BggqhkjOPQMBBwNCAATL0WyNd8t6W58sUfMq5fRr9gpzdUKL1ToqPAexR/3mMsSg
yfn8UHsOmZYLv38qyX53DzkenEdrABI05V2BThRCo1MwUTAdBgNVHQ4EFgQUnqMZ
sl91lW8TM74MRTDAInbSAr4wHwYDVR0jBBgwFoAUnqMZsl91lW8TM74MRTDAInbS
Ar4wDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNHADBEAiAYRsVhy/oKDpju
+CMpvATIPAsahwhc4dd/QJm6Ydx2ZQIgN7j/5Em4w7UVIg+i/iiLJL9KTQWs/F7k
LZUJqbZURv8=
-----END CERTIFICATE-----
",
    "\
-----BEGIN CERTIFICATE-----
MIIBhTCCASygAwIBAgIUOUxwCpMncxEsv73f5iPhHUPkrRowCQYHKoZIzj0EATAX
MRUwEwYDVQQDDAxvZi15ZXN0ZXJkYXkwIBcNMjYxMTI2MTYxNTAyWhgPMjEyNjA3
MjUxNjE1MDJaMBQxEjAQBgNVBAMMCWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqG
SM49AwEHA0IABPxGtS6YjgQGYzDbXJhageyHXuD3JlRZEd3gxKLFHzH2t/WcV5eS
+mgOBCM+NIPV6P3cWQktgI6CCD267DwKbs+jWDBWMBQGA1UdEQQNMAuCCWxvY2Fs
aG9zdDAdBgNVHQ4EFgQU49UIug6HWxg7oLkbxk6bjyv33xYwHwYDVR0jBBgwFoAU
nqMZsl91lW8TM74MRTDAInbSAr4wCQYHKoZIzj0EAQNIADBFAiEAnDyTMRV+W21U
7h83ibyIuLRSStu7aNlKAn8z5Laz5VICIGjGNnEKsRSJ04nS+0fFEvt/ZtgXCzbn
V9GGFNpXgLji
-----END CERTIFICATE-----
",
    "\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgTKxNUf6ta6eWbOGG
sk1iRgDrrl0vEBkqM6l8kMvPVKahRANCAAT8RrUumI4EBmMw21yYWoHsh17g9yZU
WRHd4MSixR8x9rf1nFeXkvpoDgQjPjSD1ej93FkJLYCOggg9uuw8Cm7P
-----END PRIVATE KEY-----
",
];

#[test]
fn a_signature_that_is_not_supported_is_the_certificates_fault_at_either_end() {
    let mut setup = Setup::new();
    let [authority, certificate, key] = SHA_1;
    let authority = setup.authority.write("sha-1-authority.pem", authority);
    let files = Files {
        certificate: setup.authority.write("sha-1.pem", certificate),
        key: setup.authority.write("sha-1.key", key),
    };
    let fault = "certificate has a signature that is not supported (SHA-1 with ECDSA): make one \
         with SHA-256";
    let text = heard_of(&mut setup, &files, &authority);
    assert!(text.starts_with(&format!("not connected 7: the server's {fault}")), "{text}");
    assert_eq!(
        setup.server.handshakes().first_failure.unwrap(),
        "the client does not accept our certificate (alert certificate_unknown)"
    );
    let why = refused(&mut setup, &files, &authority).unwrap();
    assert!(why.starts_with(&format!("the client's {fault}")), "{why}");
    assert_eq!(
        heard(&setup),
        "failed: the server does not accept our certificate, or that we have none (alert \
         certificate_unknown): give one that it accepts with --cert FILE --key FILE"
    );
}

#[test]
fn a_name_that_the_authority_may_not_sign_for_is_called_so() {
    let mut setup = Setup::new();
    let (files, authority) = signed_by(&setup, KeyPair::generate().unwrap(), |params| {
        params.name_constraints = Some(NameConstraints {
            permitted_subtrees: vec![GeneralSubtree::DnsName("example".to_owned())],
            excluded_subtrees: vec![],
        });
    });
    assert_eq!(
        heard_of(&mut setup, &files, &authority),
        "not connected 7: the server's certificate is for a name that its CA may not sign for \
         (nameConstraints)"
    );
}

/// A chain of a leaf for `localhost` and of an intermediate of the setup's authority that may use
/// its key for this.
fn by_intermediate(setup: &Setup, usages: &[KeyUsagePurpose], leaf_has_its_name: bool) -> Files {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, "an intermediate");
    params.key_usages = usages.to_vec();
    let files = setup.authority.issue_with(&[], |of_authority| *of_authority = params.clone());
    let key = KeyPair::from_pem(&fs::read_to_string(&files.key).unwrap()).unwrap();
    let own = KeyPair::generate().unwrap();
    let mut leaf = CertificateParams::new(["localhost".to_owned()]).unwrap();
    if leaf_has_its_name {
        leaf.distinguished_name = params.distinguished_name.clone();
    }
    let leaf = leaf.signed_by(&own, &Issuer::new(params, key)).unwrap().pem();
    let chain = leaf + &fs::read_to_string(&files.certificate).unwrap();
    Files {
        certificate: setup.authority.write("chain.pem", &chain),
        key: setup.authority.write("chain.key", &own.serialize_pem()),
    }
}

#[test]
fn an_intermediate_whose_key_usage_is_another_has_signed_nothing() {
    use KeyUsagePurpose::{CrlSign, DigitalSignature, KeyCertSign};
    let mut setup = Setup::new();
    let authority = setup.authority.file();
    let fault = "certificate is signed by a certificate that may not sign others: its keyUsage has \
         no keyCertSign";
    for alike in [false, true] {
        for usages in [&[DigitalSignature][..], &[CrlSign, DigitalSignature]] {
            let files = by_intermediate(&setup, usages, alike);
            assert_eq!(
                heard_of(&mut setup, &files, &authority),
                format!("not connected 7: the server's {fault}")
            );
            let why = refused(&mut setup, &files, &authority);
            assert_eq!(why, Some(format!("the client's {fault}")));
        }
        for usages in [&[][..], &[KeyCertSign], &[DigitalSignature, KeyCertSign, CrlSign]] {
            let files = by_intermediate(&setup, usages, alike);
            assert_eq!(heard_of(&mut setup, &files, &authority), OPENED);
            assert_eq!(refused(&mut setup, &files, &authority), None);
        }
    }
}

#[test]
fn the_library_names_its_own_options() {
    let mut setup = Setup::new();
    setup.client = ClientConfig::new(named(&Setup::new().authority.file()), None).unwrap();
    assert_eq!(
        heard(&setup),
        "not connected 7: the server's certificate is signed by nobody who is trusted here: name \
         its CA with Trust::Signed, or the certificate itself"
    );
}
