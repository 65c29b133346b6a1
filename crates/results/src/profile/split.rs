//! How the samples of one recording divide over the layers.

use super::layer::Layer;
use crate::statistics::{Interval, NORMAL_QUANTILE};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The least samples that say anything of a share: the normal approximation of its interval needs
/// about this many.
pub const SAMPLES_MIN: u64 = 10;

/// The name of work that all handlers of one language share.
const SHARED_WORK: &str = "shared_work";

/// Counts of samples.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Split {
    /// All samples.
    pub samples: u64,
    /// Samples by layer; a missing layer has none. Samples that are in no layer are the rest.
    pub layers: BTreeMap<Layer, u64>,
    /// Samples taken in work that the handlers of all subjects in this language share.
    pub shared_work: u64,
    /// Samples of functions that the rules name, with all that these call. A function without
    /// samples is missing: it has been inlined, or was not looked for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub functions: BTreeMap<String, u64>,
    /// Samples whose innermost frame has at best the name of its library: `[libgrpc.so]`.
    pub nameless: u64,
}

impl Split {
    /// The share of the samples in `layer`.
    pub fn share(&self, layer: Layer) -> f64 {
        self.part(self.layers.get(&layer).copied().unwrap_or(0))
    }

    /// The share that a name denotes: `network_in`, `http2_grpc+runtime` for both together,
    /// `shared_work`, a function by its name in the rules. `None` if there is no such layer, and
    /// the recording has no such function.
    pub fn named_share(&self, name: &str) -> Option<f64> {
        if name == SHARED_WORK {
            return Some(self.shared_work_share());
        }
        if let Some(samples) = self.functions.get(name) {
            return Some(self.part(*samples));
        }
        name.split('+').map(Layer::of_name).map(|layer| Some(self.share(layer?))).sum()
    }

    /// The range of the true share in 95 of 100 recordings that find `share`, if samples are
    /// independent. `None` where fewer than [`SAMPLES_MIN`] make the share.
    pub fn share_interval(&self, share: f64) -> Option<Interval> {
        let samples = (share * self.samples as f64).round();
        let deviation = (share * (1.0 - share) / self.samples as f64).sqrt();
        (samples >= SAMPLES_MIN as f64).then(|| Interval {
            low: (share - NORMAL_QUANTILE * deviation).max(0.0),
            high: (share + NORMAL_QUANTILE * deviation).min(1.0),
        })
    }

    /// The share that is in no layer.
    pub fn rest(&self) -> f64 {
        let placed = self.layers.values().fold(0, |sum: u64, of| sum.saturating_add(*of));
        self.part(self.samples.saturating_sub(placed))
    }

    /// The share of samples in shared work.
    pub fn shared_work_share(&self) -> f64 {
        self.part(self.shared_work)
    }

    /// The share of samples whose innermost frame has no name.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_have_names_and_add_up() {
        let split = Split {
            samples: 100,
            layers: BTreeMap::from([(Layer::NetworkIn, 40), (Layer::Protocol, 25)]),
            shared_work: 3,
            functions: BTreeMap::from([("find_path".to_owned(), 2)]),
            nameless: 0,
        };
        let share = |name| split.named_share(name);
        assert_eq!(share("network_in"), Some(0.40));
        assert_eq!(share("network_in+http2_grpc+runtime"), Some(0.65));
        assert_eq!(share("shared_work"), Some(0.03));
        assert_eq!((share("find_path"), share("handle")), (Some(0.02), None));
        for wrong in ["network", "network-in", "network_in+", ""] {
            assert_eq!(share(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_share_of_few_samples_has_no_interval() {
        let split = Split { samples: 1_000, ..Split::default() };
        assert_eq!(split.share_interval(0.009), None);
        let interval = split.share_interval(0.01).expect("ten samples");
        assert!(interval.low > 0.003 && interval.high < 0.017, "{interval:?}");
    }
}
