"""Warm-up, window and drain: calls are counted in the phase in which they end."""

import asyncio
from collections import Counter
from itertools import repeat
from statistics import mean, quantiles
from time import perf_counter_ns
from typing import Callable, Coroutine, Iterator

from contract import UNDER_CONTRACT, Plan

DRAIN_S = 5  # So long are calls waited for that are in flight when the window ends.


class Phases:
    """Keeps how calls ended: after so many nanoseconds, or with an error's name."""

    def __init__(self) -> None:
        self.warmup, self.window, self.drained = [], [], []
        self.now: list[int | str] = self.warmup
        self.permits: Iterator[bool] = repeat(True)

    def may_call(self) -> bool:
        """Asked before each call, on any thread: to take a permit is one step."""
        return next(self.permits, False)

    async def run(self, plan: Plan, loops: Callable[[], list[Coroutine]]) -> None:
        """Runs `loops`, which make one call after the other while they may."""
        running = [asyncio.create_task(each) for each in loops()]
        await asyncio.sleep(plan.warmup_s)
        if plan.calls:
            self.permits = iter(())
            await asyncio.gather(*running)
            self.permits = repeat(True, plan.calls)
        began_ns = self.enter(self.window, "window start")
        if plan.calls:
            running = [asyncio.create_task(each) for each in loops()]
            await asyncio.gather(*running)
        else:
            await asyncio.sleep(plan.window_s)
        self.permits = iter(())
        window_s = (self.enter(self.drained, "window end") - began_ns) / 1e9
        ended, pending = await asyncio.wait(running, timeout=DRAIN_S)
        await asyncio.gather(*ended)
        print(*(self.lines(len(pending)) if UNDER_CONTRACT else self.published(window_s)), sep="\n")

    def enter(self, phase: list[int | str], line: str) -> int:
        self.now = phase
        if UNDER_CONTRACT:
            print(line, flush=True)
        return perf_counter_ns()

    def lines(self, pending: int) -> Iterator[str]:
        for ended, count in Counter(self.window).items():
            yield f"{ended} {count}" if isinstance(ended, int) else f"error {ended} {count}"
        warmup, ok, drained = map(latencies_ns, (self.warmup, self.window, self.drained))
        yield from (f"warmup {len(warmup)}", f"ok {len(ok)}", f"drained {len(drained)}")
        errors_outside = len(self.warmup + self.drained) - len(warmup + drained)
        yield f"unfinished {pending + errors_outside}"

    def published(self, window_s: float) -> Iterator[str]:
        """The figures of the published table, latencies in seconds."""
        ok = latencies_ns(self.window)
        yield f"QPS: {len(ok) / window_s:.0f}"
        if len(ok) > 1:
            yield f"Latency avg: {mean(ok) / 1e9:.6f}"
            percentiles = quantiles(ok, n=100)
            yield from (f"Latency P{p}: {percentiles[p - 1] / 1e9:.6f}" for p in (75, 90, 99))
        yield f"Errors: {len(self.window) - len(ok)}"


def latencies_ns(phase: list[int | str]) -> list[int]:
    return [ended for ended in phase if isinstance(ended, int)]
