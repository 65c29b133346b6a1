"""What both clients have in common: channels, phases, and the message that goes there and back."""

import asyncio
from abc import ABC, abstractmethod
from typing import Any, Callable

import echo_pb2
import echo_pb2_grpc
import helloworld_pb2
import helloworld_pb2_grpc

import plan
from record import Recorder

DRAIN_S = 5
"""So long are calls waited for that are in flight when the window ends."""

Method = Callable[..., Any]
"""A stub's method: takes a request, gives a reply or the promise of one."""


class Client(ABC):
    """As many calls in flight as are asked for, each made when the one before has ended."""

    def __init__(self, asked: plan.Plan) -> None:
        self.plan = asked
        self.recorder = Recorder(asked.under_contract)
        # The text is the first and only field of the requests of both methods.
        text = echo_pb2.EchoRequest.FromString(asked.request).message
        if asked.method == "echo.Echo/Hi":
            self.method = lambda channel: echo_pb2_grpc.EchoStub(channel).Hi
            self.request = lambda: echo_pb2.EchoRequest(message=text)
            self.answer = text
        elif asked.method == "helloworld.Greeter/SayHello":
            self.method = lambda channel: helloworld_pb2_grpc.GreeterStub(channel).SayHello
            self.request = lambda: helloworld_pb2.HelloRequest(name=text)
            self.answer = f"Hello {text}!"
        else:
            plan.unsupported(f"{asked.method} is not among the methods of subject.toml")

    @abstractmethod
    def channel(self, options: list[tuple[str, int]]) -> Any:
        """A new channel to the target."""

    @abstractmethod
    def start(self, method: Method) -> asyncio.Future:
        """Starts to make calls, for as long as the recorder permits."""

    @abstractmethod
    async def close(self, channel: Any) -> None:
        """Closes a channel and ends what is still in flight on it."""

    async def run(self) -> None:
        """Warm-up, window, drain, report."""
        # One channel a call in flight, as it was published, unless one is to carry all.
        one = self.plan.variant.endswith("-one-channel")
        # Channels to one address share one connection unless they are told not to.
        own = self.plan.variant.endswith("-own-connection")
        options = [("grpc.use_local_subchannel_pool", 1)] if own else []
        channels = [self.channel(options) for _ in range(1 if one else self.plan.concurrency)]
        methods = [self.method(channel) for channel in channels]
        pending = await self.measure(methods * self.plan.concurrency if one else methods)
        for channel in channels:
            await self.close(channel)
        self.recorder.report(pending)

    async def measure(self, methods: list[Method]) -> int:
        """Returns how many calls never ended."""
        units = [self.start(method) for method in methods]
        await asyncio.sleep(self.plan.warmup_s)
        if self.plan.calls:
            self.recorder.stop()
            await asyncio.gather(*units)
            self.recorder.open_window(self.plan.calls)
            units = [self.start(method) for method in methods]
            await asyncio.gather(*units)
        else:
            self.recorder.open_window()
            await asyncio.sleep(self.plan.window_s)
        self.recorder.close_window()
        ended, pending = await asyncio.wait(units, timeout=DRAIN_S)
        await asyncio.gather(*ended)
        return len(pending)

    def answered(self, began_ns: int, reply: Any) -> None:
        self.recorder.answered(began_ns)
        if reply.message != self.answer:
            raise ValueError(f"the server answered {reply.message!r}, not {self.answer!r}")
