//! A process of our own program that outlives a lab that was killed, and ends what that lab had
//! started.
//!
//! Whatever ends a lab closes the pipe that its guardian reads. The parent-death signal of the
//! launcher reaches the processes that the lab itself started, and none that those have started.
//!
//! What is aimed at the lab shall not hit its guardian: it has a process group of its own, for
//! shells and `timeout` kill groups, and a name of its own, for `killall` goes by names.

use crate::control_group::ControlGroups;
use crate::held_folder;
use crate::lock::{Lock, LockTarget};
use crate::process::tree::{kill_group, kill_orphans};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::collections::BTreeSet;
use std::ffi::{CStr, OsStr};
use std::io::{BufRead, Result, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What the kernel calls a guardian.
const NAME: &CStr = c"lab-guardian";

/// How long a lab whose pipe is closed may take to be gone: until then it seems to live.
const END_TIMEOUT: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// The guardian of a lab, if it was started. Clones share it; with the last one it ends.
#[derive(Clone, Debug, Default)]
pub struct Guardian(Arc<Mutex<Watch>>);

#[derive(Debug, Default)]
struct Watch {
    process: Option<GuardianProcess>,
    /// The leaders of the sessions that it is to end.
    roots: BTreeSet<i32>,
}

#[derive(Debug)]
struct GuardianProcess {
    child: Child,
    input: ChildStdin,
}

impl Guardian {
    /// Starts it with a command that leads to [`main`], unless it runs.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(&self, command: impl FnOnce() -> Command) -> Result<()> {
        let mut watch = self.watched();
        let Watch { process, roots } = &mut *watch;
        process.take_if(|process| !matches!(process.child.try_wait(), Ok(None)));
        if process.is_none() {
            let started = process.insert(GuardianProcess::start(command())?);
            roots.iter().for_each(|root| started.tell('+', *root));
        }
        Ok(())
    }

    /// From now on the session of `root` ends with the lab, even if nothing else tells that its
    /// processes are the lab's: some overwrite their environment.
    pub fn watch(&self, root: i32) {
        let mut watch = self.watched();
        watch.roots.insert(root);
        watch.process.iter_mut().for_each(|process| process.tell('+', root));
    }

    /// Takes that back: the session is gone. To be called while `root` is not reaped, so that no
    /// other session has its number.
    pub fn release(&self, root: i32) {
        let mut watch = self.watched();
        watch.roots.remove(&root);
        watch.process.iter_mut().for_each(|process| process.tell('-', root));
    }

    fn watched(&self) -> MutexGuard<'_, Watch> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl GuardianProcess {
    fn tell(&mut self, sign: char, root: i32) {
        // Whoever killed it, the lab goes on, and starts another with its next process.
        let _ = self.input.write_all(format!("{sign}{root}\n").as_bytes());
    }

    fn start(mut command: Command) -> Result<GuardianProcess> {
        // Whoever reads what the lab prints shall not wait for its guardian.
        let mut child = command
            .process_group(0)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let input = child.stdin.take().expect("standard input is a pipe");
        Ok(GuardianProcess { child, input })
    }
}

impl Drop for GuardianProcess {
    /// A lab that ends by itself has ended what it had started.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for the end of `lab`, then kills all that it has started and removes its groups, folders
/// and lock. Never returns.
pub fn main(lab: Option<&OsStr>) -> ! {
    let _ = rustix::thread::set_name(NAME);
    let sessions = sessions_in(std::io::stdin().lock());
    if let Some(lab) = lab.and_then(|lab| Pid::from_raw(lab.to_str()?.parse().ok()?)) {
        wait_for_end(lab);
    }
    // At once, when no other lab can be about to take it.
    Lock::remove_abandoned(&LockTarget::Machine);
    kill_orphans(&sessions);
    ControlGroups::remove_abandoned(kill_group);
    held_folder::remove_abandoned(&std::env::temp_dir());
    std::process::exit(0)
}

/// The sessions that are to be ended when the lab closes its end of the pipe.
fn sessions_in(input: impl BufRead) -> BTreeSet<i32> {
    let mut sessions = BTreeSet::new();
    for line in input.lines().map_while(Result::ok) {
        match (line.get(..1), line.get(1..).and_then(|root| root.parse().ok())) {
            (Some("+"), Some(root)) => sessions.insert(root),
            (_, Some(root)) => sessions.remove(&root),
            (_, None) => false,
        };
    }
    sessions
}

/// The kernel closes files one after another, so that the lab's locks may be held for a moment
/// longer than the pipe.
fn wait_for_end(lab: Pid) {
    if let Ok(lab) = pidfd_open(lab, PidfdFlags::empty()) {
        let _ = poll(&mut [PollFd::new(&lab, PollFlags::IN)], Some(&END_TIMEOUT));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_watched_until_it_is_released() {
        let said = b"+17\n+18\n-17\n+19\nnonsense\n\n-x\n".as_slice();
        assert_eq!(sessions_in(said), BTreeSet::from([18, 19]));
        assert_eq!(sessions_in(b"".as_slice()), BTreeSet::new());
    }

    #[test]
    fn a_guardian_is_started_once_and_ends_with_its_last_clone() {
        let guardian = Guardian::default();
        guardian.watch(17);
        guardian.start(|| Command::new("cat")).unwrap();
        let other = guardian.clone();
        other.start(|| unreachable!("it was started before")).unwrap();
        drop(guardian);
        let id = id(&other);
        let is_there = || std::path::Path::new(&format!("/proc/{id}")).exists();
        assert!(is_there());
        drop(other);
        assert!(!is_there());
    }

    #[test]
    fn one_that_was_killed_is_followed_by_another_that_knows_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let told = folder.path().join("told");
        let command = || {
            let mut tee = Command::new("tee");
            tee.arg(&told);
            tee
        };
        let guardian = Guardian::default();
        guardian.start(command).unwrap();
        guardian.watch(17);
        guardian.watch(18);
        guardian.release(17);
        let first = id(&guardian);
        let kill = |watch: &mut Watch| watch.process.as_mut().unwrap().child.kill();
        kill(&mut guardian.watched()).unwrap();
        while id(&guardian) == first {
            guardian.start(command).unwrap();
        }
        while std::fs::read_to_string(&told).unwrap_or_default() != "+18\n" {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }

    fn id(guardian: &Guardian) -> u32 {
        guardian.watched().process.as_ref().unwrap().child.id()
    }
}
