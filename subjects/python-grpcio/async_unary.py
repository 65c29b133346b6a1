"""grpc.aio, one task a call in flight: python async_unary.py --uvloop --concurrency 128"""

import pinned  # isort: skip

import asyncio
from time import perf_counter_ns
from typing import Callable

import grpc
import uvloop

from unary import Client


async def keep_calling(client: Client, method: Callable) -> None:
    while client.phases.may_call():
        began_ns = perf_counter_ns()
        try:
            reply = await method(client.request(), timeout=client.plan.deadline_s)
            client.answered(began_ns, reply)
        except grpc.RpcError as error:
            client.phases.now.append(error.code().name)


def start(client: Client, method: Callable) -> asyncio.Future:
    return asyncio.create_task(keep_calling(client, method))


client = Client(grpc.aio.insecure_channel, start, "asyncio", "uvloop")
run = uvloop.run if client.plan.variant.startswith("uvloop") else asyncio.run
run(client.run())
