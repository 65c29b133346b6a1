//! One call of `Watch`: a state machine that is woken when there is news, and takes no thread.

use super::board::{SharedBoard, response, watcher_bytes};
use super::v1::health_check_response::ServingStatus as WireStatus;
use super::v1::{HealthCheckRequest, HealthCheckResponse};
use crate::stream_waker::StreamWaker;
use crate::{Code, Replies, Status, StreamHandler};

/// The name of a service that is watched is kept, whether it exists or not. Names that are longer
/// than this are a mistake or an attack.
const MAX_SERVICE_NAME_BYTES: usize = 1_024;

/// Tells one client how a service is, whenever that changes.
pub(super) struct Watch {
    board: SharedBoard,
    waker: StreamWaker,
    /// The number of its watcher, once the request has come.
    number: Option<u64>,
    /// What the board keeps for it.
    watcher_bytes: usize,
    told: Option<WireStatus>,
}

impl Watch {
    pub fn new(board: SharedBoard, waker: StreamWaker) -> Self {
        Watch { board, waker, number: None, watcher_bytes: 0, told: None }
    }
}

impl StreamHandler<HealthCheckRequest, HealthCheckResponse> for Watch {
    fn held_bytes(&self) -> usize {
        self.watcher_bytes
    }

    fn on_message(
        &mut self,
        request: HealthCheckRequest,
        replies: &mut Replies<'_, '_, HealthCheckResponse>,
    ) -> Result<(), Status> {
        if request.service.len() > MAX_SERVICE_NAME_BYTES {
            return Err(Status::new(Code::InvalidArgument, "no service has so long a name"));
        }
        self.watcher_bytes = watcher_bytes(&request.service);
        self.number = Some(self.board.lock().watch(request.service, self.waker.clone()));
        self.on_ready(replies)
    }

    fn on_ready(
        &mut self,
        replies: &mut Replies<'_, '_, HealthCheckResponse>,
    ) -> Result<(), Status> {
        let board = self.board.lock();
        let status = self.number.and_then(|number| board.status_for(number));
        let Some(status) = status.filter(|_| !replies.is_full()) else {
            return Ok(());
        };
        let is_last = board.is_shut_down;
        drop(board);
        if self.told != Some(status) {
            self.told = Some(status);
            replies.send(&response(status));
        }
        if is_last {
            return Err(Status::new(Code::Unavailable, "the server is stopping"));
        }
        Ok(())
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.board.lock().forget_watcher(number);
        }
    }
}
