// Datagrams of rtnetlink. The first octet tells how many follow as events, the rest as the answer
// to a dump; each is a length of two octets, least significant first, and its octets.
#include <algorithm>
#include <span>
#include <vector>

#include "server/base/check.h"
#include "server/io/link_messages.h"

namespace ringdhcp {
namespace {

constexpr std::uint32_t kSequence = 1;

void CheckTable(const LinkTable& table) {
  const std::vector<LinkState> list = table.Build();
  RINGDHCP_CHECK(list.size() == table.links.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    RINGDHCP_CHECK(i == 0 || list[i - 1].ifindex < list[i].ifindex);
    RINGDHCP_CHECK(list[i].name.find('\0') == std::string::npos);
    for (const LinkState::Address& a : list[i].addresses) {
      RINGDHCP_CHECK(!a.address.IsZero() && a.prefix.length <= 32);
      RINGDHCP_CHECK((a.prefix.address.value & ~a.prefix.Mask()) == 0);
    }
  }
}

void Run(std::span<const std::uint8_t> input) {
  if (input.empty()) return;
  std::size_t events = input[0] % 4;
  input = input.subspan(1);
  LinkTable table;
  while (input.size() >= 2) {
    const std::size_t size =
        std::min<std::size_t>(input[0] | std::size_t{input[1]} << 8, input.size() - 2);
    // Exactly as large as the datagram, so that a read beyond it is seen.
    const std::vector<std::uint8_t> datagram(input.begin() + 2,
                                             input.begin() + 2 + static_cast<std::ptrdiff_t>(size));
    input = input.subspan(2 + size);
    if (events > 0) {
      --events;
      const std::size_t addresses = table.addresses.size();
      TakeLinkEvents(datagram, table);
      RINGDHCP_CHECK(table.addresses.size() == addresses);
    } else {
      const DumpProgress progress = TakeDumpAnswer(datagram, kSequence, table);
      RINGDHCP_CHECK(!progress.error || *progress.error > 0);
    }
    CheckTable(table);
  }
}

}  // namespace
}  // namespace ringdhcp

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ringdhcp::Run({data, size});
  return 0;
}
