//! What a connection of a worker speaks, as far as the worker that drives it has to know.

use super::connect_schedule::ConnectionEnd;
use super::state::WorkerState;
use crate::plan::LoadPlan;
use crate::record::{CallSink, WorkerMeasurements};
use bookend_io::{Closed, ConnectionId, IoContext};
use bookend_wire::grpc::Status;
use std::fmt::{Debug, Display};

/// The place of a session among those of its worker.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SessionPlace {
    pub id: ConnectionId,
    /// Which of the worker's connections this is.
    pub number: u32,
    /// The server's place in the worker's `PeerTable`.
    pub peer: u32,
    /// Calls to keep in flight; in an open loop, at most.
    pub concurrency: u32,
}

/// How far a session has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionState {
    /// What the server sends first has not come.
    AwaitingGreeting,
    /// Calls are made.
    Open,
    /// No more calls, because of either end.
    Draining,
}

/// What has become of a session whose calls may have waited too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expired {
    /// It is as it was.
    Nothing,
    /// Calls may have ended: there may be room for others.
    Calls,
    /// The session has to end, and is made again accordingly.
    Session(ConnectionEnd),
}

/// The calls of one connection, in the protocol of that connection.
///
/// A turn is [`Session::exchange`] or [`Session::refill`], which write into the driver's buffer,
/// and then [`Session::finish_turn`], just before the driver writes that.
pub(crate) trait Session: Debug + Sized {
    /// What all sessions of a worker share.
    type Common: Debug;
    /// Why the bytes that have come make the session useless.
    type Fault: Display;

    /// What the server sends by itself, before which no call is made; `None` where it waits to be
    /// asked.
    const GREETING: Option<&'static str>;

    /// The session of a connection that is established, to a target of that name.
    fn begin(
        place: SessionPlace,
        name: usize,
        common: &mut Self::Common,
        plan: &LoadPlan,
        io: &mut IoContext,
    ) -> Self;

    /// Which of the worker's sessions it is, and how many calls it may have in flight.
    fn place(&self) -> &SessionPlace;

    /// The same, where that number changes.
    fn place_mut(&mut self) -> &mut SessionPlace;

    /// How far it has come.
    fn state(&self) -> SessionState;

    /// What came in place of the greeting, if that shows.
    fn wrong_greeting(_bytes: &[u8], _plan: &LoadPlan) -> Option<String> {
        None
    }

    /// Handles what has come, and makes calls in the place of those that ended. Returns the bytes
    /// used up.
    ///
    /// # Errors
    /// The session is of no use any more.
    fn exchange(
        &mut self,
        common: &Self::Common,
        bytes: &[u8],
        state: &mut WorkerState,
        io: &mut IoContext,
    ) -> Result<usize, Self::Fault>;

    /// Makes the calls that are missing, and whatever else is due, outside of a read.
    fn refill(&mut self, common: &Self::Common, state: &mut WorkerState, io: &mut IoContext);

    /// Whether a call of an open loop may be made.
    fn has_room(&self) -> bool;

    /// Whether it is the server that allows no more calls.
    fn is_at_stream_limit(&self) -> bool {
        false
    }

    /// Makes the call of an open loop that is due next. False where there is no room for it after
    /// all.
    fn make_due_call(
        &mut self,
        common: &Self::Common,
        state: &mut WorkerState,
        io: &mut IoContext,
    ) -> bool;

    /// The calls that were made in this turn start now. Returns when the session has something to
    /// write by itself; `u64::MAX` for never.
    fn finish_turn(&mut self, common: &Self::Common, sink: &mut CallSink, io: &IoContext) -> u64;

    /// Whether calls end once their bytes are written.
    fn ends_calls_when_written(_common: &Self::Common) -> bool {
        false
    }

    /// Everything was written.
    fn end_written_calls(&mut self, _now_ns: u64, _sink: &mut CallSink) {}

    /// Whether what it keeps of responses is large: then that of all sessions has to be added up.
    fn keeps_much(&self) -> bool {
        false
    }

    /// Whether all sessions of a worker together may keep what they do.
    ///
    /// # Errors
    /// It is too much: this one has to go.
    fn check_kept<'a>(
        &self,
        _all: impl Iterator<Item = &'a Self>,
        _common: &Self::Common,
    ) -> Result<(), Self::Fault>
    where
        Self: 'a,
    {
        Ok(())
    }

    /// Gives up on calls that started before `limit_ns`.
    fn expire(&mut self, limit_ns: u64, sink: &mut CallSink, io: &mut IoContext) -> Expired;

    /// When to see for the first time whether the server is there; `u64::MAX` for never.
    fn first_liveness_check_ns(&self, _now_ns: u64) -> u64 {
        u64::MAX
    }

    /// Finds out whether the server is there. Returns when to see again.
    ///
    /// # Errors
    /// Why it is not.
    fn check_liveness(&mut self, _io: &mut IoContext) -> Result<u64, String> {
        Ok(u64::MAX)
    }

    /// When its calls in flight began; 0 for those about to be written.
    fn begins_ns(&self) -> impl Iterator<Item = u64>;

    /// Whether no call was ever made on it.
    fn made_no_call(&self) -> bool;

    /// Whether it has nothing left to do.
    fn is_done(&self) -> bool {
        false
    }

    /// How a session that is over has ended.
    fn end(&self) -> ConnectionEnd;

    /// Why a connection is gone that the driver has closed.
    fn why_closed(&self, why: &Closed, common: &Self::Common, state: &WorkerState) -> String;

    /// Why it is lost, where `text` is what showed that.
    fn why_lost(&self, text: &str) -> String {
        text.to_owned()
    }

    /// The session is gone: every call in flight failed.
    fn fail_all(&mut self, status: &Status, now_ns: u64, sink: &mut CallSink);

    /// What a session that is over says of its server.
    fn note_end(&self, _measured: &mut WorkerMeasurements) {}

    /// What a session that is gone changes for the next ones.
    fn teach(&self, _common: &mut Self::Common) {}
}
