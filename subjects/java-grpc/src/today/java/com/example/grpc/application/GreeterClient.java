package com.example.grpc.application;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import com.example.grpc.contract.Contract;
import com.example.grpc.contract.Load;
import helloworld.GreeterGrpc;
import helloworld.GreeterGrpc.GreeterStub;
import helloworld.Helloworld.HelloReply;
import helloworld.Helloworld.HelloRequest;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;

/** Calls the plain greeter through stubs that do not block, a given number at once. */
public final class GreeterClient {
  private static final int DEADLINE_MS = Contract.number("BOOKEND_DEADLINE_MS", 0, 0);

  /** A server that is not there is left alone for a while. */
  private static final Executor LATER =
      CompletableFuture.delayedExecutor(100, MILLISECONDS, Runnable::run);

  public static void main(String[] arguments) throws Exception {
    Contract.oneOf("BOOKEND_ROLE", "client");
    Contract.oneOf("BOOKEND_VARIANT", "client");
    Contract.oneOf("BOOKEND_TRANSPORT", "h2c");
    Contract.oneOf("BOOKEND_METHOD", "helloworld.Greeter/SayHello");
    Contract.oneOf("BOOKEND_CONNECTION_PER_CALL", "0"); // A channel is made to be used again.
    Contract.endWithInput();
    var stubs = new GreeterStub[Contract.number("BOOKEND_CONNECTIONS", 1, 1)];
    for (int i = 0; i < stubs.length; i++) {
      stubs[i] = GreeterGrpc.newStub(connect());
    }
    int concurrency = Contract.number("BOOKEND_CONCURRENCY", stubs.length, 1);
    var load = new Load(concurrency);
    var request = HelloRequest.parseFrom(Contract.contents("BOOKEND_REQUEST_FILE"));
    var callers = new ArrayList<Runnable>();
    for (int i = 0; i < concurrency; i++) {
      callers.add(new Caller(load, i, stubs[i % stubs.length], request)::call);
    }
    load.run(callers);
    Contract.sayNotes();
    System.exit(0);
  }

  /** A channel has one connection. Returns when that is there, or when calls will say why not. */
  private static ManagedChannel connect() throws InterruptedException {
    String target = Contract.variable("BOOKEND_TARGET", "127.0.0.1:50051");
    // Callbacks that do not block may run on the thread that reads the connection.
    var channel = ManagedChannelBuilder.forTarget(target).usePlaintext().directExecutor().build();
    var state = channel.getState(true);
    while (state == ConnectivityState.IDLE || state == ConnectivityState.CONNECTING) {
      var changed = new CountDownLatch(1);
      channel.notifyWhenStateChanged(state, changed::countDown);
      changed.await();
      state = channel.getState(true);
    }
    return channel;
  }

  /** Makes one call after the other: the end of one begins the next. */
  private static final class Caller implements StreamObserver<HelloReply> {
    private final Load load;
    private final int number;
    private final GreeterStub stub;
    private final HelloRequest request;
    private final String greeting;
    private boolean isGreeted;

    Caller(Load load, int number, GreeterStub stub, HelloRequest request) {
      this.load = load;
      this.number = number;
      this.stub = stub;
      this.request = request;
      greeting = "Hello " + request.getName() + "!";
    }

    void call() {
      if (load.begins(number)) {
        isGreeted = false;
        var timed = DEADLINE_MS == 0 ? stub : stub.withDeadlineAfter(DEADLINE_MS, MILLISECONDS);
        timed.sayHello(request, this);
      }
    }

    @Override
    public void onNext(HelloReply reply) {
      isGreeted = reply.getMessage().equals(greeting);
    }

    @Override
    public void onCompleted() {
      load.ends(number, isGreeted ? "OK" : "DATA_LOSS");
      call();
    }

    @Override
    public void onError(Throwable error) {
      var code = Status.fromThrowable(error).getCode();
      load.ends(number, code.name());
      if (code == Status.Code.UNAVAILABLE) {
        LATER.execute(this::call);
      } else {
        call();
      }
    }
  }
}
