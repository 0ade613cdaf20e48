#include "server/lease/client_details.h"

#include <algorithm>

#include "server/base/check.h"

namespace ringdhcp {

namespace {

constexpr std::size_t kLengths = 2;  // the chain begins with the length of each part

std::span<const std::uint8_t> Cut(std::span<const std::uint8_t> octets) {
  return octets.first(std::min<std::size_t>(octets.size(), 255));
}

}  // namespace

// Reads a chain octet by octet.
class ClientDetails::Reader {
 public:
  Reader(const ZeroedArray<Chunk>& chunks, std::uint32_t handle)
      : chunks_(chunks), handle_(handle) {}
  std::uint8_t Next() {
    if (at_ == sizeof(Chunk::octets)) {
      handle_ = chunks_[handle_ - 1].next;
      at_ = 0;
    }
    return chunks_[handle_ - 1].octets[at_++];
  }

 private:
  const ZeroedArray<Chunk>& chunks_;
  std::uint32_t handle_;
  std::size_t at_ = 0;
};

// The constant keeps a handful of long options possible with the smallest pools.
ClientDetails::ClientDetails(std::size_t leases)
    : chunks_(leases * 2 + 64), free_(chunks_.size()) {}

std::uint32_t ClientDetails::Take() {
  RINGDHCP_CHECK(free_ > 0);
  --free_;
  if (returned_ != 0) {
    const std::uint32_t handle = returned_;
    returned_ = chunks_[handle - 1].next;
    return handle;
  }
  return static_cast<std::uint32_t>(++never_used_);
}

void ClientDetails::Free(std::uint32_t handle) {
  while (handle != 0) {
    const std::uint32_t next = chunks_[handle - 1].next;
    chunks_[handle - 1].next = returned_;
    returned_ = handle;
    ++free_;
    handle = next;
  }
}

std::uint32_t ClientDetails::Set(std::uint32_t handle, const View& details) {
  if (Equals(handle, details)) return handle;
  Free(handle);
  std::span<const std::uint8_t> host_name = Cut(details.host_name);
  std::span<const std::uint8_t> relay = Cut(details.relay_information);
  constexpr std::size_t kPerChunk = sizeof(Chunk::octets);
  const auto fits = [&] { return kLengths + host_name.size() + relay.size() <= free_ * kPerChunk; };
  if (!fits()) host_name = {};
  if (!fits()) relay = {};
  if (host_name.empty() && relay.empty()) return 0;

  const std::uint32_t first = Take();
  std::uint32_t current = first;
  std::size_t at = 0;
  const auto write = [&](std::uint8_t octet) {
    if (at == kPerChunk) {
      const std::uint32_t next = Take();
      chunks_[current - 1].next = next;
      current = next;
      at = 0;
    }
    chunks_[current - 1].octets[at++] = octet;
  };
  write(static_cast<std::uint8_t>(host_name.size()));
  write(static_cast<std::uint8_t>(relay.size()));
  for (const std::uint8_t octet : host_name) write(octet);
  for (const std::uint8_t octet : relay) write(octet);
  chunks_[current - 1].next = 0;
  return first;
}

bool ClientDetails::Equals(std::uint32_t handle, const View& details) const {
  const std::span<const std::uint8_t> host_name = Cut(details.host_name);
  const std::span<const std::uint8_t> relay = Cut(details.relay_information);
  if (handle == 0) return host_name.empty() && relay.empty();
  Reader reader(chunks_, handle);
  if (reader.Next() != host_name.size() || reader.Next() != relay.size()) return false;
  for (const std::uint8_t octet : host_name) {
    if (reader.Next() != octet) return false;
  }
  for (const std::uint8_t octet : relay) {
    if (reader.Next() != octet) return false;
  }
  return true;
}

void ClientDetails::CopyTo(std::uint32_t handle, LeaseRecord& record) const {
  if (handle == 0) return;
  Reader reader(chunks_, handle);
  record.host_name_length = reader.Next();
  record.relay_information_length = reader.Next();
  for (std::size_t i = 0; i < record.host_name_length; ++i) record.host_name[i] = reader.Next();
  for (std::size_t i = 0; i < record.relay_information_length; ++i) {
    record.relay_information[i] = reader.Next();
  }
}

}  // namespace ringdhcp
