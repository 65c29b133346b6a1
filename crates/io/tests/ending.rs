//! How connections end, and what each end sees.

mod support;

use bookend_io::{AfterRead, ConnectionId, IoOptions, Wait};
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener};
use std::sync::mpsc::channel;
use support::*;

const MORE_THAN_ONE_WRITE: usize = 16 << 20;

#[test]
fn closing_writes_everything_first() {
    for kind in KINDS {
        let server = accepting(kind, IoOptions::default(), |event, stage| {
            if let Event::Received(id, _) = event {
                stage.io.output(*id).extend_from_slice(&pattern(MORE_THAN_ONE_WRITE));
                stage.after = AfterRead::Close;
            }
        });
        let mut client = peer(server.address);
        client.write_all(b"go").unwrap();
        let mut all = Vec::new();
        client.read_to_end(&mut all).unwrap();
        assert!(all == pattern(MORE_THAN_ONE_WRITE), "{kind:?}");
        assert_eq!(server.closed(), Why::Us);
        server.stop();
    }
}

#[test]
fn after_a_lingering_close_the_peer_may_go_on_sending_and_gets_the_last_bytes() {
    for kind in KINDS {
        let server = accepting(kind, IoOptions::default(), |event, stage| {
            if let Event::Received(id, _) = event {
                stage.io.output(*id).extend_from_slice(b"enough");
                stage.after = AfterRead::LingeringClose;
            }
        });
        let mut client = peer(server.address);
        // All of it is read: nothing shows that there is more to come.
        client.write_all(b"the beginning").unwrap();
        let mut all = Vec::new();
        client.read_to_end(&mut all).unwrap();
        assert_eq!(all, b"enough");
        client.write_all(b"and the rest").unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        assert_eq!(client.read_to_end(&mut Vec::new()).unwrap(), 0, "no reset");
        assert_eq!(server.closed(), Why::Us);
        server.stop();
    }
}

#[test]
fn the_last_bytes_reach_a_peer_that_goes_on_sending() {
    for kind in KINDS {
        let server = accepting(kind, IoOptions::default(), |event, stage| {
            if let Event::Received(id, _) = event {
                stage.io.output(*id).extend_from_slice(b"enough");
                stage.io.close(*id);
                stage.consumed = Some(1);
                stage.after = AfterRead::Pause;
            }
        });
        let mut client = peer(server.address);
        client.write_all(&pattern(1 << 20)).unwrap();
        let mut all = Vec::new();
        client.read_to_end(&mut all).unwrap();
        assert_eq!(all, b"enough");
        // The other end still reads, so this is not answered with a reset.
        client.write_all(b"and more").unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        assert_eq!(client.read_to_end(&mut Vec::new()).unwrap(), 0);
        assert_eq!(server.closed(), Why::Us);
        server.stop();
    }
}

#[test]
fn the_last_bytes_reach_a_peer_whose_own_came_after_the_last_read() {
    for kind in KINDS {
        let (tell, is_awake) = channel();
        let (sent, is_sent) = channel();
        let mut id: Option<ConnectionId> = None;
        let server = accepting(kind, IoOptions::default(), move |event, stage| match event {
            Event::Opened(opened, _) => {
                id = Some(*opened);
                *stage.has_outstanding = true;
            }
            Event::Woken { stopping: false } => {
                if let Some(id) = id.take() {
                    tell.send(()).unwrap();
                    is_sent.recv().unwrap();
                    stage.io.output(id).extend_from_slice(b"enough");
                    stage.io.close(id);
                    *stage.has_outstanding = false;
                }
            }
            _ => {}
        });
        let mut client = peer(server.address);
        server.opened();
        server.waker.wake();
        is_awake.recv().unwrap();
        client.write_all(b"not read").unwrap();
        sent.send(()).unwrap();
        let mut all = Vec::new();
        client.read_to_end(&mut all).unwrap();
        assert_eq!(all, b"enough", "{kind:?}");
        assert_eq!(server.closed(), Why::Us);
        drop(client);
        server.stop();
    }
}

#[test]
fn aborting_drops_the_output_and_resets() {
    for (kind, after) in
        KINDS.map(|kind| [(kind, AfterRead::Continue), (kind, AfterRead::Pause)]).concat()
    {
        let server = accepting(kind, IoOptions::default(), move |event, stage| {
            if let Event::Received(id, _) = event {
                stage.after = after;
                stage.io.output(*id).extend_from_slice(b"never sent");
                stage.io.abort(*id);
            }
        });
        let mut client = peer(server.address);
        client.write_all(b"go").unwrap();
        let error = client.read_exact(&mut [0]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        assert_eq!(server.closed(), Why::Us);
        assert_eq!(server.stop().sent_bytes, 0);
    }
}

#[test]
fn a_peer_that_has_said_all_still_gets_its_answer() {
    for kind in KINDS {
        let server = accepting(kind, IoOptions::default(), |event, stage| {
            if let Event::Received(id, _) = event {
                stage.io.output(*id).extend_from_slice(&pattern(MORE_THAN_ONE_WRITE));
            }
        });
        let mut client = peer(server.address);
        client.write_all(b"all").unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let mut all = Vec::new();
        client.read_to_end(&mut all).unwrap();
        assert_eq!(all.len(), MORE_THAN_ONE_WRITE);
        assert_eq!(server.closed(), Why::Peer);
        server.stop();
    }
}

#[test]
fn a_reset_is_reported_as_one() {
    for kind in KINDS {
        for (paused, wait) in [(false, Wait::Sleep), (true, Wait::Sleep), (true, Wait::Spin)] {
            let options = IoOptions { wait, ..IoOptions::default() };
            let server = accepting(kind, options, move |_, stage| {
                if paused {
                    stage.after = AfterRead::Pause;
                }
            });
            let mut client = peer(server.address);
            client.write_all(b"x").unwrap();
            server.received(1);
            reset(client);
            assert_eq!(server.closed(), Why::Failed(ErrorKind::ConnectionReset), "{kind:?}");
            server.stop();
        }
    }
}

#[test]
fn a_peers_last_words_are_heard_when_writing_to_it_fails() {
    for kind in KINDS {
        let (gone, is_gone) = channel();
        let mut id: Option<ConnectionId> = None;
        let server = accepting(kind, IoOptions::default(), move |event, stage| match event {
            Event::Opened(opened, _) => {
                id = Some(*opened);
                *stage.has_outstanding = true;
            }
            Event::Woken { stopping: false } => {
                if let Some(id) = id {
                    is_gone.recv().unwrap();
                    stage.io.output(id).extend_from_slice(b"too late");
                }
            }
            _ => {}
        });
        let mut client = peer(server.address);
        let id = server.opened();
        server.waker.wake();
        client.write_all(b"goodbye").unwrap();
        reset(client);
        gone.send(()).unwrap();
        assert_eq!(server.next(), Event::Received(id, b"goodbye".to_vec()));
        assert!(matches!(server.closed(), Why::Failed(_)));
        server.stop();
    }
}

#[test]
fn a_connect_that_is_refused_ends_with_its_token() {
    let nobody = TcpListener::bind(loopback()).unwrap().local_addr().unwrap();
    for kind in KINDS {
        let client = connecting(kind, IoOptions::default(), dialling(nobody, listens));
        assert_eq!(client.closed(), Why::NotConnected(7, ErrorKind::ConnectionRefused));
        assert_eq!(client.stop().reads, 0);
    }
}

#[test]
fn a_connect_that_takes_too_long_is_given_up() {
    // A listener whose queue is full answers no further connection.
    let full = full_listener();
    for kind in KINDS {
        let options = IoOptions { connect_timeout_ns: 20_000_000, ..IoOptions::default() };
        let client = connecting(kind, options, dialling(full.address, listens));
        assert_eq!(client.closed(), Why::NotConnected(7, ErrorKind::TimedOut), "{kind:?}");
        client.stop();
    }
}

#[test]
fn a_connect_in_progress_when_its_driver_ends_is_reported() {
    let full = full_listener();
    for kind in KINDS {
        let client = connecting(kind, IoOptions::default(), dialling(full.address, listens));
        client.find(|event| *event == Event::Woken { stopping: false });
        client.waker.stop();
        assert_eq!(client.closed(), Why::NotConnected(7, ErrorKind::ConnectionAborted));
        client.join();
    }
}

#[test]
fn a_connect_can_be_taken_back() {
    let listener = TcpListener::bind(loopback()).unwrap();
    let target = listener.local_addr().unwrap();
    for kind in KINDS {
        let mut started = false;
        let client = connecting(kind, IoOptions::default(), move |_, stage| {
            if !std::mem::replace(&mut started, true) {
                let id = stage.io.connect(target, 9);
                stage.io.abort(id);
            }
        });
        assert_eq!(client.closed(), Why::NotConnected(9, ErrorKind::ConnectionAborted));
        client.stop();
    }
}

#[test]
fn the_blocking_driver_refuses_a_second_connection_and_takes_the_next() {
    let listener = TcpListener::bind(loopback()).unwrap();
    let target = listener.local_addr().unwrap();
    let client = connecting(
        Kind::Blocking,
        IoOptions::default(),
        dialling(target, move |event, stage| match event {
            Event::Opened(_, _) => {
                stage.io.connect(target, 8);
            }
            Event::Closed(_, Why::Peer) => {
                stage.io.connect(target, 9);
            }
            _ => {}
        }),
    );
    let (first, _) = listener.accept().unwrap();
    assert_eq!(client.closed(), Why::NotConnected(8, ErrorKind::Unsupported));
    drop(first);
    assert_eq!(client.closed(), Why::Peer);
    assert_eq!(client.opened().generation, 1, "the place is used again");
    client.stop();
}

#[test]
fn requests_for_a_stale_id_are_ignored() {
    // The blocking driver has no second connection.
    for kind in [Kind::Epoll, Kind::Uring] {
        let server = accepting(kind, IoOptions::default(), answers_the_dead());
        let mut first = peer(server.address);
        first.write_all(b"1").unwrap();
        server.received(1);
        drop(first);
        assert_eq!(server.closed(), Why::Peer);
        let mut second = peer(server.address);
        second.write_all(b"2").unwrap();
        let mut answer = [0; 7];
        second.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"for you", "{kind:?}");
        assert_eq!(server.stop().sent_bytes, 7);
    }
}

/// Says something to each connection that is gone, and then to the one that has come.
fn answers_the_dead() -> impl FnMut(&Event, &mut Stage) + Send {
    let mut stale: Option<ConnectionId> = None;
    move |event, stage| match event {
        Event::Received(id, _) => {
            let gone = stale.replace(*id).filter(|gone| gone != id);
            if let Some(gone) = gone {
                assert_eq!(gone.index, id.index, "the place is used again");
                stage.io.output(gone).extend_from_slice(b"for nobody");
                assert_eq!(stage.io.backlog(gone), 0);
                assert!(stage.io.output(gone).is_empty());
                stage.io.abort(gone);
                stage.io.output(*id).extend_from_slice(b"for you");
            }
        }
        Event::Closed(id, _) => {
            stage.io.output(*id).extend_from_slice(b"for nobody");
        }
        _ => {}
    }
}

struct FullListener {
    address: std::net::SocketAddr,
    _socket: rustix::fd::OwnedFd,
    _waiting: Vec<std::net::TcpStream>,
}

fn full_listener() -> FullListener {
    use rustix::net::*;
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&socket, &loopback()).unwrap();
    listen(&socket, 0).unwrap();
    let address = getsockname(&socket).unwrap().try_into().unwrap();
    let waiting = vec![std::net::TcpStream::connect(address).unwrap()];
    FullListener { address, _socket: socket, _waiting: waiting }
}
