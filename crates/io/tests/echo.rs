//! Bytes go there and come back, over each driver and at both ends.

mod support;

use bookend_io::{AfterRead, IoOptions, Opened, Wait};
use std::io::{Read, Write};
use support::*;

#[test]
fn bytes_go_there_and_back_between_all_pairs_of_drivers() {
    for server_kind in KINDS {
        for client_kind in KINDS {
            let server = accepting(server_kind, IoOptions::default(), echo);
            let client =
                connecting(client_kind, IoOptions::default(), dialling(server.address, hello));
            let id = client.opened();
            assert_eq!(client.received(5), b"hello", "{client_kind:?} to {server_kind:?}");
            assert_eq!(id.generation, 0);
            let sent = client.stop();
            let echoed = server.stop();
            assert_eq!((sent.sent_bytes, sent.received_bytes, sent.accepted), (5, 5, 0));
            assert_eq!((echoed.sent_bytes, echoed.received_bytes, echoed.accepted), (5, 5, 1));
        }
    }
}

fn hello(event: &Event, stage: &mut Stage) {
    if let Event::Opened(id, how) = event {
        assert_eq!(*how, Opened::Connected(7), "the token comes back");
        stage.io.output(*id).extend_from_slice(b"hello");
    }
}

#[test]
fn output_given_before_the_connection_is_there_goes_out_first() {
    for kind in KINDS {
        let server = accepting(Kind::Epoll, IoOptions::default(), listens);
        let target = server.address;
        let mut started = false;
        let client = connecting(kind, IoOptions::default(), move |event, stage| {
            if !std::mem::replace(&mut started, true) {
                let id = stage.io.connect(target, 1);
                stage.io.output(id).extend_from_slice(b"early ");
            }
            if let Event::Opened(id, _) = event {
                stage.io.output(*id).extend_from_slice(b"late");
            }
        });
        assert_eq!(server.received(10), b"early late");
        client.stop();
        server.stop();
    }
}

#[test]
fn a_peer_that_sends_byte_by_byte_is_understood() {
    for kind in KINDS {
        let server = accepting(kind, IoOptions::default(), frames_of_four);
        let mut client = peer(server.address);
        client.set_nodelay(true).unwrap();
        let message = pattern(40);
        for byte in &message {
            client.write_all(&[*byte]).unwrap();
        }
        let mut answer = [0; 40];
        client.read_exact(&mut answer).unwrap();
        assert_eq!(answer, *message);
        drop(client);
        assert_eq!(server.closed(), Why::Peer);
        let statistics = server.stop();
        assert_eq!((statistics.received_bytes, statistics.sent_bytes), (40, 40));
    }
}

/// Echoes whole frames of four bytes and leaves the rest.
fn frames_of_four(event: &Event, stage: &mut Stage) {
    if let Event::Received(id, bytes) = event {
        let whole = bytes.len() / 4 * 4;
        stage.io.output(*id).extend_from_slice(&bytes[..whole]);
        stage.consumed = Some(whole);
    }
}

/// Echoes one frame of four bytes at a time and asks for the rest.
fn one_frame_at_a_time(event: &Event, stage: &mut Stage) {
    frames_of_four(event, stage);
    if let Event::Received(id, bytes) = event
        && bytes.len() > 4
    {
        stage.io.output(*id).truncate(4);
        stage.consumed = Some(4);
        stage.after = AfterRead::Again;
    }
}

#[test]
fn answers_to_a_part_of_a_read_are_written_before_the_rest_is_handled() {
    for kind in KINDS {
        let server = accepting(kind, IoOptions::default(), one_frame_at_a_time);
        let mut client = peer(server.address);
        let id = server.opened();
        client.write_all(b"one!two!six!t").unwrap();
        for rest in ["one!two!six!t", "two!six!t", "six!t", "t"] {
            assert_eq!(server.next(), Event::Received(id, rest.into()));
        }
        let mut answer = [0; 12];
        client.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"one!two!six!");
        let statistics = server.stop();
        assert_eq!((statistics.reads, statistics.writes), (1, 3));
    }
}

#[test]
fn what_is_left_over_comes_again_with_more_behind_it() {
    for kind in KINDS {
        let server = accepting(kind, IoOptions::default(), frames_of_four);
        let mut client = peer(server.address);
        let id = server.opened();
        client.write_all(b"one").unwrap();
        assert_eq!(server.next(), Event::Received(id, b"one".to_vec()));
        client.write_all(b"!two").unwrap();
        assert_eq!(server.next(), Event::Received(id, b"one!two".to_vec()));
        client.write_all(b"!").unwrap();
        assert_eq!(server.next(), Event::Received(id, b"two!".to_vec()));
        server.stop();
    }
}

#[test]
fn a_spinning_driver_does_the_same() {
    for kind in KINDS {
        let options = IoOptions { wait: Wait::Spin, ..IoOptions::default() };
        let server = accepting(kind, options, echo);
        let client = connecting(kind, options, dialling(server.address, hello));
        assert_eq!(client.received(5), b"hello");
        let statistics = client.stop();
        assert!(statistics.turns >= 2, "start and answer are work, idle rounds are not");
        server.stop();
    }
}

#[test]
fn a_driver_tells_its_shard_what_it_has_counted() {
    for kind in KINDS {
        let mut seen = 0;
        let server = accepting(kind, IoOptions::default(), move |event, stage| {
            echo(event, stage);
            if let Event::Received(_, bytes) = event {
                seen += bytes.len() as u64;
                assert_eq!(stage.io.statistics().received_bytes, seen);
                assert!(stage.io.now_ns() <= stage.io.clock_ns());
            }
        });
        let mut client = peer(server.address);
        for _ in 0..3 {
            let mut answer = [0; 3];
            client.write_all(b"abc").unwrap();
            client.read_exact(&mut answer).unwrap();
        }
        let statistics = server.stop();
        assert_eq!((statistics.reads, statistics.writes), (3, 3));
        assert!(statistics.turns >= 3 && statistics.busy_ns > 0);
    }
}
