//! A record of a kilobyte is stamped and given back, with messages of prost or in place: what
//! allocating them costs.
//!
//! `cargo run -p bookend-examples --bin record_server [ADDRESS] [owned|in-place]`
#![forbid(unsafe_code)]

use bookend_examples::journal::borrowed::{RecordView, RecordWriter};
use bookend_examples::journal::{Journal, JournalServer};
use bookend_examples::owned_journal as owned;
use bookend_server::{Context, Server, Status};
use std::env;

struct InPlace;

struct Owned;

/// The collector that stamps them.
const COLLECTOR: (&str, &str) = ("collector.name", "journal-1");

/// How far the clock of the collector is behind: a real one would make replies differ.
const DELAY_NS: u64 = 1_000;

impl Journal for InPlace {
    fn stamp(
        &self,
        record: RecordView<'_>,
        reply: &mut RecordWriter<'_>,
        _: &Context<'_>,
    ) -> Result<(), Status> {
        reply
            .time_ns(record.time_ns)
            .observed_ns(record.time_ns + DELAY_NS)
            .severity(record.severity)
            .body(record.body)
            .trace_id(record.trace_id);
        for attribute in record.attributes {
            reply.attributes(|copy| attribute.copy_to(copy));
        }
        reply.attributes(|attribute| {
            attribute.key(COLLECTOR.0).text(COLLECTOR.1);
        });
        Ok(())
    }
}

impl owned::Journal for Owned {
    fn stamp(&self, mut record: owned::Record, _: &Context<'_>) -> Result<owned::Record, Status> {
        record.observed_ns = record.time_ns + DELAY_NS;
        record.attributes.push(owned::Attribute {
            key: COLLECTOR.0.to_owned(),
            text: COLLECTOR.1.to_owned(),
            number: 0,
        });
        Ok(record)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let builder = match env::args().nth(2).as_deref() {
        Some("owned") => Server::builder().add_service(owned::JournalServer::new(Owned)),
        _ => Server::builder().add_service(JournalServer::new(InPlace)),
    };
    let server = builder.reflection().bind(bookend_examples::address())?;
    println!("listening on {}", server.local_address());
    server.serve()?;
    Ok(())
}
