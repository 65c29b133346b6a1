//! From the names of servers to their addresses.

use super::{Options, OptionsError, Tls};
use crate::targets::Targets;
use bookend_io::tls::{ClientConfig, ConfigError, Connectors};
use std::num::NonZeroU32;
use std::time::Duration;

/// How long an address is tried where connections may take for ever.
const LONGEST_TRIAL: Duration = Duration::from_secs(10);

impl Options {
    /// TLS of all connections, where there is to be any. Each target's certificate has to be for
    /// the name of that target, or that of all of them for the name that the options give.
    ///
    /// # Errors
    /// [`OptionsError::Tls`] where no certificate can be for such a name.
    pub fn connectors(&self) -> Result<Option<Connectors>, OptionsError> {
        let connectors = |tls: &Tls| self.connectors_of(tls.config());
        let tls = self.security.tls().map(connectors).transpose();
        tls.map_err(OptionsError::Tls)
    }

    fn connectors_of(&self, config: &ClientConfig) -> Result<Connectors, ConfigError> {
        let first = config.connector(&self.authority())?;
        if self.authority.is_some() {
            return Ok(Connectors::for_all(first));
        }
        let others = self.targets.iter().skip(1);
        let others = others.map(|name| config.connector(&name.authority()));
        let others: Vec<_> = others.collect::<Result<_, _>>()?;
        Ok(Connectors::for_each(first, others))
    }

    /// The `:authority` of calls to the first target.
    pub fn authority(&self) -> String {
        let own = || self.targets.first().authority();
        self.authority.clone().unwrap_or_else(own)
    }

    /// Finds the addresses of the targets, and sees to it that each gets a connection: where
    /// `--connections` is fewer, it becomes as many.
    ///
    /// # Errors
    /// [`OptionsError`] when a name has no address, or there are more addresses than calls in
    /// flight.
    pub fn find_targets(&mut self) -> Result<Targets, OptionsError> {
        let patience = self.connect_timeout.unwrap_or(LONGEST_TRIAL);
        let found = Targets::find(&self.targets, self.strategy, patience);
        let targets = found.map_err(OptionsError::Target)?;
        let count = u32::try_from(targets.count()).unwrap_or(u32::MAX);
        if count > self.concurrency.get() {
            return Err(OptionsError::TargetsIdle {
                targets: count,
                concurrency: self.concurrency.get(),
            });
        }
        let least = NonZeroU32::new(count).unwrap_or(NonZeroU32::MIN);
        self.connections = self.connections.max(least);
        Ok(match &self.authority {
            Some(_) => targets.without_authorities(),
            None => targets,
        })
    }
}
