//! Connections that the shard asks for.

use super::{EpollDriver, TO_READ};
use crate::connection_state::ConnectionStatus;
use crate::context::Connect;
use crate::polled_connection::Readiness;
use crate::shard::{Closed, ConnectionId, Opened, Shard};
use crate::socket;
use rustix::event::epoll::EventFlags;
use rustix::fd::OwnedFd;
use std::io;

impl<S: Shard> EpollDriver<S> {
    pub(super) fn connect(&mut self, connect: Connect) {
        let Connect { id, target, token } = connect;
        let begun = socket::begin_connect(&target).and_then(|socket| {
            let is_there = socket::is_there(&socket, &target)?;
            self.watch_connect(socket, id, token, is_there)?;
            Ok(is_there)
        });
        match begun {
            Ok(true) => self.connected(id.index),
            Ok(false) => {}
            Err(error) => self.worker.fail_connect(id, token, error),
        }
    }

    fn watch_connect(
        &mut self,
        socket: OwnedFd,
        id: ConnectionId,
        token: u64,
        is_there: bool,
    ) -> io::Result<()> {
        if is_there {
            return self.register(socket, id, Some(token), TO_READ);
        }
        let timeout_ns = self.worker.options.connect_timeout_ns;
        let by_ns = self.worker.io.now_ns().saturating_add(timeout_ns);
        self.timeouts.connect_by(by_ns, id)?;
        self.register(socket, id, Some(token), EventFlags::OUT)
    }

    pub(super) fn end_connect(&mut self, index: u32, ready: Readiness) {
        let Some(entry) = &self.entries[index as usize] else {
            return;
        };
        // A socket that is writable and not broken needs not be asked how its connect ended.
        if ready.broken
            && let Err(error) = socket::end_connect(&entry.connection.socket)
        {
            return self.close(index, Closed::Failed(error));
        }
        self.connected(index);
    }

    fn connected(&mut self, index: u32) {
        let Some(entry) = &mut self.entries[index as usize] else {
            return;
        };
        let id = entry.connection.state.id;
        let Some(token) = entry.connection.state.connecting.take() else {
            return;
        };
        self.worker.io.begin();
        self.worker.open(id, Opened::Connected(token));
        let status = match &mut self.entries[index as usize] {
            Some(entry) => entry.connection.write(&mut self.worker),
            None => ConnectionStatus::Continue(()),
        };
        self.apply_status(index, status);
    }
}
