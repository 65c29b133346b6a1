//! CPU time that is used where nobody looks: by threads and processes that end between two looks.

use crate::process::{LONG, both_ways, line, next, start};
use crate::test_folder::launcher;
use bookend_lab::cpu::{CpuGaps, CpuMeter};
use bookend_lab::process::Process;
use bookend_lab::process::interrupt::Interrupt;
use rustix::time::{ClockId, clock_gettime};
use std::io;
use std::process::{Child, Command, ExitCode};
use std::thread;
use std::time::{Duration, Instant};

tests![
    what_a_process_has_used_is_known_once_it_has_ended,
    what_ended_threads_have_used_counts,
    what_ended_children_have_used_counts,
    what_an_orphan_has_used_counts,
    children_that_end_unheard_are_told_of,
];

/// The word that makes this binary work.
pub const BURN: &str = "play-burner";

/// How many threads or processes work, one after the other.
const WORKERS: u32 = 4;

/// CPU time that each of them uses.
const WORK: Duration = Duration::from_millis(30);

/// In how fine steps the kernel tells what ended processes have used, in user mode and not.
const TICKS: Duration = Duration::from_millis(20);

/// Works as the second word says, once there is a line on standard input.
pub fn main(how: &str) -> ExitCode {
    match how {
        "once" => burn(),
        "once-and-say-so" => {
            burn();
            println!("done");
        }
        "and-leave-a-child" => drop(play("once-and-say-so")),
        _ => burn_on_demand(how),
    }
    ExitCode::SUCCESS
}

fn burn_on_demand(how: &str) {
    println!("ready 1");
    io::stdin().read_line(&mut String::new()).expect("standard input is there");
    let wait = |mut child: Child| drop(child.wait());
    match how {
        "threads" => (0..WORKERS).for_each(|_| thread::spawn(burn).join().expect("it ends")),
        "children" => (0..WORKERS).for_each(|_| wait(play("once"))),
        // The child says that it is done.
        "orphan" => wait(play("and-leave-a-child")),
        _ => panic!("{how} is no way to work"),
    }
    if how != "orphan" {
        println!("done");
    }
    io::copy(&mut io::stdin(), &mut io::sink()).expect("standard input is there");
}

fn play(how: &str) -> Child {
    let this = std::env::current_exe().expect("this program is there");
    Command::new(this).args([BURN, how]).spawn().expect("it starts")
}

fn burn() {
    let used = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).expect("no debt");
    while used() < WORK {}
}

/// What a process has used according to its meter, once it has worked.
fn used(process: &mut Process) -> (Duration, CpuGaps) {
    assert_eq!(next(process), line("ready 1"));
    let mut meter = CpuMeter::of(process);
    let before_ns = meter.read_ns();
    process.write_line("go").expect("it reads");
    assert_eq!(next(process), line("done"));
    (Duration::from_nanos(meter.read_ns() - before_ns), meter.gaps())
}

fn burner(how: &str) -> String {
    format!("exec '{}' {BURN} {how}", launcher().program.display())
}

fn what_a_process_has_used_is_known_once_it_has_ended() {
    both_ways(|test_folder, groups| {
        let process = start(test_folder, groups, &burner("once"));
        let (mut meter, mut used_ns) = (CpuMeter::of(&process), 0);
        let (deadline, interrupt) = (Instant::now() + LONG, Interrupt::new());
        let read_meter = || used_ns = meter.read_ns();
        let output = process.collect_then(deadline, 0, &interrupt, read_meter);
        assert!(output.succeeded(), "{output:?}");
        let used = Duration::from_nanos(used_ns);
        // Its own clock began with the launcher, before it was in its group.
        assert!(used >= WORK / 2, "{used:?} with {}", groups.capabilities());
    });
}

fn what_ended_threads_have_used_counts() {
    both_ways(|test_folder, groups| {
        let (used, gaps) = used(&mut start(test_folder, groups, &burner("threads")));
        assert!(used >= WORK * WORKERS, "{used:?} with {}", groups.capabilities());
        assert_eq!(gaps, CpuGaps::default());
    });
}

fn what_ended_children_have_used_counts() {
    both_ways(|test_folder, groups| {
        let mut process = start(test_folder, groups, &burner("children"));
        let is_grouped = process.account().cpu.is_some();
        let (used, gaps) = used(&mut process);
        assert!(used >= WORK * WORKERS - TICKS, "{used:?} with {}", groups.capabilities());
        assert_eq!(gaps.in_ticks_ns == 0, is_grouped, "{gaps:?}");
        assert!(!gaps.ignores_children);
    });
}

fn what_an_orphan_has_used_counts() {
    both_ways(|test_folder, groups| {
        let (used, _) = used(&mut start(test_folder, groups, &burner("orphan")));
        assert!(used >= WORK, "{used:?} with {}", groups.capabilities());
    });
}

fn children_that_end_unheard_are_told_of() {
    both_ways(|test_folder, groups| {
        let text = format!("exec bash -c \"trap '' CHLD; {}\"", burner("children"));
        let mut process = start(test_folder, groups, &text);
        let is_grouped = process.account().cpu.is_some();
        let (used, gaps) = used(&mut process);
        assert_eq!(gaps.ignores_children, !is_grouped);
        assert!(!is_grouped || used >= WORK * WORKERS, "{used:?}");
    });
}
