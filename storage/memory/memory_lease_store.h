#ifndef RINGDHCP_STORAGE_MEMORY_MEMORY_LEASE_STORE_H_
#define RINGDHCP_STORAGE_MEMORY_MEMORY_LEASE_STORE_H_

#include <memory>

#include "storage/lease_store.h"

namespace ringdhcp {

/// A store that forgets everything when it ends; for tests and trials.
std::unique_ptr<LeaseStore> MakeMemoryLeaseStore();

}  // namespace ringdhcp

#endif  // RINGDHCP_STORAGE_MEMORY_MEMORY_LEASE_STORE_H_
