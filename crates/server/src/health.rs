//! Health checking (`grpc.health.v1`): load balancers and orchestrators ask whether the server, or
//! one of its services, takes calls.

mod board;
mod v1;
mod watch;

use bookend_io::WakeBatch;

use crate::service::Service;
use crate::{Code, Context, Status, StreamHandler};
pub use board::ServingStatus;
use board::{SharedBoard, response};
use v1::{HealthCheckRequest, HealthCheckResponse, HealthListRequest, HealthListResponse};
use watch::Watch;

/// Says how the services of a server are; any thread may, by clones.
///
/// The server as a whole has the empty name, and is serving from the start.
///
/// ```
/// use bookend_server::{HealthReporter, Server, ServingStatus};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let health = HealthReporter::new();
/// let server = Server::builder().add_service(health.service()).bind("127.0.0.1:0")?.spawn()?;
/// health.set("helloworld.Greeter", ServingStatus::NotServing);
/// // ... and at the end:
/// health.shut_down();
/// server.stop();
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct HealthReporter(SharedBoard);

impl HealthReporter {
    /// The server is serving, and nothing is known of its services.
    pub fn new() -> Self {
        Self::default()
    }

    /// The service that answers, for [`crate::ServerBuilder::add_service`].
    pub fn service(&self) -> impl Service {
        v1::HealthServer::new(self.clone())
    }

    /// Says how a service is, by its full name: `package.Service`, or the empty name for the
    /// server. Those who watch it are notified. After [`HealthReporter::shut_down`] nothing changes
    /// any more.
    pub fn set(&self, service: &str, status: ServingStatus) {
        let _batch = WakeBatch::begin();
        let mut board = self.0.lock();
        if !board.is_shut_down {
            board.statuses.insert(service.to_owned(), status);
            board.wake_watchers_of(service);
        }
    }

    /// Forgets a service: to `Check` it is unknown, and those who watch it are notified.
    pub fn remove(&self, service: &str) {
        let _batch = WakeBatch::begin();
        let mut board = self.0.lock();
        if !board.is_shut_down {
            board.statuses.remove(service);
            board.wake_watchers_of(service);
        }
    }

    /// The server is about to stop: everything is [`ServingStatus::NotServing`] from now on. Calls
    /// of `Watch` are notified, and end with `UNAVAILABLE`, so that they do not keep the server
    /// from [stopping](crate::ServerHandle::stop) when the other calls have ended.
    pub fn shut_down(&self) {
        let _batch = WakeBatch::begin();
        let mut board = self.0.lock();
        board.is_shut_down = true;
        for status in board.statuses.values_mut() {
            *status = ServingStatus::NotServing;
        }
        board.wake_all_watchers();
    }
}

impl v1::Health for HealthReporter {
    fn check(
        &self,
        request: HealthCheckRequest,
        _: &Context<'_>,
    ) -> Result<HealthCheckResponse, Status> {
        match self.0.lock().statuses.get(&request.service) {
            Some(status) => Ok(response(status.on_the_wire())),
            None => Err(Status::new(Code::NotFound, "nothing is known of that service")),
        }
    }

    fn list(&self, _: HealthListRequest, _: &Context<'_>) -> Result<HealthListResponse, Status> {
        let board = self.0.lock();
        let named = |(name, status): (&String, &ServingStatus)| {
            (name.clone(), response(status.on_the_wire()))
        };
        Ok(HealthListResponse { statuses: board.statuses.iter().map(named).collect() })
    }

    fn watch(
        &self,
        context: &Context<'_>,
    ) -> Box<dyn StreamHandler<HealthCheckRequest, HealthCheckResponse>> {
        Box::new(Watch::new(self.0.clone(), context.waker()))
    }
}
