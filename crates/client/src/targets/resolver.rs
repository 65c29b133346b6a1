//! The addresses of names, resolved again when one of them cannot be reached any more.

use super::endpoint::Endpoint;
use super::name::{TargetError, TargetName};
use super::names::TargetNames;
use bookend_io::{Address, Target};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

/// The first wait before the same names are resolved again. The first addresses may be as old as
/// the run.
const WAIT_MIN: Duration = Duration::from_secs(1);
/// The longest such wait: it doubles as long as the addresses stay the same. grpc-go resolves no
/// more often than that either.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// From a name to the addresses that are meant.
pub(super) type ResolveName =
    dyn Fn(&TargetName) -> Result<Vec<Address>, TargetError> + Send + Sync;

/// Names, and the addresses that they have now.
pub(super) struct Resolver {
    names: TargetNames,
    resolve: Box<ResolveName>,
    /// By name, then by address. No name is without an address.
    known: RwLock<Vec<Vec<KnownAddress>>>,
    schedule: Mutex<Schedule>,
}

#[derive(Clone, Debug)]
struct KnownAddress {
    address: Address,
    is_unreachable: bool,
}

/// When the names are resolved again.
#[derive(Debug)]
struct Schedule {
    is_under_way: bool,
    not_before: Instant,
    wait: Duration,
}

impl Resolver {
    pub fn new(names: &TargetNames, resolve: Box<ResolveName>) -> Result<Self, TargetError> {
        let known: Vec<_> =
            names.iter().map(|name| resolve(name).map(reachable)).collect::<Result<_, _>>()?;
        if known.iter().any(Vec::is_empty) {
            return Err(TargetError::Missing);
        }
        Ok(Self {
            names: names.clone(),
            resolve,
            known: RwLock::new(known),
            schedule: Mutex::new(Schedule {
                is_under_way: false,
                not_before: Instant::now(),
                wait: WAIT_MIN,
            }),
        })
    }

    /// Whether any name may have other addresses later.
    pub fn may_change(&self) -> bool {
        self.names.iter().any(TargetName::may_change)
    }

    pub fn endpoints(&self) -> Vec<Endpoint> {
        (0..self.count()).map(|number| self.endpoint(number)).collect()
    }

    pub fn count(&self) -> usize {
        self.read(|known| known.iter().map(Vec::len).sum())
    }

    pub fn endpoint(&self, connection: usize) -> Endpoint {
        self.read(|known| {
            let count: usize = known.iter().map(Vec::len).sum();
            let mut index = connection % count;
            let mut name = 0;
            while index >= known[name].len() {
                index -= known[name].len();
                name += 1;
            }
            Endpoint { target: Target::from(choose(&known[name], index, connection)), name }
        })
    }

    /// An address cannot be reached: the next connections take others of its name, and the names
    /// are resolved again.
    pub fn report_unreachable(this: &Arc<Self>, address: &Address) {
        {
            let mut known = this.known.write().unwrap_or_else(PoisonError::into_inner);
            for entry in known.iter_mut().flatten() {
                entry.is_unreachable |= entry.address == *address;
            }
        }
        let mut schedule = this.lock_schedule();
        if schedule.is_under_way {
            return;
        }
        let wait = schedule.not_before.saturating_duration_since(Instant::now());
        let resolver = Arc::clone(this);
        let spawned = thread::Builder::new().name("bookend-names".into()).spawn(move || {
            thread::sleep(wait);
            resolver.resolve_again();
        });
        // Without a thread, the next report of an address tries again.
        schedule.is_under_way = spawned.is_ok();
    }

    /// Resolves all names.
    fn resolve_again(&self) {
        let before = self.read(Vec::clone);
        let after: Vec<_> = self
            .names
            .iter()
            .zip(before)
            .map(|(name, known)| match (self.resolve)(name) {
                Ok(addresses) if !addresses.is_empty() => reachable(addresses),
                // A resolver that is down takes no address away.
                Ok(_) | Err(_) => reachable(known.into_iter().map(|known| known.address)),
            })
            .collect();
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let has_changed = !addresses(&known).eq(addresses(&after));
        *known = after;
        drop(known);
        let mut schedule = self.lock_schedule();
        if has_changed {
            schedule.wait = WAIT_MIN;
        }
        schedule.not_before = Instant::now() + schedule.wait;
        schedule.wait = (schedule.wait * 2).min(WAIT_MAX);
        schedule.is_under_way = false;
    }

    fn read<T>(&self, look: impl FnOnce(&Vec<Vec<KnownAddress>>) -> T) -> T {
        look(&self.known.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Only running out of memory can panic under the lock.
    fn lock_schedule(&self) -> MutexGuard<'_, Schedule> {
        self.schedule.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The address of that index, or another that is not known to be unreachable.
fn choose(known: &[KnownAddress], index: usize, connection: usize) -> &Address {
    let meant = &known[index];
    let reachable = || known.iter().filter(|entry| !entry.is_unreachable);
    let count = reachable().count();
    if !meant.is_unreachable || count == 0 {
        return &meant.address;
    }
    reachable().nth(connection % count).map_or(&meant.address, |entry| &entry.address)
}

fn reachable(addresses: impl IntoIterator<Item = Address>) -> Vec<KnownAddress> {
    addresses.into_iter().map(|address| KnownAddress { address, is_unreachable: false }).collect()
}

fn addresses(known: &[Vec<KnownAddress>]) -> impl Iterator<Item = &Address> {
    known.iter().flatten().map(|entry| &entry.address)
}

impl fmt::Debug for Resolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resolver").field("names", &self.names).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::SocketAddr;
    use std::sync::mpsc::{Receiver, Sender, channel};

    /// What a resolver is asked, and the answers that it gives in turn.
    struct Scripted {
        asked: Receiver<String>,
        answers: Sender<Option<Vec<u16>>>,
        resolver: Arc<Resolver>,
    }

    fn address(port: u16) -> Address {
        SocketAddr::from(([127, 0, 0, 1], port)).into()
    }

    impl Scripted {
        /// Ports stand for addresses.
        fn open(names: &str, first: &[&[u16]]) -> Self {
            let (answers, next) = channel::<Option<Vec<u16>>>();
            let (tell, asked) = channel();
            let next = Mutex::new(next);
            first.iter().for_each(|ports| answers.send(Some(ports.to_vec())).unwrap());
            let find = move |name: &TargetName| {
                tell.send(name.to_string()).unwrap();
                let ports = next.lock().unwrap().recv().unwrap().ok_or(TargetError::Missing)?;
                Ok(ports.into_iter().map(address).collect())
            };
            let names = names.parse().unwrap();
            let resolver = Resolver::new(&names, Box::new(find)).unwrap();
            Self { asked, answers, resolver: Arc::new(resolver) }
        }

        fn ports(&self, connections: usize) -> Vec<u16> {
            let endpoint = |connection| self.resolver.endpoint(connection);
            let port = |endpoint: Endpoint| endpoint.target.address.port().unwrap();
            (0..connections).map(endpoint).map(port).collect()
        }

        fn lose(&self, port: u16) {
            Resolver::report_unreachable(&self.resolver, &address(port));
        }

        /// Waits until the names are being resolved again.
        fn is_asked(&self) -> String {
            self.asked.recv().unwrap()
        }

        /// Gives that answer, and waits until it is in use.
        fn answer(&self, ports: Option<&[u16]>) {
            self.answers.send(ports.map(<[u16]>::to_vec)).unwrap();
            while self.resolver.lock_schedule().is_under_way {
                thread::yield_now();
            }
        }
    }

    #[test]
    fn connections_go_round_all_addresses_of_all_names() {
        let resolver = Scripted::open("dns:a:1,dns:b:1", &[&[1, 2], &[3]]);
        assert_eq!(resolver.ports(7), [1, 2, 3, 1, 2, 3, 1]);
        let endpoints = resolver.resolver.endpoints();
        let names: Vec<_> = endpoints.iter().map(|endpoint| endpoint.name).collect();
        assert_eq!(names, [0, 0, 1]);
        assert!(resolver.resolver.may_change());
    }

    #[test]
    fn what_is_lost_is_left_out_until_the_name_is_resolved_again() {
        let resolver = Scripted::open("dns:a:1", &[&[1, 2, 3]]);
        assert_eq!(resolver.is_asked(), "dns:a:1");
        resolver.lose(2);
        assert_eq!(resolver.is_asked(), "dns:a:1");
        assert_eq!(resolver.ports(6), [1, 3, 3, 1, 1, 3]);
        resolver.answer(Some(&[1, 2, 3]));
        assert_eq!(resolver.ports(3), [1, 2, 3]);
    }

    #[test]
    fn where_all_are_lost_they_are_tried_all_the_same() {
        let resolver = Scripted::open("dns:a:1", &[&[1, 2]]);
        resolver.lose(1);
        resolver.lose(2);
        assert_eq!(resolver.ports(3), [1, 2, 1]);
    }

    #[test]
    fn a_name_that_has_moved_is_followed() {
        let resolver = Scripted::open("dns:a:1", &[&[1]]);
        resolver.lose(1);
        resolver.answer(Some(&[5, 6]));
        assert_eq!(resolver.ports(3), [5, 6, 5]);
    }

    #[test]
    fn a_resolver_that_is_down_takes_no_address_away() {
        let resolver = Scripted::open("dns:a:1", &[&[1, 2]]);
        resolver.lose(1);
        resolver.answer(None);
        assert_eq!(resolver.ports(2), [1, 2]);
    }

    #[test]
    fn one_question_is_under_way_however_many_addresses_are_lost() {
        let resolver = Scripted::open("dns:a:1", &[&[1, 2]]);
        resolver.is_asked();
        for _ in 0..100 {
            resolver.lose(1);
            resolver.lose(2);
        }
        resolver.is_asked();
        assert!(resolver.asked.try_recv().is_err());
        resolver.answer(Some(&[1, 2]));
        assert!(resolver.asked.try_recv().is_err());
    }

    #[test]
    fn waits_between_questions_double_up_to_a_cap_and_news_begin_anew() {
        let resolver = Scripted::open("dns:a:1", &[&[1]]);
        let wait_after = |ports: &[u16]| {
            // As if the time for it had come.
            resolver.resolver.lock_schedule().not_before = Instant::now();
            resolver.lose(1);
            resolver.answer(Some(ports));
            resolver.resolver.lock_schedule().wait
        };
        let waits = [(); 6].map(|()| wait_after(&[1]).as_secs());
        assert_eq!(waits, [2, 4, 8, 16, 30, 30]);
        assert_eq!(wait_after(&[1, 2]).as_secs(), 2);
    }

    #[test]
    fn addresses_that_cannot_move_are_never_asked_for_again() {
        let names: TargetNames = "127.0.0.1:1,unix:echo,ipv4:127.0.0.1:2".parse().unwrap();
        let resolver = Resolver::new(&names, Box::new(TargetName::resolve)).unwrap();
        assert!(!resolver.may_change());
    }
}
