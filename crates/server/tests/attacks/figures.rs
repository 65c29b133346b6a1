//! What each attack achieves. The tests measure it, and docs/use/limits.md shows it.

use crate::stage::Outcome;

/// One attack and what it achieves.
pub struct Figure {
    pub attack: &'static str,
    /// What is sent again and again.
    pub step: &'static str,
    /// Number of steps until it is over.
    pub steps: u64,
    /// How it ends.
    pub end: &'static str,
    /// What it has the server (and the test's client) allocate at most, KiB.
    pub peak_kib: usize,
}

/// A figure that is more than this multiple of what was measured says nothing.
const SLACK: usize = 3;

/// Below this, the test's own memory is most of it.
const NOISE_KIB: usize = 64;

pub const FIGURES: &[Figure] = &[
    figure("rapid reset", "a request's head, RST_STREAM", 1_001, "ENHANCE_YOUR_CALM", 64),
    figure(
        "rapid reset of calls that wait",
        "a request, RST_STREAM",
        10_251,
        "ENHANCE_YOUR_CALM; 250 handlers run",
        64,
    ),
    figure(
        "rapid reset of answered calls",
        "a request, RST_STREAM",
        10_001,
        "ENHANCE_YOUR_CALM",
        64,
    ),
    figure(
        "made you reset",
        "a request's head, WINDOW_UPDATE by zero",
        1_001,
        "ENHANCE_YOUR_CALM",
        64,
    ),
    figure(
        "streams above the limit",
        "a request's head",
        10_251,
        "ENHANCE_YOUR_CALM; REFUSED_STREAM each",
        64,
    ),
    figure(
        "streams before the SETTINGS",
        "1,000 requests in one write",
        1,
        "250 taken, REFUSED_STREAM for the others",
        384,
    ),
    figure("CONTINUATION of nothing", "an empty CONTINUATION", 10, "ENHANCE_YOUR_CALM", 64),
    figure("CONTINUATION of a kilobyte", "CONTINUATION of 1 KiB", 10, "ENHANCE_YOUR_CALM", 64),
    figure("CONTINUATION in full frames", "CONTINUATION of 16 KiB", 5, "ENHANCE_YOUR_CALM", 256),
    figure("HPACK bomb", "16,000 references to a field of 4 KiB", 2, "ENHANCE_YOUR_CALM", 128),
    figure(
        "HPACK bomb just below",
        "15 references to a field of 4 KiB",
        10_002,
        "ENHANCE_YOUR_CALM, after RST_STREAM each",
        64,
    ),
    figure(
        "HTTP/2 bomb",
        "121 crumbs of a cookie, kept alive by a window of zero",
        251,
        "taken: 250 streams, 128 fields each",
        8_192,
    ),
    figure(
        "HPACK strings of 4 GiB",
        "a length or an integer without end",
        1,
        "COMPRESSION_ERROR",
        64,
    ),
    figure("metadata above the limit", "a head of 16.4 KiB", 300, "RST_STREAM each", 128),
    figure("PING flood", "PING", 10_002, "ENHANCE_YOUR_CALM", 64),
    figure("PING flood, unread", "100 PINGs", 629, "not read further; reset after 60 s", 2_048),
    figure(
        "flood of answers to no PING",
        "an acknowledgement of a PING",
        10_001,
        "ENHANCE_YOUR_CALM",
        64,
    ),
    figure("SETTINGS flood", "SETTINGS", 10_001, "ENHANCE_YOUR_CALM", 64),
    figure(
        "SETTINGS flood over 250 streams",
        "SETTINGS that move every window",
        10_001,
        "ENHANCE_YOUR_CALM",
        64,
    ),
    figure(
        "flood of acknowledgements",
        "an acknowledgement of SETTINGS",
        10_002,
        "ENHANCE_YOUR_CALM",
        64,
    ),
    figure(
        "reset flood",
        "a malformed head",
        10_001,
        "ENHANCE_YOUR_CALM, after RST_STREAM each",
        64,
    ),
    figure(
        "WINDOW_UPDATE without any data",
        "WINDOW_UPDATE by one",
        10_101,
        "ENHANCE_YOUR_CALM",
        64,
    ),
    figure(
        "WINDOW_UPDATE of a stream without any data",
        "WINDOW_UPDATE by one",
        10_104,
        "ENHANCE_YOUR_CALM",
        64,
    ),
    figure(
        "WINDOW_UPDATE of a stream that has ended",
        "WINDOW_UPDATE by one",
        10_010,
        "ENHANCE_YOUR_CALM",
        64,
    ),
    figure("data dribble", "WINDOW_UPDATE by one", 10_001, "ENHANCE_YOUR_CALM", 64),
    figure(
        "data dribble over 250 streams",
        "WINDOW_UPDATE of the connection by one",
        10_001,
        "ENHANCE_YOUR_CALM",
        64,
    ),
    figure(
        "internal buffering",
        "a request for 64 KiB, its answer unread",
        19,
        "not read further; reset after 60 s",
        4_096,
    ),
    figure(
        "answers behind closed windows",
        "a request for 1 MiB",
        200,
        "64 taken, REFUSED_STREAM for the others",
        98_304,
    ),
    figure("PRIORITY flood", "PRIORITY", 10_001, "ENHANCE_YOUR_CALM", 64),
    figure(
        "heads with empty names",
        "a head with an empty name",
        10_001,
        "ENHANCE_YOUR_CALM, after RST_STREAM each",
        64,
    ),
    figure("empty DATA", "an empty DATA frame", 10_002, "ENHANCE_YOUR_CALM", 64),
    figure("DATA of padding alone", "DATA of padding", 10_002, "ENHANCE_YOUR_CALM", 64),
    figure("frames of unknown types", "a frame of type 0x55", 10_001, "ENHANCE_YOUR_CALM", 64),
    figure("tiny DATA", "DATA of one byte", 60_007, "answered", 384),
    figure(
        "messages of 4 GiB",
        "a prefix that announces 4 GiB",
        200,
        "RESOURCE_EXHAUSTED each",
        64,
    ),
    figure(
        "halves of messages",
        "128 KiB of a message of 4 MiB",
        250,
        "RESOURCE_EXHAUSTED above 16 MiB",
        24_576,
    ),
    figure(
        "gzip bomb",
        "a frame of a message that inflates to 64 MiB",
        6,
        "RESOURCE_EXHAUSTED",
        16_384,
    ),
];

const fn figure(
    attack: &'static str,
    step: &'static str,
    steps: u64,
    end: &'static str,
    peak_kib: usize,
) -> Figure {
    Figure { attack, step, steps, end, peak_kib }
}

fn figure_of(attack: &str) -> &'static Figure {
    let figure = FIGURES.iter().find(|figure| figure.attack == attack);
    figure.unwrap_or_else(|| panic!("{attack} has no figure"))
}

/// The figure of an attack, for controls that are to exceed it.
pub fn peak_bytes_of(attack: &str) -> usize {
    figure_of(attack).peak_kib << 10
}

/// Whether the attack went as the figure says.
pub fn check(attack: &str, outcome: &Outcome) {
    let figure = figure_of(attack);
    assert_eq!(outcome.steps, figure.steps, "{attack}: {outcome:?}");
    let peak_kib = outcome.peak_bytes >> 10;
    println!("{attack}: {peak_kib} KiB, {} bytes sent", outcome.sent_bytes);
    assert!(peak_kib < figure.peak_kib, "{attack}: {peak_kib} KiB");
    let is_near = figure.peak_kib <= NOISE_KIB || figure.peak_kib <= SLACK * peak_kib.max(1);
    assert!(is_near, "{attack}: {peak_kib} KiB is far below the figure");
}
