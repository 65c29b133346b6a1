"""The command over a cluster of four Ray nodes on this machine.

The variable BOOKEND is the program to run: it makes a real load test, with a server on one node and generators on two.
What needs to know when a process begins and what it inherits is shown by one that only pretends to be Bookend: an
interrupted run, and an actor that is killed. It takes 20 seconds, and the venv with Ray and mypy, of Python 3.11, has
370 MB.
"""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import unittest
import uuid
from importlib.util import find_spec
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parent
FAKE = str(TESTS / "fake_bookend.py")
BOOKEND = os.environ.get("BOOKEND", "")
# Every process of a test has it among its variables.
MARK = f"BOOKEND_FLEET_TEST={uuid.uuid4()}"
# The least that Ray accepts is 75 MiB.
STORE_BYTES = 80 << 20
CPUS = os.sched_getaffinity(0)


def marked() -> dict[int, str]:
    """The processes of this test and their words."""
    found = {}
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdecimal() and MARK.encode() in (folder / "environ").read_bytes().split(b"\0"):
                found[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
    found.pop(os.getpid(), None)
    return found


def left_over(limit_s: float, *parts: str) -> list[str]:
    """The processes of this test with one of these parts in their words, which are there longer than the limit."""
    deadline = time.monotonic() + limit_s
    while True:
        left = [words for words in marked().values() if any(part in words for part in parts)]
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.1)


def free_port() -> int:
    """A port on which nobody listens."""
    with socket.create_server(("", 0)) as listener:
        return int(listener.getsockname()[1])


@unittest.skipUnless(find_spec("ray"), "needs Ray: pip install 'bookend-rpc[ray]'")
class OverRay(unittest.TestCase):
    """One cluster, because starting it takes most of the time."""

    cluster: Any

    @classmethod
    def setUpClass(cls) -> None:
        name, _, value = MARK.partition("=")
        os.environ[name] = value
        # No report to Ray's makers, no token of this user, and no lower priority, which only root could take back.
        os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_AUTH_MODE="disabled", RAY_worker_niceness="0")
        from ray.cluster_utils import Cluster

        cls.cluster = Cluster()
        cls.addClassCleanup(cls.cluster.shutdown)
        cls.cluster.add_node(num_cpus=1, object_store_memory=STORE_BYTES, include_dashboard=False)
        for part in ("server", "generator", "generator"):
            cls.cluster.add_node(num_cpus=1, object_store_memory=STORE_BYTES, labels={"part": part}, wait=False)
        cls.cluster.wait_for_nodes()

    @classmethod
    def tearDownClass(cls) -> None:
        """Ends Ray, after which nothing of this test may be left."""
        cls.cluster.shutdown()
        left = left_over(10, "")
        assert left == [], left

    def fleet(self, bookend: str, agents: int, *words: str, options: tuple[str, ...] = ()) -> "subprocess.Popen[str]":
        """Starts the command with a server's node and generators' nodes."""
        own = ["--address", self.cluster.address, "--bookend", bookend, "--agents", str(agents), *options]
        own += ["--port", str(free_port()), "--server-label", "part=server", "--generator-label", "part=generator"]
        call = ["--insecure", "--call", "helloworld.Greeter/SayHello", "-d", '{"name":"x"}']
        return subprocess.Popen(
            [sys.executable, "data/scripts/bookend-fleet", *own, "load", *call, *words],
            cwd=TESTS.parent,
            env=os.environ | {"PYTHONPATH": str(TESTS.parent)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def assert_nothing_is_left(self) -> None:
        """No process of the run is there any more, and Ray has its CPUs again."""
        # Of apart.py, which is among the words of its process, a part that nothing else has.
        parts = ("ray::Agent", "fromkeys(own.values()", " agent ", " load ", " serve ")
        self.assertEqual(left_over(5, *parts), [])
        for process, words in marked().items():
            if "/raylet/raylet " in words:
                self.assertEqual(os.sched_getaffinity(process), CPUS)

    @unittest.skipUnless(BOOKEND, "needs the program: BOOKEND=PATH")
    def test_a_server_and_two_generators_make_one_load_test(self) -> None:
        port = free_port()
        server = f"{BOOKEND} serve --host 0.0.0.0 --port {port}"
        words = ["-n", "2000", "--connections", "2", "--format", "json", "--start-server", server]
        run = self.fleet(BOOKEND, 2, *words, f"127.0.0.1:{port}")
        answer, notes = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 0, notes)
        result = json.loads(answer)
        self.assertEqual((result["count"], result["statusCodeDistribution"]), (2000, {"OK": 2000}))
        fleet = result["bookend"]["fleet"]
        self.assertEqual(sorted(agent["name"] for agent in fleet["agents"]), ["load-1", "load-2"])
        self.assertEqual([agent["ok"] for agent in fleet["agents"]], [1000, 1000])
        self.assertEqual(fleet["server"]["name"], "server")
        said = [line for line in notes.splitlines() if line.startswith("bookend-fleet: ")]
        for name, line in zip(("server", "load-1", "load-2"), said, strict=True):
            where = r"had CPU \d+ and the agent had the others" if len(CPUS) > 1 else "shared its only CPU with the agent"
            used = r"they used \d+\.\d\d % of a core: .*raylet \d+\.\d\d %.*\."
            self.assertRegex(line, rf"^bookend-fleet: agent {name} on [\d.]+: Ray's own processes {where}; {used}$")
            self.assertTrue(re.search(r"actor \d", line) and re.search(r"log_monitor \d", line), line)
        self.assert_nothing_is_left()

    def test_an_interrupt_reaches_the_coordinator_once_and_its_status_is_the_commands(self) -> None:
        run = self.fleet(FAKE, 1, "--server-agent", options=("--fleet-cacert", "/a/file"))
        self.assertEqual([line.split()[-1] for line in self.lines_until(run, "joined", "joined")], ["/a/file"] * 2)
        run.send_signal(signal.SIGINT)
        answer, notes = run.communicate(timeout=30)
        self.assertEqual((run.returncode, answer), (130, "interrupted\n"))
        self.assertIn("the coordinator is gone", notes)
        self.assert_nothing_is_left()

    def test_an_agent_ends_with_its_actor_and_the_coordinator_alone_decides_what_that_means(self) -> None:
        run = self.fleet(FAKE, 1, "--server-agent")
        agent = int(self.lines_until(run, "joined", "joined")[-1].split()[3])
        actor = int(Path(f"/proc/{agent}/stat").read_text().rpartition(")")[2].split()[1])
        os.kill(actor, signal.SIGKILL)
        self.assertEqual([words for pid, words in marked().items() if pid == agent and left_over(5, words)], [])
        self.assertIsNone(run.poll())
        run.send_signal(signal.SIGTERM)
        _, notes = run.communicate(timeout=30)
        self.assertEqual(run.returncode, 130)
        self.assertIn("ActorDiedError", notes)
        self.assert_nothing_is_left()

    def lines_until(self, run: "subprocess.Popen[str]", *beginnings: str) -> list[str]:
        """Reads the answer until lines with these beginnings have come, one after the other."""
        assert run.stdout is not None
        lines: list[str] = []
        for beginning in beginnings:
            lines.append(next(line for line in run.stdout if line.startswith(beginning)))
        return lines


if __name__ == "__main__":
    unittest.main()
