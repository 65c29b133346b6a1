//! Asynchronous handlers: a task of tokio answers each call, and ends with it. What the server
//! counts is on a page for Prometheus, and each call has a span of `tracing`.
//!
//! `cargo run -p bookend-examples --bin async_server [ADDRESS]`, and to see the page
//! `curl --http2-prior-knowledge http://127.0.0.1:50051/metrics`
#![forbid(unsafe_code)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bookend_examples::ticker::{NextRequest, Tick, Ticker, TickerServer};
use bookend_server::tokio::respond;
use bookend_server::trace::Traced;
use bookend_server::{Context, Metrics, Responder, Server};
use tokio::runtime::{Handle, Runtime};
use tokio::time::sleep;

struct Sleeping {
    runtime: Handle,
    waiting: Arc<AtomicU64>,
}

impl Ticker for Sleeping {
    fn next(&self, _: NextRequest, context: &Context<'_>, responder: Responder<Tick>) {
        let waiting = Arc::clone(&self.waiting);
        let number = waiting.fetch_add(1, Ordering::Relaxed);
        respond(&self.runtime, context, responder, async move {
            sleep(Duration::from_millis(200)).await;
            Ok(Tick { number, waiting: waiting.fetch_sub(1, Ordering::Relaxed) })
        });
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = Runtime::new()?;
    let sleeping = Sleeping { runtime: runtime.handle().clone(), waiting: Arc::default() };
    let metrics = Metrics::new();
    let shown = metrics.clone();
    let server = Server::builder()
        .add_service(Traced::new(TickerServer::new(sleeping)))
        .metrics(&metrics)
        .page("/metrics", move || shown.page())
        .bind(bookend_examples::address())?;
    println!("listening on {}", server.local_address());
    server.serve()?;
    Ok(())
}
