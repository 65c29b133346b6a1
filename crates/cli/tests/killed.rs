//! Races that are killed: what they had started ends with them.

use bookend_lab::control_group::{Capability, ControlGroups};
use bookend_lab::process::stat::ProcessStat;
use bookend_lab::process::tree::kill_group;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const BOOKEND: &str = env!("CARGO_BIN_EXE_bookend");

/// Longer than anything here takes on a machine that is busy with other things.
const LONG: Duration = Duration::from_secs(60);

/// What a server starts that outlives it: a child in its session, one in a session of its own, and
/// a daemon.
const STARTS: &str = "\
./child &
setsid ./child &
(setsid setsid ./child < /dev/null > /dev/null 2>&1 &)
";

/// Another whose environment does not tell whose it is, but its session does.
const STARTS_NAMELESS: &str = "env -i ./child &\n";

/// Another of which nothing tells whose it is but the control group that holds it.
const STARTS_UNKNOWN: &str = "(setsid env -i setsid ./child < /dev/null > /dev/null 2>&1 &)\n";

/// A race of two servers that start others, in a process group of its own.
struct Race {
    home: tempfile::TempDir,
    lab: Child,
}

impl Race {
    /// Returns when both servers and all that they start run.
    fn begin(starts: &str) -> Race {
        let home = tempfile::tempdir().expect("a temporary folder");
        // Each says by a file of its own that it runs.
        script(home.path(), "child", "#!/bin/sh\n: > up.$$\nwhile :; do /bin/sleep 1; done\n");
        let server = format!("#!/bin/sh\n{starts}exec {BOOKEND} serve --threads 1 --port $1\n");
        script(home.path(), "server", &server);
        let place = home.path().display();
        let lab = Command::new(BOOKEND)
            .args(["race", &format!("old={place}/server {{port}}")])
            .arg(format!("new={place}/server {{port}}"))
            .args(["--proto", &format!("{ROOT}/proto/helloworld.proto")])
            .args(["--call", "helloworld.Greeter/SayHello", "-d", "{}", "--no-restart"])
            .current_dir(home.path())
            .env("TMPDIR", home.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .expect("the command starts");
        let race = Race { home, lab };
        await_that(|| race.files("up.").len() == 2 * starts.lines().count());
        race
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(self.lab.id().cast_signed()).expect("a process")
    }

    /// Its guardian.
    fn guardian(&self) -> Pid {
        let parent = self.lab.id().cast_signed();
        let mut children = ProcessStat::read_all().into_iter().filter(|stat| stat.parent == parent);
        let guardian = children.find(|stat| name(stat.pid) == "lab-guardian");
        Pid::from_raw(guardian.expect("it has one").pid).expect("a process")
    }

    /// How many processes run, by the folder that they run in.
    fn processes(&self) -> usize {
        let home = self.home.path();
        let is_here = |stat: &ProcessStat| {
            let folder = std::fs::read_link(format!("/proc/{}/cwd", stat.pid));
            folder.is_ok_and(|folder| folder == home) && stat.is_alive()
        };
        ProcessStat::read_all().iter().filter(|stat| is_here(stat)).count()
    }

    fn files(&self, prefix: &str) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.home.path()).expect("a folder");
        let files = entries.map(|entry| entry.expect("a file").path());
        let fits = |file: &PathBuf| file.file_name().unwrap().to_string_lossy().starts_with(prefix);
        files.filter(fits).collect()
    }

    /// The control groups of this lab, wherever they are.
    fn groups(&self) -> Vec<PathBuf> {
        let prefix = format!("bookend.{}-", self.lab.id());
        let mut open = vec![PathBuf::from("/sys/fs/cgroup")];
        let mut found = Vec::new();
        while let Some(folder) = open.pop() {
            let entries = std::fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok);
            let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            for entry in folders {
                match entry.file_name().to_string_lossy().starts_with(&prefix) {
                    true => found.push(entry.path()),
                    false => open.push(entry.path()),
                }
            }
        }
        found
    }
}

impl Drop for Race {
    /// A test that fails leaves nothing either.
    fn drop(&mut self) {
        let _ = self.lab.kill();
        let _ = self.lab.wait();
    }
}

fn script(home: &Path, name: &str, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let file = home.join(name);
    std::fs::write(&file, text).expect("the folder can be written");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&file, mode).expect("it is ours");
}

fn name(pid: i32) -> String {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    name.trim().to_owned()
}

/// Waits until it is so.
fn await_that(mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + LONG;
    while !is_so() {
        assert!(Instant::now() < deadline, "this never came");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_killed_race_leaves_no_process_no_group_and_no_lock() {
    let mut race = Race::begin(&format!("{STARTS}{STARTS_NAMELESS}"));
    race.lab.kill().expect("it runs");
    // Whoever started it need not collect it.
    await_that(|| race.processes() == 0 && race.groups().is_empty());
    await_that(|| race.files("bookend").is_empty());
}

#[test]
fn what_kills_the_whole_process_group_leaves_nothing_either() {
    let race = Race::begin(STARTS);
    kill_process_group(race.pid(), Signal::KILL).expect("it leads one");
    await_that(|| race.processes() == 0 && race.groups().is_empty());
}

#[test]
fn a_process_that_only_its_control_group_knows_ends_with_the_race() {
    if ControlGroups::prepare(kill_group).capabilities().of(Capability::Kill).is_none() {
        println!("(no control groups: nothing tells whose it is)");
        return;
    }
    let race = Race::begin(STARTS_UNKNOWN);
    kill_process(race.pid(), Signal::KILL).expect("it runs");
    await_that(|| race.processes() == 0 && race.groups().is_empty());
}

#[test]
fn what_a_race_has_left_that_was_killed_with_its_guardian_the_next_one_clears_away() {
    let mut race = Race::begin(STARTS);
    kill_process(race.guardian(), Signal::KILL).expect("it runs");
    race.lab.kill().expect("it runs");
    race.lab.wait().expect("it was started");
    let _next = Race::begin("");
    await_that(|| race.processes() == 0 && race.groups().is_empty());
}

#[test]
fn a_race_that_ends_by_itself_ends_its_guardian() {
    let mut race = Race::begin(STARTS);
    let guardian = race.guardian();
    kill_process(race.pid(), Signal::INT).expect("it runs");
    race.lab.wait().expect("it was started");
    assert_ne!(name(guardian.as_raw_nonzero().get()), "lab-guardian");
    assert!(race.processes() == 0 && race.groups().is_empty());
}
