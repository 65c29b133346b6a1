//! What a seed stands for: two configurations, some calls, two unkind pipes, and how it all ends.

use crate::both::{Both, ROLES, other};
use crate::random::Random;
use crate::speech::{Answer, CallPlan};
use bookend_wire::{ConnectionConfig, Side};

/// Everything that is drawn before a run begins. What is drawn while it runs (which of the things
/// that can happen does happen next) comes from the same seed.
#[derive(Clone, Debug)]
pub struct Plan {
    pub ends: Both<EndPlan>,
    pub calls: Vec<CallPlan>,
    /// The two pipes, by who writes into them.
    pub pipes: Both<PipePlan>,
    /// Whether frames are cut, padded and mixed with others on their way, by who writes them.
    pub reframes: Both<bool>,
    pub cut: Cut,
    /// The side that sends GOAWAY in the middle of it, and when.
    pub goaway: Option<(Side, u64)>,
}

/// One end.
#[derive(Clone, Debug)]
pub struct EndPlan {
    pub config: ConnectionConfig,
    /// Whether it answers and goes on inside the visitor, or only between reads.
    pub acts_inside: bool,
    /// It goes on writing while no more than this is held back on a stream.
    pub high_water_bytes: usize,
    pub pings: usize,
}

/// One direction of the wire.
#[derive(Clone, Debug)]
pub struct PipePlan {
    pub reads: Pieces,
    pub writes: Pieces,
    /// After one delivery in this number, nothing arrives for a while. 0: never.
    pub stall_one_in: usize,
}

/// How much is moved at once.
#[derive(Clone, Copy, Debug)]
pub enum Pieces {
    All,
    UpTo(usize),
}

/// How a run is cut short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    Never,
    /// Nothing arrives behind that byte of this writer; the other direction goes on.
    HalfClose {
        writer: Side,
        after_bytes: usize,
    },
    /// All ends when that byte of this writer has arrived.
    Abort {
        writer: Side,
        after_bytes: usize,
    },
}

/// Windows at their edges, and between them.
const STREAM_WINDOWS: [u32; 12] =
    [1, 2, 17, 100, 1_000, 16_384, 65_534, 65_535, 65_535, 65_536, 1 << 20, (1 << 31) - 1];
const CONNECTION_WINDOWS: [u32; 7] =
    [0, 65_535, 65_536, 100_000, 1 << 20, (1 << 31) - 2, (1 << 31) - 1];
const FRAME_LIMITS: [u32; 5] = [16_384, 16_384, 16_385, 20_000, (1 << 24) - 1];
const TABLES: [u32; 9] = [0, 1, 31, 33, 100, 4_095, 4_096, 4_097, 65_536];
const STREAM_LIMITS: [Option<u32>; 8] =
    [None, Some(1), Some(2), Some(3), Some(10), Some(100), Some(u32::MAX), None];
const LIST_LIMITS: [Option<u32>; 4] = [None, Some(16_384), Some(65_536), None];
/// Room for the plain head of a call and little else.
const SMALL_LIST_BYTES: u32 = 700;
const LAST_STREAM_ID: u32 = (1 << 31) - 1;

impl Plan {
    pub fn draw(random: &mut Random) -> Self {
        let mut ends = Both { client: EndPlan::draw(random), server: EndPlan::draw(random) };
        // Ids run out in the middle of some runs.
        if random.one_in(20) {
            ends.client.config.first_stream_id = LAST_STREAM_ID - 2 * random.below(6) as u32;
        }
        // What a client cannot take of a response's head would look like the server's fault.
        if random.one_in(8) {
            ends.server.config.settings.max_header_list_bytes = Some(SMALL_LIST_BYTES);
        }
        let calls = 1 + random.below(random.clone().pick(&[3, 8, 14]));
        let calls = (0..calls).map(|_| CallPlan::draw(random, &ends)).collect::<Vec<_>>();
        let mut plan = Self {
            pipes: Both { client: PipePlan::draw(random), server: PipePlan::draw(random) },
            reframes: Both { client: random.one_in(3), server: random.one_in(3) },
            cut: draw_cut(random),
            goaway: random.one_in(10).then(|| (random.pick(&ROLES), random.below(400) as u64)),
            ends,
            calls,
        };
        plan.make_some_calm(random);
        plan
    }

    /// A part of the runs has no fault that could excuse an unfinished call.
    fn make_some_calm(&mut self, random: &mut Random) {
        if !random.one_in(3) {
            return;
        }
        self.cut = Cut::Never;
        self.goaway = None;
        self.ends.client.config.first_stream_id = 1;
        for side in ROLES {
            let settings = &mut self.ends.of_mut(side).config.settings;
            settings.initial_window_bytes = settings.initial_window_bytes.max(1);
            settings.max_concurrent_streams = settings.max_concurrent_streams.map(|n| n.max(1));
        }
        for call in &mut self.calls {
            call.cancel = None;
            call.timeout_ticks = None;
            if call.answer == Answer::Never {
                call.answer = Answer::AtEnd;
            }
        }
    }

    /// Whether the windows or the stream limit are such that calls can wait for ever.
    pub fn may_wait_for_ever(&self) -> bool {
        let zero_window = |side: Side| self.ends.of(side).config.settings.initial_window_bytes == 0;
        let no_streams = self.ends.server.config.settings.max_concurrent_streams == Some(0);
        no_streams || ROLES.into_iter().any(zero_window)
    }

    /// Whether every call has to end well: nothing that was drawn could keep one from it.
    pub fn is_calm(&self) -> bool {
        let is_calm = |call: &CallPlan| {
            call.cancel.is_none()
                && call.timeout_ticks.is_none()
                && call.answer != Answer::Never
                && !call.is_oversize(&self.ends.server.config)
        };
        self.cut == Cut::Never
            && self.goaway.is_none()
            && self.ends.client.config.first_stream_id == 1
            && !self.may_wait_for_ever()
            && self.calls.iter().all(is_calm)
    }
}

impl EndPlan {
    fn draw(random: &mut Random) -> Self {
        let mut config = match random.one_in(2) {
            true => ConnectionConfig::internet(),
            false => ConnectionConfig::trusted(),
        };
        config.settings.initial_window_bytes = random.pick(&STREAM_WINDOWS);
        config.settings.header_table_bytes = random.pick(&TABLES);
        config.settings.max_frame_bytes = random.pick(&FRAME_LIMITS);
        config.settings.max_header_list_bytes = random.pick(&LIST_LIMITS);
        config.settings.max_concurrent_streams = random.pick(&STREAM_LIMITS);
        config.connection_window_bytes = random.pick(&CONNECTION_WINDOWS);
        if random.one_in(40) {
            config.settings.initial_window_bytes = 0;
        }
        if random.one_in(60) {
            config.settings.max_concurrent_streams = Some(0);
        }
        Self {
            config,
            acts_inside: random.one_in(2),
            high_water_bytes: random.pick(&[0, 0, 1, 1_000]),
            pings: random.below(3),
        }
    }
}

impl PipePlan {
    fn draw(random: &mut Random) -> Self {
        let pieces = [
            Pieces::All,
            Pieces::UpTo(1),
            Pieces::UpTo(9),
            Pieces::UpTo(60),
            Pieces::UpTo(2_000),
            Pieces::UpTo(20_000),
        ];
        Self {
            reads: random.pick(&pieces),
            writes: random.pick(&pieces),
            stall_one_in: random.pick(&[0, 0, 5, 30]),
        }
    }
}

fn draw_cut(random: &mut Random) -> Cut {
    let writer = random.pick(&ROLES);
    let after_bytes = random.below(random.clone().pick(&[40, 600, 6_000]));
    match random.below(10) {
        0 => Cut::HalfClose { writer, after_bytes },
        1 => Cut::Abort { writer, after_bytes },
        _ => Cut::Never,
    }
}

/// The window that a body of that speaker has to go through.
pub fn window_bytes(ends: &Both<EndPlan>, speaker: Side) -> usize {
    ends.of(other(speaker)).config.settings.initial_window_bytes as usize
}
