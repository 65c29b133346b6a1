//! Marks of a window by the machine's CPU times: its CPUs were used by something else.

use crate::cpu::{CpuTimesDelta, Placement};
use bookend_results::mark::Mark;
use std::collections::BTreeSet;

/// Share of a window that the hypervisor may take from the pinned CPUs: above it, what is
/// measured is the neighbour.
pub const STEAL_LIMIT: f64 = 0.02;

/// Share of a window in which others may work on the pinned CPUs: more shows in the rate.
pub const FOREIGN_LIMIT: f64 = 0.05;

/// What the machine's CPU times may be wrong by, seconds: a tick at either end of a span of time.
/// Over several spans such errors add up as chance has it.
const TICKS_ERROR: f64 = 0.02;

/// CPU time on the pinned CPUs that is accounted for, in one window, seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AccountedCpu {
    /// Length of the window.
    pub window: f64,
    /// CPU time of the server's tree.
    pub server: f64,
    /// CPU time of the generator's tree.
    pub generator: f64,
    /// CPU time of the lab itself, which may run anywhere.
    pub lab: f64,
    /// Spans of time that the window consists of: 1, or its laps.
    pub spans: u32,
}

/// The marks of one window.
pub fn marks(
    machine: &CpuTimesDelta,
    placement: &Placement,
    accounted: &AccountedCpu,
) -> Vec<Mark> {
    let mut marks = Vec::new();
    if accounted.window <= 0.0 {
        return marks;
    }
    let ends = placement.server.iter().chain(&placement.generator);
    let all = Vec::from_iter(ends.copied().collect::<BTreeSet<usize>>());
    let steal = machine.steal_seconds(&all) / (accounted.window * all.len().max(1) as f64);
    if steal > STEAL_LIMIT {
        marks.push(Mark::Steal { share: steal });
    }
    let ticks_error = TICKS_ERROR * f64::from(accounted.spans).sqrt();
    for (cpus, own) in shares(placement, accounted) {
        let foreign = machine.busy_seconds(cpus, accounted.window) - own - accounted.lab;
        let share = foreign / accounted.window;
        if foreign > FOREIGN_LIMIT * accounted.window + ticks_error {
            marks.push(Mark::ForeignProcess { cpus: cpus.to_vec(), share });
        }
    }
    marks
}

/// The CPUs of each end with its own CPU time; of both together where they share some.
fn shares<'a>(placement: &'a Placement, accounted: &AccountedCpu) -> Vec<(&'a [usize], f64)> {
    let both = accounted.server + accounted.generator;
    if !placement.is_shared() {
        return vec![
            (&placement.server, accounted.server),
            (&placement.generator, accounted.generator),
        ];
    }
    let larger = if placement.server.len() >= placement.generator.len() {
        &placement.server
    } else {
        &placement.generator
    };
    vec![(larger, both)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::CpuTimes;

    /// Two CPUs over ten seconds: ticks in user mode, and stolen ticks.
    fn machine(busy: [u64; 2], stolen: [u64; 2]) -> CpuTimesDelta {
        let text = |cpu: usize| format!("cpu{cpu} {} 0 0 0 0 0 0 {}\n", busy[cpu], stolen[cpu]);
        let before = CpuTimes::parse("cpu0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0\n");
        CpuTimes::parse(&(text(0) + &text(1))).since(&before)
    }

    fn texts(marks: &[Mark]) -> Vec<String> {
        marks.iter().map(Mark::to_string).collect()
    }

    fn apart() -> Placement {
        Placement { server: vec![0], generator: vec![1], ..Placement::default() }
    }

    fn accounted(server: f64, generator: f64) -> AccountedCpu {
        AccountedCpu { window: 10.0, server, generator, lab: 0.1, spans: 1 }
    }

    #[test]
    fn a_clean_window_has_no_marks() {
        let marks = marks(&machine([1000, 500], [10, 10]), &apart(), &accounted(9.9, 4.8));
        assert_eq!(marks, []);
    }

    #[test]
    fn steal_is_counted_over_the_pinned_cpus() {
        let marks = marks(&machine([0, 0], [0, 62]), &apart(), &accounted(0.0, 0.0));
        assert_eq!(texts(&marks), ["steal 3.1 %"]);
    }

    #[test]
    fn somebody_else_on_one_cpu_is_named_with_it() {
        let marks = marks(&machine([1000, 700], [0, 0]), &apart(), &accounted(10.0, 2.9));
        assert_eq!(texts(&marks), ["foreign process on CPU 1 (40 %)"]);
    }

    #[test]
    fn ticks_that_contradict_the_idle_time_are_no_process() {
        let of = |idle| {
            let text = format!("cpu0 0 0 0 0 0 0 0 0\ncpu1 800 0 0 {idle} 0 0 0 0\n");
            let before = CpuTimes::parse("cpu0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0\n");
            marks(&CpuTimes::parse(&text).since(&before), &apart(), &accounted(0.0, 2.9))
        };
        assert_eq!(of(690), []);
        assert_eq!(texts(&of(300)), ["foreign process on CPU 1 (40 %)"]);
    }

    #[test]
    fn the_more_spans_the_less_exact_are_the_machines_times() {
        let machine = machine([0, 360], [0, 0]);
        let accounted = |spans| AccountedCpu { spans, ..accounted(0.0, 2.9) };
        assert_eq!(marks(&machine, &apart(), &accounted(1)).len(), 1);
        assert_eq!(marks(&machine, &apart(), &accounted(100)), []);
    }

    #[test]
    fn on_shared_cpus_both_ends_are_no_strangers() {
        let shared = Placement { server: vec![0], generator: vec![0], ..Placement::default() };
        let machine = machine([1000, 900], [0, 0]);
        assert_eq!(marks(&machine, &shared, &accounted(5.0, 4.8)), []);
        let strange = marks(&machine, &shared, &accounted(5.0, 2.0));
        assert_eq!(texts(&strange), ["foreign process on CPU 0 (29 %)"]);
    }

    #[test]
    fn without_pinning_or_time_there_is_nothing_to_mark() {
        let machine = machine([1000, 1000], [900, 900]);
        assert_eq!(marks(&machine, &apart(), &AccountedCpu::default()), []);
        let unpinned = Placement::default();
        assert_eq!(marks(&machine, &unpinned, &accounted(0.0, 0.0)), []);
    }
}
