//! Calls `tls_server`, with a certificate of its own.
//!
//! `cargo run -p bookend-examples --bin tls_client ADDRESS CERTIFICATE KEY AUTHORITY`
#![forbid(unsafe_code)]

use std::env;
use std::path::Path;

use bookend_client::tls::{Authorities, ClientConfig, Identity, Trust};
use bookend_client::{Channel, ChannelOptions};
use bookend_examples::helloworld::{GreeterClient, HelloRequest};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files: Vec<String> = env::args().skip(2).collect();
    let [certificate, key, authority] = &files[..] else {
        return Err("usage: tls_client ADDRESS CERTIFICATE KEY AUTHORITY".into());
    };
    let identity = Identity::read(Path::new(certificate), Path::new(key))?;
    let trust = Trust::Signed(Authorities::read(Path::new(authority))?);
    let tls = Some(ClientConfig::new(trust, Some(identity))?);
    let options = ChannelOptions { tls, ..ChannelOptions::default() };
    let channel = Channel::connect(&bookend_examples::address(), options)?;
    // Says why, where there is no connection; calls would only be UNAVAILABLE.
    channel.wait_for_connection()?;
    let request = HelloRequest { name: "stranger".into() };
    println!("{}", GreeterClient::new(channel).say_hello(&request).wait()?.message);
    Ok(())
}
