#include <gtest/gtest.h>

#include <string>

#include "server/dhcp4/decode.h"
#include "server/dhcp4/encode.h"
#include "test/unit/dhcp4/client_message.h"

namespace ringdhcp {
namespace {

struct PayloadCase {
  const char* name;
  const char* option_57;  // hex; nullptr: absent
  std::size_t mtu;
  std::size_t payload;
};

class MaximumPayloadTest : public testing::TestWithParam<PayloadCase> {};

TEST_P(MaximumPayloadTest, IsAsTabled) {
  ClientMessage builder(MessageType::kDiscover);
  if (GetParam().option_57 != nullptr) builder.Option(57, GetParam().option_57);
  Message message;
  ASSERT_FALSE(Decode(builder.Build(), message).has_value());
  EXPECT_EQ(MaximumPayload(message.options, GetParam().mtu), GetParam().payload);
}

// RFC 2132 section 9.10 and RFC 2131 section 2: option 57 counts the IP datagram, 576 at least.
INSTANTIATE_TEST_SUITE_P(Option57, MaximumPayloadTest,
                         testing::Values(PayloadCase{"Absent", nullptr, 1500, 548},
                                         PayloadCase{"Zero", "0000", 1500, 548},
                                         PayloadCase{"BelowTheMinimum", "023f", 1500, 548},
                                         PayloadCase{"TheMinimum", "0240", 1500, 548},
                                         PayloadCase{"OneMore", "0241", 1500, 549},
                                         PayloadCase{"Ethernet", "05dc", 1500, 1472},
                                         PayloadCase{"Maximal", "ffff", 1500, 1472},
                                         PayloadCase{"MaximalJumbo", "ffff", 9000, 1472},
                                         PayloadCase{"SmallerMtu", "05dc", 1400, 1372},
                                         PayloadCase{"MtuBelowTheMinimum", "05dc", 300, 272},
                                         PayloadCase{"MtuWithoutRoom", "05dc", 20, 0},
                                         PayloadCase{"OneOctet", "40", 1500, 548},
                                         PayloadCase{"ThreeOctets", "0005dc", 1500, 548}),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace ringdhcp
