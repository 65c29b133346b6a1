"""A server's life: by hand without end, under the contract for as long as its input is open."""

import asyncio
import sys
from pathlib import Path

from contract import UNDER_CONTRACT

ADDRESS = ("127.0.0.1", 0 if UNDER_CONTRACT else 50051)


async def until_the_end(port: int) -> None:
    print(f"ready {port}", flush=True)
    if not UNDER_CONTRACT:
        await asyncio.Event().wait()
    end = asyncio.create_task(asyncio.to_thread(sys.stdin.buffer.read))
    connections_peak = 0
    while not end.done():
        connections_peak = max(connections_peak, connections(port))
        await asyncio.wait([end], timeout=0.25)
    print(f"note connections_peak {connections_peak}")


def connections(port: int) -> int:
    """Established now. The library tells nobody what it accepts, so the kernel's table is asked."""
    # An IPv6 socket can listen on IPv4 as well; its connections stand in the second table.
    tables = map(Path, ("/proc/self/net/tcp", "/proc/self/net/tcp6"))
    rows = [line.split() for table in tables for line in table.read_text().splitlines()]
    return sum(row[1].endswith(f":{port:04X}") and row[3] == "01" for row in rows)
