// Interfaces come and go: which links of the host are served, and the life of a slot.

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "server/base/probe.h"
#include "server/shard/shard.h"

namespace ringdhcp {

void Shard::FollowLinks() {
  const std::uint64_t generation = seams_.links.generation();
  if (draining_) return;
  if (generation == links_generation_ && now_.monotonic_ns < links_retry_at_ns_) return;
  links_generation_ = generation;
  links_retry_at_ns_ = kNever;
  const std::vector<LinkState> links = seams_.links.Snapshot();

  host_addresses_.clear();
  for (const LinkState& link : links) {
    for (const auto& address : link.addresses) host_addresses_.push_back(address.address);
  }
  std::sort(host_addresses_.begin(), host_addresses_.end());

  for (const auto& interface : interfaces_) {
    if (!interface || !interface->serving()) continue;
    const auto link = std::find_if(links.begin(), links.end(), [&](const LinkState& candidate) {
      return candidate.ifindex == interface->sockets.ifindex &&
             candidate.name == interface->view.name && HasAddress(*interface, candidate) &&
             Eligible(candidate);
    });
    if (link == links.end()) {
      Detach(*interface);
    } else {
      UpdateView(*interface, *link);
    }
  }
  if (!configured_names_known_) ExpectConfiguredNames(links);
  // With more links than slots, those that a subnet is for come first.
  for (const bool with_subnet : {true, false}) {
    for (const LinkState& link : links) {
      if (Eligible(link) && HasSubnet(link) == with_subnet) OpenLink(link, links);
    }
  }
  PublishStatus();
}

void Shard::ExpectConfiguredNames(const std::vector<LinkState>& links) {
  configured_names_known_ = true;
  for (const std::string& name : config_.interfaces_include) {
    if (name.find('*') != std::string::npos || !ServesInterface(config_, name)) continue;
    SlotFor(name, links);  // so that it is among the metrics before it is there
    const auto link = std::find_if(links.begin(), links.end(),
                                   [&](const LinkState& l) { return l.name == name; });
    if (link == links.end()) {
      seams_.logger.Warning("the interface is absent; waiting for it", {{"interface", name}});
    } else if (!link->up) {
      seams_.logger.Warning("the interface is down; waiting for it", {{"interface", name}});
    }
  }
}

bool Shard::HasSubnet(const LinkState& link) const {
  return std::any_of(config_.subnets.begin(), config_.subnets.end(), [&](const Subnet& subnet) {
    if (!subnet.interface.empty()) return subnet.interface == link.name;
    return std::any_of(link.addresses.begin(), link.addresses.end(), [&](const auto& address) {
      return subnet.prefix.Contains(address.address);
    });
  });
}

// The source address of frames is the one the sockets were opened with.
bool Shard::HasAddress(const ServedInterface& interface, const LinkState& link) {
  return interface.sockets.packet_fd < 0 ||
         interface.sockets.hardware_address == link.hardware_address;
}

bool Shard::Eligible(const LinkState& link) const {
  return link.up && !link.enslaved && ServesInterface(config_, link.name);
}

void Shard::OpenLink(const LinkState& link, const std::vector<LinkState>& links) {
  ServedInterface* interface = SlotFor(link.name, links);
  if (interface == nullptr || interface->serving()) return;
  // After a renaming it is the old name that still has the port of this device.
  if (std::any_of(interfaces_.begin(), interfaces_.end(), [&](const auto& other) {
        return other && other->state == ServedInterface::State::kDetaching &&
               (other.get() == interface || other->sockets.ifindex == link.ifindex);
      })) {
    RINGDHCP_PROBE(link_back_while_detaching);
    return;  // OnDetached looks again
  }
  if (now_.monotonic_ns < interface->open_retry_at_ns) {
    links_retry_at_ns_ = std::min(links_retry_at_ns_, interface->open_retry_at_ns);
    return;
  }
  absl::StatusOr<InterfaceSockets> sockets = seams_.open(link.name, link.ifindex);
  absl::Status status = sockets.status();
  if (status.ok()) status = seams_.ring.Attach(interface->slot, *sockets);
  if (!status.ok()) {
    RINGDHCP_PROBE(interface_not_opened);
    interface->open_retry_delay_ns = std::clamp(2 * interface->open_retry_delay_ns,
                                                limits_.interface_retry_ns, kNanosecondsPerSecond);
    interface->open_retry_at_ns = now_.monotonic_ns + interface->open_retry_delay_ns;
    links_retry_at_ns_ = std::min(links_retry_at_ns_, interface->open_retry_at_ns);
    if (interface->last_open_error != status.message()) {
      interface->last_open_error = std::string(status.message());
      seams_.logger.Error("can't serve the interface; trying again",
                          {{"interface", link.name}, {"cause", interface->last_open_error}});
    }
    return;
  }
  interface->state = ServedInterface::State::kServing;
  interface->sockets = *sockets;
  interface->receive_stopped = false;
  interface->last_open_error.clear();
  interface->open_retry_delay_ns = 0;
  interface->open_retry_at_ns = 0;
  UpdateView(*interface, link);
  if (HasSubnet(link)) {
    seams_.logger.Info("serving the interface", {{"interface", link.name}});
  } else {
    seams_.logger.Info("serving the interface for relays alone: no subnet is for its addresses",
                       {{"interface", link.name}});
  }
}

ServedInterface* Shard::SlotFor(const std::string& name, const std::vector<LinkState>& links) {
  const auto is_there = [&](const std::string& other) {
    return std::any_of(links.begin(), links.end(),
                       [&](const LinkState& link) { return link.name == other; });
  };
  std::size_t choice = interfaces_.size();
  for (std::size_t i = 0; i < interfaces_.size(); ++i) {
    const auto& interface = interfaces_[i];
    if (interface && interface->view.name == name) return interface.get();
    if (!interface) {
      if (choice == interfaces_.size() || interfaces_[choice]) choice = i;
    } else if (choice == interfaces_.size() && interface->state == ServedInterface::State::kIdle &&
               !is_there(interface->view.name)) {
      choice = i;  // the name of an interface that is gone, if no slot is left unused
    }
  }
  if (choice == interfaces_.size()) {
    if (without_slot_.insert(name).second) {
      seams_.logger.Error("too many interfaces: this one is not served",
                          {{"interface", name}, {"limit", absl::StrCat(interfaces_.size())}});
    }
    return nullptr;
  }
  without_slot_.erase(name);
  interfaces_[choice] =
      std::make_unique<ServedInterface>(InterfaceSlot(static_cast<std::uint16_t>(choice)), ++lives_,
                                        seams_.ring.buffers_per_interface(), limits_);
  interfaces_[choice]->view.name = name;
  interfaces_[choice]->view.host_addresses = &host_addresses_;
  return interfaces_[choice].get();
}

void Shard::Detach(ServedInterface& interface) {
  interface.state = ServedInterface::State::kDetaching;
  if (const auto drops = seams_.receive_drops(interface.sockets.udp_fd)) {
    interface.earlier_receive_drops += *drops;
    interface.metrics->kernel_receive_drops.Set(interface.earlier_receive_drops);
  }
  while (!interface.ingress.empty()) {
    RINGDHCP_PROBE(link_goes_with_packets_queued);
    interface.CountDrop(DropReason::kInterfaceGone);
    seams_.ring.ReturnBuffer(interface.slot, interface.ingress.Pop(now_.monotonic_ns).buffer);
  }
  scheduler_.Deactivate(interface.slot);
  while (const auto entry = interface.egress.TakeAny()) {
    RINGDHCP_PROBE(link_goes_with_replies_queued);
    DropSlot(entry->slot, DropReason::kInterfaceGone);
  }
  seams_.ring.Detach(interface.slot);
  seams_.logger.Info("no longer serving the interface", {{"interface", interface.view.name}});
}

void Shard::OnDetached(ServedInterface& interface) {
  interface.state = ServedInterface::State::kIdle;
  interface.sockets = InterfaceSockets{};
  links_retry_at_ns_ = now_.monotonic_ns;  // it may be back already, made anew
}

void Shard::UpdateView(ServedInterface& interface, const LinkState& link) {
  interface.mtu = link.mtu;
  interface.view.addresses.clear();
  for (const auto& address : link.addresses) {
    interface.view.addresses.push_back({address.address, address.prefix});
  }
}

void Shard::PublishStatus() {
  std::vector<InterfaceStatus> status;
  std::size_t serving = 0;
  for (const auto& interface : interfaces_) {
    if (!interface) continue;
    status.push_back({interface->view.name, interface->serving(), interface->metrics});
    serving += interface->serving() ? 1 : 0;
  }
  metrics_.served_interfaces.Set(serving);
  const std::lock_guard lock(status_mutex_);
  status_.swap(status);
}

}  // namespace ringdhcp
