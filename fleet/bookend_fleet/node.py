"""What starts Bookend's processes, on the driver's node and on others. The other nodes get this file's code from the
driver, so it imports nothing of this package: they need Ray and the program, and no `bookend_fleet`."""

import os
import shutil
import sys
import sysconfig
import tempfile
import time
from pathlib import Path
from subprocess import PIPE, Popen, TimeoutExpired
from typing import IO

# A program that becomes another one. The kernel ends that one together with the parent, even if the parent is killed.
# Ray blocks SIGINT in its workers, and Python ignores SIGPIPE and SIGXFSZ; a measured program should inherit none.
# A process with as many threads as Ray's must not run Python between fork and exec, so this is not a `preexec_fn`.
BECOME = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # 1 is PR_SET_PDEATHSIG
if os.getppid() != int(sys.argv[1]): sys.exit("the parent has ended")
signal.pthread_sigmask(signal.SIG_SETMASK, [])
for number in (signal.SIGPIPE, signal.SIGXFSZ): signal.signal(number, signal.SIG_DFL)
try: os.execv(sys.argv[2], sys.argv[2:])
except OSError as e: sys.exit(f"{sys.argv[2]}: {e.strerror}: install bookend-rpc on the node, or pass --bookend PATH")
"""
# How long an agent may take to end after the coordinator, which has told it to, and then on SIGTERM.
END_S = 5.0
# A process that cannot run at all, for example for a flag that it does not know, ends sooner than this.
EARLY_S = 0.5
# The end of what an agent has said: enough for its last sentences.
LAST_BYTES = 2000


def start(bookend: str, words: list[str], token: str, env: dict[str, str], output: IO[bytes] | None) -> Popen[bytes]:
    """Starts the program as a child that ends with the calling thread. Only this user can read its variables."""
    # The program of the wheel that this Python has is preferred to one on PATH.
    folders = os.pathsep.join([sysconfig.get_path("scripts"), env.get("PATH", "")])
    program = shutil.which(bookend, path=folders) or bookend
    become = [sys.executable, "-IS", "-c", BECOME, str(os.getpid()), program, *words]
    # In a session of its own, because Ctrl-C at a terminal would reach it twice, and the second ends it at once.
    return Popen(become, env=env | {"BOOKEND_FLEET_TOKEN": token}, stdout=output, stderr=output, start_new_session=True)


class Agent:
    """The Ray actor of one node, which starts `bookend agent` there. It does nothing while the agent runs."""

    def __init__(self, bookend: str, words: list[str], token: str, apart: str) -> None:
        self._notes: list[str] = []
        # Ray's workers have a niceness of 15. A child inherits it from this thread, and only root can lower it.
        try:
            os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, os.getppid()))
        except PermissionError:
            self._notes.append("Ray slowed the agent down by a niceness: start Ray there with RAY_worker_niceness=0.")
        # A child inherits this thread's CPUs, too. The thread itself gets the first one with the rest of Ray.
        cpus = os.sched_getaffinity(0)
        os.sched_setaffinity(0, cpus - {min(cpus)} or cpus)
        self._said = tempfile.TemporaryFile()
        self._process = start(bookend, words, token, node_environment(), self._said)
        keep_apart = [sys.executable, "-IS", "-c", apart, str(os.getppid()), str(os.getpid())]
        self._apart = Popen(keep_apart, stdin=PIPE, stdout=PIPE, text=True, start_new_session=True)

    def begin(self) -> bool:
        """Returns whether the agent runs after a moment."""
        time.sleep(EARLY_S)
        return not self._process.poll()

    def finish(self) -> str:
        """Waits for the agent, stops it if that takes too long, and returns what there is to say about this node."""
        self._notes.append(self._apart.communicate()[0].strip())
        for stop in (self._process.terminate, self._process.kill):
            try:
                self._process.wait(END_S)
            except TimeoutExpired:
                stop()
        with self._said:
            self._said.seek(max(0, self._said.seek(0, os.SEEK_END) - LAST_BYTES))
            said = self._said.read().decode(errors="replace").strip()
        ended = self._process.wait()
        return " ".join([*self._notes, f"The agent ended with status {ended}: {said}"] if ended else self._notes)


def node_environment() -> dict[str, str]:
    """The variables of `ray start`. Ray changes some in its workers, as OMP_NUM_THREADS, and hides GPUs from them."""
    entries = os.fsdecode(Path(f"/proc/{os.getppid()}/environ").read_bytes()).split("\0")
    return dict(entry.split("=", 1) for entry in entries if "=" in entry)
