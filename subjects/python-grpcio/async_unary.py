"""grpc.aio, one task a call in flight.

python async_unary.py [--uvloop] --concurrency 128 --seconds 10
"""

import pinned  # isort: skip

import asyncio
from time import perf_counter_ns

import grpc
import uvloop

import plan
from unary import Client, Method


class AsyncClient(Client):
    def channel(self, options: list[tuple[str, int]]) -> grpc.aio.Channel:
        return grpc.aio.insecure_channel(self.plan.target, options)

    async def close(self, channel: grpc.aio.Channel) -> None:
        await channel.close()

    def start(self, method: Method) -> asyncio.Future:
        return asyncio.create_task(self.keep_calling(method))

    async def keep_calling(self, method: Method) -> None:
        while self.recorder.may_call():
            began_ns = perf_counter_ns()
            try:
                reply = await method(self.request(), timeout=self.plan.deadline_s)
                self.answered(began_ns, reply)
            except grpc.RpcError as error:
                self.recorder.failed(error.code().name)


asked = plan.read("asyncio", "uvloop")
run = uvloop.run if asked.variant.startswith("uvloop") else asyncio.run
run(AsyncClient(asked).run())
