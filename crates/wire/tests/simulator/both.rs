//! What there is twice: once for the client, once for the server.

use bookend_wire::Side;

/// A value for each end.
#[derive(Clone, Debug, Default)]
pub struct Both<T> {
    pub client: T,
    pub server: T,
}

impl<T> Both<T> {
    pub fn of(&self, side: Side) -> &T {
        match side {
            Side::Client => &self.client,
            Side::Server => &self.server,
        }
    }

    pub fn of_mut(&mut self, side: Side) -> &mut T {
        match side {
            Side::Client => &mut self.client,
            Side::Server => &mut self.server,
        }
    }
}

pub const ROLES: [Side; 2] = [Side::Client, Side::Server];

pub fn other(side: Side) -> Side {
    match side {
        Side::Client => Side::Server,
        Side::Server => Side::Client,
    }
}
