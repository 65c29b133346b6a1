//! What is wrong with PEM, in words that show nothing of its content: the number of a line, and
//! which of the markers that are known begins there. A line that looks like no marker may be the
//! key.

use super::certificate_key::{is_pkcs7, is_pkcs12, is_sequence};
use rustls::pki_types::pem::Error;

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PemKind {
    Certificate,
    Key,
}

const BEGIN: &[u8] = b"-----BEGIN ";
const HYPHENS: &[u8] = b"-----";

/// The labels in the markers of certificates, keys and what is taken for them (RFC 7468, and the
/// manual of OpenSSL).
const LABELS: [&str; 18] = [
    "CERTIFICATE",
    "X509 CERTIFICATE",
    "TRUSTED CERTIFICATE",
    "CERTIFICATE REQUEST",
    "NEW CERTIFICATE REQUEST",
    "PRIVATE KEY",
    "RSA PRIVATE KEY",
    "EC PRIVATE KEY",
    "DSA PRIVATE KEY",
    "ENCRYPTED PRIVATE KEY",
    "OPENSSH PRIVATE KEY",
    "PUBLIC KEY",
    "RSA PUBLIC KEY",
    "EC PARAMETERS",
    "DH PARAMETERS",
    "X509 CRL",
    "PKCS7",
    "CMS",
];

/// Why the library cannot read it.
pub(crate) fn no_pem(pem: &[u8], error: &Error) -> String {
    let why = match error {
        Error::MissingSectionEnd { .. } | Error::IllegalSectionStart { .. } => {
            crowded(pem).or_else(|| without_end(pem)).unwrap_or("a marker is incomplete".to_owned())
        }
        Error::Base64Decode(_) => no_base64(pem),
        Error::SectionTooLarge => "a section in it is too large".to_owned(),
        _ => "it cannot be read".to_owned(),
    };
    format!("it is no PEM: {why}")
}

/// That there is nothing in it of what is looked for, and what it seems to be instead.
pub(crate) fn nothing_in(pem: &[u8], wanted: PemKind) -> String {
    let nothing = match wanted {
        PemKind::Certificate => "there is no certificate in it (-----BEGIN CERTIFICATE-----)",
        PemKind::Key => "there is no private key in it (-----BEGIN PRIVATE KEY-----)",
    };
    match instead(pem, wanted) {
        Some(instead) => format!("{nothing}: {instead}"),
        None => nothing.to_owned(),
    }
}

fn instead(pem: &[u8], wanted: PemKind) -> Option<String> {
    let (by, key) = match wanted {
        PemKind::Certificate => ("openssl x509", false),
        PemKind::Key => ("openssl pkey", true),
    };
    if is_pkcs12(pem) {
        let what = if key { "-nocerts -nodes" } else { "-nokeys" };
        return Some(format!(
            "it is PKCS #12: write it in PEM (openssl pkcs12 -in FILE {what} -out NEW)"
        ));
    }
    if is_pkcs7(pem) && !key {
        let by = "openssl pkcs7 -inform DER -print_certs";
        return Some(format!("it is PKCS #7: write it in PEM ({by} -in FILE -out NEW)"));
    }
    if is_sequence(pem) {
        return Some(format!("it is DER: write it in PEM ({by} -inform DER -in FILE -out NEW)"));
    }
    if pem.contains(&0) {
        return Some("it is not text".to_owned());
    }
    let (line, label) = lines(pem).find_map(|(line, text)| {
        let begin = text.windows(BEGIN.len()).position(|part| part == BEGIN)?;
        Some((line, label(&text[begin..])?))
    })?;
    Some(match (label, wanted) {
        ("CERTIFICATE", PemKind::Certificate)
        | ("PRIVATE KEY" | "RSA PRIVATE KEY" | "EC PRIVATE KEY", PemKind::Key) => {
            format!("in line {line} something stands before {}", marker(label))
        }
        ("TRUSTED CERTIFICATE" | "X509 CERTIFICATE", PemKind::Certificate) => {
            format!("it has {}: write it anew ({by} -in FILE -out NEW)", marker(label))
        }
        ("PKCS7" | "CMS", PemKind::Certificate) => format!(
            "it has {}: write it anew (openssl pkcs7 -print_certs -in FILE -out NEW)",
            marker(label)
        ),
        ("OPENSSH PRIVATE KEY", PemKind::Key) => format!(
            "it has {}: write it in PKCS #8 (ssh-keygen -p -m PKCS8 -f COPY)",
            marker(label)
        ),
        _ => format!("it has {}", marker(label)),
    })
}

/// The lines of a text, from 1. Where there is no line feed, a carriage return ends them.
fn lines(pem: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let end = if pem.contains(&b'\n') { b'\n' } else { b'\r' };
    (1..).zip(pem.split(move |byte| *byte == end).map(without_blanks))
}

/// A line without what the library passes over at its end.
fn without_blanks(line: &[u8]) -> &[u8] {
    let kept = line.iter().rposition(|byte| !b" \r".contains(byte)).map_or(0, |last| last + 1);
    &line[..kept]
}

/// The label of the marker that a text begins with, where it is a known one.
fn label(text: &[u8]) -> Option<&'static str> {
    let text = text.strip_prefix(BEGIN)?;
    let is_it = |label: &&&str| {
        text.strip_prefix(label.as_bytes()).is_some_and(|rest| rest.starts_with(HYPHENS))
    };
    LABELS.iter().find(is_it).copied()
}

fn marker(label: &str) -> String {
    format!("-----BEGIN {label}-----")
}

/// The marker of a line, if it is not a known one.
fn marker_of(line: &[u8]) -> String {
    label(line).map_or("a marker that is not known".to_owned(), marker)
}

/// A marker that does not have its line for itself.
fn crowded(pem: &[u8]) -> Option<String> {
    let is_alone = |line: &[u8]| {
        let inner = line.strip_prefix(BEGIN).and_then(|rest| rest.strip_suffix(HYPHENS));
        let holds_hyphens = |label: &[u8]| label.windows(HYPHENS.len()).any(|part| part == HYPHENS);
        inner.is_some_and(|label| !holds_hyphens(label) && !label.ends_with(b"-"))
    };
    let (number, line) = lines(pem).find(|(_, line)| line.starts_with(BEGIN) && !is_alone(line))?;
    Some(match label(line) {
        Some(label) => {
            format!("in line {number} something stands behind {}", marker(label))
        }
        None => format!("line {number} begins a section with a marker that is incomplete"),
    })
}

/// The last section, which has no end.
fn without_end(pem: &[u8]) -> Option<String> {
    let (number, line) = lines(pem).filter(|(_, line)| line.starts_with(BEGIN)).last()?;
    let end = match label(line) {
        Some(label) => format!("the line -----END {label}----- is missing"),
        None => "its end is missing".to_owned(),
    };
    Some(format!("line {number} begins a section, and {end}"))
}

/// The first line of a section that has other letters than base64 (RFC 4648, section 4).
fn no_base64(pem: &[u8]) -> String {
    let is_base64 = |byte: &u8| {
        byte.is_ascii_alphanumeric() || b"+/=".contains(byte) || byte.is_ascii_whitespace()
    };
    let mut begin = None;
    for (number, line) in lines(pem) {
        if line.starts_with(BEGIN) {
            begin = Some((number, line));
        } else if line.starts_with(b"-----END ") {
            begin = None;
        } else if let Some((_, marker)) = begin
            && !line.iter().all(is_base64)
        {
            return format!("line {number}, behind {}, is not base64", marker_of(marker));
        }
    }
    "its content is not base64".to_owned()
}
