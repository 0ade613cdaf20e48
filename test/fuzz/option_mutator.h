#ifndef RINGDHCP_TEST_FUZZ_OPTION_MUTATOR_H_
#define RINGDHCP_TEST_FUZZ_OPTION_MUTATOR_H_

#include <cstddef>
#include <cstdint>

namespace ringdhcp {

/// Which part of a message is changed most often.
enum class MutationFocus : std::uint8_t { kOptions, kRelayInformation };

/// One change of a DHCP payload of `size` octets in `data`, which has room for `size_max`: most
/// often to the options as such (insert, delete, repeat, change, cut in pieces, move between
/// options, file and sname, edit the sub-options of option 82), sometimes to a header field, and
/// sometimes to any octet, so that malformed messages are made too. Returns the new size.
/// Deterministic for a seed, but for the octets that LLVMFuzzerMutate chooses.
std::size_t MutateMessage(std::uint8_t* data, std::size_t size, std::size_t size_max,
                          std::uint32_t seed, MutationFocus focus);

}  // namespace ringdhcp

#endif  // RINGDHCP_TEST_FUZZ_OPTION_MUTATOR_H_
