// SPDX-License-Identifier: GPL-2.0-only
#include "packet-scoreboard.h"

#include <algorithm>

namespace ns3
{

PacketScoreboards::PacketScoreboards(uint32_t windowPackets)
    : m_sets(windowPackets)
{
}

PacketScoreboards::Board&
PacketScoreboards::Of(PacketQueuePair& pair)
{
    if (pair.scoreboard == PACKET_NONE)
    {
        pair.scoreboard = m_boards.Allocate();
        Board& board = m_boards[pair.scoreboard];
        board.judged = pair.acknowledged;
        board.resentEnd = pair.acknowledged;
        board.episodeEnd = pair.acknowledged;
        board.arrived = m_sets.Allocate();
        board.lost = m_sets.Allocate();
        board.resent = m_sets.Allocate();
    }
    return m_boards[pair.scoreboard];
}

bool
PacketScoreboards::SetArrived(PacketQueuePair& pair, uint64_t packet, uint64_t tolerance)
{
    Board& board = Of(pair);
    const bool wasResent = m_sets.Has(board.resent, packet);
    SetArrived(pair, packet);
    return Overtaken(pair, board, packet, wasResent, tolerance);
}

void
PacketScoreboards::SetArrived(PacketQueuePair& pair, uint64_t packet)
{
    Board& board = Of(pair);
    m_sets.Remove(board.lost, packet);
    m_sets.Remove(board.resent, packet);
    m_sets.Add(board.arrived, packet);
    pair.hasLost = m_sets.GetCount(board.lost) > 0;
}

bool
PacketScoreboards::SetLost(PacketQueuePair& pair, uint64_t packet, uint64_t tolerance)
{
    Board& board = Of(pair);
    const bool wasResent = m_sets.Has(board.resent, packet);
    const bool isAnyLost = Overtaken(pair, board, packet, wasResent, tolerance);
    const uint32_t before = m_sets.GetCount(board.lost);
    SetLost(pair, packet);
    return isAnyLost || m_sets.GetCount(board.lost) > before;
}

void
PacketScoreboards::SetLost(PacketQueuePair& pair, uint64_t packet)
{
    Board& board = Of(pair);
    if (!m_sets.Has(board.arrived, packet))
    {
        m_sets.Remove(board.resent, packet);
        m_sets.Add(board.lost, packet);
        pair.hasLost = true;
        board.judged += board.judged == packet ? 1 : 0;
    }
}

bool
PacketScoreboards::Overtaken(
    PacketQueuePair& pair, Board& board, uint64_t packet, bool wasResent, uint64_t tolerance)
{
    const uint64_t bound = packet + 1 > tolerance ? packet + 1 - tolerance : 0;
    const bool isNewer = !wasResent && bound >= board.resentEnd;
    bool isAnyLost = Judge(pair, board, bound);
    if (wasResent || isNewer)
    {
        isAnyLost = JudgeResent(pair, board, bound) || isAnyLost;
    }
    return isAnyLost;
}

bool
PacketScoreboards::Judge(PacketQueuePair& pair, Board& board, uint64_t bound)
{
    bool isAnyLost = false;
    for (uint64_t packet = std::max(board.judged, pair.acknowledged); packet < bound; ++packet)
    {
        isAnyLost = (!m_sets.Has(board.arrived, packet) && m_sets.Add(board.lost, packet)) || isAnyLost;
    }
    board.judged = std::max(board.judged, bound);
    pair.hasLost = pair.hasLost || isAnyLost;
    return isAnyLost;
}

bool
PacketScoreboards::JudgeResent(PacketQueuePair& pair, Board& board, uint64_t bound)
{
    bool isAnyLost = false;
    for (uint64_t packet = m_sets.FindFirst(board.resent, pair.acknowledged, bound); packet < bound;
         packet = m_sets.FindFirst(board.resent, packet + 1, bound))
    {
        m_sets.Remove(board.resent, packet);
        m_sets.Add(board.lost, packet);
        isAnyLost = true;
    }
    pair.hasLost = pair.hasLost || isAnyLost;
    return isAnyLost;
}

uint64_t
PacketScoreboards::SetAllLost(PacketQueuePair& pair)
{
    Board& board = Of(pair);
    for (uint64_t packet = pair.acknowledged; packet < pair.nextPacket; ++packet)
    {
        m_sets.Remove(board.resent, packet);
        if (!m_sets.Has(board.arrived, packet))
        {
            m_sets.Add(board.lost, packet);
        }
    }
    board.judged = pair.nextPacket;
    pair.hasLost = m_sets.GetCount(board.lost) > 0;
    return m_sets.GetCount(board.lost);
}

bool
PacketScoreboards::StartsEpisode(PacketQueuePair& pair)
{
    Board& board = Of(pair);
    if (pair.acknowledged < board.episodeEnd)
    {
        return false;
    }
    board.episodeEnd = pair.nextPacket;
    return true;
}

uint64_t
PacketScoreboards::GetFirstLost(const PacketQueuePair& pair) const
{
    return m_sets.FindFirst(m_boards[pair.scoreboard].lost, pair.acknowledged, pair.nextPacket);
}

uint64_t
PacketScoreboards::TakeFirstLost(PacketQueuePair& pair)
{
    const uint64_t packet = GetFirstLost(pair);
    Board& board = m_boards[pair.scoreboard];
    m_sets.Remove(board.lost, packet);
    m_sets.Add(board.resent, packet);
    board.resentEnd = pair.nextPacket;
    pair.hasLost = m_sets.GetCount(board.lost) > 0;
    return packet;
}

void
PacketScoreboards::Acknowledge(PacketQueuePair& pair, uint64_t before)
{
    if (pair.scoreboard == PACKET_NONE)
    {
        return;
    }
    Board& board = m_boards[pair.scoreboard];
    for (uint64_t packet = before; packet < pair.acknowledged; ++packet)
    {
        m_sets.Remove(board.arrived, packet);
        m_sets.Remove(board.lost, packet);
        m_sets.Remove(board.resent, packet);
    }
    pair.hasLost = m_sets.GetCount(board.lost) > 0;
    const bool isEmpty =
        !pair.hasLost && m_sets.GetCount(board.arrived) == 0 && m_sets.GetCount(board.resent) == 0;
    if (isEmpty && pair.acknowledged >= std::max(board.judged, board.episodeEnd))
    {
        m_sets.Free(board.arrived);
        m_sets.Free(board.lost);
        m_sets.Free(board.resent);
        m_boards.Free(pair.scoreboard);
        pair.scoreboard = PACKET_NONE;
    }
}

} // namespace ns3
