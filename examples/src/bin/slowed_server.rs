//! The hello server, slowed by a known amount: what a race has to find.
//!
//! `cargo run -p bookend-examples --bin slowed_server [ADDRESS] [ITERATIONS] [WORK]` burns
//! `ITERATIONS` iterations of a loop in each call. Before that, each call works for `WORK`
//! iterations of another one, which takes as long, as a handler would. With `measure` instead of
//! the address it prints how many nanoseconds an iteration takes.
#![forbid(unsafe_code)]

use bookend_examples::helloworld::{Greeter, GreeterServer, HelloReply, HelloRequest};
use bookend_server::{Context, Server, Status};
use std::env;
use std::hint::black_box;
use std::time::Instant;

struct Slowed {
    iterations: u64,
    work: u64,
}

impl Greeter for Slowed {
    fn say_hello(&self, request: HelloRequest, _: &Context<'_>) -> Result<HelloReply, Status> {
        work(self.work);
        burn(self.iterations);
        Ok(HelloReply { message: format!("Hello {}!", request.name) })
    }
}

/// What the handler does anyway.
#[inline(never)]
fn work(iterations: u64) {
    black_box("the compiler makes one function of two that are alike");
    spin(iterations);
}

/// A function of its own, so that a profile names it.
#[inline(never)]
fn burn(iterations: u64) {
    spin(iterations);
}

#[inline(always)]
fn spin(iterations: u64) {
    for iteration in 0..iterations {
        black_box(iteration);
    }
}

/// Nanoseconds an iteration: the least of many tries, which nothing has disturbed.
fn iteration_ns() -> f64 {
    const ITERATIONS: u64 = 100_000;
    let tries = (0..200).map(|_| {
        let begin = Instant::now();
        burn(ITERATIONS);
        begin.elapsed().as_secs_f64() * 1e9 / ITERATIONS as f64
    });
    tries.fold(f64::INFINITY, f64::min)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    if env::args().nth(1).as_deref() == Some("measure") {
        println!("{:.4}", iteration_ns());
        return Ok(());
    }
    let number = |place| env::args().nth(place).map_or(Ok(0), |number: String| number.parse());
    let slowed = Slowed { iterations: number(2)?, work: number(3)? };
    let server = Server::builder()
        .add_service(GreeterServer::new(slowed))
        .reflection()
        .bind(bookend_examples::address())?;
    println!("listening on {}", server.local_address());
    server.serve()?;
    Ok(())
}
