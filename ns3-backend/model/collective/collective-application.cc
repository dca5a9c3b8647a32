// SPDX-License-Identifier: GPL-2.0-only
#include "collective-application.h"

#include "ns3/abort.h"
#include "ns3/inet-socket-address.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/simulator.h"
#include "ns3/tcp-socket-factory.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <utility>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(CollectiveApplication);

namespace
{

constexpr uint32_t LARGEST_WRITE = 65'536; // of one call: a buffer of a socket takes no more by default

} // namespace

CollectiveGroup::CollectiveGroup(std::shared_ptr<const CollectivePlan> plan,
                                 std::vector<Ipv4Address> addresses)
    : m_plan(std::move(plan)),
      m_addresses(std::move(addresses)),
      m_members(m_plan->GetRanks()),
      m_underWay(std::size_t{m_plan->GetRanks()} * m_plan->GetRanks()),
      m_unfinished(m_plan->GetRanks())
{
    NS_ABORT_MSG_IF(m_addresses.size() != m_plan->GetRanks(),
                    "CollectiveGroup: " << m_addresses.size() << " addresses of " << m_plan->GetRanks()
                                        << " ranks");
    for (uint32_t rank = 0; rank < m_plan->GetRanks(); ++rank)
    {
        NS_ABORT_MSG_UNLESS(m_ranks.emplace(m_addresses[rank], rank).second,
                            "CollectiveGroup: two ranks have the address " << m_addresses[rank]);
    }
    std::vector<uint32_t> stages(m_plan->GetChunks(), 0);
    for (uint32_t rank = 0; rank < m_plan->GetRanks(); ++rank)
    {
        for (const CollectiveAction& action : m_plan->GetActions(rank))
        {
            stages[action.chunk] = std::max(stages[action.chunk], action.stage + 1);
        }
    }
    for (const uint32_t count : stages)
    {
        m_unpassed.emplace_back(count, m_plan->GetRanks());
    }
}

void
CollectiveGroup::PassBarrier(uint32_t chunk, uint32_t stage)
{
    if (--m_unpassed[chunk][stage] > 0)
    {
        return;
    }
    for (const Ptr<CollectiveApplication>& member : m_members)
    {
        Simulator::ScheduleWithContext(member->GetNode()->GetId(),
                                       Time(0),
                                       &CollectiveApplication::BeginStage,
                                       member,
                                       chunk,
                                       stage + 1);
    }
}

TypeId
CollectiveApplication::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::CollectiveApplication")
            .SetParent<Application>()
            .SetGroupName("Astrolabe")
            .AddConstructor<CollectiveApplication>()
            .AddAttribute("Protocol",
                          "Factory of its stream sockets.",
                          TypeIdValue(TcpSocketFactory::GetTypeId()),
                          MakeTypeIdAccessor(&CollectiveApplication::m_protocol),
                          MakeTypeIdChecker())
            .AddAttribute("Port",
                          "On which it listens.",
                          UintegerValue(4791),
                          MakeUintegerAccessor(&CollectiveApplication::m_port),
                          MakeUintegerChecker<uint16_t>(1))
            .AddAttribute("Tos",
                          "Type of service of its datagrams, whose upper six bits are the DSCP.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&CollectiveApplication::m_tos),
                          MakeUintegerChecker<uint8_t>())
            .AddTraceSource("Finished",
                            "All actions of the rank are complete.",
                            MakeTraceSourceAccessor(&CollectiveApplication::m_finished),
                            "ns3::CollectiveApplication::FinishedTracedCallback");
    return tid;
}

CollectiveApplication::CollectiveApplication() = default;
CollectiveApplication::~CollectiveApplication() = default;

void
CollectiveApplication::SetGroup(Ptr<CollectiveGroup> group, uint32_t rank)
{
    NS_ABORT_MSG_IF(rank >= group->GetPlan().GetRanks(), "CollectiveApplication: there is no such rank");
    m_group = std::move(group);
    m_rank = rank;
    m_group->m_members[rank] = this;
    const CollectivePlan& plan = m_group->GetPlan();
    const std::vector<CollectiveAction>& actions = plan.GetActions(rank);
    m_waits.assign(actions.size(), 0);
    m_followers.assign(actions.size(), {});
    m_hasBegun.assign(actions.size(), false);
    m_hasArrived.assign(actions.size(), false);
    m_incomplete = actions.size();
    m_stage.assign(plan.GetChunks(), 0);
    m_stages.clear();
    m_openActions.clear();
    for (uint32_t chunk = 0; chunk < plan.GetChunks(); ++chunk)
    {
        const std::size_t stages = m_group->m_unpassed[chunk].size();
        m_stages.emplace_back(stages);
        m_openActions.emplace_back(stages, 0);
    }
    for (uint32_t i = 0; i < actions.size(); ++i)
    {
        const CollectiveAction& action = actions[i];
        m_stages[action.chunk][action.stage].push_back(i);
        ++m_openActions[action.chunk][action.stage];
        m_waits[i] = static_cast<uint32_t>(action.after.size());
        for (const uint32_t before : action.after)
        {
            m_followers[before].push_back(i);
        }
    }
}

void
CollectiveApplication::DoDispose()
{
    m_listener = nullptr;
    m_connections.clear();
    m_accepted.clear();
    if (m_group)
    {
        m_group->m_members[m_rank] = nullptr;
    }
    m_group = nullptr;
    Application::DoDispose();
}

void
CollectiveApplication::StartApplication()
{
    NS_ABORT_MSG_UNLESS(m_group, "CollectiveApplication: call SetGroup before the start");
    m_listener = Socket::CreateSocket(GetNode(), m_protocol);
    NS_ABORT_MSG_IF(m_listener->Bind(InetSocketAddress(m_group->m_addresses[m_rank], m_port)) != 0 ||
                        m_listener->Listen() != 0,
                    "CollectiveApplication: rank " << m_rank << " cannot listen on port " << m_port);
    m_listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                  MakeCallback(&CollectiveApplication::HandleAccept, this));
    for (uint32_t chunk = 0; chunk < m_stages.size(); ++chunk)
    {
        BeginStage(chunk, 0);
    }
    if (m_group->GetPlan().GetActions(m_rank).empty())
    {
        Finish();
    }
}

void
CollectiveApplication::StopApplication()
{
    m_isStopped = true;
    for (auto& [peer, connection] : m_connections)
    {
        connection.socket->SetConnectCallback(MakeNullCallback<void, Ptr<Socket>>(),
                                              MakeNullCallback<void, Ptr<Socket>>());
        connection.socket->SetSendCallback(MakeNullCallback<void, Ptr<Socket>, uint32_t>());
        connection.socket->Close();
    }
    for (const Ptr<Socket>& socket : m_accepted)
    {
        socket->SetRecvCallback(MakeNullCallback<void, Ptr<Socket>>());
        socket->Close();
    }
    if (m_listener)
    {
        m_listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                      MakeNullCallback<void, Ptr<Socket>, const Address&>());
        m_listener->Close();
    }
}

bool
CollectiveApplication::IsReady(uint32_t action) const
{
    const CollectiveAction& its = m_group->GetPlan().GetActions(m_rank)[action];
    return m_waits[action] == 0 && its.stage < m_stage[its.chunk] && !m_hasBegun[action];
}

void
CollectiveApplication::BeginStage(uint32_t chunk, uint32_t stage)
{
    if (m_isStopped)
    {
        return;
    }
    const bool hasBarriers = m_group->GetPlan().HasBarriers();
    while (stage < m_stages[chunk].size())
    {
        m_stage[chunk] = stage + 1;
        if (m_openActions[chunk][stage] > 0)
        {
            for (const uint32_t action : m_stages[chunk][stage])
            {
                if (IsReady(action))
                {
                    Begin(action);
                }
            }
            return;
        }
        if (hasBarriers)
        {
            m_group->PassBarrier(chunk, stage);
            return;
        }
        ++stage;
    }
}

void
CollectiveApplication::Begin(uint32_t action)
{
    m_hasBegun[action] = true;
    const CollectiveAction& its = m_group->GetPlan().GetActions(m_rank)[action];
    if (its.kind == CollectiveAction::SEND)
    {
        SendTo(its.peer, action);
    }
    else if (m_hasArrived[action])
    {
        Complete(action);
    }
}

void
CollectiveApplication::Complete(uint32_t action)
{
    if (m_isStopped)
    {
        return;
    }
    m_completed.push_back(action);
    if (m_isFollowingUp)
    {
        return;
    }
    m_isFollowingUp = true;
    while (!m_completed.empty())
    {
        const uint32_t next = m_completed.front();
        m_completed.pop_front();
        FollowUp(next);
    }
    m_isFollowingUp = false;
    if (m_incomplete == 0)
    {
        Finish();
    }
}

void
CollectiveApplication::FollowUp(uint32_t action)
{
    --m_incomplete;
    for (const uint32_t follower : m_followers[action])
    {
        --m_waits[follower];
        if (IsReady(follower))
        {
            Begin(follower);
        }
    }
    const CollectiveAction& its = m_group->GetPlan().GetActions(m_rank)[action];
    if (--m_openActions[its.chunk][its.stage] > 0)
    {
        return;
    }
    if (m_group->GetPlan().HasBarriers())
    {
        m_group->PassBarrier(its.chunk, its.stage);
    }
    else
    {
        BeginStage(its.chunk, its.stage + 1);
    }
}

void
CollectiveApplication::Finish()
{
    if (--m_group->m_unfinished == 0)
    {
        m_group->m_finish = Simulator::Now();
    }
    m_finished(m_rank, Simulator::Now());
}

void
CollectiveApplication::SendTo(uint32_t peer, uint32_t action)
{
    const CollectiveAction& its = m_group->GetPlan().GetActions(m_rank)[action];
    m_group->m_underWay[std::size_t{m_rank} * m_group->GetPlan().GetRanks() + peer].sends.push_back(action);
    if (its.bytes == 0)
    {
        const Ptr<CollectiveApplication> receiver = m_group->m_members[peer];
        Simulator::ScheduleWithContext(
            receiver->GetNode()->GetId(), Time(0), &CollectiveApplication::CompleteArrived, receiver, m_rank);
        return;
    }
    Connection& connection = m_connections[peer];
    connection.unsent += its.bytes;
    if (!connection.socket)
    {
        connection.socket = Socket::CreateSocket(GetNode(), m_protocol);
        connection.socket->Bind(InetSocketAddress(m_group->m_addresses[m_rank], 0));
        m_peers[PeekPointer(connection.socket)] = peer;
        connection.socket->SetConnectCallback(MakeCallback(&CollectiveApplication::HandleConnected, this),
                                              MakeCallback(&CollectiveApplication::HandleFailed, this));
        connection.socket->SetSendCallback(MakeCallback(&CollectiveApplication::HandleSpace, this));
        connection.socket->Connect(InetSocketAddress(m_group->m_addresses[peer], m_port));
        connection.socket->SetIpTos(m_tos); // Connect sets that of the address, 0
    }
    else if (connection.isConnected)
    {
        Write(connection);
    }
}

void
CollectiveApplication::HandleConnected(Ptr<Socket> socket)
{
    Connection& connection = m_connections[m_peers.at(PeekPointer(socket))];
    connection.isConnected = true;
    Write(connection);
}

void
CollectiveApplication::HandleFailed(Ptr<Socket> socket)
{
    NS_ABORT_MSG("CollectiveApplication: rank " << m_rank << " cannot connect to rank "
                                                << m_peers.at(PeekPointer(socket)));
}

void
CollectiveApplication::HandleSpace(Ptr<Socket> socket, uint32_t)
{
    Connection& connection = m_connections[m_peers.at(PeekPointer(socket))];
    if (connection.isConnected)
    {
        Write(connection);
    }
}

void
CollectiveApplication::Write(Connection& connection)
{
    while (connection.unsent > 0)
    {
        const auto size = static_cast<uint32_t>(
            std::min<uint64_t>({connection.unsent, connection.socket->GetTxAvailable(), LARGEST_WRITE}));
        if (size == 0 || connection.socket->Send(Create<Packet>(size)) < 0)
        {
            return; // HandleSpace goes on
        }
        connection.unsent -= size;
    }
}

void
CollectiveApplication::HandleAccept(Ptr<Socket> socket, const Address& from)
{
    const Ipv4Address address = InetSocketAddress::ConvertFrom(from).GetIpv4();
    const auto rank = m_group->m_ranks.find(address);
    NS_ABORT_MSG_IF(rank == m_group->m_ranks.end(),
                    "CollectiveApplication: " << address << " is no rank's address");
    m_peers[PeekPointer(socket)] = rank->second;
    m_accepted.push_back(socket);
    socket->SetIpTos(m_tos);
    socket->SetRecvCallback(MakeCallback(&CollectiveApplication::HandleRead, this));
}

void
CollectiveApplication::HandleRead(Ptr<Socket> socket)
{
    const uint32_t peer = m_peers.at(PeekPointer(socket));
    while (const Ptr<Packet> packet = socket->Recv())
    {
        if (packet->GetSize() == 0)
        {
            break;
        }
        m_receivedBytes += packet->GetSize();
        m_read[peer] += packet->GetSize();
    }
    CompleteArrived(peer);
}

void
CollectiveApplication::CompleteArrived(uint32_t peer)
{
    if (m_isStopped)
    {
        return;
    }
    const CollectivePlan& plan = m_group->GetPlan();
    CollectiveGroup::UnderWay& underWay = m_group->m_underWay[std::size_t{peer} * plan.GetRanks() + m_rank];
    uint64_t& read = m_read[peer];
    while (underWay.arrived < underWay.sends.size())
    {
        const uint32_t send = underWay.sends[underWay.arrived];
        const CollectiveAction& its = plan.GetActions(peer)[send];
        if (read < its.bytes)
        {
            return;
        }
        read -= its.bytes;
        if (++underWay.arrived == underWay.sends.size())
        {
            underWay = {};
        }
        const Ptr<CollectiveApplication> sender = m_group->m_members[peer];
        Simulator::ScheduleWithContext(
            sender->GetNode()->GetId(), Time(0), &CollectiveApplication::Complete, sender, send);
        m_hasArrived[its.match] = true;
        if (m_hasBegun[its.match])
        {
            Complete(its.match);
        }
    }
}

} // namespace ns3
