package com.example.grpc.application;

import com.example.grpc.contract.Contract;
import echo.EchoGrpc;
import echo.EchoOuterClass.EchoReply;
import echo.EchoOuterClass.EchoRequest;
import helloworld.GreeterGrpc;
import helloworld.Helloworld.HelloReply;
import helloworld.Helloworld.HelloRequest;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.atomic.LongAdder;

/** The greeters and the echo, with nothing behind them. */
public final class GreeterServer {
  private static final LongAdder ANSWERED = new LongAdder();

  public static void main(String[] arguments) throws Exception {
    Contract.oneOf("BOOKEND_ROLE", "server");
    Contract.oneOf("BOOKEND_TRANSPORT", "h2c");
    String variant = Contract.oneOf("BOOKEND_VARIANT", "plain", "direct");
    var builder = LoopbackServer.on(0);
    builder.addService(new Greeter()).addService(new ComplexGreeter()).addService(new Echo());
    if (variant.equals("direct")) {
      // Handlers that never wait may run where the bytes arrive.
      builder.directExecutor();
    }
    Contract.serve(builder.build().start().getPort());
    Contract.end(ANSWERED);
  }

  private static final class Greeter extends GreeterGrpc.GreeterImplBase {
    @Override
    public void sayHello(HelloRequest request, StreamObserver<HelloReply> caller) {
      String message = "Hello " + request.getName() + "!";
      answer(caller, HelloReply.newBuilder().setMessage(message).build());
    }
  }

  private static final class ComplexGreeter extends complex_proto.GreeterGrpc.GreeterImplBase {
    @Override
    public void sayHello(
        complex_proto.ComplexProto.HelloRequest request,
        StreamObserver<complex_proto.ComplexProto.HelloReply> caller) {
      var reply = complex_proto.ComplexProto.HelloReply.newBuilder();
      answer(caller, reply.setResponse(request.getRequest()).build());
    }
  }

  private static final class Echo extends EchoGrpc.EchoImplBase {
    @Override
    public void hi(EchoRequest request, StreamObserver<EchoReply> caller) {
      answer(caller, EchoReply.newBuilder().setMessage(request.getMessage()).build());
    }
  }

  private static <A> void answer(StreamObserver<A> caller, A reply) {
    ANSWERED.increment();
    caller.onNext(reply);
    caller.onCompleted();
  }
}
