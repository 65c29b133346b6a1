"""A program that keeps Ray's own processes of a node on its first CPU, the agent having the others, until its input
ends; then it gives them their CPUs back and prints what they used. It is no part of the actor, because Ray's processes
have to get their CPUs back after an actor that was killed."""

import contextlib
import os
import re
import sys
import time
from pathlib import Path

# A process is Ray's own if its command line, in which a zero byte ends each word, has this.
OWN = r"(?:^ray::|/ray/(?:\w+/)*)(raylet|gcs_server|\w*monitor|dashboard|DashboardAgent|RuntimeEnvAgent|IDLE)\b"
WORKER = r"^ray::(\w+)"


def found(pattern: str) -> dict[int, str]:
    """The processes of this user whose words have the pattern, with the name that its group matches."""
    names = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            match = re.search(pattern, (folder / "cmdline").read_text(errors="replace"))
            if match and folder.stat().st_uid == os.getuid():
                names[int(folder.name)] = match[1]
    return names


def allow(processes: set[int], cpus: set[int]) -> None:
    """Gives all threads of the processes these CPUs, where they are still there and this user has the permission."""
    for thread in (thread for process in processes for thread in Path(f"/proc/{process}/task").glob("*")):
        with contextlib.suppress(OSError):
            os.sched_setaffinity(int(thread.name), cpus)


def used_s(process: int) -> float:
    """The CPU time of all threads that the process has had, by clock_getcpuclockid(3); 0 for one that has ended."""
    with contextlib.suppress(OSError):
        return time.clock_gettime(~process << 3 | 2)
    return 0


def main(raylet: int, actor: int) -> None:
    """Keeps the raylet, the actor and what Ray runs for itself apart. Other jobs' workers stay where they are."""
    own = {process: name for process, name in found(OWN).items() if name != "raylet"}
    own |= {raylet: "raylet", actor: "actor"}
    workers, cpus = found(WORKER).keys(), os.sched_getaffinity(raylet)
    first = min(cpus)
    where = f"had CPU {first} and the agent had the others" if len(cpus) > 1 else "shared its only CPU with the agent"
    allow(set(own), {first})
    if os.sched_getaffinity(raylet) != {first}:
        where = "shared the agent's CPUs, because this user has no permission to move them"
    began_s, before_s = time.monotonic(), {process: used_s(process) for process in own}
    sys.stdin.read()
    percent = 100 / (time.monotonic() - began_s)
    shares = dict.fromkeys(own.values(), 0.0)
    for process, name in own.items():
        shares[name] += max(0, used_s(process) - before_s[process]) * percent
    # Workers that the raylet has started since then have its one CPU, too.
    allow(own.keys() | (found(WORKER).keys() - workers), cpus)
    ledger = ", ".join(f"{name} {shares[name]:.2f} %" for name in sorted(shares, key=lambda name: -shares[name]))
    print(f"Ray's own processes {where}; they used {sum(shares.values()):.2f} % of a core: {ledger}.")


# The parent is the actor, and Ray may kill an actor's children with it, but not its grandchildren.
if __name__ == "__main__" and os.fork() == 0:
    main(int(sys.argv[1]), int(sys.argv[2]))
