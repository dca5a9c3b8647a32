#include "operation_kinds.hpp"

#include <map>
#include <tuple>

namespace astrolabe::system {

Kinds kinds_of(const Program& program) {
    using Key = std::tuple<CollectiveKind, PartitionId, Bytes, const void*, const void*>;
    Kinds kinds;
    std::map<Key, std::uint32_t> known;
    for (const Operation& operation : program.operations) {
        if (!operation.is_collective()) {
            kinds.kind_of.push_back(0);
            continue;
        }
        const CollectiveOperation& work = operation.collective();
        const Key key{work.kind, work.partition, work.size, work.pair_sizes.get(), work.method.get()};
        const auto [entry, is_new] = known.try_emplace(key, static_cast<std::uint32_t>(known.size() + 1));
        if (is_new) {
            kinds.examples.push_back(&work);
            kinds.operations.push_back(0);
        }
        ++kinds.operations[entry->second - 1];
        kinds.kind_of.push_back(entry->second);
    }
    return kinds;
}

}  // namespace astrolabe::system
