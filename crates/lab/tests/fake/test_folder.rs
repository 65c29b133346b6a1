//! The folder of a test with its fake programs, gone afterwards.

use bookend_lab::launch::Launcher;
use bookend_lab::process::interrupt::Interrupt;
use bookend_lab::process::stat::ProcessStat;
use bookend_lab::spawner::Spawner;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A fake server: it says it is ready, waits for its standard input to close, then says how many
/// calls the fake instruments have noted for it. Nobody connects, so any port will do.
pub fn serve(port: u16) -> String {
    format!(": > ../calls-{port}\necho ready {port}\ncat > /dev/null\n{}", count(port))
}

/// The end of a fake server.
pub fn count(port: u16) -> String {
    format!(
        "total=0\nwhile read calls; do total=$((total + calls)); done < ../calls-{port}\n\
         echo \"served $total\""
    )
}

/// A fake instrument: ten calls of a microsecond each.
pub const CALL: &str = "\
echo 10 >> ../calls-${BOOKEND_TARGET##*:}
echo window start
echo window end
echo 1000 10
echo ok 10
echo unfinished 0
";

/// The folder of one test.
pub struct TestFolder {
    folder: PathBuf,
    is_ours: bool,
}

impl TestFolder {
    pub fn new() -> TestFolder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("bookend-fake-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        TestFolder { folder, is_ours: true }
    }

    /// The folder of another test, which removes it.
    pub fn borrowed(folder: &Path) -> TestFolder {
        TestFolder { folder: folder.to_owned(), is_ours: false }
    }

    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Writes a shell script and returns its path.
    pub fn script(&self, name: &str, text: &str) -> PathBuf {
        let file = self.folder.join(name);
        fs::write(&file, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        file
    }

    /// Writes a subject whose `run` is a script, and returns its name.
    pub fn subject(&self, name: &str, role: &str, text: &str) -> String {
        self.subject_with(name, role, text, "")
    }

    /// The same with more lines of `subject.toml`.
    pub fn subject_with(&self, name: &str, role: &str, text: &str, more: &str) -> String {
        fs::create_dir_all(self.folder.join(name)).unwrap();
        self.script(&format!("{name}/run.sh"), text);
        let declared = format!(
            "name = \"{name}\"\nlanguage = \"sh\"\ndescription = \"a fake\"\nroles = [\"{role}\"]\n\
             version = [\"echo\", \"fake 1.0\"]\nrun = [\"./run.sh\"]\n{more}"
        );
        fs::write(self.folder.join(name).join("subject.toml"), declared).unwrap();
        name.to_owned()
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        if self.is_ours {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

/// This binary as the launcher.
pub fn launcher() -> Launcher {
    Launcher::new(std::env::current_exe().unwrap(), vec![crate::LAUNCH.into()])
}

/// Starts processes of a test.
pub fn spawner() -> Spawner {
    Spawner {
        launcher: launcher(),
        bookend: "/nowhere/bookend".into(),
        interrupt: Interrupt::new(),
    }
}

/// Living processes of which `word` is on the command line.
pub fn processes_with(word: &str) -> Vec<i32> {
    let alive = ProcessStat::read_all().into_iter().filter(ProcessStat::is_alive);
    let named = alive.filter(|stat| {
        let command = fs::read(format!("/proc/{}/cmdline", stat.pid)).unwrap_or_default();
        String::from_utf8_lossy(&command).contains(word)
    });
    named.map(|stat| stat.pid).collect()
}
