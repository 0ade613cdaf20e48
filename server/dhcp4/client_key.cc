#include "server/dhcp4/client_key.h"

#include <algorithm>

#include "server/base/check.h"

namespace ringdhcp {

namespace {

// RFC 2132 section 9.14: a type octet and at least one octet more. Shorter ones would make all
// clients of a broken make the same client.
constexpr std::size_t kClientIdMin = 2;
constexpr std::size_t kPrefixSize = 14;
constexpr std::size_t kDigestSize = 16;

// FNV-1a of 128 bits. Stored leases carry it, so it may never change. It need not resist an
// attacker: who wants another client's key can simply send that client's identifier.
std::array<std::uint8_t, kDigestSize> Digest(std::span<const std::uint8_t> octets) {
  __extension__ using U128 = unsigned __int128;
  constexpr U128 kPrime = U128{1} << 88 | 0x13B;
  U128 hash = U128{0x6C62272E07BB0142} << 64 | 0x62B821756295C58D;
  for (const std::uint8_t octet : octets) hash = (hash ^ octet) * kPrime;
  std::array<std::uint8_t, kDigestSize> digest;
  for (std::size_t i = kDigestSize; i-- > 0; hash >>= 8) {
    digest[i] = static_cast<std::uint8_t>(hash);
  }
  return digest;
}

}  // namespace

ClientKey ClientKey::FromClientId(std::span<const std::uint8_t> id) {
  ClientKey key;
  static_assert(kPrefixSize + kDigestSize == sizeof key.octets);
  key.kind = Kind::kClientId;
  key.length = static_cast<std::uint8_t>(std::min<std::size_t>(id.size(), 255));
  if (id.size() <= key.octets.size()) {
    std::copy(id.begin(), id.end(), key.octets.begin());
    return key;
  }
  const auto digest_at = std::copy_n(id.begin(), kPrefixSize, key.octets.begin());
  const auto digest = Digest(id);
  std::copy(digest.begin(), digest.end(), digest_at);
  return key;
}

ClientKey ClientKey::FromHardwareAddress(std::uint8_t htype,
                                         std::span<const std::uint8_t> address) {
  RINGDHCP_CHECK(address.size() <= kChaddrSize);
  ClientKey key;
  key.kind = Kind::kHardwareAddress;
  key.length = static_cast<std::uint8_t>(1 + address.size());
  key.octets[0] = htype;
  std::copy(address.begin(), address.end(), key.octets.begin() + 1);
  return key;
}

std::optional<ClientKey> IdentifyClient(const Message& message) {
  const auto client_id = message.options.Find(OptionCode::kClientIdentifier);
  if (client_id && client_id->size() >= kClientIdMin) return ClientKey::FromClientId(*client_id);
  const std::span<const std::uint8_t> address = message.header.HardwareAddress();
  // Covers hlen 0 too. All zeros is what an interface without an address reports.
  if (std::all_of(address.begin(), address.end(), [](std::uint8_t o) { return o == 0; })) {
    return std::nullopt;
  }
  return ClientKey::FromHardwareAddress(message.header.htype, address);
}

}  // namespace ringdhcp
