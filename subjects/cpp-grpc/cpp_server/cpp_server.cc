// gRPC C++'s synchronous server as it comes: echo and the two greeters.

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

#include "complex_proto.grpc.pb.h"
#include "contract.h"
#include "echo.grpc.pb.h"
#include "helloworld.grpc.pb.h"
#include "own_process.h"

namespace {

// Where the published clients look for the server; the lab gets a free port.
constexpr char kPublishedAddress[] = "127.0.0.1:50051";

// Calls that reached a handler, for the line `served N`.
class CallCount {
 public:
  void Add() { calls_.fetch_add(1, std::memory_order_relaxed); }
  uint64_t Total() const { return calls_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> calls_{0};
};

class Echo final : public echo::Echo::Service {
 public:
  explicit Echo(CallCount& served) : served_(served) {}

  grpc::Status Hi(grpc::ServerContext*, const echo::EchoRequest* request,
                  echo::EchoReply* reply) override {
    served_.Add();
    reply->set_message(request->message());
    return grpc::Status::OK;
  }

 private:
  CallCount& served_;
};

class PlainGreeter final : public helloworld::Greeter::Service {
 public:
  explicit PlainGreeter(CallCount& served) : served_(served) {}

  grpc::Status SayHello(grpc::ServerContext*, const helloworld::HelloRequest* request,
                        helloworld::HelloReply* reply) override {
    served_.Add();
    reply->set_message("Hello " + request->name() + "!");
    return grpc::Status::OK;
  }

 private:
  CallCount& served_;
};

class ComplexGreeter final : public complex_proto::Greeter::Service {
 public:
  explicit ComplexGreeter(CallCount& served) : served_(served) {}

  grpc::Status SayHello(grpc::ServerContext*, const complex_proto::HelloRequest* request,
                        complex_proto::HelloReply* reply) override {
    served_.Add();
    *reply->mutable_response() = request->request();
    return grpc::Status::OK;
  }

 private:
  CallCount& served_;
};

// Returns when the lab closes our standard input; never when nobody holds the other end.
void AwaitEnd(grpc::Server& server) {
  if (!UnderContract()) return server.Wait();
  AwaitEndOfInput();
  server.Shutdown(std::chrono::system_clock::now());
}

int Serve(int cpus) {
  CallCount served;
  Echo echo(served);
  PlainGreeter plain(served);
  ComplexGreeter complex(served);
  int port = 0;
  grpc::ServerBuilder builder;
  const std::string address =
      UnderContract() ? Variable("BOOKEND_LISTEN", "127.0.0.1") + ":0" : kPublishedAddress;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
  // A second server on one port would share its calls in silence.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  // One completion queue a CPU is what gRPC's performance notes say; one is also the default.
  builder.SetSyncServerOption(grpc::ServerBuilder::NUM_CQS, cpus);
  builder.RegisterService(&echo);
  builder.RegisterService(&plain);
  builder.RegisterService(&complex);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr || port == 0) {
    std::cerr << "cannot listen on " << address << std::endl;
    return EXIT_FAILURE;
  }
  PeakWatch peaks;
  std::cout << "ready " << port << std::endl;
  AwaitEnd(*server);
  peaks.Print();
  std::cout << "served " << served.Total() << std::endl;
  return EXIT_SUCCESS;
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1 && std::string(arguments[1]) == "--version") {
    std::cout << "gRPC C++ " << grpc::Version() << ", protobuf " << PROTOBUF_RELEASE << std::endl;
    return EXIT_SUCCESS;
  }
  const std::string role = Variable("BOOKEND_ROLE", "server");
  const std::string variant = Variable("BOOKEND_VARIANT", "default");
  if (role != "server" || variant != "default") {
    EndAsNotSupported("no " + role + " " + variant + ": cpp_server is the server default");
  }
  return Serve(static_cast<int>(Number("BOOKEND_CPUS", 1, 1)));
}
