"""The model of a run that waits rather than computes (records/pages/audit.md, The model)."""

import heapq
from collections import deque
from dataclasses import dataclass
from itertools import count


@dataclass
class Prediction:
    ok: int
    errors: int
    total_time: float  # nanoseconds, as the means
    latency_mean_all: float
    latency_mean: float


def predict(declared, of_ours=False):
    """`of_ours`: with what differs when our run is predicted."""
    model = {**declared, **(declared.get("ours", {}) if of_ours else {})}
    unbounded = model["calls"]
    return Run(
        workers=model.get("workers", unbounded),
        queue=model.get("queue", unbounded),
        is_silent=model["rejection"] == "silent",
        service=seconds(model["service"]),
        time_out=seconds(model["time_out"]),
    ).prediction(model["concurrency"], model["calls"])


def seconds(text):
    return float(text[:-2]) / 1e3 if text.endswith("ms") else float(text[:-1])


class Call:
    def __init__(self, begun):
        self.begun, self.is_over = begun, False


class Run:
    """One event after the other: the ends of calls at the server, and of callers' patience."""

    def __init__(self, workers, queue, is_silent, service, time_out):
        self.workers, self.queue, self.is_silent = workers, queue, is_silent
        self.service, self.time_out = service, time_out
        self.busy, self.waiting, self.events, self.order = 0, deque(), [], count()
        self.latencies, self.failures = [], []

    def push(self, at, what, call):
        heapq.heappush(self.events, (at, next(self.order), what, call))

    def prediction(self, callers, calls):
        """Every caller makes its next call when the last one is over, until all are made."""
        left, end = calls, 0.0
        for _ in range(min(callers, calls)):
            self.push(0.0, self.arrive, Call(0.0))
            left -= 1
        while self.events:
            now, _, what, call = heapq.heappop(self.events)
            if what(now, call):
                end = now
                if left:
                    left -= 1
                    self.push(now, self.arrive, Call(now))
        ok, all_times = len(self.latencies), sum(self.latencies) + sum(self.failures)
        mean = sum(self.latencies) / ok if ok else 0.0
        return Prediction(ok, calls - ok, end * 1e9, all_times / calls * 1e9, mean * 1e9)

    def arrive(self, now, call):
        is_rejected = self.busy == self.workers and len(self.waiting) == self.queue
        if self.busy < self.workers:
            self.serve(now, call)
        elif not is_rejected:
            self.waiting.append(call)
        patience = 0.0 if is_rejected and not self.is_silent else self.time_out
        self.push(now + patience, self.give_up, call)

    def serve(self, now, call):
        self.busy += 1
        self.push(now + self.service, self.served, call)

    def served(self, now, call):
        """The server does not learn that a caller gave up."""
        self.busy -= 1
        if self.waiting:
            self.serve(now, self.waiting.popleft())
        return self.end(now, call, self.latencies)

    def give_up(self, now, call):
        return self.end(now, call, self.failures)

    def end(self, now, call, times):
        """Whether the call was not over yet."""
        if call.is_over:
            return False
        call.is_over = True
        times.append(now - call.begun)
        return True
