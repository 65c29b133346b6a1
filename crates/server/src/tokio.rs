//! Handlers whose work is asynchronous: a task of tokio answers the call.
//!
//! Handlers of the kind `deferred` get a [`Responder`], which any thread may use, so also a task.
//! This module has the task end with its call.
//!
//! ```no_run
//! use bookend_server::{Context, Responder, Status, tokio::respond};
//! # struct Request { name: String }
//! # struct Reply { message: String }
//! # async fn look_up(name: &str) -> Result<String, Status> { Ok(name.to_owned()) }
//!
//! struct Greeter {
//!     runtime: ::tokio::runtime::Handle,
//! }
//!
//! impl Greeter {
//!     fn say_hello(&self, request: Request, context: &Context<'_>, responder: Responder<Reply>) {
//!         respond(&self.runtime, context, responder, async move {
//!             let message = look_up(&request.name).await?;
//!             Ok(Reply { message })
//!         });
//!     }
//! }
//! ```

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use tokio::runtime::Handle;

use crate::cancellation::Cancelled;
use crate::{Context, Responder, Status};

/// Answers a call with what `future` gives, as a task of that runtime. The task is dropped when the
/// call is over: cancelled by its client, past its deadline, or its connection lost. A task that
/// panics ends its call with `INTERNAL`.
pub fn respond<T: Send + 'static>(
    runtime: &Handle,
    context: &Context<'_>,
    responder: Responder<T>,
    future: impl Future<Output = Result<T, Status>> + Send + 'static,
) {
    let cancelled = context.cancellation().cancelled();
    runtime.spawn(async move {
        if let Some(result) = unless(cancelled, future).await {
            responder.send(result);
        }
    });
}

/// What `future` gives, unless the call is over before.
async fn unless<R>(cancelled: Cancelled, future: impl Future<Output = R>) -> Option<R> {
    let (mut cancelled, mut future) = (pin!(cancelled), pin!(future));
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(result) => Poll::Ready(Some(result)),
        Poll::Pending => cancelled.as_mut().poll(context).map(|()| None),
    })
    .await
}
