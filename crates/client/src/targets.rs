//! What to connect to: the targets that a user names, and the addresses that they stand for.

mod endpoint;
mod name;
mod names;
mod resolver;

pub use endpoint::Endpoint;
pub use name::{TargetError, TargetName};
pub use names::{LoadBalancingPolicy, TargetNames};

use bookend_io::{Address, ByteStream, Target};
use resolver::Resolver;
use std::sync::Arc;
use std::time::Duration;

/// The targets of many connections, at least one: connection i goes to target i modulo their
/// number. Clones share what is resolved.
#[derive(Clone, Debug)]
pub struct Targets {
    list: List,
    /// By name: the `:authority` of calls to it. Empty where the caller sets it.
    authorities: Arc<[String]>,
}

#[derive(Clone, Debug)]
enum List {
    /// Addresses that stay as they are.
    Fixed(Arc<[Endpoint]>),
    /// Those of names, which may change.
    Resolved(Arc<Resolver>),
}

impl Targets {
    /// These targets, or `None` of none.
    pub fn new(targets: impl IntoIterator<Item = Target>) -> Option<Self> {
        let endpoints: Arc<[Endpoint]> = targets.into_iter().map(nameless).collect();
        (!endpoints.is_empty()).then_some(Self::of_list(List::Fixed(endpoints)))
    }

    /// Resolves names. Without a `policy`, `dns:` names stand for all of their addresses and others
    /// for the first that accepts a connection within `timeout`, or the first of all.
    ///
    /// # Errors
    /// [`TargetError::Unresolved`] when a name has no address.
    pub fn resolve(
        names: &TargetNames,
        policy: Option<LoadBalancingPolicy>,
        timeout: Duration,
    ) -> Result<Self, TargetError> {
        Self::resolve_with(names, move |name| Ok(choose(name.resolve()?, name, policy, timeout)))
    }

    /// Resolves names by a function that returns the addresses that are meant, at least one.
    ///
    /// # Errors
    /// The first error of `resolve`. Later ones leave the addresses as they were.
    pub fn resolve_with(
        names: &TargetNames,
        resolve: impl Fn(&TargetName) -> Result<Vec<Address>, TargetError> + Send + Sync + 'static,
    ) -> Result<Self, TargetError> {
        let resolver = Resolver::new(names, Box::new(resolve))?;
        let list = if resolver.may_change() {
            List::Resolved(Arc::new(resolver))
        } else {
            List::Fixed(resolver.endpoints().into())
        };
        Ok(Self { list, authorities: names.iter().map(TargetName::authority).collect() })
    }

    fn of_list(list: List) -> Self {
        Self { list, authorities: Arc::new([]) }
    }

    /// The same targets, where the caller sets the `:authority`.
    pub fn without_authorities(self) -> Self {
        Self::of_list(self.list)
    }

    /// The `:authority` of calls to a name; `None` where the caller sets it.
    pub fn authority(&self, name: usize) -> Option<&str> {
        self.authorities.get(name).map(String::as_str)
    }

    /// How many addresses there are now.
    pub fn count(&self) -> usize {
        match &self.list {
            List::Fixed(endpoints) => endpoints.len(),
            List::Resolved(resolver) => resolver.count(),
        }
    }

    /// The address of a connection. Of a name with several, those that were reported as unreachable
    /// are left out until the name is resolved again, as long as there are others.
    pub fn endpoint(&self, connection: usize) -> Endpoint {
        match &self.list {
            List::Fixed(endpoints) => endpoints[connection % endpoints.len()].clone(),
            List::Resolved(resolver) => resolver.endpoint(connection),
        }
    }

    /// As [`Targets::endpoint`], without the name.
    pub fn of(&self, connection: usize) -> Target {
        self.endpoint(connection).target
    }

    /// An address cannot be reached any more: its name is resolved again, on a thread of its own,
    /// at once for the first time and then after a wait that doubles from 1 to 30 s. The next
    /// connections get the new addresses.
    pub fn report_unreachable(&self, address: &Address) {
        if let List::Resolved(resolver) = &self.list {
            Resolver::report_unreachable(resolver, address);
        }
    }
}

fn nameless(target: Target) -> Endpoint {
    Endpoint { target, name: 0 }
}

/// The addresses of a name that are meant.
fn choose(
    addresses: Vec<Address>,
    name: &TargetName,
    policy: Option<LoadBalancingPolicy>,
    timeout: Duration,
) -> Vec<Address> {
    let all = policy.map_or(name.means_all(), |policy| policy == LoadBalancingPolicy::RoundRobin);
    // Where there is no choice, no connection need be tried.
    if all || addresses.len() == 1 {
        return addresses;
    }
    let accepts = |address: &&Address| ByteStream::connect(address, timeout).is_ok();
    addresses.iter().find(accepts).or(addresses.first()).cloned().into_iter().collect()
}

impl<T> From<T> for Targets
where
    Target: From<T>,
{
    fn from(target: T) -> Self {
        Self::of_list(List::Fixed(Arc::new([nameless(Target::from(target))])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{SocketAddr, TcpListener};

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
        assert!(Targets::new([]).is_none());
    }

    #[test]
    fn a_policy_chooses_among_the_addresses_of_a_name() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let answering = Address::Tcp(listener.local_addr().unwrap());
        let nobody = target(1).address;
        let both = || vec![nobody.clone(), answering.clone()];
        let chosen = |name: &str, policy| {
            let name = name.parse().unwrap();
            choose(both(), &name, policy, Duration::from_secs(5))
        };
        let all = both();
        let first_that_answers = vec![answering.clone()];
        assert_eq!(chosen("dns:a:1", None), all);
        assert_eq!(chosen("a:1", None), first_that_answers);
        assert_eq!(chosen("a:1", Some(LoadBalancingPolicy::RoundRobin)), all);
        let picked = chosen("dns:a:1", Some(LoadBalancingPolicy::PickFirst));
        assert_eq!(picked, first_that_answers);
    }

    #[test]
    fn where_no_address_answers_the_first_is_as_good_as_any() {
        let (first, second) = (target(1).address, target(2).address);
        let name = "a:1".parse().unwrap();
        let chosen = choose(vec![first.clone(), second], &name, None, Duration::from_secs(5));
        assert_eq!(chosen, [first]);
    }
}
