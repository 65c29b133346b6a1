//! How the samples of one recording divide over the layers.

use super::folded::Folded;
use super::rules::{Layer, Rules};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Counts of samples.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Split {
    /// All of them.
    pub samples: u64,
    /// By layer; a layer that is missing has none. What is in no layer is the rest.
    pub layers: BTreeMap<Layer, u64>,
    /// Samples taken in work that the handlers of all subjects of this language do alike.
    pub shared_work: u64,
    /// Samples whose innermost frame has no name but, at best, that of its library: `[libgrpc.so]`.
    pub nameless: u64,
}

impl Split {
    /// Counts `folded` by `rules`.
    pub fn of(folded: &Folded, rules: &Rules) -> Split {
        let mut split = Split::default();
        let mut judge = rules.judge();
        for stack in folded.stacks() {
            // The first is the name of the thread, which its owner may choose.
            let frames = stack.frames.get(1..).unwrap_or_default();
            let verdict = judge.place(frames);
            split.samples += stack.samples;
            if let Some(layer) = verdict.layer {
                *split.layers.entry(layer).or_default() += stack.samples;
            }
            if verdict.is_shared_work {
                split.shared_work += stack.samples;
            }
            if frames.last().is_none_or(|leaf| leaf.starts_with('[')) {
                split.nameless += stack.samples;
            }
        }
        split
    }

    /// The part of the samples that is in `layer`.
    pub fn share(&self, layer: Layer) -> f64 {
        self.part(self.layers.get(&layer).copied().unwrap_or(0))
    }

    /// The part that is in no layer.
    pub fn rest(&self) -> f64 {
        let placed: u64 = self.layers.values().sum();
        self.part(self.samples.saturating_sub(placed))
    }

    /// The part that was taken in shared work.
    pub fn shared_work_share(&self) -> f64 {
        self.part(self.shared_work)
    }

    /// The part whose innermost frame has no name.
    pub fn nameless_share(&self) -> f64 {
        self.part(self.nameless)
    }

    fn part(&self, samples: u64) -> f64 {
        match self.samples {
            0 => 0.0,
            all => samples as f64 / all as f64,
        }
    }
}
