"""Where Ray's own processes run during a measurement and after it, and the ledger. Without Ray."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from bookend_fleet import apart

PROGRAM = Path(apart.__file__).read_text()
CPUS = os.sched_getaffinity(0)


def cpus_of_threads(process: int) -> set[frozenset[int]]:
    """The sets of CPUs that the threads of the process have."""
    threads = Path(f"/proc/{process}/task").iterdir()
    return {frozenset(os.sched_getaffinity(int(thread.name))) for thread in threads}


class Apart(unittest.TestCase):
    def setUp(self) -> None:
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        folder = Path(made.name) / "ray" / "raylet"
        folder.mkdir(parents=True)
        shutil.copy(shutil.which("sleep") or "/bin/sleep", folder / "raylet")
        self.raylet = self.process(str(folder / "raylet"), "60")
        self.another_raylet = self.process(str(folder / "raylet"), "60")
        self.actor = self.process(sys.executable, "-c", "while True: pass")
        words = [sys.executable, "-IS", "-c", PROGRAM, str(self.raylet.pid), str(self.actor.pid)]
        self.program = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.addCleanup(self.program.wait)

    def process(self, *words: str) -> "subprocess.Popen[bytes]":
        """A process until the end of the test."""
        process = subprocess.Popen(words)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def wait_for(self, process: int, cpus: set[int]) -> None:
        """Waits until all threads of the process have these CPUs."""
        for _ in range(1000):
            if cpus_of_threads(process) == {frozenset(cpus)}:
                return
            time.sleep(0.01)
        self.fail(f"{process} has {cpus_of_threads(process)} and not {cpus}")

    def test_ray_has_the_first_cpu_during_a_run_and_all_after_it(self) -> None:
        for process in (self.raylet, self.actor):
            self.wait_for(process.pid, {min(CPUS)})
        self.assertEqual(cpus_of_threads(self.another_raylet.pid), {frozenset(CPUS)})
        # What a raylet starts meanwhile has its CPUs.
        worker = self.process("bash", "-c", f"taskset -pc {min(CPUS)} $$ >/dev/null; exec -a ray::Other sleep 60")
        while not Path(f"/proc/{worker.pid}/cmdline").read_text().startswith("ray::"):
            time.sleep(0.01)
        # On one CPU nothing else shows that the program measures.
        while apart.used_s(self.actor.pid) < 0.5:
            time.sleep(0.01)
        said, _ = self.program.communicate(timeout=10)
        where = "had CPU \\d+ and the agent had the others" if len(CPUS) > 1 else "shared its only CPU with the agent"
        self.assertRegex(said, f"^Ray's own processes {where}; they used \\d+.\\d\\d % of a core: .*raylet \\d")
        self.assertRegex(said, r"actor (?!0\.00)\d+\.\d\d %")
        for process in (self.raylet, self.actor, worker):
            self.assertEqual(cpus_of_threads(process.pid), {frozenset(CPUS)})

    def test_ray_gets_its_cpus_back_from_a_program_whose_caller_is_killed(self) -> None:
        self.wait_for(self.raylet.pid, {min(CPUS)})
        # This is what the kernel does for a killed one.
        for pipe in (self.program.stdin, self.program.stdout):
            assert pipe is not None
            pipe.close()
        self.wait_for(self.raylet.pid, CPUS)


class Names(unittest.TestCase):
    def test_a_process_of_ray_itself_is_known_by_its_words(self) -> None:
        known = {
            "/x/site-packages/ray/core/src/ray/raylet/raylet\0--log_dir=/tmp/ray/session_1/logs\0": "raylet",
            "/x/bin/python\0-u\0/x/site-packages/ray/_private/log_monitor.py\0--session-dir=/tmp/ray/s\0": "log_monitor",
            "/x/bin/python\0/x/site-packages/ray/dashboard/dashboard.py\0--host=127.0.0.1\0": "dashboard",
            "ray::DashboardAgent": "DashboardAgent",
            "ray::IDLE": "IDLE",
        }
        for words, name in known.items():
            match = re.search(apart.OWN, words)
            self.assertEqual(match and match[1], name)
        for words in ("ray::Trainer.step", "/x/bin/python\0/home/x/ray/train.py\0", "ray::raylet_of_mine"):
            self.assertIsNone(re.search(apart.OWN, words))


if __name__ == "__main__":
    unittest.main()
