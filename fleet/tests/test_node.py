"""What a started process inherits, and that it ends with its parent. Without Ray."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from bookend_fleet.node import LAST_BYTES, Agent, start

FLEET = Path(__file__).resolve().parent.parent
# Starts a process that says its number and waits, and waits with it.
PARENT = """
import os
from bookend_fleet.node import start
start("sh", ["-c", "echo $$; exec sleep 60"], "", dict(os.environ), None).wait()
"""


CPUS = os.sched_getaffinity(0)
# Takes the place of apart.py.
SAYS_NOTHING = "print('nothing')"


def said_by(*words: str, token: str = "") -> str:
    """What a shell says to these words."""
    with tempfile.TemporaryFile() as output:
        start("sh", ["-c", *words], token, dict(os.environ), output).wait()
        output.seek(0)
        return output.read().decode()


def state(process: int) -> str:
    """The letter of the process's state, Z for one that has ended, or nothing."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return ""


class Processes(unittest.TestCase):
    def setUp(self) -> None:
        # An actor takes the first CPU from the thread that makes it.
        self.addCleanup(os.sched_setaffinity, 0, CPUS)

    def test_the_token_is_a_variable_that_only_its_user_can_read(self) -> None:
        said = said_by("echo $BOOKEND_FLEET_TOKEN; stat -c %a /proc/$$/environ", token="secret")
        self.assertEqual(said, "secret\n400\n")

    def test_signals_are_as_for_any_command(self) -> None:
        # Ray blocks SIGINT in its workers.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        self.addCleanup(signal.pthread_sigmask, signal.SIG_SETMASK, blocked)
        lines = said_by("grep -E 'SigBlk|SigIgn' /proc/self/status").split()
        # Signals 32 and 33 are the C library's own, and a parent may have left them ignored. A test that runs in
        # the background, or by nohup, has others ignored, as its commands have.
        ignored = [sig for sig in signal.valid_signals() if sig != signal.SIGPIPE and sig != signal.SIGXFSZ]
        ignored = [sig for sig in ignored if signal.getsignal(sig) == signal.SIG_IGN]
        own = sum(1 << (sig - 1) for sig in ignored)
        self.assertEqual([int(mask, 16) & 0x7FFFFFFF for mask in lines[1::2]], [0, own & 0x7FFFFFFF])

    def test_a_process_ends_with_its_parent_even_if_that_is_killed(self) -> None:
        with subprocess.Popen([sys.executable, "-c", PARENT], cwd=FLEET, stdout=subprocess.PIPE) as parent:
            assert parent.stdout is not None
            process = int(parent.stdout.readline())
            parent.kill()
            # The pipe ends when nobody has it any more.
            self.assertEqual(parent.stdout.read(), b"")
        while state(process) not in ("", "Z"):
            time.sleep(0.01)

    def test_a_program_that_is_not_there_is_named(self) -> None:
        agent = Agent("/nowhere/bookend", [], "", SAYS_NOTHING)
        self.assertFalse(agent.begin())
        missing = "/nowhere/bookend: No such file or directory: install bookend-rpc on the node, or pass --bookend PATH"
        self.assertEqual(agent.finish(), f"nothing The agent ended with status 1: {missing}")

    def test_an_agent_that_does_not_end_is_stopped(self) -> None:
        agent = Agent("sh", ["-c", "echo here; exec sleep 60"], "", SAYS_NOTHING)
        self.assertTrue(agent.begin())
        with mock.patch("bookend_fleet.node.END_S", 0.1):
            self.assertEqual(agent.finish(), f"nothing The agent ended with status -{signal.SIGTERM}: here")

    def test_only_the_end_of_what_an_agent_says_is_kept(self) -> None:
        said = Agent("sh", ["-c", "seq 100000; exit 3"], "", SAYS_NOTHING).finish()
        self.assertIn("nothing The agent ended with status 3: ", said)
        self.assertTrue(said.endswith("99999\n100000"))
        self.assertLessEqual(len(said), LAST_BYTES + 50)

    def test_an_agent_leaves_the_first_cpu_to_ray(self) -> None:
        words = [sys.executable, "import os, sys; sys.exit(repr(os.sched_getaffinity(0)))"]
        said = Agent(words[0], ["-c", words[1]], "", SAYS_NOTHING).finish()
        self.assertTrue(said.endswith(repr(CPUS - {min(CPUS)} or CPUS)), said)


if __name__ == "__main__":
    unittest.main()
