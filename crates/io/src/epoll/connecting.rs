//! Connections that the shard asks for.

use super::{EpollDriver, TO_READ};
use crate::address::Target;
use crate::connection_state::ConnectionStatus;
use crate::context::Connect;
use crate::polled_connection::Readiness;
use crate::shard::{Closed, ConnectionId, Opened, Shard};
use crate::socket;
use rustix::event::epoll::EventFlags;
use std::io;

impl<S: Shard> EpollDriver<S> {
    pub(super) fn connect(&mut self, connect: Connect) {
        let Connect { id, target, token } = connect;
        match self.begin_connect(&target, id, token) {
            Ok(true) => self.connected(id.index),
            Ok(false) => {}
            Err(error) => self.worker.fail_connect(id, token, error),
        }
    }

    /// True if the connection is there already; otherwise epoll reports it.
    fn begin_connect(&mut self, target: &Target, id: ConnectionId, token: u64) -> io::Result<bool> {
        let socket = socket::begin_connect(target)?;
        let is_there = socket::is_there(&socket, target)?;
        if !is_there {
            let timeout_ns = self.worker.options.connect_timeout_ns;
            let by_ns = self.worker.io.now_ns().saturating_add(timeout_ns);
            self.timeouts.connect_by(by_ns, id)?;
        }
        let interest = if is_there { TO_READ } else { EventFlags::OUT };
        self.register(socket, id, Some(token), interest)?;
        Ok(is_there)
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
