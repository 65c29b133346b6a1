package com.example.quarkus;

import helloworld.Greeter;
import helloworld.Helloworld.HelloReply;
import helloworld.Helloworld.HelloRequest;
import io.quarkus.grpc.GrpcService;
import io.smallrye.mutiny.Uni;
import java.util.concurrent.atomic.LongAdder;

/** Greets on the event loop that reads the connection: without an annotation, nothing may block. */
@GrpcService
public final class PlainGreeter implements Greeter {
  static final LongAdder ANSWERED = new LongAdder();

  @Override
  public Uni<HelloReply> sayHello(HelloRequest request) {
    ANSWERED.increment();
    String message = "Hello " + request.getName() + "!";
    return Uni.createFrom().item(HelloReply.newBuilder().setMessage(message).build());
  }
}
