//! Whom a channel connects to, and whom next.

use crate::targets::{Endpoint, TargetError, TargetName, TargetNames, Targets};
use bookend_io::Target;

/// The server of a channel: any of its addresses will do.
pub(crate) struct Server {
    names: TargetNames,
    targets: Targets,
    /// The one that was tried last.
    current: Endpoint,
    dials: usize,
    /// Tries since the last one that went well.
    failures: usize,
}

impl Server {
    /// Finds the addresses of a target.
    pub fn find(target: &str) -> Result<Self, TargetError> {
        let names: TargetNames = target.parse()?;
        let targets = Targets::find_by(&names, TargetName::resolve)?;
        Ok(Self {
            current: targets.endpoint(0),
            names,
            targets,
            dials: 0,
            failures: 0,
        })
    }

    /// The address that is tried next.
    pub fn dial(&mut self) -> Target {
        self.current = self.targets.endpoint(self.dials);
        self.dials = self.dials.wrapping_add(1);
        self.current.target.clone()
    }

    /// All names that it has.
    pub fn names(&self) -> &TargetNames {
        &self.names
    }

    /// Which of them the address has that was tried last.
    pub fn name_number(&self) -> usize {
        self.current.name
    }

    /// The name of the address that was tried last.
    pub fn name(&self) -> &TargetName {
        self.names.at(self.current.name)
    }

    /// The last try went well.
    pub fn was_reached(&mut self) {
        self.failures = 0;
    }

    /// The last try has failed. Whether all addresses have now been tried as often as the first.
    pub fn has_failed(&mut self) -> bool {
        self.targets.lost(&self.current.target.address);
        self.failures += 1;
        self.failures.is_multiple_of(self.targets.count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_connection_goes_to_the_next_address_and_all_are_tried_before_one_gives_up() {
        let mut server = Server::find("127.0.0.1:1,unix:echo").unwrap();
        let mut dial = || server.dial().address.to_string();
        assert_eq!(
            [dial(), dial(), dial()],
            ["127.0.0.1:1", "unix:echo", "127.0.0.1:1"]
        );
        assert_eq!(server.name().authority(), "127.0.0.1:1");
        assert_eq!([server.has_failed(), server.has_failed()], [false, true]);
        assert!(!server.has_failed());
        server.was_reached();
        assert_eq!([server.has_failed(), server.has_failed()], [false, true]);
    }
}
