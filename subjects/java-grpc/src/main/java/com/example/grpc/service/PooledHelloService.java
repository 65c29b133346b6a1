package com.example.grpc.service;

import com.example.grpc.HelloReply;
import com.example.grpc.HelloRequest;
import io.grpc.Channel;
import io.grpc.Context;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/** HelloService on a pool of its own: a full executor of gRPC answers nobody, and this does. */
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
