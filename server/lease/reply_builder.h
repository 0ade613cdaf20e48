#ifndef RINGDHCP_SERVER_LEASE_REPLY_BUILDER_H_
#define RINGDHCP_SERVER_LEASE_REPLY_BUILDER_H_

#include <array>
#include <cstdint>

#include "server/dhcp4/encode.h"
#include "server/lease/lease_engine.h"

namespace ringdhcp {

/// Makes the reply to `request` that `decision` calls for: header by RFC 2131 table 3, options in
/// this order: 53, 54, 51; what the client asks for in option 55, in its order (RFC 2132 section
/// 9.8), 58 and 59 too; then, as far as not sent yet, 58 and 59 (with every lease), 61 echoed (RFC
/// 6842), the subnet mask (1) and routers (3); without option 55 everything else that the subnet
/// has; 118 echoed where it chose the subnet; 82 echoed last. The mask always goes before the
/// routers (RFC 2132 section 3.3). A NAK has 53, 54, 56, 61, 82 only, and the broadcast flag when
/// relayed.
/// One thread per object; the reply borrows from the builder, the message and the subnet until the
/// next Build.
class ReplyBuilder {
 public:
  const Reply& Build(const Message& request, const Decision& decision);

 private:
  Reply reply_;
  std::array<std::uint8_t, 32> scratch_{};
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_LEASE_REPLY_BUILDER_H_
