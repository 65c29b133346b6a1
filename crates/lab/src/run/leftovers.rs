//! What labs have left behind that were killed: folders with keys, and processes that no control
//! group held. Groups are cleared away where groups are prepared.

use crate::held_folder;
use crate::process::tree;
use std::collections::BTreeSet;

/// Removes it, and says what there was, a sentence each.
pub fn remove_leftovers() -> Vec<String> {
    let folders = held_folder::remove_abandoned(&std::env::temp_dir());
    let processes = tree::kill_orphans(&BTreeSet::new());
    let sentence = |count: usize, what: &str| {
        (count > 0).then(|| format!("{what} that killed labs had left, cleared away: {count}"))
    };
    [sentence(folders, "temporary folders"), sentence(processes, "processes")]
        .into_iter()
        .flatten()
        .collect()
}
