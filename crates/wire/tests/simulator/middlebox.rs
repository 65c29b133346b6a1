//! Somebody on the way who writes the same differently, as RFC 9113 allows: frames are cut and
//! padded, header blocks spread over CONTINUATION, settings lowered for a while, frames mixed in
//! that mean nothing. What the calls carry is the same at the other end.
//!
//! Padding takes room in a window and comes back as credit that its sender does not know of. So
//! the sender sees smaller windows than there are; the difference is what padding may use.

use crate::both::{Both, other};
use crate::frames::{Meaning, Splitter};
use crate::plan::Plan;
use crate::random::Random;
use crate::reached::Reached;
use bookend_testing::{Frame, PREFACE, flag, kind, setting, settings, window_update};
use bookend_wire::Side;
use std::collections::{BTreeMap, VecDeque};

/// The PINGs that are mixed in say this, so that their answers are known.
const OWN_PING: &[u8; 8] = b"midway--";
/// Frames of one header block that the crate takes, `config` says why.
const MAX_BLOCK_FRAMES: usize = 9;
/// The smallest SETTINGS_MAX_FRAME_SIZE: what every end takes.
const FRAME_BYTES: usize = 16_384;
/// More than a priority and padding take.
const DRESS_BYTES: usize = 512;
const DEFAULT_WINDOW: u32 = 65_535;

#[derive(Debug)]
pub struct Middlebox {
    lanes: Both<Lane>,
    random: Random,
}

/// What passes from one end to the other.
#[derive(Debug)]
struct Lane {
    is_on: bool,
    reader_settings: ReaderSettings,
    coming: Splitter,
    is_past_preface: bool,
    /// Whose SETTINGS the next acknowledgements in this lane answer: true for ours.
    acknowledges_ours: VecDeque<bool>,
    /// Room for padding, once the writer has acknowledged the smaller windows.
    stream_room: u32,
    connection_room: u32,
    is_armed: bool,
    is_greeting_due: bool,
    padding: BTreeMap<u32, u32>,
    connection_padding: u32,
    is_lowered: bool,
    block_frames: usize,
}

/// What the reader of a lane has announced, as the writer sees it.
#[derive(Clone, Copy, Debug)]
struct ReaderSettings {
    window_bytes: u32,
    max_streams: Option<u32>,
    table_bytes: u32,
    max_frame_bytes: u32,
}

impl Middlebox {
    pub fn new(plan: &Plan, random: Random) -> Self {
        Self {
            lanes: Both {
                client: Lane::new(plan, Side::Client),
                server: Lane::new(plan, Side::Server),
            },
            random,
        }
    }

    /// Takes what `writer` wrote, and appends what arrives instead.
    ///
    /// # Errors
    /// When it is not made of frames.
    pub fn pass(
        &mut self,
        writer: Side,
        bytes: &[u8],
        pipe: &mut Vec<u8>,
        reached: &mut Reached,
    ) -> Result<(), String> {
        if !self.lanes.client.is_on && !self.lanes.server.is_on {
            pipe.extend_from_slice(bytes);
            return Ok(());
        }
        let frames = self.lanes.of_mut(writer).coming.push(bytes)?;
        let lane = self.lanes.of_mut(writer);
        if !lane.is_past_preface && lane.coming.is_past_preface() {
            lane.is_past_preface = true;
            pipe.extend_from_slice(PREFACE);
        }
        for frame in frames {
            self.pass_frame(writer, frame, pipe, reached)?;
        }
        Ok(())
    }

    fn pass_frame(
        &mut self,
        writer: Side,
        frame: Frame,
        pipe: &mut Vec<u8>,
        reached: &mut Reached,
    ) -> Result<(), String> {
        match Meaning::of(&frame)? {
            Meaning::SettingsAck => self.pass_acknowledgement(writer, &frame, pipe),
            Meaning::PingAck if frame.payload == OWN_PING => {}
            Meaning::Settings(entries) => {
                self.lanes.of_mut(other(writer)).acknowledges_ours.push_back(false);
                pipe.extend(self.settings_with_less_room(writer, entries));
            }
            Meaning::WindowUpdate { increment_bytes } => {
                self.pass_update(writer, frame.stream_id, increment_bytes, pipe);
            }
            Meaning::Data { end_stream, .. } if self.lanes.of(writer).is_on => {
                self.pass_data(writer, &frame, end_stream, pipe, reached);
            }
            Meaning::Headers { .. } | Meaning::Continuation { .. }
                if self.lanes.of(writer).is_on =>
            {
                self.lanes.of_mut(writer).pass_block(frame, pipe, &mut self.random, reached);
            }
            _ => frame.write(pipe),
        }
        let lane = self.lanes.of(writer);
        if lane.is_on && lane.block_frames == 0 && self.random.one_in(8) {
            self.mix_in(writer, pipe, reached);
        }
        Ok(())
    }

    fn pass_acknowledgement(&mut self, writer: Side, frame: &Frame, pipe: &mut Vec<u8>) {
        let lane = self.lanes.of_mut(writer);
        lane.is_armed = true;
        if lane.acknowledges_ours.pop_front() != Some(true) {
            frame.write(pipe);
        }
    }

    /// The windows of `writer`'s SETTINGS, less the room for padding in the other direction.
    fn settings_with_less_room(&mut self, writer: Side, mut entries: Vec<(u16, u32)>) -> Vec<u8> {
        let padded = self.lanes.of(other(writer));
        if padded.stream_room > 0 {
            entries.retain(|(id, _)| *id != setting::INITIAL_WINDOW_SIZE);
            entries.push((setting::INITIAL_WINDOW_SIZE, padded.reader_settings.window_bytes));
        }
        settings(&entries)
    }

    /// Credit, less what padding has used of it.
    fn pass_update(&mut self, writer: Side, stream: u32, bytes: u32, pipe: &mut Vec<u8>) {
        let padded = self.lanes.of_mut(other(writer));
        let taken = match stream {
            0 if std::mem::take(&mut padded.is_greeting_due) => padded.connection_room,
            0 => take(&mut padded.connection_padding, bytes),
            _ => padded.padding.get_mut(&stream).map_or(0, |used| take(used, bytes)),
        };
        let left = bytes - taken;
        let first = match self.lanes.of(writer).is_on && self.random.one_in(4) {
            true => self.random.below(left as usize + 1) as u32,
            false => left,
        };
        for part in [first, left - first].into_iter().filter(|part| *part > 0) {
            pipe.extend(window_update(stream, part));
        }
    }

    fn pass_data(
        &mut self,
        writer: Side,
        frame: &Frame,
        end_stream: bool,
        pipe: &mut Vec<u8>,
        reached: &mut Reached,
    ) {
        let lane = self.lanes.of_mut(writer);
        // An empty frame needs no window, so that there may be less than none: more was sent before
        // a window below the default was known. Padding would need one.
        let has_window = !frame.payload.is_empty();
        let may_pad = has_window || lane.reader_settings.window_bytes >= DEFAULT_WINDOW;
        let mut rest = &frame.payload[..];
        loop {
            let cut = match self.random.one_in(2) {
                true => self.random.between(0, rest.len()),
                false => rest.len(),
            };
            let (piece, behind) = rest.split_at(cut);
            rest = behind;
            let end = end_stream && rest.is_empty();
            let part = Frame::new(kind::DATA, u8::from(end), frame.stream_id, piece);
            let part = match may_pad {
                true => lane.pad(part, &mut self.random, reached),
                false => part,
            };
            part.write(pipe);
            if rest.is_empty() {
                return;
            }
        }
    }

    /// A frame of no consequence, or settings that are taken back later.
    fn mix_in(&mut self, writer: Side, pipe: &mut Vec<u8>, reached: &mut Reached) {
        reached.mixed_in += 1;
        match self.random.below(4) {
            0 => Frame::new(kind::PING, 0, 0, OWN_PING).write(pipe),
            1 => Frame::new(0xfb, 0x5a, 77, b"of the future").write(pipe),
            2 => Frame::new(kind::PRIORITY, 0, 5, &[0, 0, 0, 3, 9]).write(pipe),
            _ => self.change_settings(writer, pipe, reached),
        }
    }

    fn change_settings(&mut self, announcer: Side, pipe: &mut Vec<u8>, reached: &mut Reached) {
        let lane = self.lanes.of_mut(other(announcer));
        let told = lane.reader_settings;
        let entries = match lane.is_lowered {
            true => told.entries(),
            false => told.lowered(&mut self.random),
        };
        reached.settings_lowered += usize::from(!lane.is_lowered);
        lane.is_lowered = !lane.is_lowered;
        lane.acknowledges_ours.push_back(true);
        pipe.extend(settings(&entries));
    }

    /// Whether settings of `announcer` are announced lower than they are.
    pub fn is_lowered(&self, announcer: Side) -> bool {
        self.lanes.of(other(announcer)).is_lowered
    }

    /// Tells what is lowered as it is.
    pub fn restore(&mut self, announcer: Side, pipe: &mut Vec<u8>, reached: &mut Reached) {
        if self.is_lowered(announcer) {
            self.change_settings(announcer, pipe, reached);
        }
    }
}

impl ReaderSettings {
    /// Some of them, lower than they are.
    fn lowered(self, random: &mut Random) -> Vec<(u16, u32)> {
        let edges = [0, 1, 20, 100, 65_535, random.next() as u32 >> 1];
        let window_bytes = random.pick(&edges).min(self.window_bytes);
        let table_bytes = random.pick(&edges).min(self.table_bytes);
        let max_streams = random.below(3).min(self.max_streams.unwrap_or(2) as usize) as u32;
        let mut entries = vec![
            (setting::INITIAL_WINDOW_SIZE, window_bytes),
            (setting::HEADER_TABLE_SIZE, table_bytes),
            (setting::MAX_FRAME_SIZE, random.pick(&[16_384, self.max_frame_bytes])),
            (setting::MAX_CONCURRENT_STREAMS, max_streams),
            // Nobody knows what this one means.
            (0xabcd, 7),
        ];
        entries.retain(|_| random.one_in(2));
        entries
    }

    fn entries(self) -> Vec<(u16, u32)> {
        vec![
            (setting::INITIAL_WINDOW_SIZE, self.window_bytes),
            (setting::HEADER_TABLE_SIZE, self.table_bytes),
            (setting::MAX_FRAME_SIZE, self.max_frame_bytes),
            (setting::MAX_CONCURRENT_STREAMS, self.max_streams.unwrap_or(u32::MAX)),
        ]
    }
}

/// Takes as much as there is of `bytes`.
fn take(from: &mut u32, bytes: u32) -> u32 {
    let taken = bytes.min(*from);
    *from -= taken;
    taken
}

impl Lane {
    fn new(plan: &Plan, writer: Side) -> Self {
        let config = &plan.ends.of(other(writer)).config;
        let settings = &config.settings;
        let is_on = *plan.reframes.of(writer);
        let connection_bytes = config.connection_window_bytes.max(DEFAULT_WINDOW);
        let more_connection_bytes = connection_bytes - DEFAULT_WINDOW;
        // What is left is never less than what an end keeps back before it gives credit: half.
        let stream_room = if is_on { settings.initial_window_bytes / 4 } else { 0 };
        Self {
            is_on,
            reader_settings: ReaderSettings {
                window_bytes: settings.initial_window_bytes - stream_room,
                max_streams: settings.max_concurrent_streams.filter(|_| writer == Side::Client),
                table_bytes: settings.header_table_bytes,
                max_frame_bytes: settings.max_frame_bytes,
            },
            coming: match writer {
                Side::Client => Splitter::with_preface(),
                Side::Server => Splitter::without_preface(),
            },
            is_past_preface: writer == Side::Server,
            acknowledges_ours: VecDeque::new(),
            stream_room,
            connection_room: if is_on { more_connection_bytes / 4 } else { 0 },
            is_armed: false,
            is_greeting_due: is_on && more_connection_bytes > 0,
            padding: BTreeMap::new(),
            connection_padding: 0,
            is_lowered: false,
            block_frames: 0,
        }
    }

    fn pad(&mut self, frame: Frame, random: &mut Random, reached: &mut Reached) -> Frame {
        let used = self.padding.entry(frame.stream_id).or_default();
        let room = (self.stream_room - *used).min(self.connection_room - self.connection_padding);
        let room = (room as usize).min(FRAME_BYTES.saturating_sub(frame.payload.len())).min(256);
        if !self.is_armed || room == 0 || random.one_in(2) {
            return frame;
        }
        let pad_bytes = random.below(room);
        *used += 1 + pad_bytes as u32;
        self.connection_padding += 1 + pad_bytes as u32;
        reached.padded_frames += 1;
        padded(frame, pad_bytes)
    }

    /// Part of a header block: padded, with a priority, and spread over more frames.
    fn pass_block(
        &mut self,
        frame: Frame,
        pipe: &mut Vec<u8>,
        random: &mut Random,
        reached: &mut Reached,
    ) {
        let is_last = frame.has(flag::END_HEADERS);
        // Those of a long block that are still to come need their place as well.
        let is_long = frame.payload.len() + DRESS_BYTES >= FRAME_BYTES || self.block_frames > 0;
        let pieces = match is_long {
            true => 1,
            false => random.pick(&[1, 1, 2, MAX_BLOCK_FRAMES]),
        };
        let piece_bytes = frame.payload.len().div_ceil(pieces).max(1);
        let mut rest = &frame.payload[..];
        let mut kind = frame.kind;
        let mut flags = frame.flags & !flag::END_HEADERS;
        loop {
            let (piece, behind) = rest.split_at(piece_bytes.min(rest.len()));
            rest = behind;
            if rest.is_empty() && is_last {
                flags |= flag::END_HEADERS;
            }
            let mut part = Frame::new(kind, flags, frame.stream_id, piece);
            if kind == kind::HEADERS && !is_long && random.one_in(3) {
                part = dressed(part, random);
                reached.padded_frames += 1;
            }
            part.write(pipe);
            self.block_frames += 1;
            (kind, flags) = (kind::CONTINUATION, 0);
            if rest.is_empty() {
                break;
            }
            reached.continuations += 1;
        }
        if is_last {
            self.block_frames = 0;
        }
    }
}

/// A HEADERS frame with a priority and with padding.
fn dressed(mut frame: Frame, random: &mut Random) -> Frame {
    let depends_on = frame.stream_id ^ 2;
    let mut payload = depends_on.to_be_bytes().to_vec();
    payload.push(15);
    payload.extend_from_slice(&frame.payload);
    frame.payload = payload;
    frame.flags |= flag::PRIORITY;
    padded(frame, random.below(256))
}

fn padded(mut frame: Frame, pad_bytes: usize) -> Frame {
    frame.payload.insert(0, pad_bytes as u8);
    frame.payload.resize(frame.payload.len() + pad_bytes, 0);
    frame.flags |= flag::PADDED;
    frame
}
