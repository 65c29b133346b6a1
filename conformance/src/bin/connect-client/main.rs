//! The client under test of connectconformance: reads calls from standard input, makes them through
//! the client library, and writes what became of each to standard output.
//!
//! `--wrong-code` reports every error as DATA_LOSS, and `--no-certificate` shows no server who we
//! are: with either the suite has to fail.
#![forbid(unsafe_code)]

mod call;
mod channels;
mod metadata;

use std::env;
use std::io::{self, Stdin, Stdout};
use std::sync::{Mutex, PoisonError};
use std::thread;

use bookend_conformance::connect::messages::{
    ClientCompatRequest, ClientCompatResponse, ClientErrorResult, Code, client_compat_response,
};
use bookend_conformance::connect::{read, write};

use channels::Channels;
use client_compat_response::Result::{Error, Response};

/// Calls that are made at once. Most of the suite's time is spent in delays that it asks for.
const CALLS_AT_ONCE: usize = 8;

fn main() -> io::Result<()> {
    let shim = Shim {
        input: Mutex::new(io::stdin()),
        output: Mutex::new(io::stdout()),
        channels: Channels::default(),
        reports_wrong_codes: is_told("--wrong-code"),
        shows_no_certificate: is_told("--no-certificate"),
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..CALLS_AT_ONCE).map(|_| scope.spawn(|| shim.work())).collect();
        let ended = threads.into_iter().map(|thread| thread.join());
        // What panicked is on standard error, and its call is missed by the runner.
        ended.filter_map(Result::ok).collect()
    })
}

fn is_told(flag: &str) -> bool {
    env::args().any(|argument| argument == flag)
}

struct Shim {
    input: Mutex<Stdin>,
    output: Mutex<Stdout>,
    channels: Channels,
    reports_wrong_codes: bool,
    shows_no_certificate: bool,
}

impl Shim {
    /// Makes calls until the input ends.
    fn work(&self) -> io::Result<()> {
        while let Some(mut request) = self.next()? {
            if self.shows_no_certificate {
                request.client_tls_creds = None;
            }
            let test_name = request.test_name.clone();
            let mut result = match call::make(&self.channels, request) {
                Ok(result) => Response(result),
                Err(message) => Error(ClientErrorResult { message }),
            };
            if self.reports_wrong_codes {
                change_code(&mut result);
            }
            self.tell(&ClientCompatResponse { test_name, result: Some(result) })?;
        }
        Ok(())
    }

    fn next(&self) -> io::Result<Option<ClientCompatRequest>> {
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        read(&mut *input)
    }

    fn tell(&self, response: &ClientCompatResponse) -> io::Result<()> {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        write(&mut *output, response)
    }
}

fn change_code(result: &mut client_compat_response::Result) {
    if let Response(response) = result
        && let Some(error) = &mut response.error
    {
        error.code = Code::DataLoss.into();
    }
}
