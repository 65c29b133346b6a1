//! What RFC 9113 allows each end to write, counted from the wire alone.

use crate::both::{Both, other};
use crate::frames::{LARGEST_WINDOW, Meaning, Splitter, summary};
use bookend_testing::{Frame, kind, setting};
use bookend_wire::Side;
use std::collections::{BTreeMap, VecDeque};

/// Windows and settings before anybody says otherwise.
const DEFAULT_WINDOW: i64 = 65_535;
const DEFAULT_FRAME_BYTES: usize = 16_384;
/// What the client of the crate counts on before it knows better: `config` says why.
const STREAMS_BEFORE_SETTINGS: usize = 100;

/// Follows both ends. Every byte that an end writes goes through [`Audit::wrote`] at once, and
/// every byte that it is given through [`Audit::heard`] before.
#[derive(Debug)]
pub struct Audit {
    ends: Both<End>,
}

/// What is known of one end.
#[derive(Debug)]
struct End {
    side: Side,
    written: Splitter,
    given: Splitter,
    greeted: bool,
    /// A header block that it has begun to write.
    open_block: Option<u32>,
    /// A header block that it has been given in part, and whether the stream ends with it.
    coming_block: Option<bool>,
    /// What it may send.
    send_window: i64,
    /// What it allows the other end to send, less what has come.
    granted: i64,
    /// The other end's settings as acknowledged, and those that are still to be.
    peer: PeerSettings,
    unacknowledged: VecDeque<Vec<(u16, u32)>>,
    is_first_acknowledged: bool,
    /// Its own window for streams, and whether the other end has acknowledged it.
    own_initial_window: i64,
    is_acknowledged: bool,
    pings_owed: usize,
    goaway: Option<u32>,
    goaway_heard: Option<u32>,
    highest_opened: u32,
    streams: BTreeMap<u32, StreamKey>,
    continuations: usize,
}

#[derive(Debug)]
struct PeerSettings {
    initial_window: i64,
    max_frame_bytes: usize,
    max_streams: Option<usize>,
}

/// A stream as one end sees it.
#[derive(Debug)]
struct StreamKey {
    send_window: i64,
    granted: i64,
    said: Direction,
    heard: Direction,
    /// What it had heard before the bytes that it is answering now: it could not know the rest.
    known: Direction,
    data_bytes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Idle,
    Open,
    Ended,
    Reset,
}

impl Direction {
    fn is_over(self) -> bool {
        matches!(self, Self::Ended | Self::Reset)
    }

    fn are_over(one: Self, other: Self) -> bool {
        let is_reset = one == Self::Reset || other == Self::Reset;
        is_reset || (one.is_over() && other.is_over())
    }
}

impl StreamKey {
    fn is_over(&self) -> bool {
        Direction::are_over(self.said, self.heard)
    }

    fn is_known_over(&self) -> bool {
        Direction::are_over(self.said, self.known)
    }
}

type Verdict = Result<(), String>;

fn check(holds: bool, rule: &str) -> Verdict {
    match holds {
        true => Ok(()),
        false => Err(rule.to_owned()),
    }
}

impl Audit {
    pub fn new() -> Self {
        Self { ends: Both { client: End::new(Side::Client), server: End::new(Side::Server) } }
    }

    /// That end has written these bytes.
    ///
    /// # Errors
    /// The rule that it broke.
    pub fn wrote(&mut self, side: Side, bytes: &[u8]) -> Verdict {
        let end = self.ends.of_mut(side);
        for frame in end.written.push(bytes)? {
            let verdict = end.wrote(&frame);
            verdict
                .map_err(|rule| format!("{side:?} wrote a frame ({}): {rule}", summary(&frame)))?;
        }
        end.streams.values_mut().for_each(|stream| stream.known = stream.heard);
        Ok(())
    }

    /// That end is given these bytes.
    ///
    /// # Errors
    /// When they are more than it had allowed, or no frames.
    pub fn heard(&mut self, side: Side, bytes: &[u8]) -> Verdict {
        let end = self.ends.of_mut(side);
        for frame in end.given.push(bytes)? {
            let verdict = end.heard(&frame);
            verdict.map_err(|rule| {
                format!("{side:?} was given a frame ({}): {rule}", summary(&frame))
            })?;
        }
        Ok(())
    }

    /// Bytes of bodies that this end has written on that stream.
    pub fn data_bytes(&self, side: Side, id: u32) -> usize {
        self.ends.of(side).streams.get(&id).map_or(0, |stream| stream.data_bytes)
    }

    /// Bytes of a frame that is not whole yet on its way to this end.
    pub fn partial_bytes(&self, side: Side) -> usize {
        self.ends.of(side).given.partial_bytes()
    }

    /// What this end may send, in words.
    pub fn windows(&self, side: Side, id: u32) -> String {
        let end = self.ends.of(side);
        let stream = end.streams.get(&id).map(|stream| stream.send_window);
        format!("may send {} bytes, on this stream {stream:?}", end.send_window)
    }

    /// CONTINUATION frames that were written.
    pub fn continuations(&self) -> usize {
        self.ends.client.continuations + self.ends.server.continuations
    }

    /// Whether any window of this end is below zero.
    pub fn has_negative_window(&self, side: Side) -> bool {
        let end = self.ends.of(side);
        end.streams.values().any(|stream| stream.send_window < 0 && !stream.is_over())
    }
}

impl End {
    fn new(side: Side) -> Self {
        let splitter = |writer: Side| match writer {
            Side::Client => Splitter::with_preface(),
            Side::Server => Splitter::without_preface(),
        };
        Self {
            side,
            written: splitter(side),
            given: splitter(other(side)),
            greeted: false,
            open_block: None,
            coming_block: None,
            send_window: DEFAULT_WINDOW,
            granted: DEFAULT_WINDOW,
            peer: PeerSettings {
                initial_window: DEFAULT_WINDOW,
                max_frame_bytes: DEFAULT_FRAME_BYTES,
                max_streams: Some(STREAMS_BEFORE_SETTINGS),
            },
            unacknowledged: VecDeque::new(),
            is_first_acknowledged: false,
            own_initial_window: DEFAULT_WINDOW,
            is_acknowledged: false,
            pings_owed: 0,
            goaway: None,
            goaway_heard: None,
            highest_opened: 0,
            streams: BTreeMap::new(),
            continuations: 0,
        }
    }

    fn wrote(&mut self, frame: &Frame) -> Verdict {
        let meaning = Meaning::of(frame)?;
        check(frame.payload.len() <= self.peer.max_frame_bytes, "larger than the peer takes")?;
        if let Some(id) = self.open_block {
            let goes_on = frame.kind == kind::CONTINUATION && frame.stream_id == id;
            check(goes_on, "a header block was broken off")?;
        }
        if !self.greeted {
            check(matches!(meaning, Meaning::Settings(_)), "the first frame is not SETTINGS")?;
            self.greeted = true;
        }
        match meaning {
            Meaning::Data { end_stream, .. } => self.wrote_data(frame, end_stream),
            Meaning::Headers { end_stream, end_headers } => {
                self.open_block = (!end_headers).then_some(frame.stream_id);
                self.wrote_headers(frame.stream_id, end_stream)
            }
            Meaning::Continuation { end_headers } => {
                check(self.open_block.is_some(), "CONTINUATION of nothing")?;
                self.continuations += 1;
                if end_headers {
                    self.open_block = None;
                }
                Ok(())
            }
            Meaning::Reset { .. } => self.wrote_reset(frame.stream_id),
            Meaning::WindowUpdate { increment_bytes } => {
                self.wrote_update(frame.stream_id, i64::from(increment_bytes))
            }
            Meaning::Settings(entries) => self.wrote_settings(&entries),
            Meaning::SettingsAck => self.wrote_acknowledgement(),
            Meaning::Ping => Ok(()),
            Meaning::PingAck => {
                check(self.pings_owed > 0, "an answer to no PING")?;
                self.pings_owed -= 1;
                Ok(())
            }
            Meaning::Goaway { last_stream } => self.wrote_goaway(last_stream),
            Meaning::Priority | Meaning::Unknown => Err("nobody asked for this frame".to_owned()),
        }
    }

    fn wrote_data(&mut self, frame: &Frame, end_stream: bool) -> Verdict {
        let bytes = frame.payload.len() as i64;
        let stream = self.streams.get_mut(&frame.stream_id).ok_or("DATA on an idle stream")?;
        check(stream.said == Direction::Open, "DATA behind the end or before the head")?;
        check(stream.known != Direction::Reset, "DATA behind the peer's RST_STREAM")?;
        let fits = bytes == 0 || bytes <= self.send_window.min(stream.send_window);
        check(fits, "more DATA than the windows allow")?;
        self.send_window -= bytes;
        stream.send_window -= bytes;
        stream.data_bytes += frame.payload.len();
        if end_stream {
            stream.said = Direction::Ended;
        }
        Ok(())
    }

    fn wrote_headers(&mut self, id: u32, end_stream: bool) -> Verdict {
        if self.side == Side::Client && !self.streams.contains_key(&id) {
            self.check_opening(id)?;
            self.highest_opened = id;
            self.meet(id);
        }
        let stream = self.streams.get_mut(&id).ok_or("HEADERS on a stream nobody opened")?;
        check(stream.known != Direction::Reset, "HEADERS behind the peer's RST_STREAM")?;
        match stream.said {
            Direction::Idle => {}
            Direction::Open => check(end_stream, "trailers that are not the end")?,
            _ => return Err("HEADERS behind the end".to_owned()),
        }
        stream.said = if end_stream { Direction::Ended } else { Direction::Open };
        Ok(())
    }

    fn check_opening(&self, id: u32) -> Verdict {
        check(id % 2 == 1 && id > self.highest_opened, "ids are odd and grow")?;
        check(self.goaway_heard.is_none(), "a new stream behind GOAWAY")?;
        let live = self.streams.values().filter(|stream| !stream.is_over()).count();
        let limit = self.peer.max_streams.unwrap_or(usize::MAX);
        check(live < limit, "more streams than the peer takes")
    }

    fn meet(&mut self, id: u32) {
        let own = match self.is_acknowledged {
            true => self.own_initial_window,
            // Until then the peer may count on the default.
            false => self.own_initial_window.max(DEFAULT_WINDOW),
        };
        let stream = StreamKey {
            send_window: self.peer.initial_window,
            granted: own,
            said: Direction::Idle,
            heard: Direction::Idle,
            known: Direction::Idle,
            data_bytes: 0,
        };
        self.streams.insert(id, stream);
    }

    fn wrote_reset(&mut self, id: u32) -> Verdict {
        let stream = self.streams.get_mut(&id).ok_or("RST_STREAM on an idle stream")?;
        check(!stream.is_known_over(), "RST_STREAM on a closed stream")?;
        stream.said = Direction::Reset;
        Ok(())
    }

    fn wrote_update(&mut self, id: u32, bytes: i64) -> Verdict {
        let granted = match id {
            0 => &mut self.granted,
            _ => {
                let stream = self.streams.get_mut(&id).ok_or("credit for an idle stream")?;
                check(!stream.is_known_over(), "credit for a closed stream")?;
                &mut stream.granted
            }
        };
        *granted += bytes;
        check(*granted <= LARGEST_WINDOW, "a window above 2^31-1")
    }

    fn wrote_settings(&mut self, entries: &[(u16, u32)]) -> Verdict {
        for (id, value) in entries {
            if *id == setting::INITIAL_WINDOW_SIZE {
                self.own_initial_window = i64::from(*value);
            }
        }
        check(self.own_initial_window <= LARGEST_WINDOW, "a window above 2^31-1")
    }

    /// From here on the peer's settings count.
    fn wrote_acknowledgement(&mut self) -> Verdict {
        let entries = self.unacknowledged.pop_front().ok_or("an answer to no SETTINGS")?;
        if !std::mem::replace(&mut self.is_first_acknowledged, true) {
            self.peer.max_streams = None;
        }
        for (id, value) in entries {
            match id {
                setting::INITIAL_WINDOW_SIZE => self.move_windows(i64::from(value))?,
                setting::MAX_FRAME_SIZE => self.peer.max_frame_bytes = value as usize,
                setting::MAX_CONCURRENT_STREAMS => self.peer.max_streams = Some(value as usize),
                _ => {}
            }
        }
        Ok(())
    }

    fn move_windows(&mut self, initial_window: i64) -> Verdict {
        let difference = initial_window - self.peer.initial_window;
        self.peer.initial_window = initial_window;
        let mut windows = self.streams.values_mut().filter(|stream| !stream.is_known_over());
        windows.try_for_each(|stream| {
            stream.send_window += difference;
            check(stream.send_window <= LARGEST_WINDOW, "a window above 2^31-1")
        })
    }

    fn wrote_goaway(&mut self, last_stream: u32) -> Verdict {
        let highest = self.streams.keys().next_back().copied().unwrap_or(0);
        let highest = if self.side == Side::Server { highest } else { 0 };
        check(last_stream <= highest, "GOAWAY names a stream that never came")?;
        check(self.goaway.is_none_or(|before| last_stream <= before), "GOAWAY takes it back")?;
        self.goaway = Some(last_stream);
        Ok(())
    }

    fn heard(&mut self, frame: &Frame) -> Verdict {
        match Meaning::of(frame)? {
            Meaning::Data { end_stream, .. } => self.heard_data(frame, end_stream),
            Meaning::Headers { end_stream, end_headers } => {
                match end_headers {
                    true => self.heard_headers(frame.stream_id, end_stream),
                    false => self.coming_block = Some(end_stream),
                }
                Ok(())
            }
            Meaning::Continuation { end_headers: true } => {
                if let Some(end_stream) = self.coming_block.take() {
                    self.heard_headers(frame.stream_id, end_stream);
                }
                Ok(())
            }
            Meaning::Reset { .. } => {
                if let Some(stream) = self.streams.get_mut(&frame.stream_id) {
                    stream.heard = Direction::Reset;
                }
                Ok(())
            }
            Meaning::WindowUpdate { increment_bytes } => {
                self.heard_update(frame.stream_id, i64::from(increment_bytes))
            }
            Meaning::Settings(entries) => {
                self.unacknowledged.push_back(entries);
                Ok(())
            }
            Meaning::SettingsAck => {
                self.heard_acknowledgement();
                Ok(())
            }
            Meaning::Ping => {
                self.pings_owed += 1;
                Ok(())
            }
            Meaning::Goaway { last_stream } => {
                self.heard_goaway(last_stream);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn heard_data(&mut self, frame: &Frame, end_stream: bool) -> Verdict {
        let bytes = frame.payload.len() as i64;
        self.granted -= bytes;
        check(bytes == 0 || self.granted >= 0, "more than the connection's window")?;
        let Some(stream) = self.streams.get_mut(&frame.stream_id) else {
            return Ok(());
        };
        if stream.said == Direction::Reset {
            return Ok(());
        }
        stream.granted -= bytes;
        if end_stream {
            stream.heard = Direction::Ended;
        }
        check(bytes == 0 || stream.granted >= 0, "more than the stream's window")
    }

    fn heard_headers(&mut self, id: u32, end_stream: bool) {
        let is_looked_at = self.goaway.is_none_or(|last_stream| id <= last_stream);
        if self.side == Side::Server && !self.streams.contains_key(&id) && is_looked_at {
            self.meet(id);
        }
        if let Some(stream) = self.streams.get_mut(&id)
            && stream.heard != Direction::Reset
        {
            stream.heard = if end_stream { Direction::Ended } else { Direction::Open };
        }
    }

    fn heard_update(&mut self, id: u32, bytes: i64) -> Verdict {
        let window = match id {
            0 => Some(&mut self.send_window),
            _ => {
                let live = self.streams.get_mut(&id).filter(|stream| !stream.is_over());
                live.map(|stream| &mut stream.send_window)
            }
        };
        let Some(window) = window else {
            return Ok(());
        };
        *window += bytes;
        check(*window <= LARGEST_WINDOW, "a window above 2^31-1")
    }

    fn heard_acknowledgement(&mut self) {
        if self.is_acknowledged {
            return;
        }
        self.is_acknowledged = true;
        let surplus = (DEFAULT_WINDOW - self.own_initial_window).max(0);
        self.streams.values_mut().for_each(|stream| stream.granted -= surplus);
    }

    fn heard_goaway(&mut self, last_stream: u32) {
        self.goaway_heard = Some(last_stream);
        if self.side == Side::Client {
            let dropped = self.streams.range_mut(last_stream.saturating_add(1)..);
            dropped.for_each(|(_, stream)| stream.heard = Direction::Reset);
        }
    }
}
