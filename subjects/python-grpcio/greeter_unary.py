"""grpc.aio calling the plain greeter, a channel a connection: python greeter_unary.py --concurrency 100"""

import pinned  # isort: skip

import asyncio
from time import perf_counter_ns

import grpc

from contract import Plan
from helloworld_pb2 import HelloRequest
from helloworld_pb2_grpc import GreeterStub
from phases import Phases


async def keep_calling(plan: Plan, phases: Phases, greeter: GreeterStub) -> None:
    name = HelloRequest.FromString(plan.request).name
    greeting = f"Hello {name}!"
    while phases.may_call():
        began_ns = perf_counter_ns()
        try:
            reply = await greeter.SayHello(HelloRequest(name=name), timeout=plan.deadline_s)
            latency_ns = perf_counter_ns() - began_ns
            phases.now.append(latency_ns if reply.message == greeting else "DATA_LOSS")
        except grpc.RpcError as error:
            phases.now.append(error.code().name)


async def run() -> None:
    plan, phases = Plan("greeter", method="helloworld.Greeter/SayHello"), Phases()
    # Channels to one address share one connection unless they are told not to.
    options = [("grpc.use_local_subchannel_pool", 1)]
    count = plan.connections
    channels = [grpc.aio.insecure_channel(plan.target, options) for _ in range(count)]
    stubs = [GreeterStub(channels[call % count]) for call in range(plan.concurrency)]
    await phases.run(plan, lambda: [keep_calling(plan, phases, stub) for stub in stubs])
    await asyncio.gather(*[channel.close() for channel in channels])


asyncio.run(run())
