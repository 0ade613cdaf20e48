#include "server/io/link_messages.h"

#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

namespace ringdhcp {

namespace {

/// One message or attribute: its type and what follows its header.
struct Part {
  nlmsghdr header{};  // of a message
  int type = 0;
  std::span<const std::uint8_t> payload;
};

/// The structure at the beginning of `octets`; nullopt when it does not fit.
template <typename Fixed>
std::optional<Fixed> ReadFixed(std::span<const std::uint8_t> octets) {
  Fixed fixed;
  if (octets.size() < sizeof(fixed)) return std::nullopt;
  std::memcpy(&fixed, octets.data(), sizeof(fixed));
  return fixed;
}

/// What follows a part of `length` octets, which the next one's alignment pads.
std::span<const std::uint8_t> After(std::span<const std::uint8_t> octets, std::size_t length) {
  static_assert(NLMSG_ALIGNTO == NLA_ALIGNTO);
  return octets.subspan(std::min<std::size_t>(octets.size(), NLMSG_ALIGN(length)));
}

/// Calls `visit` for each whole message of the datagram until it returns false. Not libmnl's loop:
/// it takes a length of 2^31 and more for a negative one, and gives up at the mark of an
/// interrupted dump, which the last message, the one to wait for, bears too.
template <typename Visit>
void ForEachMessage(std::span<const std::uint8_t> octets, Visit visit) {
  while (const auto header = ReadFixed<nlmsghdr>(octets)) {
    const std::size_t length = header->nlmsg_len;
    if (length < sizeof(nlmsghdr) || length > octets.size()) return;
    const auto payload = octets.first(length).subspan(sizeof(nlmsghdr));
    if (!visit(Part{*header, header->nlmsg_type, payload})) return;
    octets = After(octets, length);
  }
}

/// Calls `visit` for each whole attribute behind the fixed part of a message.
template <typename Fixed, typename Visit>
void ForEachAttribute(const Part& message, Visit visit) {
  std::span<const std::uint8_t> octets = After(message.payload, sizeof(Fixed));
  while (const auto header = ReadFixed<nlattr>(octets)) {
    const std::size_t length = header->nla_len;
    if (length < sizeof(nlattr) || length > octets.size()) return;
    visit(Part{{}, header->nla_type & NLA_TYPE_MASK, octets.first(length).subspan(sizeof(nlattr))});
    octets = After(octets, length);
  }
}

/// The value as a number; 0 when it has another size.
std::uint32_t NumberOf(const Part& attribute) {
  if (attribute.payload.size() != sizeof(std::uint32_t)) return 0;
  return ReadFixed<std::uint32_t>(attribute.payload).value_or(0);
}

/// The value as text up to its first zero octet.
std::string TextOf(const Part& attribute) {
  const auto end = std::find(attribute.payload.begin(), attribute.payload.end(), std::uint8_t{0});
  return std::string(attribute.payload.begin(), end);
}

void ReadLink(const Part& message, LinkTable& table) {
  const auto info = ReadFixed<ifinfomsg>(message.payload);
  // A bridge reports its ports under its own family; a port that leaves looks like a deleted link.
  if (!info || info->ifi_family != AF_UNSPEC) return;
  if (message.type == RTM_DELLINK) {
    table.links.erase(info->ifi_index);
    return;
  }
  LinkState link;
  link.ifindex = info->ifi_index;
  link.up = (info->ifi_flags & IFF_UP) != 0;
  link.running = (info->ifi_flags & IFF_RUNNING) != 0;
  link.loopback = (info->ifi_flags & IFF_LOOPBACK) != 0;
  ForEachAttribute<ifinfomsg>(message, [&](const Part& attribute) {
    switch (attribute.type) {
      case IFLA_IFNAME:
        link.name = TextOf(attribute);
        break;
      case IFLA_ADDRESS:
        if (attribute.payload.size() == link.hardware_address.size()) {
          std::copy(attribute.payload.begin(), attribute.payload.end(),
                    link.hardware_address.begin());
        }
        break;
      case IFLA_MTU:
        link.mtu = NumberOf(attribute);
        break;
      case IFLA_MASTER:
        link.enslaved = NumberOf(attribute) != 0;
        break;
      default:
        break;
    }
  });
  table.links[link.ifindex] = std::move(link);
}

void ReadAddress(const Part& message, LinkTable& table) {
  const auto info = ReadFixed<ifaddrmsg>(message.payload);
  if (!info || info->ifa_family != AF_INET || info->ifa_prefixlen > 32) return;
  Ipv4Address local, network;  // equal but on a point-to-point link, where `network` is the peer's
  ForEachAttribute<ifaddrmsg>(message, [&](const Part& attribute) {
    if (attribute.type == IFA_LOCAL) local = Ipv4Address(ntohl(NumberOf(attribute)));
    if (attribute.type == IFA_ADDRESS) network = Ipv4Address(ntohl(NumberOf(attribute)));
  });
  if (local.IsZero()) local = network;
  if (local.IsZero()) return;
  LinkTable::ReportedAddress reported;
  reported.address.address = local;
  reported.address.prefix.length = info->ifa_prefixlen;
  reported.address.prefix.address =
      Ipv4Address((network.IsZero() ? local : network).value & reported.address.prefix.Mask());
  reported.secondary = (info->ifa_flags & IFA_F_SECONDARY) != 0;
  table.addresses[static_cast<int>(info->ifa_index)].push_back(reported);
}

/// The errno of an error message; 0 is an acknowledgement.
int ErrorOf(const Part& message) {
  const auto refusal = ReadFixed<nlmsgerr>(message.payload);
  if (!refusal || refusal->error == std::numeric_limits<int>::min()) return EPROTO;
  return refusal->error < 0 ? -refusal->error : refusal->error;
}

}  // namespace

std::vector<LinkState> LinkTable::Build() const {
  std::vector<LinkState> list;
  list.reserve(links.size());
  for (const auto& [ifindex, link] : links) {
    LinkState& state = list.emplace_back(link);
    const auto found = addresses.find(ifindex);
    if (found == addresses.end()) continue;
    for (const bool secondary : {false, true}) {
      for (const ReportedAddress& a : found->second) {
        if (a.secondary == secondary) state.addresses.push_back(a.address);
      }
    }
  }
  return list;
}

bool TakeLinkEvents(std::span<const std::uint8_t> datagram, LinkTable& table) {
  bool addresses_changed = false;
  ForEachMessage(datagram, [&](const Part& message) {
    switch (message.type) {
      case RTM_NEWLINK:
      case RTM_DELLINK:
        ReadLink(message, table);
        break;
      case RTM_NEWADDR:
      case RTM_DELADDR:
        addresses_changed = true;
        break;
      default:
        break;
    }
    return true;
  });
  return addresses_changed;
}

DumpProgress TakeDumpAnswer(std::span<const std::uint8_t> datagram, std::uint32_t sequence,
                            LinkTable& table) {
  DumpProgress progress;
  ForEachMessage(datagram, [&](const Part& message) {
    if (message.header.nlmsg_seq != sequence) return true;
    if ((message.header.nlmsg_flags & NLM_F_DUMP_INTR) != 0) progress.interrupted = true;
    switch (message.type) {
      case NLMSG_DONE:
        progress.done = true;
        break;
      case NLMSG_ERROR:
        if (const int error = ErrorOf(message); error != 0) progress.error = error;
        break;
      case RTM_NEWLINK:
        ReadLink(message, table);
        break;
      case RTM_NEWADDR:
        ReadAddress(message, table);
        break;
      default:
        break;
    }
    return !progress.done && !progress.error;
  });
  return progress;
}

}  // namespace ringdhcp
