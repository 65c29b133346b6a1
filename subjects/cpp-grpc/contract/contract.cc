#include "contract.h"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <system_error>
#include <thread>

namespace {

// The contract's "not supported".
constexpr int kNotSupported = 89;

}  // namespace

std::string Variable(const char* name, const std::string& fallback) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? fallback : value;
}

uint64_t Number(const char* name, uint64_t fallback, uint64_t least) {
  const std::string text = Variable(name, std::to_string(fallback));
  const char* end = text.data() + text.size();
  uint64_t number = 0;
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end || number < least) {
    EndAsFailed(std::string(name) + " must be a number from " + std::to_string(least));
  }
  return number;
}

std::chrono::milliseconds Milliseconds(const char* name, uint64_t fallback) {
  return std::chrono::milliseconds(Number(name, fallback));
}

std::string Contents(const char* name) {
  std::ifstream file(Variable(name, ""), std::ios::binary);
  if (!file) EndAsFailed(std::string(name) + " names no file that can be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

bool UnderContract() { return Variable("BOOKEND_CONTRACT", "0") == "1"; }

void AwaitEndOfInput() {
  char ignored[64];
  while (read(STDIN_FILENO, ignored, sizeof ignored) > 0) continue;
}

void EndWithTheInput() {
  if (!UnderContract()) return;
  std::thread([] {
    AwaitEndOfInput();
    std::cerr << "standard input was closed before the end of the run" << std::endl;
    // Without destructors: the other threads still use what they would destroy.
    std::_Exit(EXIT_FAILURE);
  }).detach();
}

void EndAsFailed(const std::string& reason) {
  std::cerr << reason << std::endl;
  std::exit(EXIT_FAILURE);
}

void EndAsNotSupported(const std::string& reason) {
  std::cerr << reason << std::endl;
  std::exit(kNotSupported);
}
