//! Texts that are nearly messages.

/// Numbers that are the same in every run.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }

    fn one_of<'a>(&mut self, of: &'a [String]) -> &'a str {
        &of[self.below(of.len())]
    }
}

/// Numbers as JSON writes them, and some that it does not have.
const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "-0.0",
    "1",
    "-1",
    "1.0",
    "1e3",
    "1E+2",
    "10e-1",
    "1e-1",
    "1.5",
    "1.50e1",
    "1e400",
    "-1e400",
    "1e-400",
    "3.4028235e38",
    "3.4028236e38",
    "3.4028235677973366e38",
    "1e39",
    "1.7976931348623157e308",
    "1.7976931348623159e308",
    "9007199254740993",
    "9007199254740993.0",
    "2147483647",
    "2147483648",
    "-2147483648",
    "-2147483649",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616",
    "1.8446744073709551615e19",
    "01",
    "+1",
    "1.",
    ".5",
    "1e",
    "1e+",
    "--1",
    "0x10",
    "NaN",
    "Infinity",
    "-Infinity",
    "1e99999999999",
    "0e99999999999",
    "0.0000000000000000000001e22",
    "100000000000000000000000e-22",
    "1_000",
];

/// What else stands between quotation marks, escaped as JSON has it.
const TEXTS: &[&str] = &[
    "",
    " ",
    "a",
    "nan",
    "inf",
    "+Infinity",
    "infinity",
    " 1",
    "1 ",
    "true",
    "null",
    "FOO",
    "foo",
    "NEG",
    "NULL_VALUE",
    "ONE",
    "YQ==",
    "YQ",
    "YQ=",
    "YR==",
    "Y",
    "-_8=",
    "+/8",
    "-/8",
    "YW\\nE=",
    "YW!E",
    "YWFh\\nYWFhYWFh",
    "YQ==YQ==",
    "\\ud800",
    "\\udc00",
    "\\ud83d\\ude01",
    "\\ude01\\ud83d",
    "\\u0000",
    "\\x",
    "\\u12",
    "\u{7f}",
    "\u{8c37}",
    "1970-01-01T00:00:00Z",
    "1970-01-01T00:00:00.5Z",
    "1970-01-01T00:00:00.1234567890Z",
    "1970-01-01T00:00:60Z",
    "1970-01-01T24:00:00Z",
    "1970-01-01T5:00:00Z",
    "1970-1-01T05:00:00Z",
    "1970-02-30T00:00:00Z",
    "1970-01-01t00:00:00z",
    "1970-01-01 00:00:00Z",
    "1970-01-01T00:00:00",
    "1970-01-01T00:00:00.Z",
    "1970-01-01T00:00:00,5Z",
    "1970-01-01T00:00:00+01:30",
    "1970-01-01T00:00:00+24:00",
    "1970-01-01T00:00:00-00:60",
    "1970-01-01T00:00:00+0100",
    "0000-01-01T00:00:00Z",
    "0001-01-01T00:00:00+00:01",
    "9999-12-31T23:59:59-00:01",
    "9999-12-31T23:59:59.999999999Z",
    "10000-01-01T00:00:00Z",
    "1s",
    "1.s",
    ".5s",
    ".s",
    "s",
    "-s",
    "+1s",
    "-0.5s",
    "01s",
    "1 s",
    "1e3s",
    "1.1234567890s",
    "1",
    "315576000000s",
    "315576000001s",
    "-315576000000.999999999s",
    "1S",
    "a,,b",
    "a,",
    "fooBar",
    "FooBar",
    "foo_bar",
    "a.b",
    "a..b",
    "a.1",
    "a,b c",
    " a ",
    "fooBar,bazQux.a1",
    "[json2.extension_int32]",
    "type.googleapis.com/json3.Nested",
    "json3.Nested",
    "/json3.Nested",
    "a/.json3.Nested",
    "a/google.protobuf.Empty",
    "a/google.protobuf.Duration",
    "a/no.Such",
    "a/",
];

/// What is neither.
const OTHERS: &[&str] = &[
    "null",
    "true",
    "false",
    "True",
    "{}",
    "[]",
    "[[]]",
    "[{}]",
    "[null]",
    "{\"a\":1}",
    "{\"a\":null}",
    "{\"a\":1,\"a\":2}",
    "[1,2]",
    "[1,\"2\",3.0]",
    "[\"a\",\"\"]",
    "{\"1\":1}",
    "{\"1\":1,\"01\":2}",
    "{\"+1\":1}",
    "{\"-0\":1}",
    "{\"true\":true}",
    "{\"True\":true}",
    "{\"\":\"\"}",
    "{\"1\":{}}",
    "{\"a\":{}}",
    "{\"@type\":\"a/google.protobuf.Empty\"}",
    "{\"@type\":\"a/google.protobuf.Empty\",\"value\":{}}",
    "{\"value\":\"1s\",\"@type\":\"a/google.protobuf.Duration\"}",
    "{\"@type\":\"a/google.protobuf.Duration\"}",
    "{\"@type\":\"a/google.protobuf.Any\",\"value\":{}}",
    "{\"@type\":\"\"}",
    "{\"@type\":1}",
    "{\"value\":{}}",
    "{\"@type\":\"a/google.protobuf.Value\",\"value\":null}",
    "{\"@type\":\"a/json3.Nested\",\"a\":1}",
    "{\"@type\":\"a/google.protobuf.Int32Value\",\"value\":null}",
    "{\"@type\":\"json3.Nested\",\"a\":0}",
    "{\"a\":1,\"@type\":\"a/json3.Nested\",\"real\":-0.0}",
    "{\"@type\":\"a/json3.Nested\",\"value\":1}",
    "{\"@type\":\"a/json3.Nested\",\"@type\":\"a/json3.Nested\"}",
    "{\"@type\":\"a/json2.Required\"}",
    "{\"@type\":\"a/json3.Nested\",\"a\":1,\"a\":1}",
    "[{\"a\":1},{\"a\":1.5}]",
    "{\"groupInt32\":1}",
    "1 2",
    "{\"a\":1}}",
    "[1,]",
    "{\"a\":1,}",
    "'a'",
    "//",
];

/// Values that a field may or may not take.
pub fn odd_values() -> Vec<String> {
    let quoted = |text: &&str| format!("\"{text}\"");
    let numbers = NUMBERS.iter().flat_map(|number| [(*number).to_owned(), quoted(number)]);
    let others = OTHERS.iter().map(|other| (*other).to_owned());
    numbers.chain(TEXTS.iter().map(quoted)).chain(others).collect()
}

/// Takes a text of JSON apart: strings, numbers and words, and signs.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_sign = |sign: char| "{}[],:\" \n\t".contains(sign);
        let length = match first {
            '"' => string_length(rest),
            sign if is_sign(sign) => 1,
            _ => rest.find(is_sign).unwrap_or(rest.len()),
        };
        tokens.push(rest[..length].to_owned());
        rest = rest[length..].trim_start();
    }
    tokens
}

fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            b'"' if !is_escaped => return at + 1,
            _ => is_escaped = byte == b'\\' && !is_escaped,
        }
    }
    text.len()
}

/// Where the value ends that begins at a token.
fn value_end(tokens: &[String], start: usize) -> usize {
    let mut open = 0_i32;
    for (at, token) in tokens.iter().enumerate().skip(start) {
        match token.as_str() {
            "{" | "[" => open += 1,
            "}" | "]" => open -= 1,
            _ => {}
        }
        if open <= 0 {
            return at + 1;
        }
    }
    tokens.len()
}

/// The text with one thing or a few changed.
pub fn mutated(text: &str, odd_values: &[String], random: &mut Random) -> String {
    let mut tokens = tokens(text);
    for _ in 0..=random.below(3) / 2 {
        mutate(&mut tokens, odd_values, random);
    }
    tokens.concat()
}

fn mutate(tokens: &mut Vec<String>, odd_values: &[String], random: &mut Random) {
    let names: Vec<usize> = (1..tokens.len()).filter(|at| tokens[*at] == ":").collect();
    let Some(name_end) = names.get(random.below(names.len())).copied() else {
        return;
    };
    let (name, value) = (name_end - 1, name_end + 1);
    let end = value_end(tokens, value);
    match random.below(7) {
        0 | 1 => drop(tokens.splice(value..end, [random.one_of(odd_values).to_owned()])),
        2 => {
            let again: Vec<_> =
                [",".to_owned()].into_iter().chain(tokens[name..end].to_vec()).collect();
            tokens.splice(end..end, again);
        }
        3 => tokens[name] = respelled(&tokens[name], random),
        4 => {
            let other = names[random.below(names.len())] + 1;
            let other = tokens[other..value_end(tokens, other)].to_vec();
            tokens.splice(value..end, other);
        }
        5 => drop(tokens.remove(random.below(tokens.len()))),
        _ => {
            let within = value + random.below(end - value);
            tokens[within] = random.one_of(odd_values).to_owned();
        }
    }
}

/// `"fooBar"` as `"foo_bar"`, `"FooBar"` or nearly so.
fn respelled(name: &str, random: &mut Random) -> String {
    let inner = name.trim_matches('"');
    let snake = |inner: &str| {
        let under = |letter: char| match letter.is_ascii_uppercase() {
            true => format!("_{}", letter.to_ascii_lowercase()),
            false => letter.to_string(),
        };
        inner.chars().map(under).collect::<String>()
    };
    let inner = match random.below(4) {
        0 | 1 => snake(inner),
        2 => inner.to_uppercase(),
        _ => format!("{inner}x"),
    };
    format!("\"{inner}\"")
}
