//! The addresses of names, found again when one of them cannot be reached any more.

use super::Endpoint;
use super::name::{TargetError, TargetName};
use super::names::TargetNames;
use bookend_io::{Address, Target};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

/// The first wait between two questions for the same names. The answer to the first one may be as
/// old as the run.
const ASK_AGAIN_MIN: Duration = Duration::from_secs(1);
/// The longest such wait: each answer that is the one before doubles it. grpc-go asks no more often
/// than that either.
const ASK_AGAIN_MAX: Duration = Duration::from_secs(30);

/// From a name to the addresses that are meant.
pub(super) type Find = dyn Fn(&TargetName) -> Result<Vec<Address>, TargetError> + Send + Sync;

/// What names stand for.
pub(super) struct Directory {
    names: TargetNames,
    find: Box<Find>,
    /// By name, then by address: as many names as there are, none without an address.
    found: RwLock<Vec<Vec<Entry>>>,
    asking: Mutex<Asking>,
}

#[derive(Clone, Debug)]
struct Entry {
    address: Address,
    is_lost: bool,
}

/// When the names are resolved again.
#[derive(Debug)]
struct Asking {
    is_under_way: bool,
    not_before: Instant,
    wait: Duration,
}

impl Directory {
    pub fn open(names: &TargetNames, find: Box<Find>) -> Result<Self, TargetError> {
        let found: Result<Vec<_>, _> = names.iter().map(|name| find(name).map(entries)).collect();
        let found = found?;
        if found.iter().any(Vec::is_empty) {
            return Err(TargetError::Missing);
        }
        Ok(Self {
            names: names.clone(),
            find,
            found: RwLock::new(found),
            asking: Mutex::new(Asking {
                is_under_way: false,
                not_before: Instant::now(),
                wait: ASK_AGAIN_MIN,
            }),
        })
    }

    /// Whether there is anything to be found again.
    pub fn may_change(&self) -> bool {
        self.names.iter().any(TargetName::may_move)
    }

    pub fn endpoints(&self) -> Vec<Endpoint> {
        (0..self.count())
            .map(|number| self.endpoint(number))
            .collect()
    }

    pub fn count(&self) -> usize {
        self.read(|found| found.iter().map(Vec::len).sum())
    }

    pub fn endpoint(&self, connection: usize) -> Endpoint {
        self.read(|found| {
            let count: usize = found.iter().map(Vec::len).sum();
            let mut number = connection % count;
            let mut name = 0;
            while number >= found[name].len() {
                number -= found[name].len();
                name += 1;
            }
            Endpoint {
                target: Target::from(reachable(&found[name], number, connection)),
                name,
            }
        })
    }

    /// An address cannot be reached: the next connections take others of its name, and the names
    /// are resolved again.
    pub fn lost(this: &Arc<Self>, address: &Address) {
        {
            let mut found = this.found.write().unwrap_or_else(PoisonError::into_inner);
            let lost = found.iter_mut().flatten();
            let lost = lost.filter(|entry| entry.address == *address);
            lost.for_each(|entry| entry.is_lost = true);
        }
        let mut asking = this.lock();
        if asking.is_under_way {
            return;
        }
        let wait = asking.not_before.saturating_duration_since(Instant::now());
        let directory = Arc::clone(this);
        let asked = thread::Builder::new()
            .name("bookend-names".into())
            .spawn(move || {
                thread::sleep(wait);
                directory.ask();
            });
        // Without a thread, whoever loses an address next tries again.
        asking.is_under_way = asked.is_ok();
    }

    /// Resolves the names that may have moved.
    fn ask(&self) {
        let before = self.read(Vec::clone);
        let names = self.names.iter().zip(before);
        let after: Vec<_> = names
            .map(|(name, known)| match (self.find)(name) {
                Ok(addresses) if !addresses.is_empty() => entries(addresses),
                // A resolver that is down takes nothing away.
                Ok(_) | Err(_) => known
                    .into_iter()
                    .map(|entry| fresh(entry.address))
                    .collect(),
            })
            .collect();
        let mut found = self.found.write().unwrap_or_else(PoisonError::into_inner);
        let is_new = !addresses(&found).eq(addresses(&after));
        *found = after;
        drop(found);
        let mut asking = self.lock();
        if is_new {
            asking.wait = ASK_AGAIN_MIN;
        }
        asking.not_before = Instant::now() + asking.wait;
        asking.wait = (asking.wait * 2).min(ASK_AGAIN_MAX);
        asking.is_under_way = false;
    }

    fn read<T>(&self, look: impl FnOnce(&Vec<Vec<Entry>>) -> T) -> T {
        look(&self.found.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Nothing that panics happens under the lock but running out of memory.
    fn lock(&self) -> MutexGuard<'_, Asking> {
        self.asking.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The address of that number, or where it is lost one that is not.
fn reachable(entries: &[Entry], number: usize, connection: usize) -> &Address {
    let meant = &entries[number];
    let count = entries.iter().filter(|entry| !entry.is_lost).count();
    if !meant.is_lost || count == 0 {
        return &meant.address;
    }
    let mut others = entries.iter().filter(|entry| !entry.is_lost);
    let other = others.nth(connection % count);
    other.map_or(&meant.address, |entry| &entry.address)
}

fn entries(addresses: Vec<Address>) -> Vec<Entry> {
    addresses.into_iter().map(fresh).collect()
}

fn fresh(address: Address) -> Entry {
    Entry {
        address,
        is_lost: false,
    }
}

fn addresses(found: &[Vec<Entry>]) -> impl Iterator<Item = &Address> {
    found.iter().flatten().map(|entry| &entry.address)
}

impl fmt::Debug for Directory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Directory")
            .field("names", &self.names)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::SocketAddr;
    use std::sync::mpsc::{Receiver, Sender, channel};

    /// What a resolver is asked, and the answers that it gives in turn.
    struct Resolver {
        asked: Receiver<String>,
        answers: Sender<Option<Vec<u16>>>,
        directory: Arc<Directory>,
    }

    fn address(port: u16) -> Address {
        SocketAddr::from(([127, 0, 0, 1], port)).into()
    }

    impl Resolver {
        /// Ports stand for addresses.
        fn open(names: &str, first: &[&[u16]]) -> Self {
            let (answers, next) = channel::<Option<Vec<u16>>>();
            let (tell, asked) = channel();
            let next = Mutex::new(next);
            first
                .iter()
                .for_each(|ports| answers.send(Some(ports.to_vec())).unwrap());
            let find = move |name: &TargetName| {
                tell.send(name.to_string()).unwrap();
                let ports = next.lock().unwrap().recv().unwrap();
                let ports = ports.ok_or(TargetError::Missing)?;
                Ok(ports.into_iter().map(address).collect())
            };
            let names = names.parse().unwrap();
            let directory = Directory::open(&names, Box::new(find)).unwrap();
            Self {
                asked,
                answers,
                directory: Arc::new(directory),
            }
        }

        fn ports(&self, connections: usize) -> Vec<u16> {
            let endpoint = |connection| self.directory.endpoint(connection);
            let port = |endpoint: Endpoint| endpoint.target.address.port().unwrap();
            (0..connections).map(endpoint).map(port).collect()
        }

        fn lose(&self, port: u16) {
            Directory::lost(&self.directory, &address(port));
        }

        /// Waits until the names are being resolved again.
        fn is_asked(&self) -> String {
            self.asked.recv().unwrap()
        }

        /// Gives that answer, and waits until it is in use.
        fn answer(&self, ports: Option<&[u16]>) {
            self.answers.send(ports.map(<[u16]>::to_vec)).unwrap();
            while self.directory.lock().is_under_way {
                thread::yield_now();
            }
        }
    }

    #[test]
    fn connections_go_round_all_addresses_of_all_names() {
        let resolver = Resolver::open("dns:a:1,dns:b:1", &[&[1, 2], &[3]]);
        assert_eq!(resolver.ports(7), [1, 2, 3, 1, 2, 3, 1]);
        let endpoints = resolver.directory.endpoints();
        let names: Vec<_> = endpoints.iter().map(|endpoint| endpoint.name).collect();
        assert_eq!(names, [0, 0, 1]);
        assert!(resolver.directory.may_change());
    }

    #[test]
    fn what_is_lost_is_left_out_until_the_name_is_resolved_again() {
        let resolver = Resolver::open("dns:a:1", &[&[1, 2, 3]]);
        assert_eq!(resolver.is_asked(), "dns:a:1");
        resolver.lose(2);
        assert_eq!(resolver.is_asked(), "dns:a:1");
        assert_eq!(resolver.ports(6), [1, 3, 3, 1, 1, 3]);
        resolver.answer(Some(&[1, 2, 3]));
        assert_eq!(resolver.ports(3), [1, 2, 3]);
    }

    #[test]
    fn where_all_are_lost_they_are_tried_all_the_same() {
        let resolver = Resolver::open("dns:a:1", &[&[1, 2]]);
        resolver.lose(1);
        resolver.lose(2);
        assert_eq!(resolver.ports(3), [1, 2, 1]);
    }

    #[test]
    fn a_name_that_has_moved_is_followed() {
        let resolver = Resolver::open("dns:a:1", &[&[1]]);
        resolver.lose(1);
        resolver.answer(Some(&[5, 6]));
        assert_eq!(resolver.ports(3), [5, 6, 5]);
    }

    #[test]
    fn a_resolver_that_is_down_takes_no_address_away() {
        let resolver = Resolver::open("dns:a:1", &[&[1, 2]]);
        resolver.lose(1);
        resolver.answer(None);
        assert_eq!(resolver.ports(2), [1, 2]);
    }

    #[test]
    fn one_question_is_under_way_however_many_addresses_are_lost() {
        let resolver = Resolver::open("dns:a:1", &[&[1, 2]]);
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
        let resolver = Resolver::open("dns:a:1", &[&[1]]);
        let wait_after = |ports: &[u16]| {
            // As if the time for it had come.
            resolver.directory.lock().not_before = Instant::now();
            resolver.lose(1);
            resolver.answer(Some(ports));
            resolver.directory.lock().wait
        };
        let waits = [(); 6].map(|()| wait_after(&[1]).as_secs());
        assert_eq!(waits, [2, 4, 8, 16, 30, 30]);
        assert_eq!(wait_after(&[1, 2]).as_secs(), 2);
    }

    #[test]
    fn addresses_that_cannot_move_are_never_asked_for_again() {
        let names: TargetNames = "127.0.0.1:1,unix:echo,ipv4:127.0.0.1:2".parse().unwrap();
        let directory = Directory::open(&names, Box::new(TargetName::resolve)).unwrap();
        assert!(!directory.may_change());
    }
}
