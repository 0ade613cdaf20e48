// Options of a client's message, mutated as options: pieces, overload, nested sub-options.
#include "test/fuzz/option_mutator.h"
#include "test/fuzz/packet_checks.h"

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t size_max, unsigned seed) {
  return ringdhcp::MutateMessage(data, size, size_max, seed, ringdhcp::MutationFocus::kOptions);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static ringdhcp::Message message;
  const std::span<const std::uint8_t> payload(data, size);
  if (ringdhcp::CheckDecode(payload, message)) {
    const ringdhcp::Prng prng(message.header.xid);
    ringdhcp::CheckRoundTrip(message, prng);
    ringdhcp::CheckOtherLayout(payload, message, prng);
  }
  return 0;
}
