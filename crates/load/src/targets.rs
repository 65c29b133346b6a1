//! Whom the connections of a run go to.

use bookend_io::{Address, Target};
use std::net::SocketAddr;

/// The targets of a run, at least one: connections are spread over them in turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Targets {
    first: Target,
    others: Vec<Target>,
}

impl Targets {
    /// One target, or `None` of none.
    pub fn new(targets: impl IntoIterator<Item = Target>) -> Option<Self> {
        let mut targets = targets.into_iter();
        Some(Self {
            first: targets.next()?,
            others: targets.collect(),
        })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        1 + self.others.len()
    }

    /// That of a connection: of n targets, connection i has the one of number i modulo n.
    pub fn of(&self, connection: usize) -> &Target {
        match connection % self.count() {
            0 => &self.first,
            number => &self.others[number - 1],
        }
    }
}

impl From<Target> for Targets {
    fn from(target: Target) -> Self {
        Self {
            first: target,
            others: Vec::new(),
        }
    }
}

impl From<Address> for Targets {
    fn from(address: Address) -> Self {
        Target::from(address).into()
    }
}

impl From<SocketAddr> for Targets {
    fn from(address: SocketAddr) -> Self {
        Target::from(address).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(port: u16) -> Target {
        SocketAddr::from(([127, 0, 0, 1], port)).into()
    }

    #[test]
    fn connections_are_spread_over_the_targets_in_turn() {
        let targets = Targets::new([1, 2, 3].map(target)).unwrap();
        let ports = (0..7).map(|connection| targets.of(connection).address.port().unwrap());
        assert_eq!(ports.collect::<Vec<_>>(), [1, 2, 3, 1, 2, 3, 1]);
        assert_eq!(targets.count(), 3);
    }

    #[test]
    fn there_is_no_run_without_a_target() {
        assert_eq!(Targets::new([]), None);
    }
}
