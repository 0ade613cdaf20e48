#include <cerrno>
#include <deque>

#include "test/contract/ring/ring_world.h"
#include "test/support/fake_ring.h"

namespace ringdhcp {
namespace {

class FakeWorld : public RingWorld {
 public:
  Ring& ring() override { return ring_; }
  absl::Status Attach(std::size_t interface) override {
    return ring_.Attach(Slot(interface), InterfaceSockets{});
  }
  void ClientSends(std::size_t interface, const std::vector<std::uint8_t>& payload,
                   Ipv4Address destination) override {
    ring_.Inject(Slot(interface),
                 {payload, ClientAddress(interface), 68, destination, ServerAddress(interface)});
  }
  std::optional<WireDatagram> ClientReceives(std::size_t interface) override {
    for (const FakeRing::Sent& sent : ring_.TakeSent()) {
      received_[sent.interface.value].push_back({sent.payload, sent.source, 67, sent.destination,
                                                 sent.destination_port, sent.hardware_address, true,
                                                 true});
    }
    if (received_[interface].empty()) return std::nullopt;
    WireDatagram datagram = received_[interface].front();
    received_[interface].pop_front();
    return datagram;
  }
  void SetLinkDown(std::size_t interface) override {
    ring_.SetSendError(Slot(interface), ENETDOWN);
  }
  void DeleteInterface(std::size_t interface) override {
    ring_.SetSendError(Slot(interface), ENODEV);
  }

 private:
  static InterfaceSlot Slot(std::size_t interface) {
    return InterfaceSlot(static_cast<std::uint16_t>(interface));
  }

  FakeRing ring_{{kWorldInterfaces, kWorldBuffers, kWorldPayloadMax, kWorldSendSlots,
                  /*socket_queue_max=*/1024, /*waits=*/true}};
  std::array<std::deque<WireDatagram>, kWorldInterfaces> received_;
};

}  // namespace

std::unique_ptr<RingWorld> MakeFakeWorld() { return std::make_unique<FakeWorld>(); }

}  // namespace ringdhcp
