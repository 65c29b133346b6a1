//! How often what is drawn for did happen: a simulator that never pads proves nothing of padding.

/// Counts over one run or many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    pub steps: usize,
    pub bytes: usize,
    pub calls_completed: usize,
    pub calls_cancelled: usize,
    pub calls_expired: usize,
    pub calls_refused: usize,
    pub calls_reset: usize,
    pub calls_given_up: usize,
    pub calls_oversize: usize,
    pub calm_runs: usize,
    pub half_closed_runs: usize,
    pub aborted_runs: usize,
    pub goaways: usize,
    pub one_byte_reads: usize,
    pub short_writes: usize,
    pub stalls: usize,
    pub pieces_held_back: usize,
    pub negative_windows: usize,
    pub padded_frames: usize,
    pub continuations: usize,
    pub mixed_in: usize,
    pub settings_lowered: usize,
    pub blocks_recalled: usize,
    pub whole_requests: usize,
    pub whole_answers: usize,
    pub late_heads: usize,
    pub pongs: usize,
    pub ids_used_up: usize,
    pub split_again: usize,
}

impl Reached {
    pub fn add(&mut self, other: &Self) {
        let mine = self.counts_mut();
        let theirs = other.clone();
        for ((_, mine), (_, theirs)) in mine.into_iter().zip(theirs.clone().counts_mut()) {
            *mine += *theirs;
        }
    }

    /// What never happened.
    pub fn missing(&self) -> Vec<&'static str> {
        let mut own = self.clone();
        let counts = own.counts_mut();
        let missing = counts.into_iter().filter(|(_, count)| **count == 0);
        missing.map(|(name, _)| name).collect()
    }
}

macro_rules! counts {
    ($($name:ident)*) => {
        impl Reached {
            fn counts_mut(&mut self) -> Vec<(&'static str, &mut usize)> {
                vec![$((stringify!($name), &mut self.$name)),*]
            }
        }
    };
}

counts! {
    steps bytes calls_completed calls_cancelled calls_expired calls_refused calls_reset
    calls_given_up calls_oversize calm_runs half_closed_runs aborted_runs goaways one_byte_reads
    short_writes stalls pieces_held_back negative_windows padded_frames continuations mixed_in
    settings_lowered blocks_recalled whole_requests whole_answers late_heads pongs ids_used_up
    split_again
}
