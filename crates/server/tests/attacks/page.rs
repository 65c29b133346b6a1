//! docs/use/limits.md has every limit and every figure, and no other ones.

use std::fs;
use std::path::Path;

use bookend_server::io::{
    BACKLOG_LIMIT_BYTES, CONNECT_TIMEOUT_NS, FINAL_FLUSH_NS, RECEIVE_BUFFER_BYTES,
};
use bookend_server::limits::{
    DRAIN_NS, GOAWAY_PING_TIMEOUT_NS, Rate, TIGHT_REQUEST_TIMEOUT_NS, TIMEOUT_CHECK_INTERVAL_NS,
};
use bookend_server::{
    CONNECTION_OUTPUT_BYTES, CONNECTION_SEND_BUFFER_BYTES, Limits, POOL_CLIENT_WAIT,
    POOL_QUEUED_CALLS, POOL_THREADS, STREAM_SEND_BUFFER_BYTES, STREAM_TURN_BYTES,
};
use bookend_wire::config::{
    CONCURRENT_STREAMS_BEFORE_SETTINGS, MAX_HEADER_BLOCK_FRAMES, MAX_HEADER_BLOCK_LISTS,
    SMALL_INCREMENT_BYTES,
};

use crate::figures::FIGURES;

/// A limit under both presets, and why it is what it is.
struct Row {
    name: &'static str,
    internet: String,
    trusted: String,
    why: &'static str,
}

fn row(name: &'static str, of: impl Fn(&Limits) -> String, why: &'static str) -> Row {
    Row { name, internet: of(&Limits::internet()), trusted: of(&Limits::trusted()), why }
}

/// Limits that a server's owner can change.
fn presets() -> Vec<Row> {
    let mut rows = sizes();
    rows.extend(times_and_rates());
    rows
}

fn sizes() -> Vec<Row> {
    let streams = |limits: &Limits| {
        let streams = limits.http2.settings.max_concurrent_streams;
        streams.map_or("no limit".into(), |streams| streams.to_string())
    };
    let list = |limits: &Limits| limits.http2.settings.max_header_list_bytes.map_or(0, |b| b);
    vec![
        row(
            "streams open",
            streams,
            "what servers of h2 and nghttp2 announce lies between 100 and 250; load tests put tens of thousands on a connection",
        ),
        row(
            "handlers that run",
            streams,
            "as streams, but counted until the handler has answered: a client that resets its streams gets no more of them (CVE-2023-44487)",
        ),
        row(
            "window of a stream",
            |limits| bytes(limits.http2.settings.initial_window_bytes as usize),
            "HTTP/2's own default; a message of 4 MiB",
        ),
        row(
            "window of a connection",
            |limits| bytes(limits.http2.connection_window_bytes as usize),
            "16 streams; h2load's 2^30, so that flow control is not what is measured",
        ),
        row(
            "header list",
            move |limits| bytes(list(limits) as usize),
            "hyper's; each field counts 32 bytes more than its text (RFC 9113, 6.5.2). Beyond the limit a stream is reset, beyond four times the limit the connection is closed, as in h2",
        ),
        row(
            "fields of a header list",
            |limits| limits.http2.max_header_fields.to_string(),
            "Envoy stops at 100; each crumb of a cookie is one (CVE-2026-49975)",
        ),
        row(
            "size of a header block",
            move |limits| bytes(list(limits) as usize * MAX_HEADER_BLOCK_LISTS),
            "four header lists: encoding hardly makes a list longer",
        ),
        row(
            "answers behind closed windows",
            |limits| bytes(limits.http2.max_blocked_bytes),
            "hyper's 400 KiB for each of 250 streams come to 100 MB. Beyond it, streams are refused, which is safe to retry",
        ),
        row(
            "request message",
            |limits| bytes(limits.max_message_bytes),
            "grpc-go, grpc-java, tonic; checked before it is stored, and again while it is inflated",
        ),
        row(
            "unfinished requests together",
            |limits| bytes(limits.max_unfinished_bytes),
            "four of the largest messages; a thousand streams of a megabyte. Complete requests that wait for a thread of the pool, or for the end of their stream, count too",
        ),
        row(
            "memory that all connections hold",
            |limits| limits.max_held_bytes.map_or("no limit".into(), bytes),
            "32 connections at their limit, half of a small container; see below which are reset first",
        ),
        row(
            "connections from one address",
            |limits| limits.max_address_connections.map_or("no limit".into(), |n| n.to_string()),
            "an office behind one address needs fewer; a /64 of IPv6 is one address, and this machine's own do not count; \
             TLS counts from the beginning of its handshake",
        ),
    ]
}

fn times_and_rates() -> Vec<Row> {
    vec![
        row(
            "time until the client's preface and SETTINGS",
            |limits| time(limits.preface_timeout_ns),
            "Go's net/http2 waits as long",
        ),
        row(
            "time to complete a frame or a header block",
            |limits| time(limits.input_timeout_ns),
            "Apache's RequestReadTimeout gives headers as long",
        ),
        row(
            "time without progress of a request of one message, or of a message of a stream that has begun",
            |limits| time(limits.request_timeout_ns),
            "nginx's client_body_timeout",
        ),
        row(
            "time without the client reading anything",
            |limits| time(limits.write_timeout_ns),
            "nginx's send_timeout",
        ),
        row(
            "time without the windows letting anything through",
            |limits| time(limits.window_timeout_ns),
            "Envoy's stream_idle_timeout; longer than for writes, since flow control exists for programs that stop reading one stream",
        ),
        row(
            "time without a call",
            |limits| time(limits.idle_timeout_ns),
            "Envoy's idle_timeout; the connection is drained, and no call is lost",
        ),
        row(
            "silence before a keepalive PING",
            |limits| time(limits.keepalive.map(|keepalive| keepalive.time_ns)),
            "grpc-go's servers",
        ),
        row(
            "silence after that PING",
            |limits| time(limits.keepalive.map(|keepalive| keepalive.timeout_ns)),
            "grpc-go's and grpc-java's",
        ),
        row(
            "age of a connection",
            |limits| time(limits.connection_age.as_ref().map(|age| age.max_ns)),
            "grpc-go's default; a limit is varied by up to 10 % either way",
        ),
        row("streams reset, by either side", |limits| rate(limits.resets), "nghttp2's"),
        row("glitches", |limits| rate(limits.glitches), "nghttp2's"),
    ]
}

/// Limits that are the same for all.
fn constants() -> Vec<Constant> {
    let mut rows = constants_of_the_protocol();
    rows.extend(constants_of_calls());
    rows.extend(constants_of_time());
    rows
}

/// What is limited, the limit, and why.
type Constant = (&'static str, String, &'static str);

fn constants_of_the_protocol() -> Vec<Constant> {
    vec![
        (
            "frames of a header block",
            MAX_HEADER_BLOCK_FRAMES.to_string(),
            "nghttp2 allows 8 CONTINUATION frames; empty ones count",
        ),
        (
            "bytes of an integer in HPACK",
            "5".into(),
            "h2's; 32 bits need no more, and zeros cannot be appended without end (CVE-2023-33953)",
        ),
        (
            "a small WINDOW_UPDATE",
            bytes(SMALL_INCREMENT_BYTES as usize),
            "a smaller increment is a glitch while data waits for it; h2 penalises senders of smaller DATA frames (RUSTSEC-2026-0258)",
        ),
        (
            "unwritten output before a connection is no longer read",
            bytes(BACKLOG_LIMIT_BYTES),
            "as large as the kernel's send buffer grows; stops floods of frames that need an answer (CVE-2019-9512, 9515, 9517)",
        ),
    ]
}

fn constants_of_calls() -> Vec<Constant> {
    vec![
        (
            "unwritten output before its streams wait",
            bytes(CONNECTION_OUTPUT_BYTES),
            "a quarter of that, so that other answers find room",
        ),
        (
            "output of a stream held back by flow control before its handler must stop",
            bytes(STREAM_SEND_BUFFER_BYTES),
            "grpc-go's write quota",
        ),
        (
            "the same for all streams of a connection",
            bytes(CONNECTION_SEND_BUFFER_BYTES),
            "what 250 streams can fill",
        ),
        (
            "output of a stream in one turn",
            bytes(STREAM_TURN_BYTES),
            "four full frames; then the other streams have their turns",
        ),
        (
            "one read",
            bytes(RECEIVE_BUFFER_BYTES),
            "larger reads were no faster; also the longest frame that could be allowed",
        ),
        (
            "threads for handlers that block",
            POOL_THREADS.to_string(),
            "Java's and Python's servers usually get ten to a hundred",
        ),
        (
            "calls that wait for one of them",
            POOL_QUEUED_CALLS.to_string(),
            "a client that would wait longer should fail at once",
        ),
        (
            "time that a handler on the pool waits for its client while calls wait for its thread",
            time(Some(POOL_CLIENT_WAIT.as_nanos() as u64)),
            "an interactive client answers within seconds; `PoolLimits` changes it",
        ),
    ]
}

fn constants_of_time() -> Vec<Constant> {
    vec![
        (
            "interval of timeout checks",
            time(Some(TIMEOUT_CHECK_INTERVAL_NS)),
            "the timeouts of the presets may last that much longer; 250 ms while three quarters of the memory are taken",
        ),
        (
            "time without progress of a message of which a part has come, while three quarters of the memory are taken",
            time(Some(TIGHT_REQUEST_TIMEOUT_NS)),
            "a line that loses a packet twice is back after 3 s (RFC 6298); less than 4,000 bytes are no progress",
        ),
        (
            "time to answer the PING behind a GOAWAY",
            time(Some(GOAWAY_PING_TIMEOUT_NS)),
            "grpc-go's, and Envoy's drain_timeout",
        ),
        (
            "time for calls once the server stops",
            time(Some(DRAIN_NS)),
            "Docker kills after 10 s, Kubernetes after 30 s; `BoundServer::drain` changes it",
        ),
        (
            "time to write the last output after that",
            format!("{} ms", FINAL_FLUSH_NS / 1_000_000),
            "a few frames a connection; together with 1 s less than the 2 s after which the lab kills",
        ),
        ("time to connect", time(Some(CONNECT_TIMEOUT_NS)), "three SYN retransmissions (RFC 6298)"),
        (
            "streams of our clients before the server's SETTINGS",
            CONCURRENT_STREAMS_BEFORE_SETTINGS.to_string(),
            "the least that RFC 9113, 6.5.2 recommends to servers",
        ),
    ]
}

fn bytes(bytes: usize) -> String {
    match bytes {
        0..=1_023 => format!("{bytes} bytes"),
        _ if bytes.is_multiple_of(1 << 30) => format!("{} GiB", bytes >> 30),
        _ if bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ if bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} bytes"),
    }
}

fn time(time_ns: Option<u64>) -> String {
    match time_ns.map(|time_ns| time_ns / 1_000_000_000) {
        None => "no limit".into(),
        Some(seconds) if seconds % 3_600 == 0 => format!("{} h", seconds / 3_600),
        Some(seconds) => format!("{seconds} s"),
    }
}

fn rate(rate: Option<Rate>) -> String {
    rate.map_or("no limit".into(), |Rate { burst, per_second }| {
        format!("{burst} at once, then {per_second} a second")
    })
}

fn presets_table() -> String {
    let mut table =
        "| limit | `internet` | `trusted` | why, and who else |\n|---|---|---|---|\n".to_owned();
    for Row { name, internet, trusted, why } in presets() {
        table += &format!("| {name} | {internet} | {trusted} | {why} |\n");
    }
    table
}

fn constants_table() -> String {
    let mut table = "| limit | value | why, and who else |\n|---|---|---|\n".to_owned();
    for (name, value, why) in constants() {
        table += &format!("| {name} | {value} | {why} |\n");
    }
    table
}

fn figures_table() -> String {
    let mut table = "| attack | sent again and again | times | how it ends | memory below |\n|---|---|---|---|---|\n".to_owned();
    for figure in FIGURES {
        let peak = bytes(figure.peak_kib << 10);
        let (attack, step, end) = (figure.attack, figure.step, figure.end);
        table += &format!("| {attack} | {step} | {} | {end} | {peak} |\n", figure.steps);
    }
    table
}

/// Puts `table` between the marks of that name.
fn with_table(page: &str, name: &str, table: &str) -> String {
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
    let (before, rest) = page.split_once(&begin).expect("the mark of a table");
    let (_, behind) = rest.split_once(&end).expect("the mark of its end");
    format!("{before}{begin}{table}{end}{behind}")
}

#[test]
fn the_page_of_limits_says_what_is_so() {
    let _alone = crate::stage::alone();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/use/limits.md");
    let page = fs::read_to_string(&path).expect("the page");
    let mut made = with_table(&page, "presets", &presets_table());
    made = with_table(&made, "constants", &constants_table());
    made = with_table(&made, "figures", &figures_table());
    if std::env::var_os("BOOKEND_RECORD_SNAPSHOTS").is_some() {
        fs::write(&path, &made).expect("the page can be written");
    }
    let page = fs::read_to_string(&path).expect("the page");
    assert_eq!(made, page, "set BOOKEND_RECORD_SNAPSHOTS=1 to record it anew");
}
