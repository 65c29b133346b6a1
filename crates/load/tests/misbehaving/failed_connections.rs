//! Connections that cannot be made again while the last calls are in flight: they cost no call.

use super::load::{measure, plan};
use bookend_io::Driver;
use bookend_load::plan::LoadPlan;
use bookend_testing::{Frame, ScriptedPeer, answer_ok, flag, kind, settings};
use std::net::{TcpListener, TcpStream};
use std::thread;

fn greeted(listener: &TcpListener) -> ScriptedPeer {
    let mut server = ScriptedPeer::accept(listener);
    server.send(&settings(&[])).unwrap();
    server
}

/// Waits for a whole call.
fn call(server: &mut ScriptedPeer) -> u32 {
    let ends = |frame: &Frame| {
        matches!(frame.kind, kind::HEADERS | kind::DATA) && frame.has(flag::END_STREAM)
    };
    server.wait_for(ends).stream_id
}

#[test]
fn a_connection_for_which_no_call_is_left_costs_none() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let serving = thread::spawn(move || {
        let [mut slow, mut dying] = [(), ()].map(|()| greeted(&listener));
        let awaited = call(&mut slow);
        call(&mut dying);
        drop(dying);
        // Made again, it comes to nothing; when it is tried once more, that has been counted.
        drop(listener.accept().unwrap());
        let next = listener.accept().unwrap();
        // The client may have closed the connection.
        let _ = slow.send(&answer_ok(awaited, b""));
        (slow, next)
    });
    let outcome =
        measure(LoadPlan { connections: 2, driver: Driver::Epoll, ..plan(address, 2, 2) }).unwrap();
    // The client need not have tried once more.
    drop(TcpStream::connect(address));
    drop(serving.join().unwrap());
    assert_eq!((outcome.ok, outcome.errors.total()), (1, 1));
    assert_eq!((outcome.drained, outcome.unfinished), (0, 0));
}
