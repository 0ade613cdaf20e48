#ifndef RINGDHCP_TEST_SIM_SIM_LINKS_H_
#define RINGDHCP_TEST_SIM_SIM_LINKS_H_

#include <vector>

#include "absl/strings/str_cat.h"
#include "server/io/link_monitor.h"
#include "test/sim/fairness_audit.h"
#include "test/sim/simulation.h"

namespace ringdhcp::sim {

/// The host's interfaces. A turn asks for them after it has sorted its completions and before it
/// serves, which is how the audit knows the two apart.
class Simulation::Links final : public LinkMonitor {
 public:
  Links(const Options& options, FairnessAudit& fairness) : fairness_(fairness) {
    for (std::uint32_t i = 0; i < options.interfaces; ++i) {
      LinkState link;
      link.ifindex = static_cast<int>(10 + i);
      link.name = absl::StrCat("if", i);
      link.up = link.running = true;
      link.mtu = 1500;
      const Ipv4Prefix prefix{Ipv4Address(0x0A000000U | i << 16), 19};
      link.addresses = {{ServerOf(i), prefix}};
      links_.push_back(link);
    }
  }
  std::vector<LinkState> Snapshot() const override { return links_; }
  std::uint64_t generation() const override {
    fairness_.OnServing();
    return generation_;
  }
  static std::uint16_t InterfaceOf(int ifindex) {
    return static_cast<std::uint16_t>(ifindex % 100 - 10);
  }
  void Set(std::uint16_t interface, bool up, bool made_anew) {
    links_[interface].up = up;
    if (made_anew) links_[interface].ifindex += 100;
    ++generation_;
  }

 private:
  FairnessAudit& fairness_;
  std::vector<LinkState> links_;
  std::uint64_t generation_ = 1;
};

}  // namespace ringdhcp::sim

#endif  // RINGDHCP_TEST_SIM_SIM_LINKS_H_
