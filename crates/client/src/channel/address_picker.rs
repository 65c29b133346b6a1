//! Which address of its server a channel connects to next.

use crate::targets::{Endpoint, TargetError, TargetName, TargetNames, Targets};
use bookend_io::Target;

/// The addresses of a channel's server, tried in turn: any of them will do.
pub(crate) struct AddressPicker {
    names: TargetNames,
    targets: Targets,
    /// The one that was tried last.
    current: Endpoint,
    attempts: usize,
    /// Attempts since the last one that succeeded.
    failures: usize,
}

impl AddressPicker {
    /// Finds the addresses of a target.
    pub fn find(target: &str) -> Result<Self, TargetError> {
        let names: TargetNames = target.parse()?;
        let targets = Targets::resolve_with(&names, TargetName::resolve)?;
        Ok(Self { current: targets.endpoint(0), names, targets, attempts: 0, failures: 0 })
    }

    /// The address that is tried next.
    pub fn next(&mut self) -> Target {
        self.current = self.targets.endpoint(self.attempts);
        self.attempts = self.attempts.wrapping_add(1);
        self.current.target.clone()
    }

    /// All names of the server.
    pub fn names(&self) -> &TargetNames {
        &self.names
    }

    /// Which of these names the address that was tried last belongs to.
    pub fn name_index(&self) -> usize {
        self.current.name
    }

    /// The name of the address that was tried last.
    pub fn name(&self) -> &TargetName {
        self.names.at(self.current.name)
    }

    /// The last attempt has succeeded.
    pub fn succeeded(&mut self) {
        self.failures = 0;
    }

    /// The last attempt has failed. Returns whether all addresses have now been tried equally
    /// often.
    pub fn failed(&mut self) -> bool {
        self.targets.report_unreachable(&self.current.target.address);
        self.failures += 1;
        self.failures.is_multiple_of(self.targets.count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_connection_goes_to_the_next_address_and_all_are_tried_before_one_gives_up() {
        let mut server = AddressPicker::find("127.0.0.1:1,unix:echo").unwrap();
        let mut next = || server.next().address.to_string();
        assert_eq!([next(), next(), next()], ["127.0.0.1:1", "unix:echo", "127.0.0.1:1"]);
        assert_eq!(server.name().authority(), "127.0.0.1:1");
        assert_eq!([server.failed(), server.failed()], [false, true]);
        assert!(!server.failed());
        server.succeeded();
        assert_eq!([server.failed(), server.failed()], [false, true]);
    }
}
