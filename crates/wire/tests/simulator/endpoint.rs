//! A connection with its owner, and the record by which both can be run again.

use crate::app::{Act, App, Event, Routes};
use crate::plan::Plan;
use crate::planted::Planted;
use crate::random::Random;
use bookend_wire::{Connection, Side};
use std::rc::Rc;

/// Something that came from outside.
#[derive(Clone, Debug)]
pub enum Stimulus {
    Bytes(Vec<u8>),
    Act(Act),
}

pub struct Endpoint {
    pub connection: Connection,
    pub app: App,
    /// Bytes that are no whole frame yet.
    pub inbox: Vec<u8>,
    /// All that came from outside, in order.
    pub script: Vec<Stimulus>,
    /// All that was written, in order.
    pub written: Vec<u8>,
    /// Bytes of the output that are in `written` already.
    seen_bytes: usize,
    /// The end of the connection, as the crate tells it.
    pub error: Option<String>,
    frame_limit_bytes: usize,
}

/// Bytes of a frame's head.
const HEAD_BYTES: usize = 9;

impl Endpoint {
    pub fn new(side: Side, plan: &Rc<Plan>, routes: &Routes, planted: Planted) -> Self {
        let config = &plan.ends.of(side).config;
        Self {
            connection: Connection::new(side, config),
            app: App::new(side, Rc::clone(plan), Rc::clone(routes), planted),
            inbox: Vec::new(),
            script: Vec::new(),
            written: Vec::new(),
            seen_bytes: 0,
            error: None,
            frame_limit_bytes: config.settings.max_frame_bytes as usize,
        }
    }

    /// As [`Endpoint::receive`], and for the record.
    pub fn hear(&mut self, now: u64, bytes: &[u8]) {
        self.app.now = now;
        self.script.push(Stimulus::Bytes(bytes.to_vec()));
        self.receive(bytes);
    }

    /// Something of this end's own accord, for the record as well.
    pub fn act(&mut self, now: u64, act: Act) {
        self.app.now = now;
        self.script.push(Stimulus::Act(act));
        self.app.act(&mut self.connection.sender, act);
    }

    fn receive(&mut self, bytes: &[u8]) {
        self.inbox.extend_from_slice(bytes);
        if self.error.is_some() {
            return;
        }
        match self.connection.receive(&self.inbox, &mut self.app) {
            Ok(taken_bytes) => drop(self.inbox.drain(..taken_bytes)),
            Err(error) => self.error = Some(format!("{error}")),
        }
    }

    /// What was written since the last call. It stays in the output.
    pub fn newly_written(&mut self) -> Vec<u8> {
        let new = self.connection.sender.output[self.seen_bytes..].to_vec();
        self.seen_bytes += new.len();
        self.written.extend_from_slice(&new);
        new
    }

    /// Takes the first bytes of the output, as a socket does.
    pub fn take_output(&mut self, bytes: usize) -> Vec<u8> {
        self.seen_bytes -= bytes;
        self.connection.sender.output.drain(..bytes).collect()
    }

    /// Whether no more waits in the inbox than a frame that is not whole.
    pub fn has_small_inbox(&self) -> bool {
        self.error.is_some() || self.inbox.len() < HEAD_BYTES + self.frame_limit_bytes
    }

    /// The events and the bytes of the same script with its bytes cut in another way.
    pub fn told_again(
        &self,
        mut twin: Endpoint,
        random: &mut Random,
        misled: bool,
    ) -> (Vec<Event>, Vec<u8>) {
        let mut waiting: Vec<u8> = Vec::new();
        let cut = Cut::draw(random);
        for stimulus in &self.script {
            match stimulus {
                Stimulus::Bytes(bytes) => waiting.extend_from_slice(bytes),
                Stimulus::Act(act) => {
                    twin.receive_cut(&waiting, cut, random);
                    waiting.clear();
                    twin.app.act(&mut twin.connection.sender, *act);
                }
            }
        }
        if misled && let Some(last) = waiting.last_mut() {
            *last ^= 1;
        }
        twin.receive_cut(&waiting, cut, random);
        (twin.app.log, twin.connection.sender.output)
    }

    fn receive_cut(&mut self, bytes: &[u8], cut: Cut, random: &mut Random) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let piece_bytes = match cut {
                Cut::Nowhere => rest.len(),
                Cut::Everywhere if bytes.len() < 3_000 => 1,
                _ => random.between(1, rest.len().min(4_000)),
            };
            let (piece, behind) = rest.split_at(piece_bytes);
            rest = behind;
            self.receive(piece);
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Cut {
    Nowhere,
    Everywhere,
    Anywhere,
}

impl Cut {
    fn draw(random: &mut Random) -> Self {
        random.pick(&[Self::Nowhere, Self::Everywhere, Self::Anywhere])
    }
}
