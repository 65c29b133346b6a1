//! The right to an answer: kept exactly once, whatever happens.

use crate::answer::Answer;
use bookend_wire::grpc::{Code, Status};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Who waits for the answer to a call. One that is dropped is told `UNAVAILABLE`, so that nobody
/// waits for ever, wherever in the channel the call was lost.
pub(crate) struct OnAnswer(Option<Box<dyn FnOnce(Answer) + Send>>);

impl OnAnswer {
    pub fn new(on_answer: impl FnOnce(Answer) + Send + 'static) -> Self {
        Self(Some(Box::new(on_answer)))
    }

    pub fn answer(mut self, answer: Answer) {
        self.tell(answer);
    }

    fn tell(&mut self, answer: Answer) {
        if let Some(on_answer) = self.0.take() {
            // The panic has been reported by its hook, and costs the other calls nothing.
            let _ = catch_unwind(AssertUnwindSafe(|| on_answer(answer)));
        }
    }
}

impl Drop for OnAnswer {
    fn drop(&mut self) {
        if self.0.is_some() {
            let status = Status::new(Code::Unavailable, "the channel has ended");
            self.tell(Answer::without_response(status));
        }
    }
}
