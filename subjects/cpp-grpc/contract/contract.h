// The contract, docs/extend/subject-contract.md, as far as both programs read and say the same.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

// A variable that is set to nothing counts as not set.
std::string Variable(const char* name, const std::string& fallback);

// A variable that is a whole number. Other texts and lesser numbers end the process.
uint64_t Number(const char* name, uint64_t fallback, uint64_t least = 0);

// A variable that is a duration.
std::chrono::milliseconds Milliseconds(const char* name, uint64_t fallback);

// The bytes of the file that a variable names. Without such a file the process ends.
std::string Contents(const char* name);

// Whether the lab has started this process.
bool UnderContract();

// Returns when the lab closes our standard input.
void AwaitEndOfInput();

// From now on the process ends as failed when the lab closes our standard input: it has given up.
void EndWithTheInput();

// Ends the process: something that it needs is not as it should be.
[[noreturn]] void EndAsFailed(const std::string& reason);

// Ends the process in the way that means: not by this program's design.
[[noreturn]] void EndAsNotSupported(const std::string& reason);
