//! The lab as a process of its own: interrupted, killed, and with all the isolation there is.

use crate::rounds::{FakeRun, measured};
use crate::test_folder::{CALL, TestFolder, launcher, processes_with, serve};
use bookend_lab::control_group::{Capability, ControlGroups};
use bookend_lab::process::interrupt::Interrupt;
use bookend_lab::process::stat::ProcessStat;
use bookend_lab::process::tree::kill_group;
use bookend_lab::run::remove_leftovers;
use bookend_results::store::{RunId, Store};
use rustix::process::{Pid, Signal, kill_process};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode};
use std::time::{Duration, Instant};

tests![
    an_interrupted_lab_keeps_its_rows_and_leaves_nothing,
    a_killed_lab_leaves_nothing,
    what_a_killed_lab_left_is_cleared_away,
    a_lab_whose_terminal_hangs_up_ends_as_if_interrupted,
    a_second_signal_does_not_wait_for_servers_and_leaves_nothing,
    processes_that_no_group_held_are_found_by_the_next_lab,
    a_killed_run_goes_on_where_it_was_stored,
    a_run_says_where_its_figures_come_from,
];

/// Longer than anything here takes on a machine that is busy with other things.
const LONG: Duration = Duration::from_secs(60);

/// The first cell is measured, the second hangs.
const HANG: &str = "\
if [ -e ../first ] && [ ! -e ../go ]; then touch ../hangs; sleep 1000; fi
touch ../first
";

/// Names the folder for a lab. As an argument, it would make the lab look like one of the fakes.
const FOLDER: &str = "FAKE_FOLDER";

/// The rounds of the one case that such a lab measures; else it is one round of two cases.
const ROUNDS: &str = "FAKE_ROUNDS";

/// Set for a lab without control groups.
const BARE: &str = "FAKE_BARE";

/// Plays a lab in the folder of a test.
pub fn main() -> ExitCode {
    let folder = PathBuf::from(std::env::var_os(FOLDER).unwrap());
    let folder = folder.as_path();
    let mut fake_run = FakeRun::new(TestFolder::borrowed(folder), &["server"], "load");
    match std::env::var(ROUNDS) {
        Ok(rounds) => fake_run.settings.plan.rounds = rounds.parse().unwrap(),
        Err(_) => fake_run.settings.plan.cases.push("C=1 S=2".parse().unwrap()),
    }
    fake_run.settings.spawner.interrupt = Interrupt::on_signals().unwrap();
    fake_run.settings.isolation = std::env::var_os(BARE).is_none();
    fake_run.settings.timeouts.drain = Duration::from_secs(3600);
    fake_run.store = Store::open(&folder.join("store.db")).unwrap();
    ExitCode::from(fake_run.run().exit_status())
}

/// A lab that hangs in its second cell.
fn hanging_lab(test_folder: &TestFolder, variables: &[(&str, &str)]) -> Child {
    test_folder.subject("load", "instrument", &format!("{HANG}{CALL}"));
    // The tests themselves may have been started by `nohup`, which a lab respects.
    let mut lab = Command::new("env")
        .arg("--default-signal=HUP")
        .arg(launcher().program)
        .arg(crate::LAB)
        .env(FOLDER, test_folder.path())
        .env("TMPDIR", test_folder.path())
        .envs(variables.iter().copied())
        .spawn()
        .unwrap();
    wait_for(&mut lab, test_folder, "hangs");
    lab
}

/// Waits until a program of the test has made the file `name`.
fn wait_for(lab: &mut Child, test_folder: &TestFolder, name: &str) {
    let deadline = Instant::now() + LONG;
    while !test_folder.path().join(name).exists() {
        assert!(Instant::now() < deadline, "{name} was never made");
        assert_eq!(lab.try_wait().unwrap(), None);
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The folders with keys that labs have left.
fn temporary_folders(test_folder: &TestFolder) -> usize {
    let entries = std::fs::read_dir(test_folder.path()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with("bookend-run.")).count()
}

fn signal(lab: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(lab.id()).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

fn an_interrupted_lab_keeps_its_rows_and_leaves_nothing() {
    ends_and_leaves_nothing(Signal::INT);
}

fn a_lab_whose_terminal_hangs_up_ends_as_if_interrupted() {
    ends_and_leaves_nothing(Signal::HUP);
}

fn ends_and_leaves_nothing(how: Signal) {
    let test_folder = TestFolder::new();
    test_folder.subject("server", "server", &serve(1));
    let mut lab = hanging_lab(&test_folder, &[]);
    signal(&lab, how);
    assert_eq!(lab.wait().unwrap().code(), Some(130));
    assert_eq!(processes_with(test_folder.path().to_str().unwrap()), [0; 0]);
    assert_eq!(temporary_folders(&test_folder), 0);
    let store = Store::open(&test_folder.path().join("store.db")).unwrap();
    let rows = store.rows(RunId(1)).unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(measured(&rows[0]).counts.ok, 10);
    assert_eq!(store.run(RunId(1)).unwrap().finished, None);
}

/// Kills a lab and, before it, the guardian that would clear away what it leaves.
fn kill_with_guardian(lab: &mut Child) {
    let parent = i32::try_from(lab.id()).unwrap();
    let name = |pid| std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    let mut children = ProcessStat::read_all().into_iter().filter(|stat| stat.parent == parent);
    let guardian = children.find(|stat| name(stat.pid) == "lab-guardian\n").unwrap();
    kill_process(Pid::from_raw(guardian.pid).unwrap(), Signal::KILL).unwrap();
    signal(lab, Signal::KILL);
    lab.wait().unwrap();
}

fn a_killed_lab_leaves_nothing() {
    for variables in [&[(BARE, "1")][..], &[]] {
        let test_folder = TestFolder::new();
        let child = test_folder.script("child.sh", "while :; do sleep 1; done");
        let child = child.display();
        // The second does not tell whose it is, but its session does.
        let starts =
            format!("setsid setsid {child} < /dev/null > /dev/null 2>&1 &\nenv -i {child} &");
        test_folder.subject("server", "server", &format!("{starts}\n{}", serve(1)));
        let mut lab = hanging_lab(&test_folder, variables);
        signal(&lab, Signal::KILL);
        let living = || processes_with(test_folder.path().to_str().unwrap());
        let deadline = Instant::now() + LONG;
        while !living().is_empty() || temporary_folders(&test_folder) > 0 {
            assert!(Instant::now() < deadline, "left: {:?}", living());
            std::thread::sleep(Duration::from_millis(5));
        }
        // Until now nobody has collected it.
        lab.wait().unwrap();
    }
}

fn what_a_killed_lab_left_is_cleared_away() {
    if ControlGroups::prepare(kill_group).capabilities().of(Capability::Kill).is_none() {
        println!("(no control groups: only the processes that the lab started itself die with it)");
        return;
    }
    let test_folder = TestFolder::new();
    test_folder.subject("server", "server", &serve(1));
    let mut lab = hanging_lab(&test_folder, &[]);
    kill_with_guardian(&mut lab);
    assert_eq!(temporary_folders(&test_folder), 1);
    let groups = ControlGroups::prepare(kill_group);
    assert!(groups.capabilities().of(Capability::Kill).is_some());
    assert_eq!(processes_with(test_folder.path().to_str().unwrap()), [0; 0]);
}

fn a_second_signal_does_not_wait_for_servers_and_leaves_nothing() {
    let test_folder = TestFolder::new();
    // It would drain for an hour.
    let slow = ": > ../calls-1\necho ready 1\ncat > /dev/null\ntouch ../drains\nsleep 3600";
    test_folder.subject("server", "server", slow);
    let mut lab = hanging_lab(&test_folder, &[]);
    signal(&lab, Signal::INT);
    wait_for(&mut lab, &test_folder, "drains");
    signal(&lab, Signal::INT);
    assert_eq!(lab.wait().unwrap().code(), Some(130));
    assert_eq!(processes_with(test_folder.path().to_str().unwrap()), [0; 0]);
    assert_eq!(temporary_folders(&test_folder), 0);
    let store = Store::open(&test_folder.path().join("store.db")).unwrap();
    assert_eq!(store.rows(RunId(1)).unwrap().len(), 1);
}

/// A server that starts another process, which outlives it.
fn serve_with_grandchild(test_folder: &TestFolder) -> PathBuf {
    let grandchild = test_folder.script("grandchild.sh", "while :; do sleep 1; done");
    let text = format!("setsid {} < /dev/null > /dev/null 2>&1 &", grandchild.display());
    test_folder.subject("server", "server", &format!("{text}\n{}", serve(1)));
    grandchild
}

fn processes_that_no_group_held_are_found_by_the_next_lab() {
    let test_folder = TestFolder::new();
    let grandchild = serve_with_grandchild(&test_folder);
    let mut lab = hanging_lab(&test_folder, &[(BARE, "1")]);
    kill_with_guardian(&mut lab);
    let living = || processes_with(grandchild.to_str().unwrap());
    assert_eq!(living().len(), 1, "the kernel kills only what the lab itself started");
    let said = remove_leftovers();
    assert!(
        said.iter().any(|line| line.starts_with("processes that killed labs had left")),
        "{said:?}"
    );
    while !living().is_empty() {
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn a_killed_run_goes_on_where_it_was_stored() {
    let test_folder = TestFolder::new();
    test_folder.subject("server", "server", &serve(1));
    let mut lab = hanging_lab(&test_folder, &[(ROUNDS, "3")]);
    signal(&lab, Signal::KILL);
    lab.wait().unwrap();
    let file = test_folder.path().join("store.db");
    let before = Store::open(&file).unwrap().rows(RunId(1)).unwrap();
    assert_eq!(before.iter().map(|row| row.round).collect::<Vec<_>>(), [0]);
    std::fs::write(test_folder.path().join("go"), "").unwrap();
    let mut fake_run = FakeRun::new(test_folder, &["server"], "load");
    fake_run.store = Store::open(&file).unwrap();
    fake_run.settings.resume = true;
    fake_run.settings.isolation = true;
    let summary = fake_run.run();
    assert_eq!((summary.id, summary.rounds, summary.exit_status()), (Some(RunId(1)), 3, 0));
    let rows = fake_run.store.rows(RunId(1)).unwrap();
    assert_eq!(rows.iter().map(|row| row.round).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(rows[..1], before, "what was stored is not measured again");
    assert!(fake_run.store.run(RunId(1)).unwrap().finished.is_some());
    assert_eq!(fake_run.store.runs().unwrap().len(), 1);
}

fn a_run_says_where_its_figures_come_from() {
    let test_folder = TestFolder::new();
    test_folder.subject("server", "server", &serve(1));
    test_folder.subject("load", "instrument", CALL);
    let mut fake_run = FakeRun::new(test_folder, &["server"], "load");
    fake_run.settings.isolation = true;
    fake_run.settings.plan.limits.server_memory_bytes = Some(256 << 20);
    let row = fake_run.row();
    let notes = fake_run.store.run(RunId(1)).unwrap().notes;
    let has_group = notes[0].contains("memory: cgroup");
    let source = if has_group { "cgroup" } else { "rss" };
    assert_eq!(measured(&row).ends.server.memory_source.as_deref(), Some(source), "{notes:?}");
    assert!(notes[0].starts_with("limits: CPU set: "), "{notes:?}");
    assert!(measured(&row).ends.server.memory_peak_bytes.is_some_and(|bytes| bytes < 256 << 20));
    assert!(measured(&row).ends.server.cpu_seconds >= 0.0);
}
