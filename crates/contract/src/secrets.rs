//! Secrets among names and values, metadata, variables and command lines: a report shows how long
//! they are and no more. What is taken for one is decided here alone, by its name or by what it
//! looks like, and rather too often than too seldom.

mod command;
mod name;
mod span;
mod typed;
mod value;

pub use name::is_secret;
pub use span::masked;
pub use typed::TypedSecrets;

use crate::capacity::CapacityReport;
use crate::report::LoadReport;
use crate::shell_words;
use serde_json::Value;
use span::mask;
use std::borrow::Cow;

/// The field of a report's options that has the request message.
const MESSAGE: &str = "data";

/// The value as it is shown after that name.
pub fn shown<'a>(name: &str, value: &'a str) -> Cow<'a, str> {
    if is_secret(name) { mask(value, span::one(0..value.len())) } else { in_text(value) }.into()
}

/// A text that the user typed, as it is shown.
pub fn in_text(text: &str) -> String {
    mask(text, command::of_text(text))
}

/// The words of a command of ours, as they are shown. The request message is the user's own, so
/// `--data` is left alone, and our flags are no secrets: `--key` has a file.
pub fn in_words<W: AsRef<str>>(words: impl IntoIterator<Item = W>) -> Vec<String> {
    typed::words(words).into_iter().map(|(word, spans)| mask(&word, spans)).collect()
}

/// A command of ours as a result has it: [`in_words`] of what the shell makes of it.
pub fn in_own_command(command: &str) -> String {
    let Some(words) = shell_words::words(command) else {
        return in_command(command);
    };
    in_words(words).iter().map(|word| shell_words::quoted(word)).collect::<Vec<_>>().join(" ")
}

/// A line of ours about words of the user's, as it is shown: without what is known for a secret
/// wherever it stands.
pub fn in_message(line: &str) -> String {
    mask(line, value::spans(line))
}

/// A command line of the shell as it is shown: variables (`TOKEN=...`), flags (`--token ...`),
/// headers, JSON, and users in the addresses of the web.
pub fn in_command(line: &str) -> String {
    mask(line, command::of_command(line))
}

/// A value of JSON as it is shown: of every field of a secret's name its length alone, and other
/// texts without their secrets.
pub fn in_value(value: &Value) -> Value {
    let field = |(name, value): (&String, &Value)| {
        let shown = match value {
            Value::String(text) => shown(name, text).into_owned().into(),
            other if is_secret(name) => masked(&other.to_string()).into(),
            other => in_value(other),
        };
        (name.clone(), shown)
    };
    match value {
        Value::Object(fields) => Value::Object(fields.iter().map(field).collect()),
        Value::Array(list) => list.iter().map(in_value).collect(),
        Value::String(text) => in_text(text).into(),
        other => other.clone(),
    }
}

/// The options of a report as they are shown. Our flags are no secrets: `key` has a file. The
/// message is left alone.
pub fn in_options(options: &Value) -> Value {
    let Value::Object(fields) = options else {
        return in_value(options);
    };
    let field = |(name, value): (&String, &Value)| {
        let shown = match value {
            message if name == MESSAGE => message.clone(),
            Value::String(text) => in_text(text).into(),
            other => in_value(other),
        };
        (name.clone(), shown)
    };
    Value::Object(fields.iter().map(field).collect())
}

/// Masks what the user typed in a report that was written with its secrets, or by another program.
pub fn in_report(report: &mut LoadReport) {
    report.options = in_options(&report.options);
    report.name = report.name.as_deref().map(in_text);
    report.tags.iter_mut().for_each(|(name, value)| *value = shown(name, value).into_owned());
    let bookend = &mut report.bookend;
    bookend.targets.iter_mut().for_each(|target| target.target = in_text(&target.target));
    if let Some(origin) = &mut bookend.origin {
        origin.command = in_own_command(&origin.command);
    }
}

/// The same of the search of a capacity.
pub fn in_capacity_report(report: &mut CapacityReport) {
    report.options = in_options(&report.options);
    report.name = report.name.as_deref().map(in_text);
    report.origin.command = in_own_command(&report.origin.command);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_shown_by_its_name() {
        assert_eq!(shown("x-api-key", "Bearer abc"), "masked (10 bytes)");
        assert_eq!(shown("tenant", "blue"), "blue");
        assert_eq!(shown("tenant", "Bearer abc"), "Bearer masked (3 bytes)");
    }

    #[test]
    fn a_command_line_shows_what_it_starts_and_none_of_its_secrets() {
        for (line, shown) in [
            ("TOKEN=abc ./server --port {port}", "TOKEN=masked (3 bytes) ./server --port {port}"),
            ("old=API_KEY=abc ./a", "old=API_KEY=masked (3 bytes) ./a"),
            ("export DB_PASSWORD='it'\\''s a'; ./a", "export DB_PASSWORD=masked (9 bytes); ./a"),
            ("./a --token abc -v", "./a --token masked (3 bytes) -v"),
            ("./a --api-key='a b' x", "./a --api-key=masked (3 bytes) x"),
            ("./a --token\n b", "./a --token\n masked (1 bytes)"),
            ("./a --with-token --port 5", "./a --with-token --port 5"),
            ("./a --token; b", "./a --token; b"),
            ("./a -H 'authorization: Bearer abc'", "./a -H 'authorization: masked (10 bytes)'"),
            ("./a authorization: Bearer abc", "./a authorization: Bearer masked (3 bytes)"),
            ("sh -c 'cd a && TOKEN=x ./b'", "sh -c 'cd a && TOKEN=masked (1 bytes) ./b'"),
            ("./a \"--token=x y\"", "./a \"--token=masked (3 bytes)\""),
            ("DB=https://me:pw@host/a ./b", "DB=https://masked (5 bytes)@host/a ./b"),
            ("./a -m '{\"token\": \"x\"}'", "./a -m '{\"token\": \"masked (1 bytes)\"}'"),
            ("./a -m {\"token\":\"x", "./a -m {\"token\":masked (1 bytes)"),
        ] {
            assert_eq!(in_command(line), shown);
        }
    }

    #[test]
    fn no_secret_of_a_command_line_is_left() {
        for line in [
            "TOKEN=$(echo S3cr3t) ./a",
            "TOKEN=`echo S3cr3t` ./a",
            "TOKEN=\"$(echo \"x S3cr3t\")\" ./a",
            "TOKEN=${X:-\"a b\" S3cr3t} ./a",
            "TOKEN=$'a\\'b S3cr3t' ./a",
            "./a --token \\\n  S3cr3t",
            "./a --token $(echo S3cr3t)",
            "./a --password-stdin <<< S3cr3t",
            "./a --password-stdin <<END\nS3cr3t\nEND",
            "./a --token <(echo S3cr3t)",
            "MYSQL_PWD=S3cr3t ./a",
            "DB_PASS=S3cr3t ./a",
            "SSHPASS=S3cr3t ./a",
            "TOKEN+=S3cr3t ./a",
            "./a --pass S3cr3t",
            "./a --passin pass:S3cr3t",
            "./a -passin pass:S3cr3t",
            "./a --user u:S3cr3t",
            "./a --user=u:S3cr3t",
            "./a -u 'u:S3cr3t x'",
            "./a -uu:S3cr3t",
            "./a 'Server=h;Pwd=S3cr3t;'",
            "./a --db Server=h\\;Pwd=S3cr3t",
            "./a -H 'Cookie: a=b; c=S3cr3t'",
            "./a -HCookie:S3cr3t",
            "X='true --token S3cr3t' ./a",
            "eval \"TOKEN='S3cr3t' ./a\"",
            "./a -m {\\\"token\\\":\\\"S3cr3t\\\"}",
            "./a -m '{\"x\": \"Bearer S3cr3t\"}'",
            "./a -m '{\"x\": \"a:1/?token=S3cr3t\"}'",
            "./a 'Authorization: Basic dTpTM2NyM3Q= S3cr3t'",
            "./a Basic S3cr3tCanary",
            "./a -x 'Digest username=\"u\", response=\"S3cr3t\"'",
            "./a u:S3cr3t@h:1",
            "./a https://u:a/S3cr3t@h",
            "./a redis://:S3cr3t@h",
            "./a http://h/?a=b&sig=S3cr3t",
        ] {
            assert!(!in_command(line).contains("S3cr3t"), "{line}: {}", in_command(line));
        }
        let deep = format!("TOKEN={}S3cr3t", "'\"".repeat(20_000));
        assert!(!in_command(&deep).contains("S3cr3t"));
    }

    #[test]
    fn what_has_no_secret_stays_as_it_was() {
        for line in [
            "",
            " ",
            "cd old && LOG=off ./server --port {port} >&2 || exit; # it's",
            "token-service:50051",
            "secret.internal:{port}/a",
            "a=http://host:1/x?y=@z",
            "'",
            "-H 'tenant: blue'",
            "--token",
            "key=",
            "\\",
            "x='{\"a\": [1, {\"b\": null}]}'",
            "{",
            "\u{fc}={\u{fc}",
            "tokens:/a",
            "./a --user 1000:1000 -u http://h:1/ --passengers 3 --signal 9",
            "app@sha256:0123 unix:/tmp/a@b git@h:a",
            "basic functions, a token of the bucket",
        ] {
            assert_eq!(in_command(line), line);
            assert_eq!(in_words([line]), [line]);
        }
    }

    #[test]
    fn a_line_about_words_of_the_users_has_none_of_their_secrets() {
        for (text, shown) in [
            ("no call to https://me:pw@a:1, b", "no call to https://masked (5 bytes)@a:1, b"),
            ("\"http://a\", //me@b", "\"http://a\", //masked (2 bytes)@b"),
            ("dns:///a:1 and me@b // x@", "dns:///a:1 and me@b // x@"),
            ("target \"Bearer abc}\" is odd", "target \"Bearer masked (4 bytes)\" is odd"),
            ("a Bearer  b", "a Bearer  masked (1 bytes)"),
            ("//", "//"),
            (
                "cannot read {\"token\":\"a b\"}: no",
                "cannot read {\"token\":\"masked (3 bytes)\"}: no",
            ),
            ("target u:a@h: it", "target masked (3 bytes)@h: it"),
            (
                "-t token=ab: \"token=ab\" is",
                "-t token=masked (2 bytes): \"token=masked (2 bytes)\" is",
            ),
            (
                "-----BEGIN PRIVATE KEY-----\\nMIIEvQ==",
                "-----BEGIN PRIVATE KEY-----\\nmasked (8 bytes)",
            ),
            (
                "the line -----END PRIVATE KEY----- is missing",
                "the line -----END PRIVATE KEY----- is missing",
            ),
            ("metadata \"token\" is given twice", "metadata \"token\" is given twice"),
            (
                "--cert is of no use without --key: give both",
                "--cert is of no use without --key: give both",
            ),
            ("put {port} in, or write a@PORT=COMMAND", "put {port} in, or write a@PORT=COMMAND"),
        ] {
            assert_eq!(in_message(text), shown);
        }
    }

    #[test]
    fn our_own_words_keep_the_message_and_the_names_of_files() {
        let words = [
            "load",
            "-d",
            "{\"token\":\"a\"}",
            "--data={\"token\":\"a\"}",
            "-d{\"token\":\"a\"}",
            "--key",
            "server.pem",
            "--key=server.pem",
            "-m",
            "{\"Cookie\":\"abc\",\"x\":\"1\"}",
            "--metadata={\"a\":{\"token\":[1]}}",
            "--env",
            "TOKEN=a b",
            "--env=TOKEN=ab",
            "old=./a --token x",
            "-m{\"token\":\"a",
        ];
        let shown = [
            "load",
            "-d",
            "{\"token\":\"a\"}",
            "--data={\"token\":\"a\"}",
            "-d{\"token\":\"a\"}",
            "--key",
            "server.pem",
            "--key=server.pem",
            "-m",
            "{\"Cookie\":\"masked (3 bytes)\",\"x\":\"1\"}",
            "--metadata={\"a\":{\"token\":masked (3 bytes)}}",
            "--env",
            "TOKEN=masked (3 bytes)",
            "--env=TOKEN=masked (2 bytes)",
            "old=./a --token masked (1 bytes)",
            "-m{\"token\":masked (1 bytes)",
        ];
        assert_eq!(in_words(words), shown);
    }
    #[test]
    fn no_line_has_a_secret_that_was_typed() {
        let of = |line: &str| TypedSecrets::of(line.split(' '));
        let said = of("load -m {token: S3cr3t, x: 1}").masked_in("target S3cr3t} has no port");
        assert_eq!(said, "target masked (6 bytes)} has no port");
        let said = of("load --env TOKEN=S3cr3t").masked_in("a S3cr3t, S3cr3t");
        assert_eq!(said, "a masked (6 bytes), masked (6 bytes)");
        assert_eq!(of("load --tags token=ab").masked_in("a table"), "a table", "it is too short");
    }

    #[test]
    fn a_report_is_shown_without_what_was_typed() {
        let options = serde_json::json!({
            "host": "u:S3cr3t@h:1", "key": "server.pem", "data": {"token": "kept"},
            "authority": "u:S3cr3t@h", "metadata": {"pw": "S3cr3t", "x": "Bearer S3cr3t"},
        });
        let shown = in_options(&options).to_string();
        assert!(!shown.contains("S3cr3t"), "{shown}");
        assert!(shown.contains("server.pem") && shown.contains("kept"), "{shown}");
        let command =
            "bookend load -d '{\"token\":\"kept\"}' --key a.pem -m '{\"token\":\"S3cr3t\"}'";
        let shown = in_own_command(command);
        assert_eq!(shown, command.replace("S3cr3t", "masked (6 bytes)"));
        assert_eq!(in_own_command(&shown), shown);
    }
    #[test]
    fn whatever_is_typed_is_shown_and_shown_again() {
        const PIECES: [&str; 28] = [
            "token",
            "=",
            ":",
            "\"",
            "'",
            "{",
            "}",
            "\u{fc}",
            "\u{fffd}",
            " ",
            "\\",
            "@",
            "//",
            "/",
            "--",
            "-u",
            "Bearer",
            "$(",
            "`",
            "\n",
            "a1B2c3",
            "[",
            "]",
            ",",
            "eyJ",
            "PRIVATE KEY-----",
            "masked (3 bytes)",
            "<<",
        ];
        let mut state = 7_u64;
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..state >> 60 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                text += PIECES[(state >> 33) as usize % PIECES.len()];
            }
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            in_message(&in_message(&text));
            in_own_command(&text);
            TypedSecrets::of(text.split('/')).masked_in(&in_command(&in_text(&text)));
        }
    }
}
