// Runs a fuzz target without libFuzzer, with any compiler: every file named, or in a directory
// named, is one input; of a .hex file, every line is one. If the target has a mutator of its own,
// each input is also mutated a fixed number of times with fixed seeds.
//   fuzz_TARGET [--mutations=N] FILE|DIRECTORY...
#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/base/prng.h"
#include "test/unit/dhcp4/client_message.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" [[gnu::weak]] std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                                             std::size_t size_max, unsigned seed);
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t size_max);

namespace {

constexpr std::size_t kInputSizeMax = 4096;
std::uint64_t mutate_calls = 0;

using Inputs = std::vector<std::pair<std::string, ringdhcp::Octets>>;

void ReadHexLines(const std::filesystem::path& path, Inputs& inputs) {
  std::ifstream file(path);
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    const std::string_view hex = std::string_view(line).substr(line.find(' ') + 1);
    inputs.emplace_back(path.string() + ":" + std::to_string(number), ringdhcp::FromHex(hex));
  }
}

void ReadFile(const std::filesystem::path& path, Inputs& inputs) {
  if (path.extension() == ".hex") return ReadHexLines(path, inputs);
  std::ifstream file(path, std::ios::binary);
  inputs.emplace_back(path.string(), ringdhcp::Octets(std::istreambuf_iterator<char>(file), {}));
}

void Read(const std::filesystem::path& path, Inputs& inputs) {
  if (!std::filesystem::is_directory(path)) return ReadFile(path, inputs);
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) ReadFile(file, inputs);
}

// A copy of exactly the input's size, so that a sanitizer sees a read beyond it.
void Run(const ringdhcp::Octets& input) {
  const ringdhcp::Octets exact(input.begin(), input.end());
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

std::string current;  // for the message of the crash

void NameTheInput(int signal) {
  std::fprintf(stderr, "the input was %s\n", current.c_str());
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

// What libFuzzer gives a mutator for octets without structure.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size,
                                        std::size_t size_max) {
  ringdhcp::Prng prng(++mutate_calls);
  if (size == 0 || (size < size_max && prng.Below(4) == 0)) data[size++] = 0;
  data[prng.Below(size)] = static_cast<std::uint8_t>(prng.Next());
  return size;
}

int main(int argc, char** argv) {
  Inputs inputs;
  unsigned mutations = 4;
  for (const char* argument : std::vector<const char*>(argv + 1, argv + argc)) {
    constexpr std::string_view kMutations = "--mutations=";
    if (std::string_view(argument).starts_with(kMutations)) {
      mutations = static_cast<unsigned>(std::strtoul(argument + kMutations.size(), nullptr, 10));
    } else if (std::filesystem::exists(argument)) {
      Read(argument, inputs);
    } else {
      std::fprintf(stderr, "%s: no such file\n", argument);
      return 2;
    }
  }
  if (inputs.empty()) {
    std::fprintf(stderr, "no inputs\n");
    return 2;
  }
  std::signal(SIGABRT, NameTheInput);
  std::size_t runs = 0;
  for (const auto& [name, octets] : inputs) {
    current = name;
    Run(octets);
    ++runs;
    if (LLVMFuzzerCustomMutator == nullptr) continue;
    ringdhcp::Octets mutated = octets;
    for (unsigned seed = 1; seed <= mutations; ++seed, ++runs) {
      current = name + " after " + std::to_string(seed) + " mutations";
      const std::size_t size = std::min(mutated.size(), kInputSizeMax);
      mutated.resize(kInputSizeMax);
      mutated.resize(LLVMFuzzerCustomMutator(mutated.data(), size, kInputSizeMax, seed));
      Run(mutated);
    }
  }
  std::printf("%zu inputs, %zu runs\n", inputs.size(), runs);
  return 0;
}
