//! A ring by itself.

use super::*;
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::OwnedFd;
use rustix::io::{read, write};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

/// Ends a test that would wait for ever.
const GUARD_NS: u64 = 10_000_000_000;

fn ring(connections: usize) -> Ring {
    let mut ring = Ring::new().unwrap();
    ring.enable().unwrap();
    ring.make_room(connections).unwrap();
    ring
}

fn pair() -> (OwnedFd, OwnedFd) {
    let flags = SocketFlags::NONBLOCK;
    socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None).unwrap()
}

/// What happens next.
fn next(ring: &mut Ring) -> Event {
    loop {
        if let Some(event) = ring.next_event() {
            return event;
        }
        ring.enter(Some(GUARD_NS)).unwrap();
    }
}

#[test]
fn more_operations_than_fit_are_all_made() {
    let connections = 3 * SUBMISSIONS_MAX;
    let mut ring = ring(connections as usize);
    let ready = eventfd(0, EventfdFlags::NONBLOCK).unwrap();
    (0..connections).for_each(|index| ring.await_connect(index, &ready));
    assert!(!ring.overflow.is_empty());
    let mut seen = vec![false; connections as usize];
    for _ in 0..connections {
        match next(&mut ring) {
            Event::Connected { index, result } => {
                assert!(result.is_ok());
                seen[index as usize] = true;
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(seen.iter().all(|seen| *seen));
    assert_eq!(ring.in_flight, 0);
}

#[test]
fn bytes_for_which_there_is_no_buffer_come_when_there_is_one() {
    const BYTES: usize = 150_000;
    let mut ring = ring(1);
    let (ours, theirs) = pair();
    let sent: Vec<u8> = (0..BYTES).map(|number| (number / 7) as u8).collect();
    let taken = write(&theirs, &sent).unwrap();
    let (mut received, mut kept, mut lacks) = (Vec::new(), Vec::new(), 0);
    ring.receive(0, &ours);
    while received.len() < taken {
        let Event::Received { result, goes_on, .. } = next(&mut ring) else {
            panic!("nothing else is in flight");
        };
        match result {
            Ok(Some(filled)) => {
                received.extend_from_slice(ring.bytes(&filled));
                kept.push(filled);
            }
            Ok(None) => panic!("nobody has closed"),
            Err(error) => {
                assert_eq!(error, Errno::NOBUFS);
                lacks += 1;
            }
        }
        if !goes_on {
            ring.receive(0, &ours);
        }
    }
    assert!(received == sent[..taken]);
    assert!(lacks > 0, "{} buffers were enough", kept.len());
    kept.into_iter().for_each(|filled| ring.give_back(filled));
}

#[test]
fn an_operation_that_is_cancelled_says_so() {
    let mut ring = ring(1);
    let (ours, _theirs) = pair();
    ring.receive(0, &ours);
    ring.enter(Some(0)).unwrap();
    ring.cancel(Operation::Receive(0));
    match next(&mut ring) {
        Event::Received { result, goes_on, .. } => {
            assert_eq!(result.unwrap_err(), Errno::CANCELED);
            assert!(!goes_on);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_in_flight_is_taken_back_before_its_memory_is_given_up() {
    let mut ring = ring(2);
    let (ours, theirs) = pair();
    // More than a socket holds: the send is not over before the peer reads.
    ring.send(0, &ours, vec![7; 64 << 20]);
    ring.receive(0, &ours);
    ring.watch(1, &theirs);
    ring.enter(Some(0)).unwrap();
    while ring.next_event().is_some() {}
    if !ring.lent[0].in_flight {
        ring.send_rest(0, &ours);
    }
    ring.enter(Some(0)).unwrap();
    assert!(ring.in_flight >= 3 && ring.lent[0].in_flight);
    ring.quiesce();
    assert_eq!(ring.in_flight, 0);
    assert_eq!(ring.take_lent(0).len(), 64 << 20, "the kernel reads it no more");
}

#[test]
fn an_output_is_not_given_away_while_it_is_sent() {
    let mut ring = ring(1);
    let (ours, theirs) = pair();
    ring.send(0, &ours, b"hello".to_vec());
    let taken = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| ring.take_lent(0)));
    assert!(taken.is_err());
    match next(&mut ring) {
        Event::Sent { index: 0, result } => assert_eq!(result, Ok((5, 0))),
        other => panic!("{other:?}"),
    }
    assert_eq!(ring.take_lent(0), b"hello");
    let mut heard = [0; 5];
    read(&theirs, &mut heard).unwrap();
    assert_eq!(&heard, b"hello");
}
