//! Starting, listening to and ending single processes.

use crate::test_folder::{TestFolder, processes_with, spawner};
use bookend_lab::control_group::{Capability, ControlGroups, ResourceLimits};
use bookend_lab::cpu::CpuMeter;
use bookend_lab::invocation::Invocation;
use bookend_lab::process::interrupt::Interrupt;
use bookend_lab::process::output::OutputLine;
use bookend_lab::process::tree::kill_group;
use bookend_lab::process::{Process, ProcessEvent};
use std::path::Path;
use std::time::{Duration, Instant};

tests![
    a_process_says_lines_and_ends_with_its_input,
    a_program_that_is_not_there_is_named,
    a_deaf_process_is_killed_with_its_children,
    a_daemon_comes_back_and_is_killed,
    a_dropped_process_leaves_nothing,
    a_process_may_close_its_output_and_go_on,
    a_child_that_holds_the_pipe_does_not_hold_the_lab,
    a_late_reader_misses_nothing,
    an_interrupt_ends_every_wait,
    a_busy_tree_and_a_sleeping_one_are_told_apart,
    a_process_is_kept_on_its_cpu,
    a_process_gets_no_more_memory_than_its_limit,
];

/// Longer than anything here takes on a machine that is busy with other things.
pub const LONG: Duration = Duration::from_secs(60);

/// Control groups as this machine has them, and none: everything must hold with both.
pub fn both_ways(test: impl Fn(&TestFolder, &ControlGroups)) {
    for groups in [ControlGroups::prepare(kill_group), ControlGroups::none()] {
        let test_folder = TestFolder::new();
        test(&test_folder, &groups);
        let left = processes_with(test_folder.path().to_str().unwrap());
        assert_eq!(left, [0; 0], "processes are left with {}", groups.capabilities());
    }
}

pub fn start(test_folder: &TestFolder, groups: &ControlGroups, text: &str) -> Process {
    start_on(test_folder, groups, text, vec![])
}

fn start_on(
    test_folder: &TestFolder,
    groups: &ControlGroups,
    text: &str,
    cpus: Vec<usize>,
) -> Process {
    let script = test_folder.script("fake.sh", text);
    let limits = ResourceLimits { cpus, ..ResourceLimits::default() };
    start_program(test_folder, groups, &script, &limits)
}

/// Starts a program, pinned to the CPUs of `limits`, which its group need not enforce.
fn start_program(
    test_folder: &TestFolder,
    groups: &ControlGroups,
    program: &Path,
    limits: &ResourceLimits,
) -> Process {
    let command = [program.to_str().unwrap().to_owned()];
    let invocation = Invocation {
        cpus: limits.cpus.clone(),
        ..Invocation::of_tool(&command, test_folder.path())
    };
    let limits = ResourceLimits { cpus: vec![], ..limits.clone() };
    let group = groups.create(&limits).unwrap();
    spawner().spawn(&invocation, group).unwrap()
}

pub fn next(process: &mut Process) -> ProcessEvent {
    process.next_event(Instant::now() + LONG, &Interrupt::new())
}

pub fn line(text: &str) -> ProcessEvent {
    ProcessEvent::Output(OutputLine::Complete(text.to_owned()))
}

fn a_process_says_lines_and_ends_with_its_input() {
    both_ways(|test_folder, groups| {
        let mut process =
            start(test_folder, groups, "echo ready 1; cat; echo bye; echo why >&2; exit 3");
        assert_eq!(next(&mut process), line("ready 1"));
        let mut said = Vec::new();
        let ended = process.end(LONG, |output| said.push(output));
        assert_eq!(said, [OutputLine::Complete("bye".to_owned())]);
        assert_eq!(ended.code(), Some(3));
        assert_eq!(ended.describe(), "why (exit status: 3)");
    });
}

fn a_program_that_is_not_there_is_named() {
    both_ways(|test_folder, groups| {
        let nowhere = Path::new("./nowhere");
        let mut process = start_program(test_folder, groups, nowhere, &ResourceLimits::default());
        assert_eq!(next(&mut process), ProcessEvent::Exited);
        let ended = process.end(LONG, |_| {});
        assert_eq!(ended.code(), Some(127));
        assert!(ended.describe().contains("cannot start ./nowhere"), "{ended:?}");
    });
}

fn a_deaf_process_is_killed_with_its_children() {
    both_ways(|test_folder, groups| {
        let child = test_folder.script("child.sh", "trap '' TERM HUP; while :; do sleep 1; done");
        let text =
            format!("{} & {} & echo ready 1; trap '' TERM; wait", child.display(), child.display());
        let mut process = start(test_folder, groups, &text);
        assert_eq!(next(&mut process), line("ready 1"));
        let ended = process.end(Duration::from_millis(1), |_| {});
        assert_eq!(ended.status, None);
        assert_eq!(ended.survivors, None);
    });
}

fn a_daemon_comes_back_and_is_killed() {
    both_ways(|test_folder, groups| {
        let daemon =
            test_folder.script("daemon.sh", "echo $$ >> daemons; while :; do sleep 1; done");
        let text = format!(
            "setsid setsid {} < /dev/null > /dev/null 2>&1 &\n\
             while [ ! -s daemons ]; do sleep 0.01; done\n echo ready 1; cat",
            daemon.display()
        );
        let mut process = start(test_folder, groups, &text);
        assert_eq!(next(&mut process), line("ready 1"));
        assert!(!processes_with(daemon.to_str().unwrap()).is_empty());
        let ended = process.end(LONG, |_| {});
        assert_eq!(ended.code(), Some(0));
    });
}

fn a_dropped_process_leaves_nothing() {
    both_ways(|test_folder, groups| {
        let mut process = start(test_folder, groups, "sleep 1000 & echo ready 1; sleep 1000");
        assert_eq!(next(&mut process), line("ready 1"));
        assert!(process.tree().members().len() >= 2);
        let tree = process.tree().clone();
        drop(process);
        assert_eq!(tree.members(), []);
    });
}

fn a_process_may_close_its_output_and_go_on() {
    both_ways(|test_folder, groups| {
        let mut process = start(test_folder, groups, "echo last; exec > /dev/null; cat");
        assert_eq!(next(&mut process), line("last"));
        let soon = Instant::now() + Duration::from_millis(50);
        assert_eq!(process.next_event(soon, &Interrupt::new()), ProcessEvent::TimedOut);
        process.close_stdin();
        assert_eq!(next(&mut process), ProcessEvent::Exited);
    });
}

fn a_child_that_holds_the_pipe_does_not_hold_the_lab() {
    both_ways(|test_folder, groups| {
        let mut process = start(test_folder, groups, "sleep 1000 & echo last; exit 5");
        assert_eq!(next(&mut process), line("last"));
        assert_eq!(next(&mut process), ProcessEvent::Exited);
        assert_eq!(process.end(LONG, |_| {}).code(), Some(5));
    });
}

fn a_late_reader_misses_nothing() {
    both_ways(|test_folder, groups| {
        let mut process =
            start(test_folder, groups, "i=0; while [ $i -lt 500 ]; do echo $i; i=$((i + 1)); done");
        while !process.has_ended() && process.tree().members().len() > 1 {
            std::thread::yield_now();
        }
        let mut seen = 0;
        while let ProcessEvent::Output(OutputLine::Complete(text)) = next(&mut process) {
            assert_eq!(text, seen.to_string());
            seen += 1;
        }
        assert_eq!(seen, 500);
    });
}

fn an_interrupt_ends_every_wait() {
    both_ways(|test_folder, groups| {
        let mut process = start(test_folder, groups, "sleep 1000");
        let interrupt = Interrupt::new();
        interrupt.raise();
        let event = process.next_event(Instant::now() + LONG, &interrupt);
        assert_eq!(event, ProcessEvent::Interrupted);
    });
}

/// How long a tree is watched, long enough for the machine to let it run at all.
const WATCHED: Duration = Duration::from_millis(500);

fn a_busy_tree_and_a_sleeping_one_are_told_apart() {
    both_ways(|test_folder, groups| {
        // The work is done by a grandchild: it is the tree's all the same.
        let busy = used(test_folder, groups, "sh -c 'echo ready 1; while :; do :; done'; :");
        let asleep = used(test_folder, groups, "sh -c 'echo ready 1; sleep 1000'; :");
        let all = WATCHED.as_nanos() as u64;
        assert!(asleep < all / 10, "{asleep} ns asleep");
        assert!(busy > 4 * asleep.max(1), "{busy} ns busy, {asleep} ns asleep");
        assert!(busy > all / 20, "{busy} ns busy");
    });
}

fn used(test_folder: &TestFolder, groups: &ControlGroups, text: &str) -> u64 {
    let mut process = start(test_folder, groups, text);
    assert_eq!(next(&mut process), line("ready 1"));
    let mut meter = CpuMeter::of(&process);
    let before = meter.read_ns();
    let event = process.next_event(Instant::now() + WATCHED, &Interrupt::new());
    assert_eq!(event, ProcessEvent::TimedOut);
    meter.read_ns() - before
}

fn a_process_is_kept_on_its_cpu() {
    both_ways(|test_folder, groups| {
        let allowed = bookend_lab::cpu::allowed_cpus();
        let cpu = *allowed.last().unwrap();
        let text = "grep Cpus_allowed_list /proc/self/status";
        let mut process = start_on(test_folder, groups, text, vec![cpu]);
        assert_eq!(next(&mut process), line(&format!("Cpus_allowed_list:\t{cpu}")));
        assert_eq!(process.end(LONG, |_| {}).code(), Some(0));
    });
}

fn a_process_gets_no_more_memory_than_its_limit() {
    both_ways(|test_folder, groups| {
        let is_limited = groups.capabilities().of(Capability::Memory).is_some();
        let limits = ResourceLimits { memory_bytes: Some(32 << 20), ..ResourceLimits::default() };
        let text = "held=$(head -c 100000000 /dev/zero | tr '\\0' x); echo ${#held}";
        let script = test_folder.script("fake.sh", text);
        let mut process = start_program(test_folder, groups, &script, &limits);
        let has_all = next(&mut process) == line("100000000");
        assert_eq!(has_all, !is_limited, "{}", groups.capabilities());
        let describe = process.end(LONG, |_| {}).describe();
        assert_eq!(describe.contains("memory limit"), is_limited, "{describe}");
    });
}
