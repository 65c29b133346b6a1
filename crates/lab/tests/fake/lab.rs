//! The lab as a process of its own: interrupted, killed, and with all the isolation there is.

use crate::rounds::{FakeRun, measured};
use crate::test_folder::{CALL, TestFolder, launcher, processes_with, serve};
use bookend_lab::control_group::{Capability, ControlGroups};
use bookend_lab::process::interrupt::Interrupt;
use bookend_lab::process::tree::kill_group;
use bookend_results::store::{RunId, Store};
use rustix::process::{Pid, Signal, kill_process};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode};
use std::time::{Duration, Instant};

tests![
    an_interrupted_lab_keeps_its_rows_and_leaves_nothing,
    what_a_killed_lab_left_is_cleared_away,
    a_run_says_where_its_figures_come_from,
];

/// Longer than anything here takes on a machine that is busy with other things.
const LONG: Duration = Duration::from_secs(60);

/// The first cell is measured, the second hangs.
const HANG: &str = "\
if [ -e ../first ]; then touch ../hangs; sleep 1000; fi
touch ../first
";

/// Names the folder for a lab. As an argument, it would make the lab look like one of the fakes.
const FOLDER: &str = "FAKE_FOLDER";

/// Plays a lab in the folder of a test.
pub fn main() -> ExitCode {
    let folder = PathBuf::from(std::env::var_os(FOLDER).unwrap());
    let folder = folder.as_path();
    let mut fake_run = FakeRun::new(TestFolder::borrowed(folder), &["server"], "load");
    fake_run.settings.plan.cases.push("C=1 S=2".parse().unwrap());
    fake_run.settings.spawner.interrupt = Interrupt::on_signals().unwrap();
    fake_run.settings.isolation = true;
    fake_run.store = Store::open(&folder.join("store.db")).unwrap();
    ExitCode::from(fake_run.run().exit_status())
}

/// A lab that hangs in its second cell.
fn hanging_lab(test_folder: &TestFolder) -> Child {
    test_folder.subject("server", "server", &serve(1));
    test_folder.subject("load", "instrument", &format!("{HANG}{CALL}"));
    let mut lab = Command::new(launcher().program)
        .arg(crate::LAB)
        .env(FOLDER, test_folder.path())
        .env("TMPDIR", test_folder.path())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + LONG;
    while !test_folder.path().join("hangs").exists() {
        assert!(Instant::now() < deadline, "the second cell was never begun");
        assert_eq!(lab.try_wait().unwrap(), None);
        std::thread::sleep(Duration::from_millis(5));
    }
    lab
}

fn signal(lab: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(lab.id()).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

fn an_interrupted_lab_keeps_its_rows_and_leaves_nothing() {
    let test_folder = TestFolder::new();
    let mut lab = hanging_lab(&test_folder);
    signal(&lab, Signal::INT);
    assert_eq!(lab.wait().unwrap().code(), Some(130));
    assert_eq!(processes_with(test_folder.path().to_str().unwrap()), [0; 0]);
    let store = Store::open(&test_folder.path().join("store.db")).unwrap();
    let rows = store.rows(RunId(1)).unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(measured(&rows[0]).ok, 10);
    assert_eq!(store.run(RunId(1)).unwrap().finished, None);
}

fn what_a_killed_lab_left_is_cleared_away() {
    if ControlGroups::prepare(kill_group).capabilities().of(Capability::Kill).is_none() {
        println!("(no control groups: only the processes that the lab started itself die with it)");
        return;
    }
    let test_folder = TestFolder::new();
    let mut lab = hanging_lab(&test_folder);
    signal(&lab, Signal::KILL);
    lab.wait().unwrap();
    let groups = ControlGroups::prepare(kill_group);
    assert!(groups.capabilities().of(Capability::Kill).is_some());
    assert_eq!(processes_with(test_folder.path().to_str().unwrap()), [0; 0]);
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
    assert_eq!(measured(&row).memory_source, source, "{notes:?}");
    assert!(notes[0].starts_with("limits: CPU set: "), "{notes:?}");
    assert!(measured(&row).memory_peak_bytes < 256 << 20);
    assert!(measured(&row).server_cpu_seconds >= 0.0);
}
