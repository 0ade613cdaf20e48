#include "test/sim/fault_store.h"

#include <utility>

#include "server/base/check.h"

namespace ringdhcp::sim {

FaultStore::FaultStore(const Options& options, EventQueue& events, Trace& trace, Hooks hooks)
    : options_(options),
      events_(events),
      trace_(trace),
      hooks_(std::move(hooks)),
      random_(options.seed, 2) {}

void FaultStore::Submit(const LeaseBatch* batch) {
  RINGDHCP_CHECK(batch_ == nullptr);
  batch_ = batch;
  submitted_ns_ = events_.now_ns();
  const std::uint64_t life = ++life_;
  std::int64_t latency_ns =
      random_.Between(options_.store_latency_ns / 4, options_.store_latency_ns);
  BatchOutcome outcome = BatchOutcome::kDurable;
  bool stores = true;
  if (!healed_) {
    if (random_.PerMillion(options_.store_hang_ppm)) {
      latency_ns = random_.Between(900, 20'000) * kNanosecondsPerMillisecond;
    }
    if (random_.PerMillion(options_.store_refuse_ppm)) {
      outcome = BatchOutcome::kFailed;
      stores = false;
      if (random_.OneIn(2)) latency_ns = 0;
    } else if (random_.PerMillion(options_.store_unknown_ppm)) {
      outcome = BatchOutcome::kUnknown;
      stores = random_.OneIn(2);
    }
  }
  trace_.Add({events_.now_ns(),
              TraceKind::kSubmitted,
              0,
              0,
              0,
              0,
              {},
              static_cast<std::int64_t>(batch->rows.size())});
  unstored_ = stores;
  const std::int64_t stored_after_ns = random_.Between(0, latency_ns);
  if (stores) {
    events_.After(stored_after_ns, [this, life] {
      if (life == life_) StoreRows();
    });
  }
  events_.After(latency_ns, [this, life, outcome] {
    if (life != life_) return;
    outcome_ = outcome;
    hooks_.wake();
  });
}

void FaultStore::StoreRows() {
  if (!std::exchange(unstored_, false)) return;
  for (const LeaseRecord& row : batch_->rows) {
    const auto [stored, is_new] = rows_.try_emplace(row.address.value, row);
    if (!is_new) {
      if (row.version < stored->second.version) continue;
      stored->second = row;
    }
    trace_.Add({events_.now_ns(), TraceKind::kStored, 0, 0, 0, 0, row.address,
                static_cast<std::int64_t>(row.state)});
    hooks_.stored(row);
  }
}

std::optional<CommitPort::Result> FaultStore::TakeResult() {
  if (!outcome_) return std::nullopt;
  Result result;
  result.result.outcome = *outcome_;
  if (*outcome_ != BatchOutcome::kDurable) {
    result.result.status = absl::ResourceExhaustedError("simulated failure");
  }
  result.commit_ns = events_.now_ns() - submitted_ns_;
  trace_.Add({events_.now_ns(),
              TraceKind::kStoreResult,
              0,
              0,
              0,
              0,
              {},
              static_cast<std::int64_t>(*outcome_)});
  outcome_.reset();
  batch_ = nullptr;
  unstored_ = false;
  ++life_;
  return result;
}

void FaultStore::Crash() {
  if (batch_ != nullptr && unstored_ && random_.OneIn(2)) StoreRows();
  batch_ = nullptr;
  unstored_ = false;
  outcome_.reset();
  ++life_;
}

}  // namespace ringdhcp::sim
