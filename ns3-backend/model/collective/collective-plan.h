// SPDX-License-Identifier: GPL-2.0-only
#ifndef COLLECTIVE_PLAN_H
#define COLLECTIVE_PLAN_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ns3
{

/// One end of a message of a collective, as the rank sees it that sends or receives.
struct CollectiveAction
{
    /// What a rank does
    enum Kind
    {
        SEND,
        RECEIVE,        //!< stores what comes
        RECEIVE_REDUCE, //!< adds it to its own
    };

    Kind kind{SEND};
    uint32_t peer{0};
    uint32_t match{0}; //!< number of the other end among the actions of the peer
    uint64_t bytes{0}; //!< may be 0, where there are more blocks than bytes
    uint32_t stage{0}; //!< of the chunk
    uint32_t chunk{0};
    std::vector<uint32_t> after; //!< earlier actions of the same rank that have to be complete before
};

/**
 * What every rank of a group sends and receives in a collective, in which order, by one of the project's
 * algorithms. It is data alone and knows nothing of a network: CollectiveApplication carries it out over
 * sockets.
 *
 * A vector of S bytes is cut into chunks, as equal as bytes allow, whose schedules do not wait for each
 * other. A send begins when the actions it comes after are complete, and is complete when it has been
 * delivered; a receive is complete when its message is there. The actions of a chunk may be split in stages:
 * on every rank a stage begins when all actions of the rank's earlier stages of that chunk are complete, or,
 * with barriers, when those of all ranks are.
 *
 * The schedules are those of the project (system/, docs/theory/collectives-and-costs.md), which proves each
 * by running it over symbols. Memory is O(actions): 2 N (N - 1) for a ring of N ranks.
 */
class CollectivePlan
{
  public:
    using Parameters = std::map<std::string, std::string>;

    /// \param kind all_reduce, reduce_scatter, all_gather, all_to_all, broadcast, reduce, or point_to_point
    /// \param algorithm one of GetAlgorithms
    /// \param dimensions of the group, whose product are the ranks, two or more: {16}, or {4, 4} for
    /// hierarchical \param bytes that each rank holds; of an all_gather, that it contributes \param chunks 0:
    /// as many as the algorithm asks for, so that all its rings or trees carry the same \param parameters of
    /// the algorithm, by its keys in files: {"rings", "4"}, {"strides", "[1, 5]"} Throws
    /// std::invalid_argument with the reason where these do not fit together.
    CollectivePlan(const std::string& kind,
                   const std::string& algorithm,
                   const std::vector<uint32_t>& dimensions,
                   uint64_t bytes,
                   uint32_t chunks = 0,
                   const Parameters& parameters = {});

    /// Names of algorithms, in alphabetical order
    static std::vector<std::string> GetAlgorithms();

    uint32_t GetRanks() const
    {
        return static_cast<uint32_t>(m_actions.size());
    }
    /// In an order in which each comes after those it waits for
    const std::vector<CollectiveAction>& GetActions(uint32_t rank) const
    {
        return m_actions[rank];
    }
    uint32_t GetChunks() const
    {
        return m_chunks;
    }
    /// Whether no rank begins a stage before all have finished the one before
    bool HasBarriers() const
    {
        return m_hasBarriers;
    }
    uint64_t GetMessages() const;
    /// That a rank sends
    uint64_t GetSentBytes(uint32_t rank) const;

  private:
    std::vector<std::vector<CollectiveAction>> m_actions;
    uint32_t m_chunks{0};
    bool m_hasBarriers{false};
};

} // namespace ns3

#endif /* COLLECTIVE_PLAN_H */
