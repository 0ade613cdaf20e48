#include "server/lease/engine_impl.h"

namespace ringdhcp {

// RFC 2131 section 4.3.5: parameters for a client that has an address from elsewhere. No lease is
// looked at, and none is made.
void LeaseEngine::Impl::Inform(Exchange& exchange) {
  Reply(exchange, MessageType::kAck, Ipv4Address(), 0);
}

}  // namespace ringdhcp
