//! Which CPUs the server gets and which the generator, out of those that this process may use.

use std::collections::BTreeMap;

/// The CPUs of both ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// CPUs of the server. Empty: it was not pinned.
    pub server: Vec<usize>,
    /// CPUs of the generator. Empty: it was not pinned.
    pub generator: Vec<usize>,
    /// CPUs that neither end was given, for backends.
    pub spare: Vec<usize>,
    /// What is wrong with it, a sentence each; printed above the table.
    pub notes: Vec<String>,
}

/// Physical core of each CPU: CPUs with the same number share one.
pub type Cores = BTreeMap<usize, usize>;

impl Placement {
    /// Places both ends on this machine: `server_cpus` for the server, up to `generator_cpus` of
    /// the rest for the generator.
    pub fn on_this_machine(server_cpus: f64, generator_cpus: Option<u32>) -> Placement {
        let allowed = allowed_cpus();
        if crate::launch::pin(&allowed).is_err() || allowed.is_empty() {
            return Placement {
                notes: vec!["the kernel refuses affinity: nothing was pinned".to_owned()],
                ..Placement::default()
            };
        }
        let wanted = whole_cpus(server_cpus) as usize;
        let generator = generator_cpus.map(|count| count as usize);
        Placement::among(&allowed, &cores(&allowed), wanted, generator)
    }

    /// Places both ends on `allowed` CPUs. Two CPUs of one physical core slow each other down, so
    /// the generator gets the sibling of a server's CPU only where nothing else is left.
    pub fn among(
        allowed: &[usize],
        cores: &Cores,
        server_cpus: usize,
        generator_cpus: Option<usize>,
    ) -> Placement {
        let mut notes = Vec::new();
        // Sorted by core, so that a server on several CPUs fills whole cores.
        let server: Vec<usize> =
            core_by_core(allowed, cores).into_iter().take(server_cpus.max(1)).collect();
        let rest = allowed.iter().copied().filter(|cpu| !server.contains(cpu));
        // A CPU whose core is not known counts as a core of its own.
        let core = |cpu: &usize| cores.get(cpu);
        let is_sibling = |cpu: &usize| {
            core(cpu).is_some() && server.iter().any(|other| core(other) == core(cpu))
        };
        let (siblings, mut generator): (Vec<usize>, Vec<usize>) = rest.partition(is_sibling);
        if generator.is_empty() && !siblings.is_empty() {
            notes.push("server and generator share a physical core".to_owned());
            generator = siblings;
        }
        if generator.is_empty() {
            notes.push("server and generator share their CPUs: there are no others".to_owned());
            generator.clone_from(&server);
        }
        generator.truncate(generator_cpus.unwrap_or(usize::MAX).max(1));
        let is_spare = |cpu: &usize| !server.contains(cpu) && !generator.contains(cpu);
        Placement {
            spare: allowed.iter().copied().filter(is_spare).collect(),
            server,
            generator,
            notes,
        }
    }

    /// Whether both ends run on the same CPUs.
    pub fn is_shared(&self) -> bool {
        self.server.iter().any(|cpu| self.generator.contains(cpu))
    }
}

/// CPUs that this thread may use.
pub fn allowed_cpus() -> Vec<usize> {
    let Ok(set) = rustix::thread::sched_getaffinity(None) else {
        return Vec::new();
    };
    (0..rustix::thread::CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect()
}

/// A fraction of a CPU needs a whole one to run on.
pub fn whole_cpus(cpus: f64) -> u32 {
    cpus.ceil().max(1.0) as u32
}

fn core_by_core(allowed: &[usize], cores: &Cores) -> Vec<usize> {
    let mut ordered = allowed.to_vec();
    let core = |cpu: &usize| cores.get(cpu).copied().unwrap_or(*cpu);
    ordered.sort_by_key(|cpu| (core(cpu), *cpu));
    ordered
}

/// A core is named after its first CPU, as in `thread_siblings_list`: `0,4` or `0-1`.
fn cores(cpus: &[usize]) -> Cores {
    cpus.iter()
        .filter_map(|cpu| {
            let file = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
            let text = std::fs::read_to_string(file).ok()?;
            let first = text.trim().split([',', '-']).next()?;
            Some((*cpu, first.parse().ok()?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alone(cpus: &[usize]) -> Cores {
        cpus.iter().map(|cpu| (*cpu, *cpu)).collect()
    }

    #[test]
    fn two_cpus_are_one_for_each_end() {
        let placement = Placement::among(&[0, 1], &alone(&[0, 1]), 1, None);
        assert_eq!((placement.server, placement.generator), (vec![0], vec![1]));
        assert!(placement.notes.is_empty());
    }

    #[test]
    fn what_both_ends_leave_is_spare() {
        let four = [0, 1, 2, 3];
        let placement = Placement::among(&four, &alone(&four), 1, Some(1));
        assert_eq!((placement.generator, placement.spare), (vec![1], vec![2, 3]));
        let greedy = Placement::among(&four, &alone(&four), 1, None);
        assert_eq!(greedy.spare, [0; 0]);
    }

    #[test]
    fn one_cpu_is_shared_and_that_is_said() {
        let placement = Placement::among(&[3], &alone(&[3]), 1, None);
        assert!(placement.is_shared());
        assert_eq!(placement.notes.len(), 1);
    }

    #[test]
    fn a_server_that_takes_all_shares_all() {
        let placement = Placement::among(&[0, 1], &alone(&[0, 1]), 2, Some(1));
        assert_eq!(placement.server, [0, 1]);
        assert_eq!(placement.generator, [0]);
        assert_eq!(placement.notes.len(), 1);
    }

    #[test]
    fn the_generator_avoids_the_other_half_of_the_servers_core() {
        let cores = Cores::from([(0, 0), (1, 1), (2, 0), (3, 1)]);
        let placement = Placement::among(&[0, 1, 2, 3], &cores, 1, None);
        assert_eq!(placement.server, [0]);
        assert_eq!(placement.generator, [1, 3]);
        let both = Placement::among(&[0, 1, 2, 3], &cores, 2, None);
        assert_eq!((both.server, both.generator), (vec![0, 2], vec![1, 3]));
    }

    #[test]
    fn a_shared_core_is_better_than_a_shared_cpu() {
        let cores = Cores::from([(0, 0), (1, 0)]);
        let placement = Placement::among(&[0, 1], &cores, 1, None);
        assert_eq!((placement.server, placement.generator), (vec![0], vec![1]));
        assert_eq!(placement.notes, ["server and generator share a physical core"]);
    }

    #[test]
    fn a_share_of_a_cpu_needs_a_whole_one() {
        assert_eq!(whole_cpus(0.0), 1);
        assert_eq!(whole_cpus(1.0), 1);
        assert_eq!(whole_cpus(1.5), 2);
    }

    #[test]
    fn this_thread_may_run_somewhere() {
        assert!(!allowed_cpus().is_empty());
    }
}
