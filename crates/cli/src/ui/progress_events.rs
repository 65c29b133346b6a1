//! How far the newest run is, as events: one at once, and one whenever that changes.

use super::kept_results::KeptResults;
use axum::response::sse::Event;
use bookend_report::stored::RunProgress;
use futures_util::stream::{self, Stream};
use std::convert::Infallible;
use std::fs;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// How often the file of the store is looked at. A round takes longer, and a look at a file's time
/// costs the run that is measured here next to nothing.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The events, for ever.
pub fn progress_events(
    kept: Arc<KeptResults>,
) -> impl Stream<Item = Result<Event, Infallible>> + Send + 'static {
    let watch = StoreWatch { kept, seen: None, told: None };
    stream::unfold(watch, |mut watch| async move {
        loop {
            if let Some(event) = watch.look() {
                return Some((Ok(event), watch));
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    })
}

struct StoreWatch {
    kept: Arc<KeptResults>,
    /// When the file was written and how long it was, as it was last read.
    seen: Option<(SystemTime, u64)>,
    told: Option<RunProgress>,
}

impl StoreWatch {
    /// An event, if there is something new. A file that is being written is looked at again later.
    fn look(&mut self) -> Option<Event> {
        let facts = fs::metadata(self.kept.file()).ok()?;
        let now = Some((facts.modified().ok()?, facts.len()));
        if now == self.seen {
            return None;
        }
        let newest = self.kept.newest().ok()?;
        self.seen = now;
        let progress = self.kept.pages().progress(newest.as_ref());
        let is_new = self.told.as_ref() != Some(&progress);
        let event = is_new.then(|| Event::default().data(progress.json()));
        self.told = Some(progress);
        event
    }
}
