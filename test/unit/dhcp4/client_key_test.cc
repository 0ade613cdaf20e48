#include "server/dhcp4/client_key.h"

#include <gtest/gtest.h>

#include <cstring>
#include <new>
#include <unordered_set>

#include "server/dhcp4/decode.h"
#include "test/unit/dhcp4/client_message.h"

namespace ringdhcp {
namespace {

std::optional<ClientKey> Identify(const ClientMessage& builder) {
  Message message;
  EXPECT_FALSE(Decode(builder.Build(), message).has_value());
  return IdentifyClient(message);
}

ClientMessage Discover() { return ClientMessage(MessageType::kDiscover); }

ClientKey Mac(std::string_view hex) { return ClientKey::FromHardwareAddress(1, FromHex(hex)); }
ClientKey Id(std::string_view hex) { return ClientKey::FromClientId(FromHex(hex)); }

TEST(IdentifyClientTest, Rfc2131Section4p2UsesOption61WhenPresent) {
  EXPECT_EQ(Identify(Discover().Option(61, "0102")), Id("0102"));
  EXPECT_EQ(Identify(Discover()), Mac("020000000001"));
}

TEST(IdentifyClientTest, EqualChaddrWithOtherIdentifiersAreOtherClients) {
  EXPECT_NE(Identify(Discover().Option(61, "00c1")), Identify(Discover().Option(61, "00c2")));
  EXPECT_NE(Identify(Discover().Option(61, "00c1")), Identify(Discover()));
}

TEST(IdentifyClientTest, OneIdentifierOnTwoAdaptersIsOneClient) {
  EXPECT_EQ(Identify(Discover().Option(61, "00c1")),
            Identify(Discover().Option(61, "00c1").Set(kChaddrAt, "020000000099")));
}

// RFC 2132 section 9.14: an identifier has two octets at least.
TEST(IdentifyClientTest, AnIdentifierThatIsTooShortCountsAsAbsent) {
  EXPECT_EQ(Identify(Discover().Option(61, "")), Mac("020000000001"));
  EXPECT_EQ(Identify(Discover().Option(61, "01")), Mac("020000000001"));
}

TEST(IdentifyClientTest, Rfc3396JoinsTheIdentifierFirst) {
  EXPECT_EQ(Identify(Discover().Option(61, "01").Option(61, "02")), Id("0102"));
}

TEST(IdentifyClientTest, WithoutAnyIdentityThereIsNone) {
  EXPECT_EQ(Identify(Discover().Set(kHlenAt, "00")), std::nullopt);
  EXPECT_EQ(Identify(Discover().Set(kHlenAt, "00").Option(61, "01")), std::nullopt);
  EXPECT_EQ(Identify(Discover().Set(kChaddrAt, "000000000000")), std::nullopt);
  EXPECT_EQ(Identify(Discover().Set(kHtypeAt, "00 00").Set(kChaddrAt, "000000000000")),
            std::nullopt);
}

// RFC 4390: hlen 0, the client is known by option 61 alone.
TEST(IdentifyClientTest, InfinibandClientsAreToldApartByIdentifier) {
  const auto infiniband = [](const char* id) {
    return Identify(
        Discover().Set(kHtypeAt, "20 00").Set(kChaddrAt, "000000000000").Option(61, id));
  };
  EXPECT_TRUE(infiniband("ff0000000100040001").has_value());
  EXPECT_NE(infiniband("ff0000000100040001"), infiniband("ff0000000100040002"));
}

TEST(IdentifyClientTest, OnlyHlenOctetsOfChaddrCount) {
  EXPECT_EQ(Identify(Discover().Set(kChaddrAt, "0200000000017777777777")), Mac("020000000001"));
  EXPECT_EQ(Identify(Discover().Set(kHlenAt, "04")), Mac("02000000"));
}

TEST(IdentifyClientTest, GroupAddressesAreTakenAsTheyAre) {
  EXPECT_EQ(Identify(Discover().Set(kChaddrAt, "ff010203ff04")), Mac("ff010203ff04"));
}

// RFC 2132 section 9.14 lets an identifier be htype and address; it still is an identifier.
TEST(ClientKeyTest, TheNameSpacesNeverMeet) {
  EXPECT_NE(Id("01020000000001"), Mac("020000000001"));
}

TEST(ClientKeyTest, TheHardwareTypeIsPartOfTheKey) {
  EXPECT_NE(ClientKey::FromHardwareAddress(1, FromHex("020000000001")),
            ClientKey::FromHardwareAddress(6, FromHex("020000000001")));
}

TEST(ClientKeyTest, TrailingZerosAreSignificant) {
  EXPECT_NE(Id("0102"), Id("010200"));
  EXPECT_NE(Mac("0200000000"), Mac("020000000000"));
}

TEST(ClientKeyTest, KeepsIdentifiersOfThirtyOctetsWhole) {
  const Octets id(30, 0xA5);
  const ClientKey key = ClientKey::FromClientId(id);
  EXPECT_EQ(key.length, 30);
  EXPECT_EQ(ToOctets(key.octets), id);
}

// Stored leases carry the digest, so these octets may not change: 14 octets of the identifier, then
// FNV-1a of 128 bits of all of it (computed apart from the server).
TEST(ClientKeyTest, DigestsLongerIdentifiers) {
  const ClientKey key = ClientKey::FromClientId(Octets(31, 'a'));
  EXPECT_EQ(key.length, 31);
  EXPECT_EQ(ToOctets(key.octets),
            FromHex("6161616161616161616161616161 6a8208c8068bf4db7be2d0e4e3e97d16"));
}

TEST(ClientKeyTest, EveryOctetOfALongIdentifierCounts) {
  std::unordered_set<ClientKey> keys;
  for (std::size_t i = 0; i < 255; ++i) {
    Octets id(255, 0);
    id[i] = 1;
    keys.insert(ClientKey::FromClientId(id));
  }
  keys.insert(ClientKey::FromClientId(Octets(255, 0)));
  keys.insert(ClientKey::FromClientId(Octets(254, 0)));
  keys.insert(ClientKey::FromClientId(Octets(600, 0)));  // joined by RFC 3396
  EXPECT_EQ(keys.size(), 258U);
}

TEST(ClientKeyTest, EqualKeysAreEqualInMemoryAndInHash) {
  alignas(ClientKey) std::uint8_t first[sizeof(ClientKey)], second[sizeof(ClientKey)];
  std::memset(first, 0xEE, sizeof first);
  std::memset(second, 0x11, sizeof second);
  const auto* a = new (first) ClientKey(Id("0102030405"));
  const auto* b = new (second) ClientKey(Id("0102030405"));
  EXPECT_EQ(std::memcmp(first, second, sizeof first), 0);
  EXPECT_EQ(std::hash<ClientKey>()(*a), std::hash<ClientKey>()(*b));
}

}  // namespace
}  // namespace ringdhcp
