//! Several servers, and the name that each one's certificate must have.

use super::config::Connector;
use std::sync::Arc;

/// TLS of a client to several servers: by one name for all of them, or each by its own.
#[derive(Clone, Debug)]
pub struct Connectors {
    first: Connector,
    /// `None`: the first is for all.
    others: Option<Arc<[Connector]>>,
}

impl Connectors {
    /// Every server has to have a certificate for this one's name.
    pub fn for_all(connector: Connector) -> Self {
        Self { first: connector, others: None }
    }

    /// Each server has to have a certificate for its own name. They are numbered from 0, in this
    /// order.
    pub fn for_each(first: Connector, others: impl IntoIterator<Item = Connector>) -> Self {
        Self { first, others: Some(others.into_iter().collect()) }
    }

    /// That of one server.
    pub(crate) fn of(&self, server: usize) -> &Connector {
        match (&self.others, server.checked_sub(1)) {
            (Some(others), Some(at)) => others.get(at).expect("every server has a name"),
            _ => &self.first,
        }
    }

    /// What they have in common, since it does not depend on the name.
    pub(crate) fn any(&self) -> &Connector {
        &self.first
    }
}
