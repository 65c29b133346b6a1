//! A wire that is not sound, for the runs that have to be found out.

use crate::both::Both;
use crate::frames::{Meaning, Splitter};
use crate::planted::Planted;
use bookend_testing::{Frame, PREFACE};
use bookend_wire::Side;

/// Behind the greetings of both ends.
const LOST_BYTE: usize = 150;
const INFLATION_BYTES: u32 = 1 << 20;

#[derive(Debug)]
pub struct Saboteur {
    planted: Planted,
    lanes: Both<Splitter>,
    passed_bytes: usize,
    is_done: bool,
}

impl Saboteur {
    pub fn new(planted: Planted) -> Self {
        Self {
            planted,
            lanes: Both { client: Splitter::with_preface(), server: Splitter::without_preface() },
            passed_bytes: 0,
            is_done: false,
        }
    }

    /// Whether there was an occasion to do harm.
    pub fn is_done(&self) -> bool {
        self.is_done
    }

    /// What arrives instead of these bytes.
    pub fn pass(&mut self, writer: Side, bytes: Vec<u8>) -> Vec<u8> {
        match self.planted {
            Planted::ByteLost => self.lose(bytes),
            Planted::ByteChanged | Planted::WindowInflated | Planted::UpdatesLost => {
                self.pass_frames(writer, &bytes)
            }
            _ => bytes,
        }
    }

    fn lose(&mut self, mut bytes: Vec<u8>) -> Vec<u8> {
        let place = LOST_BYTE.checked_sub(self.passed_bytes);
        self.passed_bytes += bytes.len();
        if let Some(place) = place.filter(|place| *place < bytes.len() && !self.is_done) {
            bytes.remove(place);
            self.is_done = true;
        }
        bytes
    }

    fn pass_frames(&mut self, writer: Side, bytes: &[u8]) -> Vec<u8> {
        let lane = self.lanes.of_mut(writer);
        let was_past_preface = lane.is_past_preface();
        let frames = lane.push(bytes).expect("the crate's own preface");
        let mut passed = Vec::new();
        if writer == Side::Client && !was_past_preface && lane.is_past_preface() {
            passed.extend_from_slice(PREFACE);
        }
        for frame in frames {
            if let Some(frame) = self.tamper(writer, frame) {
                frame.write(&mut passed);
            }
        }
        passed
    }

    fn tamper(&mut self, writer: Side, mut frame: Frame) -> Option<Frame> {
        match (self.planted, Meaning::of(&frame)) {
            (Planted::ByteChanged, Ok(Meaning::Data { data_bytes: 1.., .. }))
                if writer == Side::Server && !self.is_done =>
            {
                // A server may leave a request unheard; an answer is heard to its end.
                let last = frame.payload.len() - 1;
                frame.payload[last] ^= 0x20;
            }
            (Planted::UpdatesLost, Ok(Meaning::WindowUpdate { .. })) => {
                self.is_done = true;
                return None;
            }
            (Planted::WindowInflated, Ok(Meaning::WindowUpdate { increment_bytes }))
                if increment_bytes < INFLATION_BYTES =>
            {
                frame.payload = (increment_bytes + INFLATION_BYTES).to_be_bytes().to_vec();
            }
            _ => return Some(frame),
        }
        self.is_done = true;
        Some(frame)
    }
}
