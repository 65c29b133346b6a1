"""Where calls are counted as they end, and how the counts are told."""

from collections import Counter
from itertools import repeat
from statistics import mean, quantiles
from time import perf_counter_ns
from typing import Iterator


class Tally:
    """The calls that ended in one phase. Lists, because any thread may append to them."""

    def __init__(self) -> None:
        self.latencies_ns: list[int] = []
        self.errors: list[str] = []


class Recorder:
    """Counts calls by the phase in which they end, and gives leave to make them."""

    def __init__(self, under_contract: bool) -> None:
        self.under_contract = under_contract
        self.warmup, self.window, self.drained = Tally(), Tally(), Tally()
        self.now = self.warmup
        self.permits: Iterator[bool] = repeat(True)
        self.began_ns = self.ended_ns = 0

    def may_call(self) -> bool:
        """Asked before each call, on any thread: to take a permit is one step."""
        return next(self.permits, False)

    def answered(self, began_ns: int) -> None:
        self.now.latencies_ns.append(perf_counter_ns() - began_ns)

    def failed(self, code: str) -> None:
        self.now.errors.append(code)

    def stop(self) -> None:
        self.permits = iter(())

    def open_window(self, calls: int | None = None) -> None:
        """Counts for the window from now on, and lets so many `calls` be made."""
        self.permits = repeat(True, calls) if calls else self.permits
        self.now, self.began_ns = self.window, perf_counter_ns()
        self.say("window start")

    def close_window(self) -> None:
        self.stop()
        self.now, self.ended_ns = self.drained, perf_counter_ns()
        self.say("window end")

    def say(self, line: str) -> None:
        if self.under_contract:
            print(line, flush=True)

    def report(self, pending: int) -> None:
        """Prints everything at the end; `pending` calls were waited for in vain."""
        print(*(self.lines(pending) if self.under_contract else self.published()), sep="\n")

    def lines(self, pending: int) -> Iterator[str]:
        latencies = Counter(self.window.latencies_ns)
        yield from (f"{latency_ns} {count}" for latency_ns, count in latencies.items())
        yield from (f"error {code} {count}" for code, count in Counter(self.window.errors).items())
        yield f"warmup {len(self.warmup.latencies_ns)}"
        yield f"ok {latencies.total()}"
        yield f"drained {len(self.drained.latencies_ns)}"
        yield f"unfinished {pending + len(self.drained.errors)}"

    def published(self) -> Iterator[str]:
        """The figures of the published table, latencies in seconds."""
        latencies_s = [latency_ns / 1e9 for latency_ns in self.window.latencies_ns]
        yield f"QPS: {len(latencies_s) / (self.ended_ns - self.began_ns) * 1e9:.0f}"
        if len(latencies_s) > 1:
            yield f"Latency avg: {mean(latencies_s):.6f}"
            percentiles = quantiles(latencies_s, n=100)
            yield from (f"Latency P{p}: {percentiles[p - 1]:.6f}" for p in (75, 90, 99))
        yield from (f"{code}: {count}" for code, count in Counter(self.window.errors).items())
