#include "server/io/link_messages.h"

#include <libmnl/libmnl.h>
#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

namespace ringdhcp {

namespace {

/// Calls `visit` for each whole message of the datagram until it returns false.
template <typename Visit>
void ForEachMessage(std::span<const std::uint8_t> datagram, Visit visit) {
  int left = static_cast<int>(datagram.size());
  const auto* message = reinterpret_cast<const nlmsghdr*>(datagram.data());
  // Not mnl_cb_run: it gives up at the mark of an interrupted dump, which the last message, the one
  // to wait for, bears too.
  while (mnl_nlmsg_ok(message, left) && visit(message)) message = mnl_nlmsg_next(message, &left);
}

/// The fixed part of a message; nullptr when the message is too short for it.
template <typename Fixed>
const Fixed* FixedPart(const nlmsghdr* message) {
  if (mnl_nlmsg_get_payload_len(message) < sizeof(Fixed)) return nullptr;
  return static_cast<const Fixed*>(mnl_nlmsg_get_payload(message));
}

/// Calls `visit` for each whole attribute behind a fixed part of `offset` octets.
template <typename Visit>
void ForEachAttribute(const nlmsghdr* message, unsigned offset, Visit visit) {
  const auto callback = [](const nlattr* attribute, void* data) -> int {
    (*static_cast<Visit*>(data))(attribute);
    return MNL_CB_OK;
  };
  mnl_attr_parse(message, offset, callback, &visit);
}

/// The value as a number; 0 when it has another size.
std::uint32_t NumberOf(const nlattr* attribute) {
  if (mnl_attr_get_payload_len(attribute) != sizeof(std::uint32_t)) return 0;
  return mnl_attr_get_u32(attribute);
}

/// The value as text up to its first zero octet.
std::string TextOf(const nlattr* attribute) {
  const std::string_view octets(static_cast<const char*>(mnl_attr_get_payload(attribute)),
                                mnl_attr_get_payload_len(attribute));
  return std::string(octets.substr(0, octets.find('\0')));
}

void ReadLink(const nlmsghdr* message, LinkTable& table) {
  const auto* info = FixedPart<ifinfomsg>(message);
  // A bridge reports its ports under its own family; a port that leaves looks like a deleted link.
  if (info == nullptr || info->ifi_family != AF_UNSPEC) return;
  if (message->nlmsg_type == RTM_DELLINK) {
    table.links.erase(info->ifi_index);
    return;
  }
  LinkState link;
  link.ifindex = info->ifi_index;
  link.up = (info->ifi_flags & IFF_UP) != 0;
  link.running = (info->ifi_flags & IFF_RUNNING) != 0;
  link.loopback = (info->ifi_flags & IFF_LOOPBACK) != 0;
  ForEachAttribute(message, sizeof(*info), [&](const nlattr* attribute) {
    switch (mnl_attr_get_type(attribute)) {
      case IFLA_IFNAME:
        link.name = TextOf(attribute);
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

void ReadAddress(const nlmsghdr* message, LinkTable& table) {
  const auto* info = FixedPart<ifaddrmsg>(message);
  if (info == nullptr || info->ifa_family != AF_INET || info->ifa_prefixlen > 32) return;
  Ipv4Address local, network;  // equal but on a point-to-point link, where `network` is the peer's
  ForEachAttribute(message, sizeof(*info), [&](const nlattr* attribute) {
    const auto type = mnl_attr_get_type(attribute);
    if (type != IFA_LOCAL && type != IFA_ADDRESS) return;
    if (mnl_attr_get_payload_len(attribute) != sizeof(std::uint32_t)) return;
    (type == IFA_LOCAL ? local : network) = Ipv4Address(ntohl(mnl_attr_get_u32(attribute)));
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
int ErrorOf(const nlmsghdr* message) {
  const auto* refusal = FixedPart<nlmsgerr>(message);
  if (refusal == nullptr || refusal->error == std::numeric_limits<int>::min()) return EPROTO;
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
  ForEachMessage(datagram, [&](const nlmsghdr* message) {
    switch (message->nlmsg_type) {
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
  ForEachMessage(datagram, [&](const nlmsghdr* message) {
    if (message->nlmsg_seq != sequence) return true;
    if ((message->nlmsg_flags & NLM_F_DUMP_INTR) != 0) progress.interrupted = true;
    switch (message->nlmsg_type) {
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
