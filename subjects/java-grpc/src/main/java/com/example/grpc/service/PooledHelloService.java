package com.example.grpc.service;

import com.example.grpc.HelloReply;
import com.example.grpc.HelloRequest;
import io.grpc.Channel;
import io.grpc.Context;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * HelloService that waits on a pool of its own and says so when that is full.
 *
 * <p>gRPC hands its own executor the next step of a call, and whether a rejection is thrown or only
 * logged there, the call is left unanswered: so the one who rejects has to be the service.
 */
public final class PooledHelloService extends HelloService {
  private final Executor pool;

  /** A service whose calls wait on {@code pool}: gRPC may run it where the bytes arrive. */
  public PooledHelloService(Channel channel, Executor pool) {
    super(channel);
    this.pool = Context.currentContextExecutor(pool);
  }

  @Override
  public void sayHello(HelloRequest request, StreamObserver<HelloReply> answer) {
    try {
      pool.execute(() -> super.sayHello(request, answer));
    } catch (RejectedExecutionException full) {
      answer.onError(Status.RESOURCE_EXHAUSTED.withDescription("queue full").asRuntimeException());
    }
  }
}
