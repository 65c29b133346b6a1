//! Peers that read slowly, shards that pause, and output that does not fit.

mod support;

use bookend_io::{AfterRead, BACKLOG_LIMIT_BYTES, ConnectionId, IoOptions, RECEIVE_BUFFER_BYTES};
use std::io::{Read, Write};
use std::sync::mpsc::channel;
use support::*;

/// More than the kernel holds for one connection: its send buffer ends at 4 MiB, its receive buffer
/// at 6 MiB where nobody has raised them.
const MORE_THAN_THE_KERNEL_HOLDS: usize = 32 << 20;

#[test]
fn a_connection_with_too_much_unwritten_output_is_not_read() {
    for kind in KINDS {
        let server = accepting(kind, IoOptions::default(), |event, stage| match event {
            Event::Opened(id, _) => {
                let output = stage.io.output(*id);
                output.extend_from_slice(&pattern(MORE_THAN_THE_KERNEL_HOLDS));
            }
            Event::Received(id, _) => {
                assert!(stage.io.backlog(*id) <= BACKLOG_LIMIT_BYTES);
            }
            _ => {}
        });
        let mut client = peer(server.address);
        client.write_all(b"not yet").unwrap();
        let mut answer = vec![0; MORE_THAN_THE_KERNEL_HOLDS];
        client.read_exact(&mut answer).unwrap();
        assert!(answer == pattern(MORE_THAN_THE_KERNEL_HOLDS), "{kind:?}");

        let id = server.opened();
        let told = [server.next(), server.next()];
        assert!(told.contains(&Event::Received(id, b"not yet".to_vec())));
        assert!(told.contains(&Event::Writable(id)));
        server.stop();
    }
}

#[test]
fn a_producer_that_heeds_the_backlog_needs_little_memory() {
    const CHUNK: usize = 64 << 10;
    const CHUNKS: usize = 512;
    for kind in KINDS {
        let mut left = CHUNKS;
        let server = accepting(kind, IoOptions::default(), move |event, stage| {
            if let Event::Opened(id, _) | Event::Writable(id) = event {
                while left > 0 && stage.io.backlog(*id) == 0 {
                    stage.io.output(*id).extend_from_slice(&[left as u8; CHUNK]);
                    left -= 1;
                }
                assert!(stage.io.output(*id).capacity() <= 4 * CHUNK);
                if left == 0 && stage.io.backlog(*id) == 0 {
                    stage.io.close(*id);
                }
            }
        });
        let mut client = peer(server.address);
        let mut all = Vec::new();
        client.read_to_end(&mut all).unwrap();
        assert_eq!(all.len(), CHUNK * CHUNKS, "{kind:?}");
        assert!((0..CHUNKS).all(|index| all[index * CHUNK] == (CHUNKS - index) as u8));
        assert_eq!(server.closed(), Why::Us);
        server.stop();
    }
}

#[test]
fn two_ends_that_write_before_they_read_do_not_lock_up() {
    const REQUESTS: usize = 12 << 20;
    for server_kind in KINDS {
        for client_kind in KINDS {
            let server = accepting(server_kind, IoOptions::default(), echo);
            let client = connecting(
                client_kind,
                // The client's whole output is its backlog, and it has to read meanwhile.
                IoOptions { backlog_limit_bytes: REQUESTS, ..IoOptions::default() },
                dialling(server.address, |event, stage| {
                    if let Event::Opened(id, _) = event {
                        stage.io.output(*id).extend_from_slice(&pattern(REQUESTS));
                    }
                }),
            );
            assert!(client.received(REQUESTS) == pattern(REQUESTS));
            client.stop();
            server.stop();
        }
    }
}

#[test]
fn a_connection_that_paused_is_not_read_until_it_resumes() {
    for kind in KINDS {
        let mut resumed = false;
        let mut id: Option<ConnectionId> = None;
        let server = accepting(kind, IoOptions::default(), move |event, stage| match event {
            Event::Received(_, _) if !resumed => {
                stage.consumed = Some(1);
                stage.after = AfterRead::Pause;
                *stage.has_outstanding = true;
            }
            Event::Opened(opened, _) => id = Some(*opened),
            Event::Woken { .. } => {
                if let Some(id) = id {
                    resumed = true;
                    stage.io.resume(id);
                }
            }
            _ => {}
        });
        let mut client = peer(server.address);
        let id = server.opened();
        client.write_all(b"ab").unwrap();
        assert_eq!(server.next(), Event::Received(id, b"ab".to_vec()));
        client.write_all(b"cd").unwrap();

        server.waker.wake();
        let told = server.find(|event| *event != Event::Woken { stopping: false });
        assert_eq!(told, Event::Received(id, b"b".to_vec()), "the rest, without a new read");
        assert_eq!(server.next(), Event::Received(id, b"cd".to_vec()));
        server.stop();
    }
}

#[test]
fn the_deadline_of_a_shard_is_kept_while_its_peer_does_not_read() {
    for kind in KINDS {
        let (due, was_due) = channel();
        let server = accepting(kind, IoOptions::default(), move |event, stage| match event {
            Event::Opened(id, _) => {
                let output = stage.io.output(*id);
                output.extend_from_slice(&pattern(MORE_THAN_THE_KERNEL_HOLDS));
                *stage.deadline_ns = Some(stage.io.now_ns() + 1_000_000);
            }
            Event::Woken { .. } if stage.deadline_ns.take().is_some() => due.send(()).unwrap(),
            _ => {}
        });
        let client = peer(server.address);
        was_due.recv().unwrap();
        drop(client);
        server.stop();
    }
}

#[test]
fn a_shard_that_can_use_nothing_of_a_full_buffer_loses_the_connection() {
    for kind in KINDS {
        let server = accepting(kind, IoOptions::default(), |_, stage| stage.consumed = Some(0));
        let mut client = peer(server.address);
        // Fails once the other end has closed; how much was taken until then is not the question.
        let _ = client.write_all(&pattern(4 * RECEIVE_BUFFER_BYTES));
        assert_eq!(server.closed(), Why::Failed(std::io::ErrorKind::InvalidData));
        server.stop();
    }
}
