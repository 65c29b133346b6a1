// A thread's share of the calls in flight, and the completion queue that reports them.
#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "caller.h"
#include "tally.h"

class Worker {
 public:
  explicit Worker(Tally& tally) : tally_(tally) {}

  ~Worker() {
    give_up_.Cancel();
    queue_.Shutdown();
    // A queue has to be empty before it goes.
    while (queue_.Next(&tag_, &succeeded_)) continue;
  }

  void Add(std::unique_ptr<Caller> caller) { callers_.push_back(std::move(caller)); }

  // Makes calls until no more may begin and all have ended.
  void Run() {
    calling_ = callers_.size();
    for (const auto& caller : callers_) Begin(*caller);
    while (calling_ > 0 && queue_.Next(&tag_, &succeeded_)) {
      if (tag_ == nullptr) {
        for (const auto& caller : callers_) caller->Cancel();
      } else {
        End(*static_cast<Caller*>(tag_));
      }
    }
  }

  // Cancels what is in flight then. May be called while it runs.
  void CancelAt(std::chrono::system_clock::time_point end) { give_up_.Set(&queue_, end, nullptr); }

 private:
  void Begin(Caller& caller) {
    if (tally_.Begin()) {
      caller.Begin(queue_);
    } else {
      --calling_;
    }
  }

  void End(Caller& caller) {
    if (caller.EndPause()) return Begin(caller);
    const grpc::StatusCode code = caller.code();
    tally_.End(code, caller.begun());
    code == grpc::StatusCode::UNAVAILABLE ? caller.Pause(queue_) : Begin(caller);
  }

  Tally& tally_;
  grpc::CompletionQueue queue_;
  grpc::Alarm give_up_;
  std::vector<std::unique_ptr<Caller>> callers_;
  size_t calling_ = 0;
  // What the queue told last.
  void* tag_ = nullptr;
  bool succeeded_ = false;
};
