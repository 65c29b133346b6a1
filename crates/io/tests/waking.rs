//! Calls from other threads, deadlines, and the way out.

mod support;

use bookend_io::{ConnectionId, IoOptions, IoStatistics, Mailbox, Waker, blocking};
use std::io::{Read, Write};
use std::sync::mpsc::channel;
use std::thread;
use support::*;

#[test]
fn answers_from_another_thread_reach_a_shard_that_awaits_them() {
    for kind in KINDS {
        let (mailboxes, from_shard) = channel::<Mailbox<(ConnectionId, u8)>>();
        let waker = Waker::new().unwrap();
        let mailbox = Mailbox::new(waker.clone());
        mailboxes.send(mailbox.clone()).unwrap();
        let (questions, to_answer) = channel::<(ConnectionId, u8)>();
        let mut arrived = Vec::new();
        let act = move |event: &Event, stage: &mut Stage| match event {
            Event::Received(id, bytes) => {
                *stage.has_outstanding = true;
                for &byte in bytes {
                    questions.send((*id, byte)).unwrap();
                }
            }
            Event::Woken { .. } => {
                mailbox.drain_into(&mut arrived);
                for (id, answer) in arrived.drain(..) {
                    stage.io.output(id).push(answer);
                }
            }
            _ => {}
        };
        let server = accepting_with(kind, waker, act);
        let answering = from_shard.recv().unwrap();
        let other = thread::spawn(move || {
            for (id, question) in to_answer {
                answering.push((id, question + 1));
            }
        });
        let mut client = peer(server.address);
        let mut answer = [0; 3];
        client.write_all(&[1, 2, 3]).unwrap();
        client.read_exact(&mut answer).unwrap();
        assert_eq!(answer, [2, 3, 4], "{kind:?}");
        drop(client);
        assert_eq!(server.closed(), Why::Peer);
        server.stop();
        other.join().unwrap();
    }
}

#[test]
fn a_call_reaches_a_blocking_shard_in_a_plain_read_too() {
    let server = accepting(Kind::Blocking, IoOptions::default(), listens);
    let _client = peer(server.address);
    server.opened();
    server.waker.wake();
    server.find(|event| *event == Event::Woken { stopping: false });
    server.stop();
}

#[test]
fn a_shard_is_woken_once_before_anything_else() {
    for kind in KINDS {
        let server = accepting(kind, IoOptions::default(), listens);
        let _client = peer(server.address);
        let first = server.find(|_| true);
        assert_eq!(first, Event::Woken { stopping: false });
        server.stop();
    }
}

#[test]
fn many_threads_push_and_nothing_is_lost() {
    const THREADS: u64 = 8;
    const EACH: u64 = 5_000;
    for kind in KINDS {
        let waker = Waker::new().unwrap();
        let mailbox = Mailbox::new(waker.clone());
        let posting = mailbox.clone();
        let (counted, results) = channel();
        let (mut batch, mut seen, mut wakes) = (Vec::new(), vec![0; THREADS as usize], 0_u64);
        let act = move |event: &Event, stage: &mut Stage| {
            *stage.has_outstanding = true;
            if let Event::Woken { .. } = event {
                mailbox.drain_into(&mut batch);
                wakes += u64::from(!batch.is_empty());
                for (thread, number) in batch.drain(..) {
                    assert_eq!(seen[thread as usize], number, "in the order of each thread");
                    seen[thread as usize] += 1;
                }
                if seen.iter().sum::<u64>() == THREADS * EACH {
                    *stage.has_outstanding = false;
                    stage.io.stop();
                    let _ = counted.send(wakes);
                }
            }
        };
        let shard = connecting_with(kind, waker, act);
        let threads = (0..THREADS).map(|thread| {
            let posting = posting.clone();
            thread::spawn(move || (0..EACH).for_each(|number| posting.push((thread, number))))
        });
        threads.collect::<Vec<_>>().into_iter().for_each(|thread| thread.join().unwrap());
        let wakes = results.recv().unwrap();
        assert!((1..=THREADS * EACH).contains(&wakes));
        shard.join();
    }
}

#[test]
fn deadlines_are_met_in_order_and_never_early() {
    for kind in KINDS {
        let mut deadlines: Vec<u64> = Vec::new();
        let mut started = false;
        let client = connecting(kind, IoOptions::default(), move |event, stage| {
            let Event::Woken { stopping: false } = event else {
                return;
            };
            let now_ns = stage.io.now_ns();
            if !std::mem::replace(&mut started, true) {
                deadlines = [3_000_000, 1_000_000, 50_000, 1].map(|in_ns| now_ns + in_ns).into();
            }
            while deadlines.last().is_some_and(|&due_ns| due_ns <= now_ns) {
                deadlines.pop();
            }
            *stage.deadline_ns = deadlines.last().copied();
            if deadlines.is_empty() {
                stage.io.stop();
            }
        });
        let statistics = client.join();
        // Woken early, a shard would be woken again and again until the time has come.
        assert!(statistics.turns <= 6, "{kind:?}: {statistics:?}");
    }
}

#[test]
fn a_blocking_shard_meets_its_deadline_while_it_waits_to_read() {
    let server = accepting(Kind::Blocking, IoOptions::default(), |event, stage| match event {
        Event::Opened(_, _) => *stage.deadline_ns = Some(stage.io.now_ns() + 2_000_000),
        Event::Woken { .. } => {
            if let Some(due_ns) = stage.deadline_ns.take() {
                assert!(stage.io.now_ns() >= due_ns);
                stage.io.stop();
            }
        }
        _ => {}
    });
    let _client = peer(server.address);
    assert_eq!(server.closed(), Why::Us);
    server.join();
}

#[test]
fn a_stop_lets_the_shard_say_its_last_words() {
    for kind in KINDS {
        let mut id: Option<ConnectionId> = None;
        let server = accepting(kind, IoOptions::default(), move |event, stage| match event {
            Event::Opened(opened, _) => id = Some(*opened),
            Event::Woken { stopping: true } => {
                let id = id.expect("the connection is there");
                stage.io.output(id).extend_from_slice(b"farewell");
            }
            _ => {}
        });
        let mut client = peer(server.address);
        server.opened();
        server.waker.stop();
        let mut all = Vec::new();
        client.read_to_end(&mut all).unwrap();
        assert_eq!(all, b"farewell");
        assert_eq!(server.closed(), Why::Us);
        server.join();
    }
}

#[test]
fn a_stop_waits_for_answers_that_are_outstanding() {
    for kind in KINDS {
        let mut id: Option<ConnectionId> = None;
        let mut stops = 0;
        let server = accepting(kind, IoOptions::default(), move |event, stage| match event {
            Event::Received(asking, _) => {
                id = Some(*asking);
                *stage.has_outstanding = true;
            }
            Event::Woken { stopping: true } => {
                stops += 1;
                if stops == 2 {
                    let id = id.expect("somebody asked");
                    stage.io.output(id).extend_from_slice(b"at last");
                    *stage.has_outstanding = false;
                }
            }
            _ => {}
        });
        let mut client = peer(server.address);
        client.write_all(b"?").unwrap();
        server.received(1);
        server.waker.stop();
        server.find(|event| *event == Event::Woken { stopping: true });
        server.waker.wake();
        let mut all = Vec::new();
        client.read_to_end(&mut all).unwrap();
        assert_eq!(all, b"at last");
        server.join();
    }
}

#[test]
fn a_peer_that_never_reads_cannot_keep_a_driver_from_ending() {
    for kind in KINDS {
        let options = IoOptions { drain_ns: 20_000_000, ..IoOptions::default() };
        let server = accepting(kind, options, |event, stage| {
            if let Event::Opened(id, _) = event {
                stage.io.output(*id).resize(32 << 20, 0);
                stage.io.stop();
            }
        });
        let _client = peer(server.address);
        assert_eq!(server.closed(), Why::Us);
        let statistics = server.join();
        assert!(statistics.sent_bytes < 32 << 20);
    }
}

#[test]
fn connect_and_run_ends_with_its_connection() {
    let server = accepting(Kind::Epoll, IoOptions::default(), |event, stage| {
        if let Event::Received(id, _) = event {
            stage.io.close(*id);
        }
    });
    let target = server.address;
    let statistics = run_client(target);
    assert_eq!((statistics.sent_bytes, statistics.received_bytes), (3, 0));
    server.stop();
    let statistics = run_client(target);
    assert_eq!(statistics.sent_bytes, 0, "nobody listens there any more");
}

fn run_client(target: std::net::SocketAddr) -> IoStatistics {
    let (sender, _events) = channel();
    let shard = Scripted {
        act: |event: &Event, stage: &mut Stage| {
            if let Event::Opened(id, _) = event {
                stage.io.output(*id).extend_from_slice(b"end");
            }
        },
        events: sender,
        deadline_ns: None,
        has_outstanding: false,
    };
    let waker = Waker::new().unwrap();
    blocking::connect_and_run(target, shard, waker, IoOptions::default()).unwrap().1
}
