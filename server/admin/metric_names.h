#ifndef RINGDHCP_SERVER_ADMIN_METRIC_NAMES_H_
#define RINGDHCP_SERVER_ADMIN_METRIC_NAMES_H_

#include <string_view>

namespace ringdhcp {

/// Every metric: (enumerator, name, type, labels, meaning). README.md lists the same table; a test
/// compares the two.
#define RINGDHCP_METRICS(X)                                                                    \
  X(kPacketsReceived, "ringdhcp_packets_received_total", Counter, "interface, type",           \
    "Datagrams taken from the interface, by DHCP message type; `other`: none recognisable")    \
  X(kRepliesSent, "ringdhcp_replies_sent_total", Counter, "interface, type",                   \
    "Replies that the kernel accepted")                                                        \
  X(kPacketsDropped, "ringdhcp_packets_dropped_total", Counter, "interface, reason",           \
    "Packets and replies that went nowhere, by reason")                                        \
  X(kKernelReceiveDrops, "ringdhcp_kernel_receive_drops_total", Counter, "interface",          \
    "Datagrams that the kernel dropped because the socket's buffer was full")                  \
  X(kReceiveRearms, "ringdhcp_receive_rearms_total", Counter, "interface",                     \
    "Multishot receives started again after one had ended")                                    \
  X(kReceiveBuffersEmpty, "ringdhcp_receive_buffers_empty_total", Counter, "interface",        \
    "Multishot receives that ended because every receive buffer was in use")                   \
  X(kSendsDeferred, "ringdhcp_sends_deferred_total", Counter, "interface",                     \
    "Sends that found no room in the kernel and were tried again")                             \
  X(kOptionsDropped, "ringdhcp_options_dropped_total", Counter, "interface",                   \
    "Options left out of replies for lack of room, option 82 included (RFC 3046 section 2.2)") \
  X(kInterfaceServing, "ringdhcp_interface_serving", Gauge, "interface",                       \
    "1 while the interface is served, 0 while it is absent, down or can't be opened")          \
  X(kQueueDelay, "ringdhcp_queue_delay_seconds", Histogram, "interface",                       \
    "From taking a packet off the ring to serving it")                                         \
  X(kReplyDelay, "ringdhcp_reply_delay_seconds", Histogram, "interface",                       \
    "From taking a packet off the ring to the kernel's acceptance of its reply")               \
  X(kCommitSeconds, "ringdhcp_commit_seconds", Histogram, "",                                  \
    "Duration of a group commit of the lease store")                                           \
  X(kCommits, "ringdhcp_commits_total", Counter, "", "Group commits that became durable")      \
  X(kCommitRows, "ringdhcp_commit_rows_total", Counter, "", "Lease rows that became durable")  \
  X(kCommitFailures, "ringdhcp_commit_failures_total", Counter, "",                            \
    "Group commits that failed; each is tried again")                                          \
  X(kHeldReplies, "ringdhcp_held_replies", Gauge, "",                                          \
    "Replies that wait for their lease to become durable")                                     \
  X(kPendingRows, "ringdhcp_pending_rows", Gauge, "", "Lease rows that are not durable yet")   \
  X(kStoreWorking, "ringdhcp_store_working", Gauge, "",                                        \
    "1 while the lease store takes commits, 0 while it fails or stalls")                       \
  X(kReady, "ringdhcp_ready", Gauge, "", "1 while /readyz answers 200")                        \
  X(kSubnetAddresses, "ringdhcp_subnet_addresses", Gauge, "subnet, state",                     \
    "Addresses of the subnet's pools by state: bound, offered, declined, free")                \
  X(kReplicationState, "ringdhcp_replication_state", Gauge, "state",                           \
    "1 for the state it is in: connecting, streaming, catching_up, unavailable, refused")      \
  X(kReplicationLagRows, "ringdhcp_replication_lag_rows", Gauge, "",                           \
    "Changes in the local store that PostgreSQL lacks")                                        \
  X(kReplicationLagSeconds, "ringdhcp_replication_lag_seconds", Gauge, "",                     \
    "Age of the oldest change that PostgreSQL lacks, since this start at most")                \
  X(kReplicationOutboxRowsMax, "ringdhcp_replication_outbox_rows_max", Gauge, "",              \
    "Waiting changes at which they are compacted to the last one of each address")             \
  X(kReplicationBatchRows, "ringdhcp_replication_batch_rows", Gauge, "",                       \
    "Rows of the last batch sent to PostgreSQL")                                               \
  X(kReplicationBatchLimit, "ringdhcp_replication_batch_limit", Gauge, "",                     \
    "Rows that the next batch may have; grows while PostgreSQL is busy")                       \
  X(kReplicationCommitSeconds, "ringdhcp_replication_commit_seconds", Histogram, "",           \
    "Duration of a batch's transaction in PostgreSQL")                                         \
  X(kReplicationRows, "ringdhcp_replication_rows_total", Counter, "",                          \
    "Lease rows sent to PostgreSQL")                                                           \
  X(kReplicationBatches, "ringdhcp_replication_batches_total", Counter, "",                    \
    "Batches that PostgreSQL committed")                                                       \
  X(kReplicationFailures, "ringdhcp_replication_failures_total", Counter, "",                  \
    "Connections and batches that failed; each is tried again")                                \
  X(kReplicationReconnects, "ringdhcp_replication_reconnects_total", Counter, "",              \
    "Connections to PostgreSQL after the first")                                               \
  X(kTurns, "ringdhcp_turns_total", Counter, "", "Turns of the packet path")                   \
  X(kBuildInfo, "ringdhcp_build_info", Gauge, "version, durability, storage", "Always 1")      \
  X(kStartTime, "ringdhcp_start_time_seconds", Gauge, "", "When the server started, Unix time")

enum class MetricId {
#define RINGDHCP_X(id, name, type, labels, meaning) id,
  RINGDHCP_METRICS(RINGDHCP_X)
#undef RINGDHCP_X
};

}  // namespace ringdhcp

#endif  // RINGDHCP_SERVER_ADMIN_METRIC_NAMES_H_
