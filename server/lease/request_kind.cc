#include "server/lease/request_kind.h"

#include <optional>

namespace ringdhcp {

RequestedLease ClassifyRequest(const Message& message) {
  const bool chose_server = message.options.Has(OptionCode::kServerIdentifier);
  const std::optional<Ipv4Address> requested =
      message.options.FindAddress(OptionCode::kRequestedAddress);
  const Ipv4Address ciaddr = message.header.ciaddr;
  if (chose_server && requested) return {RequestKind::kSelecting, *requested};
  if (ciaddr.IsUnicastHost()) {
    if (requested && *requested != ciaddr) return {};
    return {RequestKind::kRenewing, ciaddr};
  }
  if (requested) return {RequestKind::kInitReboot, *requested};
  return {};
}

}  // namespace ringdhcp
