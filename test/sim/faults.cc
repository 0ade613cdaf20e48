// What goes wrong around the server during a run, apart from the network and the store.

#include <cerrno>

#include "test/sim/sim_links.h"
#include "test/sim/simulation.h"

namespace ringdhcp::sim {
namespace {

constexpr std::int64_t kMillisecond = kNanosecondsPerMillisecond;

}  // namespace

void Simulation::ScheduleFaults() {
  if (options_.Has(kCrash) || options_.Has(kRestart)) ScheduleCrash();
  if (options_.Has(kLink)) ScheduleLink();
  if (options_.Has(kClog)) ScheduleClog();
  if (options_.Has(kWall)) ScheduleWallStep();
  if (options_.Has(kRing)) ScheduleReceiveFaults();
}

void Simulation::ScheduleCrash() {
  events_.After(random_.Between(1, options_.crash_every_ns), [this] {
    if (healed_) return;
    const bool crash = options_.Has(kCrash) && (!options_.Has(kRestart) || !random_.OneIn(3));
    (crash ? crash_wanted_ : restart_wanted_) = true;
    poked_ = true;
    ScheduleCrash();
  });
}

void Simulation::SetLink(std::uint16_t interface, bool up) {
  Note(TraceKind::kLink, interface, up ? 1 : 0);
  links_->Set(interface, up, up && !healed_ && random_.OneIn(4));
  poked_ = true;
  if (ring_) ring_->Wake();
}

void Simulation::ScheduleLink() {
  events_.After(random_.Between(1, options_.link_every_ns), [this] {
    if (healed_) return;
    const auto interface = static_cast<std::uint16_t>(random_.Number(0, options_.interfaces - 1));
    SetLink(interface, false);
    const std::int64_t down_ms = random_.Between(1, random_.OneIn(3) ? 20'000 : 500);
    events_.After(down_ms * kMillisecond, [this, interface] {
      if (!healed_) SetLink(interface, true);
    });
    ScheduleLink();
  });
}

void Simulation::ScheduleClog() {
  events_.After(random_.Between(1, options_.clog_every_ns), [this] {
    if (healed_) return;
    const std::uint32_t interface = random_.Number(0, options_.interfaces - 1);
    HoldSends(interface, true);
    events_.After(random_.Between(1, 6000) * kMillisecond,
                  [this, interface] { HoldSends(interface, false); });
    ScheduleClog();
  });
}

void Simulation::HoldSends(std::uint32_t interface, bool hold) {
  if (ring_ && slot_of_interface_[interface]) {
    ring_->HoldSends(*slot_of_interface_[interface], hold);
  }
  poked_ = true;
}

void Simulation::ScheduleWallStep() {
  events_.After(random_.Between(1, 60'000) * kMillisecond, [this] {
    if (healed_) return;
    const std::int64_t far = random_.OneIn(3) ? 100'000'000 : 600;
    const std::int64_t step_s = random_.Between(-far, far);
    clock_.Step(step_s);
    Note(TraceKind::kWallStep, 0, step_s);
    ScheduleWallStep();
  });
}

void Simulation::ScheduleReceiveFaults() {
  events_.After(random_.Between(1, 5000) * kMillisecond, [this] {
    if (healed_) return;
    const auto interface = static_cast<std::uint16_t>(random_.Number(0, options_.interfaces - 1));
    const auto slot = slot_of_interface_[interface];
    FakeRing::Datagram datagram;
    datagram.local = ServerOf(interface);
    switch (random_.Number(0, 2)) {
      case 0:  // of length zero
        ToServer(interface, datagram);
        break;
      case 1:
        datagram.payload.resize(random_.Number(2049, 9000));
        ToServer(interface, datagram);
        break;
      default:
        if (ring_ && slot && ring_->armed(*slot)) {
          ring_->StopReceive(*slot, random_.OneIn(2) ? ENOMEM : 0);
        }
    }
    ScheduleReceiveFaults();
  });
}

}  // namespace ringdhcp::sim
