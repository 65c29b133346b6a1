// The plain greeter's client on gRPC C++'s asynchronous API. It has one thread a CPU, each with a
// completion queue of its own: so say gRPC's performance notes, and so gRPC's own benchmarks make
// their load. The callback API would wait on threads of the library, at least two, however few
// CPUs there are.

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "caller.h"
#include "contract.h"
#include "helloworld.grpc.pb.h"
#include "own_process.h"
#include "tally.h"
#include "worker.h"

namespace {

using Workers = std::deque<Worker>;

constexpr char kMethod[] = "helloworld.Greeter/SayHello";

// How long calls that are in flight at the end of the window are awaited.
constexpr std::chrono::seconds kDrain{2};

std::shared_ptr<grpc::ChannelCredentials> Credentials() {
  const std::string transport = Variable("BOOKEND_TRANSPORT", "h2c");
  if (transport == "h2c" || transport == "unix") return grpc::InsecureChannelCredentials();
  if (transport != "tls") EndAsNotSupported("no connections over " + transport);
  grpc::SslCredentialsOptions options;
  options.pem_root_certs = Contents("BOOKEND_TLS_CA");
  return grpc::SslCredentials(options);
}

// Returns when it has connected, or has failed to: then so do the calls.
void AwaitConnection(grpc::Channel& channel) {
  auto state = channel.GetState(true);
  while (state == GRPC_CHANNEL_IDLE || state == GRPC_CHANNEL_CONNECTING) {
    channel.WaitForStateChange(state, gpr_inf_future(GPR_CLOCK_REALTIME));
    state = channel.GetState(true);
  }
}

std::vector<std::shared_ptr<grpc::Channel>> Connect() {
  const std::string target = Variable("BOOKEND_TARGET", "127.0.0.1:50051");
  grpc::ChannelArguments arguments;
  // Otherwise channels to one address share one connection.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // A proxy that the environment names is for other machines than this one.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  std::vector<std::shared_ptr<grpc::Channel>> channels;
  for (uint64_t i = Number("BOOKEND_CONNECTIONS", 1, 1); i > 0; --i) {
    channels.push_back(grpc::CreateCustomChannel(target, Credentials(), arguments));
    channels.back()->GetState(true);
  }
  for (const auto& channel : channels) AwaitConnection(*channel);
  return channels;
}

Plan ReadPlan() {
  Plan plan;
  if (!plan.request.ParseFromString(Contents("BOOKEND_REQUEST_FILE"))) {
    EndAsFailed("BOOKEND_REQUEST_FILE holds no " + plan.request.GetTypeName());
  }
  plan.greeting = "Hello " + plan.request.name() + "!";
  plan.deadline = Milliseconds("BOOKEND_DEADLINE_MS", 0);
  return plan;
}

// Spreads the calls in flight evenly over connections and workers.
void AddCallers(Workers& workers, const Plan& plan) {
  std::vector<std::shared_ptr<Caller::Stub>> stubs;
  for (const auto& channel : Connect()) stubs.push_back(helloworld::Greeter::NewStub(channel));
  for (uint64_t i = Number("BOOKEND_CONCURRENCY", stubs.size(), 1); i > 0; --i) {
    auto caller = std::make_unique<Caller>(stubs[i % stubs.size()], plan);
    workers[i % workers.size()].Add(std::move(caller));
  }
}

void Join(std::vector<std::thread>& threads) {
  for (auto& thread : threads) thread.join();
  threads.clear();
}

void Measure(Workers& workers, Tally& tally) {
  const auto warmup = Milliseconds("BOOKEND_WARMUP_MS", 0);
  const auto window = Milliseconds("BOOKEND_MEASURE_MS", 1000);
  const int64_t calls = Number("BOOKEND_CALLS", 0);
  std::vector<std::thread> threads;
  const auto start = [&] {
    for (auto& worker : workers) threads.emplace_back([&worker] { worker.Run(); });
  };
  if (warmup.count() > 0) {
    start();
    std::this_thread::sleep_for(warmup);
  }
  tally.Enter(Phase::kWindow, calls > 0 ? calls : Tally::kNoLimit);
  std::cout << "window start" << std::endl;
  if (threads.empty()) start();
  calls > 0 ? Join(threads) : std::this_thread::sleep_for(window);
  tally.Enter(Phase::kOver, 0);
  std::cout << "window end" << std::endl;
  for (auto& worker : workers) worker.CancelAt(std::chrono::system_clock::now() + kDrain);
  Join(threads);
}

int Run() {
  EndWithTheInput();
  PeakWatch peaks;
  const Plan plan = ReadPlan();
  Tally tally;
  Workers workers;
  for (uint64_t i = Number("BOOKEND_CPUS", 1, 1); i > 0; --i) workers.emplace_back(tally);
  AddCallers(workers, plan);
  Measure(workers, tally);
  tally.Print();
  peaks.Print();
  return EXIT_SUCCESS;
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1 && std::string(arguments[1]) == "--version") {
    std::cout << "gRPC C++ " << grpc::Version() << ", protobuf " << PROTOBUF_RELEASE << std::endl;
    return EXIT_SUCCESS;
  }
  const std::string role = Variable("BOOKEND_ROLE", "client");
  const std::string variant = Variable("BOOKEND_VARIANT", "client");
  if (role != "client" || variant != "client") {
    EndAsNotSupported("no " + role + " " + variant + ": cpp_client is the client alone");
  }
  const std::string method = Variable("BOOKEND_METHOD", kMethod);
  if (method != kMethod) EndAsNotSupported("no calls of " + method);
  if (Variable("BOOKEND_CONNECTION_PER_CALL", "0") == "1") {
    EndAsNotSupported("a channel's connection is for all of its calls, never for one");
  }
  return Run();
}
