//! The lab as a process of its own: interrupted, killed, and with all the isolation there is.

use crate::rounds::{Performance, measured};
use crate::stage::{CALL, Stage, launcher, processes_with, serve};
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

/// Names the stage for a lab. As an argument, it would make the lab look like one of the fakes.
const STAGE: &str = "FAKE_STAGE";

/// Plays a lab on somebody else's stage.
pub fn main() -> ExitCode {
    let folder = PathBuf::from(std::env::var_os(STAGE).unwrap());
    let folder = folder.as_path();
    let mut performance = Performance::new(Stage::visit(folder), &["server"], "load");
    performance
        .settings
        .plan
        .cases
        .push("C=1 S=2".parse().unwrap());
    performance.settings.spawner.interrupt = Interrupt::on_signals().unwrap();
    performance.settings.isolation = true;
    performance.store = Store::open(&folder.join("store.db")).unwrap();
    ExitCode::from(performance.run().exit_status())
}

/// A lab that hangs in its second cell.
fn hanging_lab(stage: &Stage) -> Child {
    stage.subject("server", "server", &serve(1));
    stage.subject("load", "instrument", &format!("{HANG}{CALL}"));
    let mut lab = Command::new(launcher().program)
        .arg(crate::LAB)
        .env(STAGE, stage.folder())
        .env("TMPDIR", stage.folder())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + LONG;
    while !stage.folder().join("hangs").exists() {
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
    let stage = Stage::new();
    let mut lab = hanging_lab(&stage);
    signal(&lab, Signal::INT);
    assert_eq!(lab.wait().unwrap().code(), Some(130));
    assert_eq!(processes_with(stage.folder().to_str().unwrap()), [0; 0]);
    let store = Store::open(&stage.folder().join("store.db")).unwrap();
    let rows = store.rows(RunId(1)).unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(measured(&rows[0]).ok, 10);
    assert_eq!(store.run(RunId(1)).unwrap().finished, None);
}

fn what_a_killed_lab_left_is_cleared_away() {
    if ControlGroups::prepare(kill_group)
        .capabilities()
        .of(Capability::Kill)
        .is_none()
    {
        println!("(no control groups: only the processes that the lab started itself die with it)");
        return;
    }
    let stage = Stage::new();
    let mut lab = hanging_lab(&stage);
    signal(&lab, Signal::KILL);
    lab.wait().unwrap();
    let groups = ControlGroups::prepare(kill_group);
    assert!(groups.capabilities().of(Capability::Kill).is_some());
    assert_eq!(processes_with(stage.folder().to_str().unwrap()), [0; 0]);
}

fn a_run_says_where_its_figures_come_from() {
    let stage = Stage::new();
    stage.subject("server", "server", &serve(1));
    stage.subject("load", "instrument", CALL);
    let mut performance = Performance::new(stage, &["server"], "load");
    performance.settings.isolation = true;
    performance.settings.plan.server_memory_bytes = Some(256 << 20);
    let row = performance.row();
    let notes = performance.store.run(RunId(1)).unwrap().notes;
    let has_group = notes[0].contains("memory: cgroup");
    let source = if has_group { "cgroup" } else { "rss" };
    assert_eq!(measured(&row).memory_source, source, "{notes:?}");
    assert!(notes[0].starts_with("limits: CPU set: "), "{notes:?}");
    assert!(measured(&row).memory_peak_bytes < 256 << 20);
    assert!(measured(&row).server_cpu_seconds >= 0.0);
}
