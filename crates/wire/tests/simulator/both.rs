//! What there is twice: once for the client, once for the server.

use bookend_wire::Role;

/// A value for each end.
#[derive(Clone, Debug, Default)]
pub struct Both<T> {
    pub client: T,
    pub server: T,
}

impl<T> Both<T> {
    pub fn of(&self, role: Role) -> &T {
        match role {
            Role::Client => &self.client,
            Role::Server => &self.server,
        }
    }

    pub fn of_mut(&mut self, role: Role) -> &mut T {
        match role {
            Role::Client => &mut self.client,
            Role::Server => &mut self.server,
        }
    }
}

pub const ROLES: [Role; 2] = [Role::Client, Role::Server];

pub fn other(role: Role) -> Role {
    match role {
        Role::Client => Role::Server,
        Role::Server => Role::Client,
    }
}
