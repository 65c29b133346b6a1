// One call of the plain greeter after the other, with the stub that protoc makes.
#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "helloworld.grpc.pb.h"
#include "tally.h"

// What all calls have alike.
struct Plan {
  helloworld::HelloRequest request;
  std::string greeting;
  std::chrono::milliseconds deadline;
};

// Has one call in flight at most. Its address is the tag of whatever it waits for.
class Caller {
 public:
  using Stub = helloworld::Greeter::Stub;

  Caller(std::shared_ptr<Stub> stub, const Plan& plan) : stub_(std::move(stub)), plan_(plan) {}

  void Begin(grpc::CompletionQueue& queue) {
    Call& call = call_.emplace();
    if (plan_.deadline.count() > 0) {
      call.context.set_deadline(std::chrono::system_clock::now() + plan_.deadline);
    }
    begun_ = Clock::now();
    call.reader = stub_->AsyncSayHello(&call.context, plan_.request, &queue);
    call.reader->Finish(&call.reply, &call.status, this);
  }

  void Cancel() {
    if (call_) call_->context.TryCancel();
  }

  Clock::time_point begun() const { return begun_; }

  // How the call ended. A reply to something else is no success.
  grpc::StatusCode code() const {
    const grpc::StatusCode code = call_->status.error_code();
    const bool is_greeted = call_->reply.message() == plan_.greeting;
    return code == grpc::StatusCode::OK && !is_greeted ? grpc::StatusCode::DATA_LOSS : code;
  }

  // A server that is not there is called again after a while.
  void Pause(grpc::CompletionQueue& queue) {
    pausing_ = true;
    pause_.emplace().Set(&queue, std::chrono::system_clock::now() + kPause, this);
  }
  // Whether what has ended was a pause, and not a call.
  bool EndPause() { return std::exchange(pausing_, false); }

 private:
  static constexpr std::chrono::milliseconds kPause{100};

  // All of it serves for one call. The reader lies in memory of the context and has to go first.
  struct Call {
    grpc::ClientContext context;
    helloworld::HelloReply reply;
    grpc::Status status;
    std::unique_ptr<grpc::ClientAsyncResponseReader<helloworld::HelloReply>> reader;
  };

  const std::shared_ptr<Stub> stub_;
  const Plan& plan_;
  std::optional<Call> call_;
  Clock::time_point begun_;
  bool pausing_ = false;
  std::optional<grpc::Alarm> pause_;
};
