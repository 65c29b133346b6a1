"""What both clients have in common: channels, and as many loops of calls as are asked for."""

import asyncio
from inspect import isawaitable
from time import perf_counter_ns
from typing import Callable

from contract import Plan
from echo_pb2 import EchoReply, EchoRequest
from echo_pb2_grpc import EchoStub
from phases import Phases


class Client:
    """Keeps so many calls in flight; each is made when the one before has ended."""

    def __init__(self, open_channel: Callable, keep_calling: Callable, *loops: str) -> None:
        """`keep_calling` makes one call after the other, for as long as it may."""
        modes = ("", "-own-connection", "-one-channel")
        self.plan = Plan(*(loop + mode for loop in loops for mode in modes))
        self.message = EchoRequest.FromString(self.plan.request).message
        self.phases, self.open_channel, self.keep_calling = Phases(), open_channel, keep_calling

    async def run(self) -> None:
        # As it was published, one channel a call in flight, unless one is to carry all.
        count = 1 if self.plan.variant.endswith("-one-channel") else self.plan.concurrency
        # Channels to one address share one connection unless they are told not to.
        own = self.plan.variant.endswith("-own-connection")
        if own:
            self.plan.require_own_connections()
        options = [("grpc.use_local_subchannel_pool", 1)] if own else []
        channels = [self.open_channel(self.plan.target, options) for _ in range(count)]
        stubs = [EchoStub(channel) for channel in channels] * (self.plan.concurrency // count)
        await self.phases.run(self.plan, lambda: [self.keep_calling(self, stub) for stub in stubs])
        # A call that is still in flight would keep its thread alive.
        await asyncio.gather(*filter(isawaitable, [channel.close() for channel in channels]))

    def answered(self, began_ns: int, reply: EchoReply) -> None:
        self.phases.now.append(perf_counter_ns() - began_ns)
        if reply.message != self.message:
            raise ValueError(f"the server answered {reply.message!r}, not {self.message!r}")
