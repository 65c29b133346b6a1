package com.example.grpc.service;

import com.example.grpc.CountReply;
import com.example.grpc.CountRequest;
import com.example.grpc.PersistenceServiceGrpc;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Counts, after the time that a slow database would take. */
public final class PersistenceService extends PersistenceServiceGrpc.PersistenceServiceImplBase {
  private static final Logger LOGGER = LoggerFactory.getLogger(PersistenceService.class);
  private final long delayMs;
  private final AtomicLong count = new AtomicLong();

  /** A service whose every call blocks its thread for `delayMs` milliseconds. */
  public PersistenceService(long delayMs) {
    this.delayMs = delayMs;
  }

  @Override
  public void count(CountRequest request, StreamObserver<CountReply> answer) {
    LOGGER.info("asked by {}", request.getName());
    try {
      Thread.sleep(delayMs);
      answer.onNext(CountReply.newBuilder().setCount(count.incrementAndGet()).build());
      answer.onCompleted();
    } catch (InterruptedException interrupted) {
      answer.onError(Status.CANCELLED.withCause(interrupted).asRuntimeException());
    }
    LOGGER.info("answered {}", request.getName());
  }
}
