package com.example.quarkus;

import com.example.grpc.contract.Contract;
import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.QuarkusApplication;
import io.quarkus.runtime.annotations.QuarkusMain;
import io.quarkus.vertx.http.HttpServer;
import io.vertx.core.Vertx;
import jakarta.inject.Inject;

/** The greeter as the lab starts it. Quarkus listens before it calls {@link #run}. */
@QuarkusMain
public final class ContractServer implements QuarkusApplication {
  @Inject HttpServer server;

  public static void main(String... arguments) {
    if (arguments.length == 1 && arguments[0].equals("--version")) {
      String quarkus = Quarkus.class.getPackage().getImplementationVersion();
      String vertx = Vertx.class.getPackage().getImplementationVersion();
      Contract.say("Quarkus %s, Vert.x %s, Java %s".formatted(quarkus, vertx, Runtime.version()));
      return;
    }
    Contract.oneOf("BOOKEND_ROLE", "server");
    Contract.oneOf("BOOKEND_TRANSPORT", "h2c");
    Contract.oneOf("BOOKEND_METHOD", "helloworld.Greeter/SayHello");
    Quarkus.run(ContractServer.class, arguments);
  }

  @Override
  public int run(String... arguments) throws Exception {
    Contract.serve(server.getPort());
    Contract.sayNotes();
    Contract.say("served " + PlainGreeter.ANSWERED.sum());
    return 0;
  }
}
