//! Names whose values are secrets.

/// A name with one of these in it has a secret for a value.
const WITHIN: [&str; 19] = [
    "authorization",
    "authentication",
    "bearer",
    "cookie",
    "credential",
    "csrf",
    "hmac",
    "jwt",
    "key",
    "passphrase",
    "passwd",
    "password",
    "saml",
    "secret",
    "sessid",
    "session",
    "signature",
    "token",
    "xsrf",
];

/// And one that has a part like this: `x-pass`, `userPw`, `connect.sid`, `OTP2`.
const PARTS: [&str; 14] = [
    "cred", "creds", "cvc", "cvv", "mfa", "otp", "passcode", "passin", "passout", "pin", "pincode",
    "sid", "sig", "totp",
];

/// And one that has a part which ends like this: `SSHPASS`, `dbpw`, `client-assertion`.
const ENDINGS: [&str; 6] = ["assertion", "auth", "pass", "pw", "pwd", "sig"];

/// Words with one of those in them that say nothing of secrets.
const ORDINARY: [&str; 19] = [
    "bypass",
    "compass",
    "donkey",
    "hockey",
    "jockey",
    "keyboard",
    "keyframe",
    "keynote",
    "keyspace",
    "keyword",
    "monkey",
    "obsession",
    "overpass",
    "possession",
    "surpass",
    "trespass",
    "turkey",
    "underpass",
    "whiskey",
];

/// Whether a value of that name is a secret: `authorization`, `x-api-key`, `accessToken`.
pub fn is_secret(name: &str) -> bool {
    let letters = name.chars().filter(|letter| letter.is_alphanumeric());
    let lower = letters.collect::<String>().to_lowercase();
    let rest = ORDINARY.iter().fold(lower, |rest, word| rest.replace(word, ""));
    WITHIN.iter().any(|word| rest.contains(word)) || parts(name).iter().any(|part| names_one(part))
}

fn names_one(part: &str) -> bool {
    let part = part.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let is_ordinary = ORDINARY.iter().any(|word| part.ends_with(word));
    PARTS.contains(&part) || !is_ordinary && ENDINGS.iter().any(|ending| part.ends_with(ending))
}

/// The words of a name, which it divides by signs or by capitals, in lower case.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut was_small = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() || was_small && letter.is_uppercase() {
            parts.push(String::new());
        }
        was_small = letter.is_lowercase();
        if letter.is_alphanumeric() {
            parts.last_mut().expect("there is one").extend(letter.to_lowercase());
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::is_secret;

    #[test]
    fn a_secret_is_known_by_its_name_in_every_spelling() {
        for name in [
            "authorization",
            "Authorization",
            "proxy-authorization",
            "cookie",
            "Set-Cookie",
            "x-api-key",
            "apikey",
            "API_KEY",
            "accessToken",
            "x-csrf-token",
            "TOKEN",
            "db_password",
            "passwd",
            "client.secret",
            "aws-credentials",
            "x-auth",
            "session-token-bin",
            "keys",
            "monkey-key",
            "pass-word",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in ["", "tenant", "x-request-id", "monkey", "keyword", "authority", "PORT"] {
            assert!(!is_secret(name), "{name}");
        }
    }

    #[test]
    fn a_short_word_is_a_secret_as_a_part_of_a_name_alone() {
        for name in [
            "session",
            "pwd",
            "x-signature",
            "pass",
            "x-pass",
            "pw",
            "user-pw",
            "sid",
            "sessionid",
            "session-id",
            "x-session",
            "otp",
            "pin",
            "hmac",
            "sig",
            "x-csrf",
            "assertion",
            "saml",
            "userPw",
            "dbPass",
            "PHPSESSID",
            "connect.sid",
            "SSHPASS",
            "MYSQL_PWD",
            "DB_PASS",
            "passin",
            "otp2",
            "XSRF",
            "client_assertion",
            "Sig",
            "creds",
            "x-otp-bin",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in [
            "passengers",
            "signal",
            "pinned",
            "author",
            "authors",
            "passive",
            "passthrough",
            "bypass",
            "compass",
            "ping",
            "spin",
            "opinion",
            "side",
            "sidecar",
            "design",
            "signup",
            "pinpoint",
            "assign",
            "option",
            "resid",
            "config",
            "cursor",
            "keyboard",
            "span",
            "passed",
            "tangent",
            "encompass",
        ] {
            assert!(!is_secret(name), "{name}");
        }
    }
}
