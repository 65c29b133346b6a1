//! The eight misbehaving servers of the gRPC project, some similar ones, and a good one: what each
//! end must make of them.

use super::behaviour::{AfterGoAway, Behaviour, LARGE_MESSAGE_BYTES, PIECE_BYTES, Part};
use super::server_connection::Observed;
use bookend_testing::error;
use std::collections::BTreeMap;

/// A server, the calls that are made to it, and what both ends must see.
pub struct Case {
    pub name: &'static str,
    pub behaviour: Behaviour,
    pub calls: u64,
    /// Calls in flight.
    pub at_once: u32,
    /// What the load generator is to count.
    pub load: Expected,
    /// What the callers of a channel are to receive.
    pub channel: Expected,
}

/// What one end is to make of a server.
#[derive(Clone, Copy)]
pub struct Expected {
    /// Calls that come whole to the server, by connection.
    pub calls: &'static [u64],
    pub ok: u64,
    /// How all others end.
    pub error: &'static str,
}

/// How calls ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub ok: u64,
    pub errors: BTreeMap<String, u64>,
}

impl Expected {
    fn tally(self, calls: u64) -> Tally {
        let failed = calls - self.ok;
        let errors = (failed > 0).then(|| (self.error.to_owned(), failed));
        Tally { ok: self.ok, errors: errors.into_iter().collect() }
    }
}

const fn all_ok(calls: &'static [u64], ok: u64) -> Expected {
    some_ok(calls, ok, "")
}

const fn some_ok(calls: &'static [u64], ok: u64, error: &'static str) -> Expected {
    Expected { calls, ok, error }
}

pub const GOOD: Case = Case {
    name: "good",
    behaviour: Behaviour::Good,
    calls: 30,
    at_once: 3,
    load: all_ok(&[30], 30),
    channel: all_ok(&[30], 30),
};

/// The first connection has all its calls answered, and the next call comes on a new one.
const GOAWAY: Case = Case {
    name: "goaway",
    behaviour: Behaviour::GoesAway {
        at_call: 2,
        code: error::NO_ERROR,
        debug: "max_age",
        then: AfterGoAway::Answers,
    },
    calls: 8,
    at_once: 1,
    load: all_ok(&[2, 2, 2, 2], 8),
    channel: all_ok(&[2, 2, 2, 2], 8),
};

/// Calls that were sent, and that the GOAWAY says were not looked at. The channel sends them again,
/// once.
const GOAWAY_LEAVES_OUT: Case = Case {
    name: "goaway that leaves calls out",
    behaviour: Behaviour::GoesAway {
        at_call: 1,
        code: error::NO_ERROR,
        debug: "max_age",
        then: AfterGoAway::Answers,
    },
    calls: 4,
    at_once: 4,
    load: some_ok(
        &[4],
        1,
        "rpc error: code = Unavailable desc = the server sent GOAWAY NO_ERROR, debug data: \
         \"max_age\", and had not looked at the call",
    ),
    channel: some_ok(
        &[4, 3],
        2,
        "UNAVAILABLE: the server went away and had not looked at the call",
    ),
};

/// A complaint, and calls that are lost by it.
const GOAWAY_COMPLAINS: Case = Case {
    name: "goaway that complains",
    behaviour: Behaviour::GoesAway {
        at_call: 1,
        code: error::ENHANCE_YOUR_CALM,
        debug: "too_many_pings",
        then: AfterGoAway::Closes,
    },
    calls: 2,
    at_once: 1,
    load: some_ok(
        &[1, 1],
        0,
        "rpc error: code = Unavailable desc = the server sent GOAWAY ENHANCE_YOUR_CALM, debug \
         data: \"too_many_pings\"",
    ),
    channel: some_ok(
        &[1, 1],
        0,
        "UNAVAILABLE: ADDRESS closed the connection before it had answered, and said \
         ENHANCE_YOUR_CALM (too_many_pings)",
    ),
};

const fn resets(name: &'static str, after: Part, error: &'static str) -> Case {
    Case {
        name,
        behaviour: Behaviour::Resets {
            every: 3,
            after,
            // As the gRPC project's server does.
            code: error::NO_ERROR,
        },
        calls: 9,
        at_once: 3,
        load: some_ok(&[9], 6, error),
        channel: some_ok(&[9], 6, "INTERNAL: the server reset the call: NO_ERROR"),
    }
}

const RST_BEFORE_HEADER: Case = resets(
    "rst_before_header",
    Part::Nothing,
    "rpc error: code = Internal desc = stream terminated by RST_STREAM with error code: NO_ERROR",
);

const RST_AFTER_HEADER: Case = resets(
    "rst_after_header",
    Part::Head,
    "rpc error: code = Internal desc = stream terminated by RST_STREAM with error code: NO_ERROR, \
     after the head of the response",
);

const RST_DURING_DATA: Case = resets(
    "rst_during_data",
    Part::HalfOfTheMessage,
    "rpc error: code = Internal desc = stream terminated by RST_STREAM with error code: NO_ERROR, \
     in the middle of the message",
);

const RST_AFTER_DATA: Case = resets(
    "rst_after_data",
    Part::WholeMessage,
    "rpc error: code = Internal desc = stream terminated by RST_STREAM with error code: NO_ERROR, \
     after the message and before the trailers",
);

const PING: Case = Case {
    name: "ping",
    behaviour: Behaviour::Pings,
    calls: 30,
    at_once: 3,
    load: all_ok(&[30], 30),
    channel: all_ok(&[30], 30),
};

const MAX_STREAMS: Case = Case {
    name: "max_streams",
    behaviour: Behaviour::Allows { streams: 3 },
    calls: 40,
    at_once: 10,
    load: all_ok(&[40], 40),
    channel: all_ok(&[40], 40),
};

const DATA_FRAME_PADDING: Case = Case {
    name: "data_frame_padding",
    behaviour: Behaviour::Dribbles { padding_bytes: Some(255) },
    calls: 2,
    at_once: 1,
    load: all_ok(&[2], 2),
    channel: all_ok(&[2], 2),
};

const NO_DATA_FRAME_PADDING: Case = Case {
    name: "no_df_padding_sanity_test",
    behaviour: Behaviour::Dribbles { padding_bytes: None },
    ..DATA_FRAME_PADDING
};

/// All servers that misbehave.
pub const BAD: [Case; 11] = [
    GOAWAY,
    GOAWAY_LEAVES_OUT,
    GOAWAY_COMPLAINS,
    RST_BEFORE_HEADER,
    RST_AFTER_HEADER,
    RST_DURING_DATA,
    RST_AFTER_DATA,
    PING,
    MAX_STREAMS,
    DATA_FRAME_PADDING,
    NO_DATA_FRAME_PADDING,
];

impl Case {
    /// Compares how the calls ended and what the server has seen with what was expected.
    pub fn judge(
        &self,
        expected: Expected,
        tally: &Tally,
        observed: &[Observed],
    ) -> Result<(), String> {
        let calls = observed.iter().map(|observed| observed.calls);
        // A connection that was made ready and not needed has none.
        let calls: Vec<u64> = calls.filter(|calls| *calls > 0).collect();
        same("calls by connection", calls.as_slice(), expected.calls)
            .and_then(|()| same("ends of calls", tally, &expected.tally(self.calls)))
            .and_then(|()| self.judge_server(observed))
            .map_err(|wrong| format!("{}: {wrong}", self.name))
    }

    fn judge_server(&self, observed: &[Observed]) -> Result<(), String> {
        let [first, ..] = observed else {
            return Err("no connection came".to_owned());
        };
        match self.behaviour {
            Behaviour::Pings => {
                let pings: Vec<u64> = (0..first.pings).collect();
                same("PINGs", first.pings, 3 * self.calls)?;
                same("acknowledged PINGs", first.pongs(), pings)
            }
            Behaviour::Allows { streams } => {
                same("streams at a time", first.open_max, streams as usize)
            }
            Behaviour::Dribbles { padding_bytes } => {
                let frames = (LARGE_MESSAGE_BYTES + 5).div_ceil(PIECE_BYTES);
                let padding = padding_bytes.map_or(0, |bytes| 1 + usize::from(bytes));
                let body_bytes = LARGE_MESSAGE_BYTES + 5 + frames * padding;
                same("bytes sent", first.sent_bytes, self.calls * body_bytes as u64)
            }
            _ => Ok(()),
        }
    }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, seen: T, expected: T) -> Result<(), String> {
    match seen == expected {
        true => Ok(()),
        false => Err(format!("{what}: {seen:?} instead of {expected:?}")),
    }
}
