//! Starting, listening to and ending single processes.

use crate::Test;
use crate::stage::{Stage, launcher, processes_with};
use bookend_lab::control_group::{ControlGroups, Limits};
use bookend_lab::cpu::CpuMeter;
use bookend_lab::process::interrupt::Interrupt;
use bookend_lab::process::output::Output;
use bookend_lab::process::{Event, Process, ProcessPlan};
use std::time::{Duration, Instant};

pub const TESTS: &[Test] = &[
    (
        "a_process_says_lines_and_ends_with_its_input",
        a_process_says_lines_and_ends_with_its_input,
    ),
    (
        "a_program_that_is_not_there_is_named",
        a_program_that_is_not_there_is_named,
    ),
    (
        "a_deaf_process_is_killed_with_its_children",
        a_deaf_process_is_killed_with_its_children,
    ),
    (
        "a_daemon_comes_back_and_is_killed",
        a_daemon_comes_back_and_is_killed,
    ),
    (
        "a_dropped_process_leaves_nothing",
        a_dropped_process_leaves_nothing,
    ),
    ("an_interrupt_ends_every_wait", an_interrupt_ends_every_wait),
    (
        "a_busy_tree_and_a_sleeping_one_are_told_apart",
        a_busy_tree_and_a_sleeping_one_are_told_apart,
    ),
    ("a_process_is_kept_on_its_cpu", a_process_is_kept_on_its_cpu),
];

/// Longer than anything here takes on a machine that is busy with other things.
const LONG: Duration = Duration::from_secs(60);

/// Control groups as this machine has them, and none: everything must hold with both.
fn both_ways(test: impl Fn(&Stage, &ControlGroups)) {
    for groups in [ControlGroups::prepare(), ControlGroups::none()] {
        let stage = Stage::new();
        test(&stage, &groups);
        let left = processes_with(stage.folder().to_str().unwrap());
        assert_eq!(
            left,
            [0; 0],
            "processes are left with {}",
            groups.capabilities()
        );
    }
}

fn start(stage: &Stage, groups: &ControlGroups, text: &str) -> Process {
    start_on(stage, groups, text, vec![])
}

fn start_on(stage: &Stage, groups: &ControlGroups, text: &str, cpus: Vec<usize>) -> Process {
    let script = stage.script("fake.sh", text);
    let plan = ProcessPlan {
        command: vec![script.into()],
        folder: stage.folder().to_owned(),
        cpus,
        ..ProcessPlan::default()
    };
    let group = groups.create(&Limits::default()).unwrap();
    Process::start(&launcher(), &plan, group).unwrap()
}

fn next(process: &mut Process) -> Event {
    process.next_event(Instant::now() + LONG, &Interrupt::new())
}

fn line(text: &str) -> Event {
    Event::Output(Output::Line(text.to_owned()))
}

fn a_process_says_lines_and_ends_with_its_input() {
    both_ways(|stage, groups| {
        let mut process = start(
            stage,
            groups,
            "echo ready 1; cat; echo bye; echo why >&2; exit 3",
        );
        assert_eq!(next(&mut process), line("ready 1"));
        let mut said = Vec::new();
        let ended = process.end(LONG, |output| said.push(output));
        assert_eq!(said, [Output::Line("bye".to_owned())]);
        assert_eq!(ended.code(), Some(3));
        assert_eq!(ended.complaint(), "why (exit status: 3)");
    });
}

fn a_program_that_is_not_there_is_named() {
    both_ways(|stage, groups| {
        let plan = ProcessPlan {
            command: vec!["./nowhere".into()],
            folder: stage.folder().to_owned(),
            ..ProcessPlan::default()
        };
        let group = groups.create(&Limits::default()).unwrap();
        let mut process = Process::start(&launcher(), &plan, group).unwrap();
        assert_eq!(next(&mut process), Event::Ended);
        let ended = process.end(LONG, |_| {});
        assert_eq!(ended.code(), Some(127));
        assert!(
            ended.complaint().contains("cannot start ./nowhere"),
            "{ended:?}"
        );
    });
}

fn a_deaf_process_is_killed_with_its_children() {
    both_ways(|stage, groups| {
        let child = stage.script("child.sh", "trap '' TERM HUP; while :; do sleep 1; done");
        let text = format!(
            "{} & {} & echo ready 1; trap '' TERM; wait",
            child.display(),
            child.display()
        );
        let mut process = start(stage, groups, &text);
        assert_eq!(next(&mut process), line("ready 1"));
        let ended = process.end(Duration::from_millis(1), |_| {});
        assert_eq!(ended.status, None);
        assert_eq!(ended.survivors, None);
    });
}

fn a_daemon_comes_back_and_is_killed() {
    both_ways(|stage, groups| {
        let daemon = stage.script("daemon.sh", "echo $$ >> daemons; while :; do sleep 1; done");
        let text = format!(
            "setsid setsid {} < /dev/null > /dev/null 2>&1 &\n\
             while [ ! -s daemons ]; do sleep 0.01; done\n echo ready 1; cat",
            daemon.display()
        );
        let mut process = start(stage, groups, &text);
        assert_eq!(next(&mut process), line("ready 1"));
        assert_eq!(processes_with("daemon.sh").len(), 1);
        let ended = process.end(LONG, |_| {});
        assert_eq!(ended.code(), Some(0));
    });
}

fn a_dropped_process_leaves_nothing() {
    both_ways(|stage, groups| {
        let mut process = start(stage, groups, "sleep 1000 & echo ready 1; sleep 1000");
        assert_eq!(next(&mut process), line("ready 1"));
        assert!(process.tree().members().len() >= 2);
        let tree = process.tree().clone();
        drop(process);
        assert_eq!(tree.members(), []);
    });
}

fn an_interrupt_ends_every_wait() {
    both_ways(|stage, groups| {
        let mut process = start(stage, groups, "sleep 1000");
        let interrupt = Interrupt::new();
        interrupt.raise();
        let event = process.next_event(Instant::now() + LONG, &interrupt);
        assert_eq!(event, Event::Interrupted);
    });
}

/// How long a tree is watched, long enough for the machine to let it run at all.
const WATCHED: Duration = Duration::from_millis(500);

fn a_busy_tree_and_a_sleeping_one_are_told_apart() {
    both_ways(|stage, groups| {
        // The work is done by a grandchild: it is the tree's all the same.
        let busy = used(
            stage,
            groups,
            "sh -c 'echo ready 1; while :; do :; done'; :",
        );
        let asleep = used(stage, groups, "sh -c 'echo ready 1; sleep 1000'; :");
        let all = WATCHED.as_nanos() as u64;
        assert!(asleep < all / 10, "{asleep} ns asleep");
        assert!(
            busy > 4 * asleep.max(1),
            "{busy} ns busy, {asleep} ns asleep"
        );
        assert!(busy > all / 20, "{busy} ns busy");
    });
}

fn used(stage: &Stage, groups: &ControlGroups, text: &str) -> u64 {
    let mut process = start(stage, groups, text);
    assert_eq!(next(&mut process), line("ready 1"));
    let mut meter = CpuMeter::of(&process);
    let before = meter.read_ns();
    let event = process.next_event(Instant::now() + WATCHED, &Interrupt::new());
    assert_eq!(event, Event::TimedOut);
    meter.read_ns() - before
}

fn a_process_is_kept_on_its_cpu() {
    both_ways(|stage, groups| {
        let allowed = bookend_lab::cpu::allowed_cpus();
        let cpu = *allowed.last().unwrap();
        let text = "grep Cpus_allowed_list /proc/self/status";
        let mut process = start_on(stage, groups, text, vec![cpu]);
        assert_eq!(
            next(&mut process),
            line(&format!("Cpus_allowed_list:\t{cpu}"))
        );
        assert_eq!(process.end(LONG, |_| {}).code(), Some(0));
    });
}
