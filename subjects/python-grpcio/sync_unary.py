"""Blocking stubs, one thread a call in flight; the main thread only waits.

python sync_unary.py --concurrency 128 --seconds 10
"""

import pinned  # isort: skip

import asyncio
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter_ns

import grpc

import plan
from unary import Client, Method


class SyncClient(Client):
    def __init__(self, asked: plan.Plan) -> None:
        super().__init__(asked)
        self.threads = ThreadPoolExecutor(asked.concurrency)

    def channel(self, options: list[tuple[str, int]]) -> grpc.Channel:
        return grpc.insecure_channel(self.plan.target, options)

    async def close(self, channel: grpc.Channel) -> None:
        channel.close()

    def start(self, method: Method) -> asyncio.Future:
        loop = asyncio.get_running_loop()
        return loop.run_in_executor(self.threads, self.keep_calling, method)

    def keep_calling(self, method: Method) -> None:
        while self.recorder.may_call():
            began_ns = perf_counter_ns()
            try:
                reply = method(self.request(), timeout=self.plan.deadline_s)
                self.answered(began_ns, reply)
            except grpc.RpcError as error:
                self.recorder.failed(error.code().name)


asyncio.run(SyncClient(plan.read("sync")).run())
