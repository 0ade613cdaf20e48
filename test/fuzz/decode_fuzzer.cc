// The UDP payload of a client: decode, and encode what was decoded. Any octets.
#include "test/fuzz/packet_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static ringdhcp::Message message;
  // xid means nothing to the server, so the input chooses the reply's layout by it.
  if (ringdhcp::CheckDecode({data, size}, message)) {
    ringdhcp::CheckRoundTrip(message, ringdhcp::Prng(message.header.xid));
  }
  return 0;
}
