// SPDX-License-Identifier: GPL-2.0-only
#ifndef COLLECTIVE_APPLICATION_H
#define COLLECTIVE_APPLICATION_H

#include "collective-plan.h"

#include "ns3/application.h"
#include "ns3/ipv4-address.h"
#include "ns3/nstime.h"
#include "ns3/ptr.h"
#include "ns3/simple-ref-count.h"
#include "ns3/socket.h"
#include "ns3/traced-callback.h"
#include "ns3/type-id.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

namespace ns3
{

class CollectiveApplication;

/**
 * What the applications of one collective know together: the plan, where each rank is, and which messages are
 * under way between each pair, in their order. It stands for the headers that a library writes into its
 * messages, and for the answer of a receiver that a message is there: neither takes time or bytes here.
 */
class CollectiveGroup : public SimpleRefCount<CollectiveGroup>
{
  public:
    CollectiveGroup(std::shared_ptr<const CollectivePlan> plan, std::vector<Ipv4Address> addresses);

    const CollectivePlan& GetPlan() const
    {
        return *m_plan;
    }
    /// Whether all ranks are done
    bool IsFinished() const
    {
        return m_unfinished == 0;
    }
    /// When the last rank was done; 0 before
    Time GetFinish() const
    {
        return m_finish;
    }

  private:
    friend class CollectiveApplication;

    /// With barriers: begins the next stage of a chunk on all ranks, if this one is complete on all.
    void PassBarrier(uint32_t chunk, uint32_t stage);

    /// Messages of a pair in the order in which they begin, of which the first `arrived` are there
    struct UnderWay
    {
        std::vector<uint32_t> sends; //!< numbers of the sender's actions
        std::size_t arrived{0};
    };

    std::shared_ptr<const CollectivePlan> m_plan;
    std::vector<Ipv4Address> m_addresses;
    std::map<Ipv4Address, uint32_t> m_ranks;
    std::vector<Ptr<CollectiveApplication>> m_members;
    std::vector<UnderWay> m_underWay;              //!< by sender and receiver
    std::vector<std::vector<uint32_t>> m_unpassed; //!< by chunk and stage: ranks where it is not complete
    uint32_t m_unfinished;
    Time m_finish;
};

/**
 * One rank of a collective, over stream sockets of ns-3, one connection for each rank it sends to. Messages
 * of a pair are sent in the order in which they begin, as bytes without headers. A send is complete at the
 * instant at which its last byte is read by the receiver. Reductions take no time. A message of no bytes
 * arrives at once.
 *
 * CollectiveHelper makes the ranks of a group. All start at the same time, listen, and begin with what waits
 * for nothing; the handshakes of connections are part of the time. One that stops takes part no more, and the
 * group does not finish.
 */
class CollectiveApplication : public Application
{
  public:
    static TypeId GetTypeId();
    CollectiveApplication();
    ~CollectiveApplication() override;

    /// Before the start
    void SetGroup(Ptr<CollectiveGroup> group, uint32_t rank);

    /// Payload that has been read
    uint64_t GetReceivedBytes() const
    {
        return m_receivedBytes;
    }
    bool IsFinished() const
    {
        return m_incomplete == 0;
    }

    typedef void (*FinishedTracedCallback)(uint32_t rank, Time when);

  private:
    friend class CollectiveGroup;

    struct Connection
    {
        Ptr<Socket> socket;
        uint64_t unsent{0}; //!< bytes of messages that have begun
        bool isConnected{false};
    };

    void DoDispose() override;
    void StartApplication() override;
    void StopApplication() override;

    /// Whether nothing keeps it from beginning any more
    bool IsReady(uint32_t action) const;
    /// Sends, or takes what has come already
    void Begin(uint32_t action);
    /// And begins what waited for it
    void Complete(uint32_t action);
    void FollowUp(uint32_t action);
    /// Begins the stage, and those after it that have nothing to do
    void BeginStage(uint32_t chunk, uint32_t stage);
    void Finish();
    void SendTo(uint32_t peer, uint32_t action);
    void HandleConnected(Ptr<Socket> socket);
    void HandleFailed(Ptr<Socket> socket);
    void HandleSpace(Ptr<Socket> socket, uint32_t available);
    void HandleAccept(Ptr<Socket> socket, const Address& from);
    void HandleRead(Ptr<Socket> socket);
    void Write(Connection& connection);
    /// Completes the messages from `peer` whose last byte has been read
    void CompleteArrived(uint32_t peer);

    TypeId m_protocol;
    uint16_t m_port{0};
    uint8_t m_tos{0};
    Ptr<CollectiveGroup> m_group;
    uint32_t m_rank{0};
    std::vector<uint32_t> m_waits;                            //!< by action: what it still comes after
    std::vector<std::vector<uint32_t>> m_followers;           //!< by action
    std::vector<bool> m_hasBegun;                             //!< by action
    std::vector<bool> m_hasArrived;                           //!< by action, of receives
    std::vector<std::vector<std::vector<uint32_t>>> m_stages; //!< by chunk and stage: actions
    std::vector<std::vector<uint64_t>> m_openActions;         //!< by chunk and stage: not complete
    std::vector<uint32_t> m_stage;                            //!< by chunk: stages that have begun
    std::deque<uint32_t> m_completed;                         //!< whose followers have not been told
    bool m_isFollowingUp{false};
    bool m_isStopped{false};
    uint64_t m_incomplete{0};
    uint64_t m_receivedBytes{0};
    Ptr<Socket> m_listener;
    std::map<uint32_t, Connection> m_connections; //!< by rank that it sends to
    std::map<uint32_t, uint64_t> m_read;          //!< by rank: bytes that no message has claimed
    std::unordered_map<const Socket*, uint32_t> m_peers;
    std::vector<Ptr<Socket>> m_accepted;
    TracedCallback<uint32_t, Time> m_finished;
};

} // namespace ns3

#endif /* COLLECTIVE_APPLICATION_H */
