#include "server/dhcp4/message.h"

#include "server/base/byte_reader.h"

namespace ringdhcp {

std::optional<Ipv4Address> OptionSet::FindAddress(OptionCode code) const {
  const std::optional<std::uint32_t> value = FindU32(code);
  if (!value) return std::nullopt;
  return Ipv4Address(*value);
}

std::optional<std::uint32_t> OptionSet::FindU32(OptionCode code) const {
  const auto value = Find(code);
  if (!value || value->size() != 4) return std::nullopt;
  return ByteReader(*value).ReadU32();
}

std::optional<std::uint16_t> OptionSet::FindU16(OptionCode code) const {
  const auto value = Find(code);
  if (!value || value->size() != 2) return std::nullopt;
  return ByteReader(*value).ReadU16();
}

std::optional<std::uint8_t> OptionSet::FindU8(OptionCode code) const {
  const auto value = Find(code);
  if (!value || value->size() != 1) return std::nullopt;
  return value->front();
}

}  // namespace ringdhcp
