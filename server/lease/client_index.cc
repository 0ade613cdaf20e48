#include "server/lease/client_index.h"

#include <cstring>

#include "server/base/check.h"
#include "server/base/prng.h"

namespace ringdhcp {

namespace {

__extension__ typedef unsigned __int128 Wide;

// Both halves of the product, folded. With a secret in each factor a sender can't aim at a value.
std::uint64_t FoldedProduct(std::uint64_t a, std::uint64_t b) {
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

}  // namespace

// A third more slots than leases: at most three of four are taken, and a search that fails looks at
// eight or nine neighbouring slots, one or two cache lines.
ClientIndex::ClientIndex(const LeaseTable& table, std::uint64_t seed)
    : table_(table), slots_(std::size_t{table.size()} + table.size() / 3 + 8) {
  Prng prng(seed);
  for (std::uint64_t& word : secret_) word = prng.Next();
}

std::uint32_t ClientIndex::Hash(const ClientKey& client, std::uint32_t subnet) const {
  std::array<std::uint64_t, 4> words;
  static_assert(sizeof words == sizeof client);
  std::memcpy(words.data(), &client, sizeof client);
  const std::uint64_t low = FoldedProduct(words[0] ^ secret_[0], words[1] ^ secret_[1]);
  const std::uint64_t high = FoldedProduct(words[2] ^ secret_[2], words[3] ^ secret_[3]);
  const std::uint64_t all = FoldedProduct(low ^ subnet ^ secret_[4], high ^ secret_[5]);
  return static_cast<std::uint32_t>(all >> 32);
}

std::uint32_t ClientIndex::Find(const ClientKey& client, std::uint32_t subnet) const {
  const std::uint64_t hash = Hash(client, subnet);
  for (std::size_t at = Home(hash); slots_[at] != 0; at = After(at)) {
    if (slots_[at] >> 32 != hash) continue;
    const std::uint32_t index = static_cast<std::uint32_t>(slots_[at]) - 1;
    const Lease& lease = table_[index];
    if (lease.subnet == subnet && lease.client == client) return index;
  }
  return kNoLease;
}

void ClientIndex::Insert(std::uint32_t index) {
  RINGDHCP_CHECK(size_ < table_.size());
  const Lease& lease = table_[index];
  const std::uint64_t hash = Hash(lease.client, lease.subnet);
  std::size_t at = Home(hash);
  while (slots_[at] != 0) at = After(at);
  slots_[at] = hash << 32 | (std::uint64_t{index} + 1);
  ++size_;
}

void ClientIndex::Erase(std::uint32_t index) {
  const Lease& lease = table_[index];
  std::size_t hole = Home(Hash(lease.client, lease.subnet));
  while (static_cast<std::uint32_t>(slots_[hole]) != index + 1) {
    RINGDHCP_CHECK(slots_[hole] != 0);
    hole = After(hole);
  }
  // Close the hole: move up each follower that may stand there without leaving its own chain.
  for (std::size_t at = After(hole); slots_[at] != 0; at = After(at)) {
    const std::size_t home = Home(slots_[at] >> 32);
    const bool home_after_hole =
        hole < at ? (hole < home && home <= at) : (hole < home || home <= at);
    if (home_after_hole) continue;
    slots_[hole] = slots_[at];
    hole = at;
  }
  slots_[hole] = 0;
  --size_;
}

}  // namespace ringdhcp
