"""grpc.aio, one task a call in flight: python async_unary.py --uvloop --concurrency 128"""

import pinned  # isort: skip

import asyncio
from time import perf_counter_ns

import grpc
import uvloop

from echo_pb2 import EchoRequest
from echo_pb2_grpc import EchoStub
from unary import Client


async def keep_calling(client: Client, echo: EchoStub) -> None:
    while client.phases.may_call():
        began_ns = perf_counter_ns()
        try:
            request = EchoRequest(message=client.message)
            client.answered(began_ns, await echo.Hi(request, timeout=client.plan.deadline_s))
        except grpc.RpcError as error:
            client.phases.now.append(error.code().name)


client = Client(grpc.aio.insecure_channel, keep_calling, "asyncio", "uvloop")
run = uvloop.run if client.plan.variant.startswith("uvloop") else asyncio.run
run(client.run())
