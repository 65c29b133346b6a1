//! The first flight of a connection that is used for one call.

use crate::plan::{GrpcCall, LoadPlan};
use crate::worker::request::{self, NotWritten, RequestSource};
use bookend_wire::{Connection, FirstFlight, HeaderBlock, StreamKey};

/// Messages of a run beyond this are not kept a second time, as part of first flights.
const PREPARED_MESSAGES_MAX_BYTES: usize = 4 << 20;

/// What all connections of a worker to the target of one name send first.
#[derive(Debug)]
pub(super) struct RequestTemplate {
    /// One a message, where they are the same each time.
    first_flights: Vec<FirstFlight>,
    head: HeaderBlock,
}

impl RequestTemplate {
    /// The template for the target of that name.
    pub fn new(plan: &LoadPlan, call: &GrpcCall, name: usize) -> Self {
        let head = plan.head(call, name);
        let first_flight = |message: &Vec<u8>| FirstFlight::new(&call.config, &head, message);
        let first_flights = if request::can_be_prepared(call, PREPARED_MESSAGES_MAX_BYTES) {
            call.messages.iter().map_while(first_flight).collect()
        } else {
            Vec::new()
        };
        Self { first_flights, head }
    }

    /// Makes the connection a new one, with the request of call `number` in its output. `place` is
    /// that of the call among those in flight.
    pub fn write(
        &mut self,
        connection: &mut Connection,
        source: &RequestSource,
        number: u64,
        place: u32,
    ) -> Result<StreamKey, NotWritten> {
        let call = &*source.call;
        let index = request::message_index(call, number);
        if let Some(first_flight) = self.first_flights.get(index) {
            return Ok(connection.renew_with(&call.config, first_flight)?);
        }
        connection.renew(&call.config);
        request::write(&mut connection.sender, &mut self.head, source, number, place)
    }
}
