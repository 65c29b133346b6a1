//! What a certificate is for, and whether a client can ask for one of these names.

use super::advice::TlsAdvice;
use rustls::pki_types::ServerName;

/// That a certificate is not for the name that a client has asked for, and what to do. `presented`
/// is the content of its subjectAltName, as rustls writes it.
pub(crate) fn not_for(
    certificate: &str,
    (expected, presented): (&ServerName<'_>, &[String]),
    advice: &TlsAdvice,
) -> String {
    let TlsAdvice { server_name, any_certificate, .. } = advice;
    let make_one = format!(
        "make one with -addext subjectAltName={}, or accept any with {any_certificate}",
        alternative_name(expected)
    );
    if presented.is_empty() {
        return format!(
            "{certificate} is for no name: its subjectAltName has none, and its common name does \
             not count (RFC 9525): {make_one}"
        );
    }
    let presented: Vec<_> = presented.iter().map(|name| PresentedName::of(name)).collect();
    let texts: Vec<_> = presented.iter().map(|name| name.text.as_str()).collect();
    let (expected, texts) = (expected.to_str(), texts.join(", "));
    match presented.iter().any(|name| name.can_be_given) {
        true => format!(
            "{certificate} is not for {expected}: it is for {texts}; give the right name with \
             {server_name}"
        ),
        false => format!(
            "{certificate} is not for {expected}: it is for {texts}, by which no server can be \
             verified: {make_one}"
        ),
    }
}

/// A name in a certificate.
struct PresentedName {
    /// As people write it; with its kind where it is not what it looks like.
    text: String,
    /// Whether a client can ask for it, or for a name that it stands for.
    can_be_given: bool,
}

impl PresentedName {
    /// rustls writes each as `DnsName("a")` or `IpAddress(...)`; what people want to read is `a`.
    fn of(presented: &str) -> Self {
        let (kind, name) = match presented.split_once('(') {
            Some((kind, rest)) => {
                (kind, rest.strip_suffix(')').unwrap_or(rest).trim_matches('"').to_owned())
            }
            None => (presented, String::new()),
        };
        let useless = |text: String| Self { text, can_be_given: false };
        match (kind, name.as_str()) {
            ("DnsName", host) if is_host(host) => Self { text: name, can_be_given: true },
            ("DnsName", _) => useless(format!("DNS:{name}")),
            ("IpAddress", _) => Self { text: name, can_be_given: true },
            ("UniformResourceIdentifier", _) => useless(format!("URI:{name}")),
            ("DirectoryName", _) => useless("a name of a directory".to_owned()),
            // The tags of RFC 5280, section 4.2.1.6.
            ("Unsupported", "0x01") => useless("an e-mail address".to_owned()),
            ("Unsupported", "0x08") => useless("a registered ID".to_owned()),
            _ => useless("a name of another kind (otherName)".to_owned()),
        }
    }
}

/// Whether it is a name that a server can have, or stands for such names. As webpki has it, two
/// labels at least stand behind `*.`
fn is_host(name: &str) -> bool {
    let is_name = |name: &str| matches!(ServerName::try_from(name), Ok(ServerName::DnsName(_)));
    match name.strip_prefix("*.") {
        Some(parent) => is_name(parent) && parent.trim_end_matches('.').contains('.'),
        None => is_name(name),
    }
}

/// As a name stands in the configuration of OpenSSL.
fn alternative_name(name: &ServerName<'_>) -> String {
    let kind = match name {
        ServerName::IpAddress(_) => "IP",
        _ => "DNS",
    };
    format!("{kind}:{}", name.to_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADVICE: TlsAdvice =
        TlsAdvice { server_name: "--cname", any_certificate: "--skipTLS", ..TlsAdvice::CLIENT };

    fn said(expected: &str, presented: &[&str]) -> String {
        let expected = ServerName::try_from(expected).unwrap();
        let presented: Vec<_> = presented.iter().map(|name| (*name).to_owned()).collect();
        not_for("its certificate", (&expected, &presented), &ADVICE)
    }

    #[test]
    fn names_are_written_as_people_write_them() {
        assert_eq!(
            said("b", &["DnsName(\"a.example\")", "IpAddress(127.0.0.1)", "DnsName(\"*.c.d\")"]),
            "its certificate is not for b: it is for a.example, 127.0.0.1, *.c.d; give the right \
             name with --cname"
        );
    }

    #[test]
    fn a_name_that_cannot_be_asked_for_is_not_to_be_given() {
        for (presented, text) in [
            ("Unsupported(0x00)", "a name of another kind (otherName)"),
            ("Unsupported(0x01)", "an e-mail address"),
            ("Unsupported(0x08)", "a registered ID"),
            ("DirectoryName", "a name of a directory"),
            ("UniformResourceIdentifier(\"spiffe://localhost/x\")", "URI:spiffe://localhost/x"),
            ("DnsName(\"127.0.0.1\")", "DNS:127.0.0.1"),
            ("DnsName(\"*\")", "DNS:*"),
            ("DnsName(\"*.localhost\")", "DNS:*.localhost"),
            ("DnsName(\"\")", "DNS:"),
        ] {
            assert_eq!(
                said("127.0.0.1", &[presented]),
                format!(
                    "its certificate is not for 127.0.0.1: it is for {text}, by which no server \
                     can be verified: make one with -addext subjectAltName=IP:127.0.0.1, or accept \
                     any with --skipTLS"
                )
            );
            let among_others = said("b", &[presented, "DnsName(\"a.example\")"]);
            assert!(among_others.ends_with("a.example; give the right name with --cname"));
        }
    }
}
