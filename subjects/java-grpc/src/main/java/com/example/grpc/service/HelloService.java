package com.example.grpc.service;

import com.example.grpc.CountRequest;
import com.example.grpc.HelloReply;
import com.example.grpc.HelloRequest;
import com.example.grpc.HelloServiceGrpc;
import com.example.grpc.PersistenceServiceGrpc;
import com.example.grpc.PersistenceServiceGrpc.PersistenceServiceBlockingStub;
import io.grpc.Channel;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Greets with a number that it has to wait for: a call holds its thread meanwhile. */
public class HelloService extends HelloServiceGrpc.HelloServiceImplBase {
  private static final Logger LOGGER = LoggerFactory.getLogger(HelloService.class);
  private final PersistenceServiceBlockingStub persistence;

  /** Asks the PersistenceService behind {@code channel}; gRPC hands on the caller's deadline. */
  public HelloService(Channel channel) {
    persistence = PersistenceServiceGrpc.newBlockingStub(channel);
  }

  @Override
  public void sayHello(HelloRequest request, StreamObserver<HelloReply> answer) {
    LOGGER.info("greeting {}", request.getName());
    try {
      var asked = CountRequest.newBuilder().setName(request.getName()).build();
      long number = persistence.count(asked).getCount();
      String message = "Hello %s Greeting number %d.".formatted(request.getName(), number);
      answer.onNext(HelloReply.newBuilder().setMessage(message).build());
      answer.onCompleted();
    } catch (StatusRuntimeException failure) {
      answer.onError(failure);
    }
    LOGGER.info("greeted {}", request.getName());
  }
}
