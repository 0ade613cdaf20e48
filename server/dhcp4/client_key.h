#ifndef RINGDHCP_SERVER_DHCP4_CLIENT_KEY_H_
#define RINGDHCP_SERVER_DHCP4_CLIENT_KEY_H_

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>

#include "server/dhcp4/message.h"

namespace ringdhcp {

/// The identity under which a client holds leases (RFC 2131 section 4.2): option 61 of at least 2
/// octets if present, else htype and chaddr. The two name spaces never meet. Ids of up to 30 octets
/// are kept whole; of longer ones a prefix of 14 octets and a 128-bit digest.
struct ClientKey {
  enum class Kind : std::uint8_t { kNone = 0, kClientId = 1, kHardwareAddress = 2 };
  Kind kind = Kind::kNone;
  /// Length of the whole identity, 0-255.
  std::uint8_t length = 0;
  std::array<std::uint8_t, 30> octets{};

  static ClientKey FromClientId(std::span<const std::uint8_t> id);
  /// htype is the first octet of the key.
  static ClientKey FromHardwareAddress(std::uint8_t htype, std::span<const std::uint8_t> address);
  bool operator==(const ClientKey& o) const { return std::memcmp(this, &o, sizeof *this) == 0; }
};
static_assert(sizeof(ClientKey) == 32);

/// The identity of the sender; nullopt when it has none (hlen 0 or all-zero chaddr, and no
/// usable option 61).
std::optional<ClientKey> IdentifyClient(const Message& message);

}  // namespace ringdhcp

template <>
struct std::hash<ringdhcp::ClientKey> {
  std::size_t operator()(const ringdhcp::ClientKey& key) const noexcept {
    std::uint64_t words[4];
    std::memcpy(words, &key, sizeof words);
    std::uint64_t h = 0x9E3779B97F4A7C15ULL;
    for (const std::uint64_t w : words) {
      h = (h ^ w) * 0xBF58476D1CE4E5B9ULL;
      h ^= h >> 29;
    }
    return static_cast<std::size_t>(h * 0x94D049BB133111EBULL);
  }
};

#endif  // RINGDHCP_SERVER_DHCP4_CLIENT_KEY_H_
