//! Much, little, slowly, in pieces, and until the end.

use super::ends::{Event, Inner, Setup, closed_cleanly, echoes, listens, pattern};
use bookend_io::simulated::SOCKET_BYTES;
use bookend_io::{AfterRead, BACKLOG_LIMIT_BYTES, IoContext};
use std::cell::Cell;
use std::rc::Rc;

#[test]
fn a_connection_opens_after_its_handshake_and_what_was_put_out_before_goes_first() {
    let setup = Setup::new();
    let mut sent_at_once = false;
    let client = Inner::dialling(move |event, io| {
        match event {
            Event::Opened(id) => io.output(*id).extend_from_slice(b"second"),
            Event::Woken if !sent_at_once => {
                sent_at_once = true;
                let target = std::net::SocketAddr::from(([127, 0, 0, 1], 1));
                let id = io.connect(target, 8);
                io.output(id).extend_from_slice(b"first, ");
            }
            _ => {}
        }
        (None, AfterRead::Continue)
    });
    let mut client = setup.client(client);
    let mut server = setup.server(Inner::new(listens));
    for at_client in client.connect_all() {
        let at_server = server.accept();
        loop {
            let there = client.take(at_client, usize::MAX);
            assert!(there.is_empty() || !there.starts_with(b"first"), "in the clear");
            server.give(at_server, &there);
            let back = server.take(at_server, usize::MAX);
            client.give(at_client, &back);
            if there.is_empty() && back.is_empty() {
                break;
            }
        }
    }
    let log = &client.shard().inner().log;
    assert_eq!(log, &["opened Connected(7)", "opened Connected(8)"]);
    assert_eq!(server.shard().inner().received, b"secondfirst, second");
}

#[test]
fn ten_thousand_small_messages_and_a_large_one_come_whole() {
    const SMALL: usize = 10_000;
    const LARGE_BYTES: usize = 4 << 20;
    let setup = Setup::new();
    let mut expected = pattern(100).repeat(SMALL);
    expected.extend(pattern(LARGE_BYTES));
    let all = expected.clone();
    let mut sent = 0;
    let send = move |id, io: &mut IoContext| {
        while sent < all.len() && io.backlog(id) < 64 << 10 {
            let count = if sent < SMALL * 100 { 100 } else { 300_000 };
            let end = all.len().min(sent + count);
            io.output(id).extend_from_slice(&all[sent..end]);
            sent = end;
        }
    };
    let send = std::cell::RefCell::new(send);
    let client = Inner::dialling(move |event, io| {
        if let Event::Opened(id) | Event::Writable(id) = event {
            send.borrow_mut()(*id, io);
        }
        (None, AfterRead::Continue)
    });
    let mut pair = setup.pair(client, Inner::new(echoes));
    pair.carry(usize::MAX);
    assert!(pair.at_server().received == expected, "there");
    assert!(pair.at_client().received == expected, "and back");
    assert!(pair.client_log().iter().any(|told| told == "writable"));
}

#[test]
fn a_peer_that_does_not_read_is_not_read_either() {
    let setup = Setup::new();
    let client = Inner::dialling(|event, io| {
        if let Event::Opened(id) = event {
            io.output(*id).extend(pattern(8 << 20));
        }
        (None, AfterRead::Continue)
    });
    let mut pair = setup.pair(client, Inner::new(echoes));
    // The client's bytes are carried, the server's only until the handshake is over.
    for _ in 0..4 {
        let back = pair.server.take(pair.at_server, usize::MAX);
        pair.client.give(pair.at_client, &back);
        let there = pair.client.take(pair.at_client, SOCKET_BYTES);
        pair.server.give(pair.at_server, &there);
        if pair.at_client().id.is_some() {
            break;
        }
    }
    loop {
        let there = pair.client.take(pair.at_client, usize::MAX);
        pair.server.give(pair.at_server, &there);
        if there.is_empty() {
            break;
        }
    }
    let unread_bytes = pair.server.unread_bytes(pair.at_server);
    assert!(unread_bytes > 6 << 20, "{unread_bytes}");
    let unwritten_bytes = pair.server.unwritten_bytes(pair.at_server);
    let most_bytes = BACKLOG_LIMIT_BYTES + (300 << 10);
    assert!((BACKLOG_LIMIT_BYTES..most_bytes).contains(&unwritten_bytes), "{unwritten_bytes}");
    pair.carry(usize::MAX);
    assert!(pair.at_client().received == pattern(8 << 20));
}

#[test]
fn what_a_shard_leaves_over_is_presented_again_with_more_behind_it() {
    let setup = Setup::new();
    let client = Inner::dialling(|event, io| {
        if let Event::Opened(id) = event {
            io.output(*id).extend_from_slice(b"abc");
        }
        (None, AfterRead::Continue)
    });
    // Words of four bytes.
    let server = Inner::new(|event, _| match event {
        Event::Received(_, bytes) => (Some(bytes.len() / 4 * 4), AfterRead::Continue),
        _ => (None, AfterRead::Continue),
    });
    let mut pair = setup.pair(client, server);
    pair.carry(usize::MAX);
    assert!(pair.at_server().received.is_empty());
    pair.send(b"defgh");
    pair.carry(1);
    assert_eq!(pair.at_server().received, b"abcdefgh");
}

#[test]
fn a_shard_that_asks_again_is_called_until_it_has_everything() {
    let setup = Setup::new();
    let client = Inner::dialling(|event, io| {
        if let Event::Opened(id) = event {
            io.output(*id).extend(pattern(100_000));
        }
        (None, AfterRead::Continue)
    });
    let server = Inner::new(|event, io| match event {
        Event::Received(id, bytes) => {
            let used = bytes.len().min(1_000);
            io.output(*id).extend_from_slice(&bytes[..used]);
            (Some(used), AfterRead::Again)
        }
        _ => (None, AfterRead::Continue),
    });
    let mut pair = setup.pair(client, server);
    pair.carry(usize::MAX);
    assert!(pair.at_client().received == pattern(100_000));
}

#[test]
fn a_shard_that_pauses_is_given_the_rest_when_it_resumes() {
    let setup = Setup::new();
    let client = Inner::dialling(|event, io| {
        if let Event::Opened(id) = event {
            io.output(*id).extend(pattern(100_000));
        }
        (None, AfterRead::Continue)
    });
    let calls = Rc::new(Cell::new(0));
    let counted = Rc::clone(&calls);
    let mut id = None;
    let server = Inner::new(move |event, io| match event {
        Event::Received(here, _) => {
            id = Some(*here);
            counted.set(counted.get() + 1);
            (Some(10), AfterRead::Pause)
        }
        Event::Woken => {
            if let Some(id) = id {
                io.resume(id);
            }
            (None, AfterRead::Continue)
        }
        _ => (None, AfterRead::Continue),
    });
    let mut pair = setup.pair(client, server);
    for wakes in 1..=50 {
        pair.carry(usize::MAX);
        assert_eq!(calls.get(), wakes, "it is called when it resumes, and not before");
        assert_eq!(pair.at_server().received, pattern(10 * wakes));
        pair.server.wake();
    }
}

#[test]
fn a_shard_that_changes_its_mind_about_a_pause_goes_on() {
    let setup = Setup::new();
    let client = Inner::dialling(|event, io| {
        if let Event::Opened(id) = event {
            io.output(*id).extend(pattern(5_000));
        }
        (None, AfterRead::Continue)
    });
    let server = Inner::new(|event, io| match event {
        Event::Received(id, bytes) => {
            io.resume(*id);
            (Some(bytes.len().min(100)), AfterRead::Pause)
        }
        _ => (None, AfterRead::Continue),
    });
    let mut pair = setup.pair(client, server);
    pair.carry(usize::MAX);
    assert_eq!(pair.at_server().received, pattern(5_000));
}

#[test]
fn a_close_sends_close_notify_after_the_output() {
    let setup = Setup::new();
    let server = Inner::new(|event, io| match event {
        Event::Received(id, _) => {
            io.output(*id).extend(pattern(70_000));
            io.close(*id);
            (None, AfterRead::Continue)
        }
        _ => (None, AfterRead::Continue),
    });
    let client = || {
        Inner::dialling(|event, io| {
            if let Event::Opened(id) = event {
                io.output(*id).extend_from_slice(b"go");
            }
            (None, AfterRead::Continue)
        })
    };
    let by_then = Inner::new(|event, io| match event {
        Event::Received(id, _) => {
            io.output(*id).extend(pattern(70_000));
            (None, AfterRead::Close)
        }
        _ => (None, AfterRead::Continue),
    });
    for server in [server, by_then] {
        let mut pair = setup.pair(client(), server);
        pair.carry(usize::MAX);
        assert!(pair.at_client().received == pattern(70_000));
        assert_eq!(pair.client_log()[1..], ["closed by the peer"]);
        assert_eq!(pair.server_log()[1..], ["closed by us"]);
        assert!(closed_cleanly(&pair), "the client had heard it before the transport ended");
    }
}

#[test]
fn a_connection_that_is_cut_off_is_closed_by_the_peer() {
    let setup = Setup::new();
    let mut pair = setup.pair(Inner::dialling(listens), Inner::new(echoes));
    pair.carry(usize::MAX);
    pair.server.hang_up(pair.at_server);
    assert_eq!(pair.server_log()[1..], ["closed by the peer"]);
}

#[test]
fn the_time_of_the_transport_is_separate_from_that_of_the_handshake() {
    let setup = Setup::new();
    let told = Rc::new(Cell::new((None, 0)));
    let tell = Rc::clone(&told);
    let client = Inner::dialling(move |event, io| {
        if let Event::Opened(id) = event {
            tell.set((io.transport_opened_ns(*id), io.now_ns()));
        }
        (None, AfterRead::Continue)
    });
    let mut pair = setup.pair(client, Inner::new(listens));
    let transport_ns = pair.client.now_ns();
    pair.client.pass_ns(5_000);
    pair.carry(usize::MAX);
    assert_eq!(told.get(), (Some(transport_ns), transport_ns + 5_000));
}
