//! What all rounds of a run share, and what each process of a cell may use.

use crate::build::PreparedSubjects;
use crate::cell_error::CellError;
use crate::control_group::{ControlGroups, ResourceLimits};
use crate::cpu::{Placement, whole_cpus};
use crate::invocation::{Invocation, RequestFiles};
use crate::process::{DRAIN_TIMEOUT, Process};
use crate::replies::FirstReplies;
use crate::spawner::Spawner;
use crate::subject::CommandTemplate;
use crate::transport_files::TransportFiles;
use bookend_contract::environment::Role;
use bookend_results::suite::{Plan, TestedEnd};
use std::ffi::OsString;
use std::net::IpAddr;
use std::time::Duration;

/// How much longer than warm-up and window an instrument may take: connecting, draining, printing.
pub const INSTRUMENT_GRACE: Duration = Duration::from_secs(10);

/// Processes and threads of one subject: more than the largest published cell needs with a thread
/// for each call, and where a fork bomb ends.
pub const PROCESSES_LIMIT: u32 = 131_072;

/// What all rounds of a run share.
#[derive(Debug)]
pub struct RunContext {
    /// What the run does, and what each end may use.
    pub plan: Plan,
    /// The programs.
    pub prepared: PreparedSubjects,
    /// How processes are started.
    pub spawner: Spawner,
    /// Where limits and accounting come from.
    pub groups: ControlGroups,
    /// Which end runs on which CPUs.
    pub placement: Placement,
    /// Makes one verified call to a server before it is measured.
    pub probe: Option<CommandTemplate>,
    /// What the servers under test have answered to it.
    pub replies: FirstReplies,
    /// The message that every call carries.
    pub request: RequestFiles,
    /// What transports need: sockets and certificates.
    pub transports: TransportFiles,
    /// How long the lab waits.
    pub timeouts: ProcessTimeouts,
    /// The machines that make the calls of the lab's own generator, where that is not this one.
    pub fleet: Option<FleetSettings>,
    /// Whether the measured side is recorded with a profiler, and must keep its symbols for it.
    pub profile: bool,
}

/// Other machines that make the calls of the lab's own generator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetSettings {
    /// Where servers listen, so that the others reach them. `None`: the agents are on this machine.
    pub listen: Option<IpAddr>,
    /// By which the generator knows of them.
    pub variables: Vec<(OsString, OsString)>,
}

/// How long the lab waits for a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessTimeouts {
    /// For `ready`; `None` leaves it to the subject's language.
    pub ready: Option<Duration>,
    /// For the end, once standard input is closed.
    pub drain: Duration,
    /// For an instrument beyond its warm-up and window.
    pub grace: Duration,
}

/// What one process of a cell may use.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProcessLimits {
    /// CPUs that it may use, a fraction being a share of CPU time. `None`: all that it runs on.
    pub cpus: Option<f64>,
    /// Worker threads that it is asked to use: one a CPU. `None`: it was not pinned.
    pub threads: Option<u32>,
    /// What the kernel holds it to.
    pub resources: ResourceLimits,
}

impl RunContext {
    /// Starts a process of a cell, in a control group of its own where there are any.
    ///
    /// # Errors
    /// What the row says instead.
    pub fn spawn(
        &self,
        mut invocation: Invocation<'_>,
        limits: &ResourceLimits,
    ) -> Result<Process, CellError> {
        invocation.cpus.clone_from(&limits.cpus);
        invocation.request.clone_from(&self.request);
        invocation.environment.request_file.clone_from(&self.request.bytes);
        if let Some(fleet) = &self.fleet {
            match invocation.environment.role {
                Role::Server => invocation.environment.listen = fleet.listen,
                Role::Instrument => invocation.more_variables.clone_from(&fleet.variables),
                Role::Client | Role::Backend => {}
            }
        }
        let group = self.groups.create(limits).map_err(CellError::failed)?;
        self.spawner
            .spawn(&invocation, group)
            .map_err(|error| error.into_cell_error(CellError::failed))
    }

    /// Only a server under test is limited beyond its CPUs. `processes` is the subject's own limit.
    pub fn server_limits(&self, is_tested: bool, processes: Option<u32>) -> ProcessLimits {
        let cpus = self.plan.limits.server_cpus;
        let threads = whole_cpus(cpus);
        let cpus = if is_tested { cpus } else { f64::from(threads) };
        ProcessLimits {
            cpus: Some(cpus),
            threads: Some(threads),
            resources: ResourceLimits {
                cpus: self.placement.server.clone(),
                cpu_time: fraction(cpus),
                memory_bytes: self.plan.limits.server_memory_bytes.filter(|_| is_tested),
                processes: processes
                    .or(self.plan.limits.server_processes)
                    .filter(|_| is_tested)
                    .or(Some(PROCESSES_LIMIT)),
            },
        }
    }

    /// A caller has its CPUs to itself and takes what it needs, unless it is what is measured.
    pub fn caller_limits(&self, under_test: TestedEnd) -> ProcessLimits {
        let mut allowed = self.placement.generator.clone();
        let all = self.generator_cpus();
        let is_tested = under_test == TestedEnd::Client;
        let cpus = self
            .plan
            .limits
            .client_cpus
            .filter(|_| is_tested)
            .map(|cpus| cpus.min(all.map_or(f64::INFINITY, f64::from)));
        let threads = cpus.map(whole_cpus);
        allowed.truncate(threads.map_or(usize::MAX, |threads| threads as usize));
        ProcessLimits {
            cpus,
            threads: threads.or(all),
            resources: ResourceLimits {
                cpus: allowed,
                cpu_time: cpus.and_then(fraction),
                processes: Some(PROCESSES_LIMIT),
                ..ResourceLimits::default()
            },
        }
    }

    /// A backend stays off the CPUs of both ends, where there are others.
    pub fn backend_limits(&self) -> ProcessLimits {
        let Placement { generator, spare, .. } = &self.placement;
        let cpus = if self.backend_has_own_cpus() { spare } else { generator };
        ProcessLimits {
            cpus: None,
            threads: count(cpus),
            resources: ResourceLimits {
                cpus: cpus.clone(),
                processes: Some(PROCESSES_LIMIT),
                ..ResourceLimits::default()
            },
        }
    }

    /// Whether there are CPUs for backends that neither end uses.
    pub fn backend_has_own_cpus(&self) -> bool {
        !self.placement.spare.is_empty()
    }

    /// CPUs of the generator; `None` if it was not pinned.
    pub fn generator_cpus(&self) -> Option<u32> {
        count(&self.placement.generator)
    }
}

fn count(cpus: &[usize]) -> Option<u32> {
    u32::try_from(cpus.len()).ok().filter(|&count| count > 0)
}

/// CPU time that the kernel must limit. A whole number of CPUs is a limit by itself.
fn fraction(cpus: f64) -> Option<f64> {
    (cpus.fract() != 0.0).then_some(cpus)
}

impl Default for ProcessTimeouts {
    fn default() -> ProcessTimeouts {
        ProcessTimeouts { ready: None, drain: DRAIN_TIMEOUT, grace: INSTRUMENT_GRACE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::Launcher;
    use crate::process::interrupt::Interrupt;
    use bookend_results::suite::{
        Extent, Request, RequestMessage, ServerLife, ShortWindows, SuiteLimits,
    };
    use std::collections::BTreeMap;

    fn plan() -> Plan {
        Plan {
            suite: String::new(),
            extent: Extent::Full,
            request: Request {
                method: String::new(),
                proto: String::new(),
                message: RequestMessage::Json(String::new()),
            },
            limits: SuiteLimits {
                server_cpus: 0.5,
                server_memory_bytes: Some(512),
                server_processes: Some(300),
                client_cpus: Some(1.5),
            },
            generator_cpus: None,
            warmup_ms: 0,
            window_ms: 0,
            window_max_ms: None,
            short_windows: ShortWindows::Refused,
            lap_ms: None,
            deadline_ms: None,
            drain_ms: None,
            rounds: 1,
            subjects: vec![],
            cases: vec![],
            instruments_of: BTreeMap::new(),
            handler_waits: false,
            server_life: ServerLife::Round,
            variables: BTreeMap::new(),
            notes: vec![],
        }
    }

    fn context() -> RunContext {
        RunContext {
            spawner: Spawner {
                launcher: Launcher::new("launcher".into(), vec![]),
                bookend: "bookend".into(),
                interrupt: Interrupt::new(),
            },
            groups: ControlGroups::none(),
            placement: Placement {
                server: vec![0],
                generator: vec![1, 2, 3],
                ..Placement::default()
            },
            plan: plan(),
            prepared: PreparedSubjects::default(),
            probe: None,
            replies: FirstReplies::default(),
            request: RequestFiles::default(),
            transports: TransportFiles::default(),
            timeouts: ProcessTimeouts::default(),
            fleet: None,
            profile: false,
        }
    }

    #[test]
    fn a_server_is_limited_only_where_it_is_what_is_measured() {
        let tested = context().server_limits(true, Some(300));
        assert_eq!((tested.cpus, tested.threads), (Some(0.5), Some(1)));
        let resources = tested.resources;
        assert_eq!(resources.cpu_time, Some(0.5));
        assert_eq!((resources.memory_bytes, resources.processes), (Some(512), Some(300)));
        let reference = context().server_limits(false, Some(300));
        assert_eq!((reference.cpus, reference.threads), (Some(1.0), Some(1)));
        let resources = reference.resources;
        assert_eq!((resources.cpu_time, resources.memory_bytes), (None, None));
        assert_eq!(resources.processes, Some(PROCESSES_LIMIT));
        assert_eq!(resources.cpus, [0]);
    }

    #[test]
    fn a_client_is_limited_only_where_it_is_what_is_measured() {
        let tested = context().caller_limits(TestedEnd::Client);
        assert_eq!((tested.cpus, tested.threads), (Some(1.5), Some(2)));
        let resources = tested.resources;
        assert_eq!((resources.cpus, resources.cpu_time), (vec![1, 2], Some(1.5)));
        let instrument = context().caller_limits(TestedEnd::Server);
        assert_eq!((instrument.cpus, instrument.threads), (None, Some(3)));
        let resources = instrument.resources;
        assert_eq!((resources.cpus, resources.cpu_time), (vec![1, 2, 3], None));
    }

    #[test]
    fn a_client_may_not_use_more_cpus_than_there_are() {
        let mut greedy = context();
        greedy.plan.limits.client_cpus = Some(8.0);
        let limits = greedy.caller_limits(TestedEnd::Client);
        assert_eq!(limits.resources.cpus, [1, 2, 3]);
        assert_eq!((limits.cpus, limits.threads), (Some(3.0), Some(3)));
        assert_eq!(greedy.caller_limits(TestedEnd::Server).cpus, None);
    }

    #[test]
    fn a_backend_goes_where_both_ends_are_not_if_it_can() {
        let mut context = context();
        assert_eq!(context.backend_limits().resources.cpus, [1, 2, 3]);
        context.placement.spare = vec![4];
        assert_eq!(context.backend_limits().resources.cpus, [4]);
    }
}
