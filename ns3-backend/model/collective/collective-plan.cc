// SPDX-License-Identifier: GPL-2.0-only
// C++20, as the project's schedules: it includes no header of ns-3, and its own is C++17.
#include "collective-plan.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include <astrolabe/core/config/config.hpp>
#include <astrolabe/core/config/registry.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/system/components.hpp>

namespace ns3
{

namespace
{

namespace system = astrolabe::system;

const system::AlgorithmRegistry&
Registry()
{
    static const system::AlgorithmRegistry registry = [] {
        system::AlgorithmRegistry algorithms("system.collectives", "algorithm");
        system::register_computed_algorithms(algorithms);
        return algorithms;
    }();
    return registry;
}

[[noreturn]] void
Reject(const std::string& reason)
{
    throw std::invalid_argument("CollectivePlan: " + reason);
}

system::CollectiveKind
FindKind(const std::string& name)
{
    std::string names;
    for (std::size_t i = 0; i < system::kCollectiveKinds; ++i)
    {
        const auto kind = static_cast<system::CollectiveKind>(i);
        if (system::to_string(kind) == name)
        {
            return kind;
        }
        names += (i == 0 ? "" : ", ") + std::string(system::to_string(kind));
    }
    Reject("'" + name + "' is no collective; one of: " + names);
}

/// A value, or a list of values where the text is "[a, b]".
astrolabe::ConfigNode
Parse(const std::string& text)
{
    if (text.empty() || text.front() != '[' || text.back() != ']')
    {
        return astrolabe::ConfigNode::scalar(text);
    }
    std::vector<astrolabe::ConfigNode> items;
    std::istringstream list(text.substr(1, text.size() - 2));
    for (std::string item; std::getline(list >> std::ws, item, ',');)
    {
        item.erase(item.find_last_not_of(' ') + 1);
        items.push_back(astrolabe::ConfigNode::scalar(item));
    }
    return astrolabe::ConfigNode::sequence(std::move(items));
}

system::AlgorithmPointer
FindAlgorithm(const std::string& name, const CollectivePlan::Parameters& parameters)
{
    astrolabe::ConfigNode node = astrolabe::ConfigNode::mapping();
    node.set("algorithm", astrolabe::ConfigNode::scalar(name));
    for (const auto& [key, value] : parameters)
    {
        node.set(key, Parse(value));
    }
    astrolabe::ReadContext context;
    const auto configured = Registry().read(node, context);
    if (!configured || context.error_count() > 0)
    {
        const astrolabe::Diagnostic& first = context.errors().front();
        Reject(first.message + (first.hint.empty() ? "" : "; " + first.hint));
    }
    return configured->make();
}

system::Shape
ShapeOf(const std::vector<uint32_t>& dimensions)
{
    uint64_t ranks = dimensions.empty() ? 0 : 1;
    for (const uint32_t size : dimensions)
    {
        ranks = size == 0 || ranks > std::numeric_limits<uint32_t>::max() / size ? 0 : ranks * size;
    }
    if (ranks < 2)
    {
        Reject("the dimensions have to make 2 to 2^32 - 1 ranks");
    }
    return system::Shape(dimensions);
}

/// Of chunk c: the first (bytes mod chunks) have one more.
uint64_t
ChunkSize(uint64_t bytes, uint32_t chunks, uint32_t chunk)
{
    return bytes / chunks + (chunk < bytes % chunks ? 1 : 0);
}

CollectiveAction
Translate(const system::CollectiveSchedule& schedule,
          uint32_t rank,
          const system::Action& action,
          uint64_t bytes)
{
    CollectiveAction translated;
    using Kind = system::Action::Kind;
    translated.kind = action.kind == Kind::kSend      ? CollectiveAction::SEND
                      : action.kind == Kind::kReceive ? CollectiveAction::RECEIVE
                                                      : CollectiveAction::RECEIVE_REDUCE;
    translated.peer = schedule.resolve(rank, action.peer);
    translated.bytes = static_cast<uint64_t>(
        schedule.message_size(rank, action, astrolabe::Bytes(static_cast<int64_t>(bytes))).count());
    translated.stage = action.stage;
    return translated;
}

} // namespace

CollectivePlan::CollectivePlan(const std::string& kind,
                               const std::string& algorithm,
                               const std::vector<uint32_t>& dimensions,
                               uint64_t bytes,
                               uint32_t chunks,
                               const Parameters& parameters)
{
    constexpr uint64_t kMaxBytes = uint64_t{1} << 50;
    constexpr uint32_t kMaxChunks = 1U << 16;
    const system::CollectiveKind collective = FindKind(kind);
    const system::Shape shape = ShapeOf(dimensions);
    const system::AlgorithmPointer chosen = FindAlgorithm(algorithm, parameters);
    if (bytes < 1 || bytes > kMaxBytes || chunks > kMaxChunks)
    {
        Reject("1 to 2^50 bytes in at most 2^16 chunks");
    }
    if (chosen->needs_rings())
    {
        Reject("the rings of a network are known to the program alone: give 'strides' by number");
    }
    if (chosen->circuit_use() != system::CircuitUse::kNone)
    {
        Reject(algorithm + " waits for circuits by their timetable, which only the program does");
    }
    if (const std::optional<std::string> reason = chosen->unsupported(collective, shape))
    {
        Reject(*reason);
    }
    m_chunks = chunks == 0 ? chosen->default_chunks() : chunks;
    m_hasBarriers = chosen->has_barriers();
    m_actions.resize(shape.ranks());
    const std::vector<unsigned> variants = chosen->variant_sequence(collective, shape, m_chunks);
    for (uint32_t chunk = 0; chunk < m_chunks; ++chunk)
    {
        const system::CollectiveSchedule schedule = chosen->schedule(collective, shape, variants[chunk]);
        const uint64_t size = ChunkSize(bytes, m_chunks, chunk);
        std::vector<uint32_t> first;
        for (const std::vector<CollectiveAction>& actions : m_actions)
        {
            first.push_back(static_cast<uint32_t>(actions.size()));
        }
        for (uint32_t rank = 0; rank < GetRanks(); ++rank)
        {
            const system::RankProgram& program = schedule.program(rank);
            for (const system::Action& action : program.actions)
            {
                CollectiveAction translated = Translate(schedule, rank, action, size);
                translated.chunk = chunk;
                translated.match = first[translated.peer] + action.match;
                for (const system::ActionIndex before : program.dependencies_of(action))
                {
                    translated.after.push_back(first[rank] + before);
                }
                m_actions[rank].push_back(std::move(translated));
            }
        }
    }
}

std::vector<std::string>
CollectivePlan::GetAlgorithms()
{
    std::vector<std::string> names = Registry().names();
    std::erase_if(names, [](const std::string& name) {
        astrolabe::ConfigNode node = astrolabe::ConfigNode::mapping();
        node.set("algorithm", astrolabe::ConfigNode::scalar(name));
        astrolabe::ReadContext context;
        const auto configured = Registry().read(node, context);
        return configured && configured->make()->circuit_use() != system::CircuitUse::kNone;
    });
    std::sort(names.begin(), names.end());
    return names;
}

uint64_t
CollectivePlan::GetMessages() const
{
    uint64_t messages = 0;
    for (const std::vector<CollectiveAction>& actions : m_actions)
    {
        messages += static_cast<uint64_t>(
            std::count_if(actions.begin(), actions.end(), [](const CollectiveAction& action) {
                return action.kind == CollectiveAction::SEND;
            }));
    }
    return messages;
}

uint64_t
CollectivePlan::GetSentBytes(uint32_t rank) const
{
    uint64_t bytes = 0;
    for (const CollectiveAction& action : m_actions[rank])
    {
        bytes += action.kind == CollectiveAction::SEND ? action.bytes : 0;
    }
    return bytes;
}

} // namespace ns3
