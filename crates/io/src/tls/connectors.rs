//! Several servers, and the name that each one's certificate must have.

use super::config::Connector;
use std::sync::Arc;

/// TLS of a client to several servers: by one name for all of them, or each by its own.
#[derive(Clone, Debug)]
pub struct Connectors(Names);

#[derive(Clone, Debug)]
enum Names {
    OneForAll(Connector),
    Each { first: Connector, others: Arc<[Connector]> },
}

impl Connectors {
    /// Every server has to have a certificate for this one's name.
    pub fn for_all(connector: Connector) -> Self {
        Self(Names::OneForAll(connector))
    }

    /// Each server has to have a certificate for its own name. They are numbered from 0, in this
    /// order.
    pub fn for_each(first: Connector, others: impl IntoIterator<Item = Connector>) -> Self {
        let others = others.into_iter().collect();
        Self(Names::Each { first, others })
    }

    /// That of one server.
    pub(crate) fn of(&self, server: usize) -> &Connector {
        match &self.0 {
            Names::OneForAll(connector) => connector,
            Names::Each { first, others } => match server.checked_sub(1) {
                None => first,
                Some(at) => others.get(at).expect("every server has a name"),
            },
        }
    }

    /// What they have in common, since it does not depend on the name.
    pub(crate) fn any(&self) -> &Connector {
        match &self.0 {
            Names::OneForAll(connector) | Names::Each { first: connector, .. } => connector,
        }
    }
}
