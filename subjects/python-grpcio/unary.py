"""What both clients have in common: the channels, and the message that goes there and back."""

import asyncio
from functools import partial
from inspect import isawaitable
from time import perf_counter_ns
from typing import Any, Callable

from contract import Plan, unsupported
from echo_pb2 import EchoRequest
from echo_pb2_grpc import EchoStub
from helloworld_pb2 import HelloRequest
from helloworld_pb2_grpc import GreeterStub
from phases import Phases

METHODS = {
    "echo.Echo/Hi": (EchoStub, "Hi", EchoRequest, "{}"),
    "helloworld.Greeter/SayHello": (GreeterStub, "SayHello", HelloRequest, "Hello {}!"),
}
MODES = ("", "-own-connection", "-one-channel")


class Client:
    """As many calls in flight as are asked for, each made when the one before has ended."""

    def __init__(self, open_channel: Callable, start: Callable, *loops: str) -> None:
        """`start` makes one call after the other with a stub's method, on a thread or a task."""
        self.plan = plan = Plan(*(loop + mode for loop in loops for mode in MODES))
        self.phases, self.open_channel, self.start = Phases(), open_channel, start
        if plan.method not in METHODS:
            unsupported(f"{plan.method} is not among {', '.join(METHODS)}")
        self.stub, self.method, message, answer = METHODS[plan.method]
        # One string is all that the messages have. They are built anew for each call, in its clock.
        [(field, text)] = message.FromString(plan.request).ListFields()
        self.request = partial(message, **{field.name: text})
        self.answer = answer.format(text)

    async def run(self) -> None:
        # As it was published, one channel a call in flight, unless one is to carry all.
        count = 1 if self.plan.variant.endswith("-one-channel") else self.plan.concurrency
        # Channels to one address share one connection unless they are told not to.
        own = self.plan.variant.endswith("-own-connection")
        options = [("grpc.use_local_subchannel_pool", 1)] if own else []
        channels = [self.open_channel(self.plan.target, options) for _ in range(count)]
        methods = [getattr(self.stub(channel), self.method) for channel in channels]
        methods *= self.plan.concurrency // count
        await self.phases.run(self.plan, lambda: [self.start(self, method) for method in methods])
        # A call that is still in flight would keep its thread alive.
        await asyncio.gather(*filter(isawaitable, [channel.close() for channel in channels]))

    def answered(self, began_ns: int, reply: Any) -> None:
        self.phases.now.append(perf_counter_ns() - began_ns)
        if reply.message != self.answer:
            raise ValueError(f"the server answered {reply.message!r}, not {self.answer!r}")
