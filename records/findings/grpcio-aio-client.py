"""grpc.aio without messages of protobuf, under the contract of measured clients, over one channel."""

import asyncio
import os
from pathlib import Path
from time import perf_counter_ns

import grpc

WORDS = os.environ
REQUEST = Path(WORDS["BOOKEND_REQUEST_FILE"]).read_bytes()


async def main() -> None:
    async with grpc.aio.insecure_channel(WORDS["BOOKEND_TARGET"]) as channel:
        method = channel.unary_unary("/" + WORDS["BOOKEND_METHOD"])
        warmup, window, drained = [], [], []
        phase, running = warmup, True

        async def keep_calling() -> None:
            while running:
                began_ns = perf_counter_ns()
                await method(REQUEST)
                phase.append(perf_counter_ns() - began_ns)

        concurrency = int(WORDS["BOOKEND_CONCURRENCY"])
        calls = [asyncio.create_task(keep_calling()) for _ in range(concurrency)]
        await asyncio.sleep(int(WORDS["BOOKEND_WARMUP_MS"]) / 1000)
        phase = window
        print("window start", flush=True)
        await asyncio.sleep(int(WORDS["BOOKEND_MEASURE_MS"]) / 1000)
        phase, running = drained, False
        print("window end", flush=True)
        await asyncio.gather(*calls)
        print(*(f"{latency_ns} 1" for latency_ns in window), sep="\n")
        print(f"warmup {len(warmup)}\nok {len(window)}\ndrained {len(drained)}")
        print("unfinished 0", flush=True)
        # Not by closing the channel, at which 1.75.0 sometimes waits for ever.
        os._exit(0)


asyncio.run(main())
