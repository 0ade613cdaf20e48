#include "test/sim/wire.h"

#include <algorithm>

namespace ringdhcp::sim {
namespace {

constexpr std::size_t kFixed = 240;  // header and magic cookie
constexpr std::uint8_t kOptionOverload = 52;

std::uint32_t Read32(std::span<const std::uint8_t> octets, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | octets[at + i];
  return value;
}

void Put32(std::vector<std::uint8_t>& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    out.push_back(static_cast<std::uint8_t>(value >> shift));
  }
}

void ReadOptions(std::span<const std::uint8_t> field, bool first, Packet& packet) {
  std::size_t at = 0;
  while (at < field.size() && field[at] != 255) {
    const std::uint8_t code = field[at];
    if (code == 0) {
      ++at;
      continue;
    }
    if (at + 2 > field.size() || at + 2 + field[at + 1] > field.size()) return;
    const auto value = field.subspan(at + 2, field[at + 1]);
    at += 2 + value.size();
    if (first) packet.relay_information_last = code == kOptionRelay;
    auto known = std::find_if(packet.options.begin(), packet.options.end(),
                              [code](const Packet::Option& o) { return o.code == code; });
    if (known == packet.options.end()) {
      packet.options.push_back({code, {}});
      known = packet.options.end() - 1;
    }
    known->value.insert(known->value.end(), value.begin(), value.end());
  }
}

}  // namespace

const char* TypeName(std::uint8_t type) {
  static constexpr const char* kNames[] = {"-",   "DISCOVER", "OFFER",   "REQUEST", "DECLINE",
                                           "ACK", "NAK",      "RELEASE", "INFORM"};
  return type < std::size(kNames) ? kNames[type] : "other";
}

const std::vector<std::uint8_t>* Packet::Find(std::uint8_t code) const {
  for (const Option& option : options) {
    if (option.code == code) return &option.value;
  }
  return nullptr;
}

std::optional<std::uint32_t> Packet::FindNumber(std::uint8_t code) const {
  const auto* value = Find(code);
  if (value == nullptr || value->size() != 4) return std::nullopt;
  return Read32(*value, 0);
}

std::optional<Ipv4Address> Packet::FindAddress(std::uint8_t code) const {
  const auto number = FindNumber(code);
  if (!number) return std::nullopt;
  return Ipv4Address(*number);
}

void Packet::AddNumber(std::uint8_t code, std::uint32_t number) {
  std::vector<std::uint8_t> value;
  Put32(value, number);
  Add(code, std::move(value));
}

std::uint64_t Packet::Station() const {
  std::uint64_t station = 0;
  for (std::size_t i = 0; i < 6; ++i) station = station << 8 | chaddr[i];
  return station;
}

void Packet::SetStation(std::uint64_t station) {
  for (std::size_t i = 0; i < 6; ++i) {
    chaddr[i] = static_cast<std::uint8_t>(station >> (40 - 8 * i));
  }
}

std::string Packet::Identity() const {
  const auto* id = Find(kOptionClientId);
  if (id != nullptr && id->size() >= 2) return "i" + std::string(id->begin(), id->end());
  std::string identity = "h";
  identity.push_back(static_cast<char>(htype));
  identity.append(chaddr.begin(), chaddr.begin() + std::min<std::uint8_t>(hlen, 16));
  return identity;
}

std::vector<std::uint8_t> Packet::Encode() const {
  std::vector<std::uint8_t> out;
  out.reserve(320);
  out = {op, htype, hlen, hops};
  Put32(out, xid);
  for (const std::uint16_t number : {secs, flags}) {
    out.push_back(static_cast<std::uint8_t>(number >> 8));
    out.push_back(static_cast<std::uint8_t>(number));
  }
  for (const Ipv4Address a : {ciaddr, yiaddr, Ipv4Address(), giaddr}) Put32(out, a.value);
  out.insert(out.end(), chaddr.begin(), chaddr.end());
  out.resize(out.size() + 64 + 128);  // sname and file
  Put32(out, 0x63825363);
  if (type != 0) {
    for (const std::uint8_t octet : {kOptionType, std::uint8_t{1}, type}) out.push_back(octet);
  }
  for (const Option& option : options) {
    out.push_back(option.code);
    out.push_back(static_cast<std::uint8_t>(option.value.size()));
    out.insert(out.end(), option.value.begin(), option.value.end());
  }
  out.push_back(255);
  if (out.size() < 300) out.resize(300);
  return out;
}

std::optional<Packet> Parse(std::span<const std::uint8_t> octets) {
  if (octets.size() < kFixed || Read32(octets, kFixed - 4) != 0x63825363) return std::nullopt;
  Packet packet;
  packet.op = octets[0];
  packet.htype = octets[1];
  packet.hlen = octets[2];
  packet.hops = octets[3];
  packet.xid = Read32(octets, 4);
  packet.secs = static_cast<std::uint16_t>(octets[8] << 8 | octets[9]);
  packet.flags = static_cast<std::uint16_t>(octets[10] << 8 | octets[11]);
  packet.ciaddr = Ipv4Address(Read32(octets, 12));
  packet.yiaddr = Ipv4Address(Read32(octets, 16));
  packet.giaddr = Ipv4Address(Read32(octets, 24));
  std::copy_n(octets.begin() + 28, packet.chaddr.size(), packet.chaddr.begin());
  ReadOptions(octets.subspan(kFixed), true, packet);
  const auto* overload = packet.Find(kOptionOverload);
  if (overload != nullptr && overload->size() == 1 && (*overload)[0] <= 3) {
    const std::uint8_t which = (*overload)[0];
    if ((which & 1) != 0) ReadOptions(octets.subspan(108, 128), false, packet);
    if ((which & 2) != 0) ReadOptions(octets.subspan(44, 64), false, packet);
  }
  const auto* type = packet.Find(kOptionType);
  if (type != nullptr && type->size() == 1) packet.type = (*type)[0];
  return packet;
}

}  // namespace ringdhcp::sim
