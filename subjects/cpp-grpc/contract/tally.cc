#include "tally.h"

#include <algorithm>
#include <iostream>
#include <iterator>

namespace {

constexpr size_t kOk = 0, kUnknown = 2;

constexpr const char* kCodes[] = {
    "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED"};

// Exact below 4096 ns, and to one part in 4096 above, so that there are never many.
uint64_t Rounded(uint64_t ns) {
  uint64_t unit = 1;
  while (ns / unit >= 4096) unit *= 2;
  return ns / unit * unit + unit / 2;
}

}  // namespace

// Room for all latencies below an hour: a table that grows would do so within somebody's call.
Tally::Tally() { latencies_.reserve(1 << 16); }

void Tally::Enter(Phase phase, int64_t calls) {
  const std::lock_guard<std::mutex> guard(lock_);
  phase_ = phase;
  left_ = calls - in_flight_;
  phase_began_ = Clock::now();
}

bool Tally::Begin() {
  const std::lock_guard<std::mutex> guard(lock_);
  if (left_ <= 0) return false;
  --left_;
  ++in_flight_;
  return true;
}

void Tally::End(size_t code, Clock::time_point begun) {
  const auto ended = Clock::now();
  const std::lock_guard<std::mutex> guard(lock_);
  --in_flight_;
  if (phase_ == Phase::kOver) CutOff(begun);
  if (code == kOk && phase_ == Phase::kWindow) {
    ++ok_;
    ++latencies_[Rounded(std::chrono::nanoseconds(ended - begun).count())];
  } else if (code == kOk) {
    ++(phase_ == Phase::kWarmup ? warmup_ : drained_);
  } else if (phase_ == Phase::kWindow) {
    // A server may send any number.
    ++errors_[code < std::size(kCodes) ? code : kUnknown];
  } else {
    ++unfinished_;
  }
}

void Tally::CutOff(Clock::time_point begun) {
  // One that was let in just before the end may have begun just after it.
  const auto age = std::max<std::chrono::nanoseconds>(phase_began_ - begun, {});
  ++cut_off_;
  ages_ += age;
  oldest_ = std::max(oldest_, age);
}

void Tally::Print() const {
  for (const auto& [ns, count] : latencies_) std::cout << ns << ' ' << count << '\n';
  for (const auto& [code, count] : errors_) {
    std::cout << "error " << kCodes[code] << ' ' << count << '\n';
  }
  if (cut_off_ > 0) {
    std::cout << "in_flight " << cut_off_ << ' ' << ages_.count() / cut_off_ << ' '
              << oldest_.count() << '\n';
  }
  std::cout << "warmup " << warmup_ << "\nok " << ok_ << "\ndrained " << drained_ << "\nunfinished "
            << unfinished_ << std::endl;
}
