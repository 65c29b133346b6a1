package com.example.grpc.service;

import com.example.grpc.CountReply;
import com.example.grpc.CountRequest;
import com.example.grpc.PersistenceServiceGrpc;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.atomic.AtomicLong;

/** Counts, after the time that a slow database would take. */
public final class PersistenceService extends PersistenceServiceGrpc.PersistenceServiceImplBase {
  private final long delayMs;
  private final AtomicLong count = new AtomicLong();

  /** A service whose every call blocks its thread for so many milliseconds. */
  public PersistenceService(long delayMs) {
    this.delayMs = delayMs;
  }

  @Override
  public void count(CountRequest request, StreamObserver<CountReply> answer) {
    try {
      Thread.sleep(delayMs);
    } catch (InterruptedException interrupted) {
      answer.onError(Status.CANCELLED.withCause(interrupted).asRuntimeException());
      return;
    }
    answer.onNext(CountReply.newBuilder().setCount(count.incrementAndGet()).build());
    answer.onCompleted();
  }
}
