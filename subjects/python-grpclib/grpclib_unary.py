"""grpclib, one task a call in flight: python grpclib_unary.py --uvloop --concurrency 8"""

import pinned  # isort: skip

import asyncio
from time import perf_counter_ns

import uvloop
from grpclib.client import Channel
from grpclib.exceptions import GRPCError, StreamTerminatedError

from contract import Plan
from echo_grpc import EchoStub
from echo_pb2 import EchoRequest
from phases import Phases


class Client:
    """As many calls in flight as are asked for, each made when the one before has ended."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.phases = Phases()
        self.message = EchoRequest.FromString(plan.request).message

    async def run(self) -> None:
        host, port = self.plan.target.split(":")
        # As it was published: one channel a call in flight. Each has a connection of its own.
        channels = [Channel(host, int(port)) for _ in range(self.plan.concurrency)]

        stubs = [EchoStub(channel) for channel in channels]
        await self.phases.run(self.plan, lambda: [self.keep_calling(stub) for stub in stubs])
        for channel in channels:
            channel.close()

    async def keep_calling(self, echo: EchoStub) -> None:
        while self.phases.may_call():
            ended = await self.call(echo)
            self.phases.now.append(ended)

    async def call(self, echo: EchoStub) -> int | str:
        """Returns how long the call took in nanoseconds, or the name of its error."""
        began_ns = perf_counter_ns()
        try:
            reply = await echo.Hi(EchoRequest(message=self.message), timeout=self.plan.deadline_s)
        except GRPCError as error:
            return error.status.name
        except asyncio.TimeoutError:
            return "DEADLINE_EXCEEDED"
        except (OSError, StreamTerminatedError):
            return "UNAVAILABLE"
        if reply.message != self.message:
            raise ValueError(f"the server answered {reply.message!r}, not {self.message!r}")
        return perf_counter_ns() - began_ns


plan = Plan("asyncio", "uvloop")
plan.require_own_connections()
run = uvloop.run if plan.variant == "uvloop" else asyncio.run
run(Client(plan).run())
