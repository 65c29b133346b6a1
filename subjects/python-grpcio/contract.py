"""The lab's words, docs/extend/subject-contract.md, and the published command line."""

import argparse
import asyncio
import os
import sys
from pathlib import Path

UNDER_CONTRACT = os.environ.get("BOOKEND_CONTRACT") == "1"
SERVER_ADDRESS = (os.environ.get("BOOKEND_LISTEN") or "127.0.0.1", 0 if UNDER_CONTRACT else 50051)


class Plan:
    """What a client is to do: by the variables, else by the flags of the published scripts."""

    def __init__(self, *variants: str, method: str = "echo.Echo/Hi") -> None:
        words = os.environ if UNDER_CONTRACT else command_line(variants)
        # What is set to nothing is not set.
        words = {name: word for name, word in words.items() if word}
        if words.get("BOOKEND_CONNECTION_PER_CALL") == "1":
            unsupported("a channel's connection is for all of its calls, never for one")
        self.variant = words.get("BOOKEND_VARIANT", variants[0])
        if self.variant not in variants:
            unsupported(f"{sys.argv[0]} has the variants {', '.join(variants)}")
        if words.get("BOOKEND_METHOD", method) != method:
            unsupported(f"no calls of {words['BOOKEND_METHOD']}, only of {method}")
        self.target = words["BOOKEND_TARGET"]
        file = words.get("BOOKEND_REQUEST_FILE")
        self.request = Path(file).read_bytes() if file else b"\x0a\x04ping"
        self.concurrency = int(words.get("BOOKEND_CONCURRENCY", 1))
        self.connections = int(words.get("BOOKEND_CONNECTIONS", self.concurrency))
        self.calls = int(words.get("BOOKEND_CALLS", 0))
        self.warmup_s = int(words.get("BOOKEND_WARMUP_MS", 0)) / 1000
        self.window_s = int(words.get("BOOKEND_MEASURE_MS", 1000)) / 1000
        self.deadline_s = int(words.get("BOOKEND_DEADLINE_MS", 0)) / 1000 or None

    def require_own_connections(self) -> None:
        """For clients that open a connection for each call in flight, and could open no fewer."""
        if self.connections != self.concurrency:
            unsupported(f"{self.concurrency} in flight are {self.concurrency} connections here")


def command_line(variants: tuple[str, ...]) -> dict[str, str]:
    """The published flags as variables. The clock begins when the channels have connected."""
    parser = argparse.ArgumentParser()
    if "uvloop" in variants:
        parser.add_argument("--uvloop", action="store_true")
    parser.add_argument("--concurrency", default="1")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--address", default="127.0.0.1:50051")
    flags = parser.parse_args()
    return {
        "BOOKEND_VARIANT": "uvloop" if getattr(flags, "uvloop", False) else variants[0],
        "BOOKEND_TARGET": flags.address,
        "BOOKEND_CONCURRENCY": flags.concurrency,
        "BOOKEND_WARMUP_MS": "1000",
        "BOOKEND_MEASURE_MS": str(round(flags.seconds * 1000)),
    }


def unsupported(reason: str) -> None:
    """Ends with the status for what a subject cannot do by design."""
    print(reason, file=sys.stderr)
    sys.exit(89)


async def serve_until_the_end(port: int) -> None:
    """Returns when the lab closes our standard input; by hand, never."""
    print(f"ready {port}", flush=True)
    if not UNDER_CONTRACT:
        await asyncio.Event().wait()
    end = asyncio.create_task(asyncio.to_thread(sys.stdin.buffer.read))
    listening = connections_peak = sockets()
    while not end.done():
        connections_peak = max(connections_peak, sockets())
        await asyncio.wait([end], timeout=0.25)
    print(f"note connections_peak {connections_peak - listening}")


def sockets() -> int:
    """Open now. The library tells nobody what it accepts, so its descriptors are looked at."""
    return sum(map(is_socket, Path("/proc/self/fd").iterdir()))


def is_socket(descriptor: Path) -> bool:
    try:
        return os.readlink(descriptor).startswith("socket:")
    except FileNotFoundError:
        return False  # Closed since it was listed.
