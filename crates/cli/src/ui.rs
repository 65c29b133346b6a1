//! `bookend ui`: the stored results as pages on this machine, and the run that goes on.

mod gate;
mod kept_results;
mod progress_events;
mod routes;

use crate::report::STORE;
use crate::terminal::{Failure, print, print_error};
use bookend_contract::exit;
use bookend_load::flags::whole;
use bookend_results::store::Store;
use clap::Args;
use gate::Token;
use kept_results::KeptResults;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use tokio::net::TcpListener;
use tokio::runtime;

/// Arguments of `bookend ui`.
#[derive(Debug, Args)]
pub struct UiArguments {
    /// Database of results
    #[arg(long, value_name = "FILE", default_value = STORE)]
    store: PathBuf,
    /// Port of 127.0.0.1 to listen on [default: a free one]
    #[arg(
        long, value_name = "PORT", value_parser = whole::<u16>, default_value_t = 0,
        hide_default_value = true
    )]
    port: u16,
}

/// Prints the address and serves the pages until Ctrl-C.
///
/// # Errors
/// [`Failure`] when there is no store, or the port cannot be had.
pub fn start(arguments: &UiArguments) -> Result<u8, Failure> {
    // A name that was mistyped is reported here and not on a page.
    Store::open_existing(&arguments.store).map_err(Failure::usage)?;
    let token = Token::random().map_err(Failure::nothing_measured)?;
    // One thread: a page that is open while something is measured is to need next to no CPU time.
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Failure::nothing_measured)?;
    runtime.block_on(serve(arguments, token))?;
    Ok(exit::MEASURED)
}

async fn serve(arguments: &UiArguments, token: Token) -> Result<(), Failure> {
    let port = arguments.port;
    let unusable = |error| Failure::nothing_measured(format!("port {port}: {error}"));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(unusable)?;
    let address = listener.local_addr().map_err(unusable)?;
    print(&format!("http://{address}{}\n", token.root()))?;
    let store = arguments.store.display();
    print_error(&format!("bookend ui: the results of {store}; Ctrl-C ends it"));
    let pages = routes::router(KeptResults::new(arguments.store.clone(), token));
    let server = tokio::spawn(async move { axum::serve(listener, pages).await });
    // Events go on for ever, so nothing is waited for: nobody loses anything by the end.
    let ended = tokio::signal::ctrl_c().await;
    server.abort();
    ended.map_err(Failure::nothing_measured)
}
