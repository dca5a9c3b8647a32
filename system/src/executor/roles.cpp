#include "roles.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::system::detail {

Role::Role(const Program& program, std::vector<OperationId> operations)
    : has_all_(operations.size() == program.operations.size()),
      operations_(std::move(operations)),
      dependencies_(operations_.size()),
      dependents_(operations_.size()),
      computations_(program.streams.size()),
      deciding_(static_cast<std::size_t>(program.iterations), 0) {
    const bool is_first_come = program.compute_order == ComputeOrder::kFirstCome;
    std::map<std::string, std::uint32_t> known;
    std::vector<std::uint32_t> of_any_stream(deciding_.size(), 0);
    name_of_.reserve(operations_.size());
    for (OwnIndex own = 0; own < operations_.size(); ++own) {
        const Operation& operation = program.operations[operations_[own]];
        if (operation.is_compute()) {
            const std::uint32_t stream = operation.compute().stream;
            computations_[stream].push_back(own);
            deciding_[static_cast<std::size_t>(operation.iteration)] += stream == 0 ? 1 : 0;
            ++of_any_stream[static_cast<std::size_t>(operation.iteration)];
        }
        const bool is_told = !operation.is_compute() || is_first_come;
        for (const OperationId dependency : operation.dependencies) {
            if (!has(dependency)) {
                continue;
            }
            const OwnIndex awaited = this->own(dependency);
            dependencies_[own].push_back(awaited);
            std::vector<OwnIndex>& told = dependents_[awaited];
            if (is_told && (told.empty() || told.back() != own)) {
                told.push_back(own);
            }
        }
        const auto [entry, is_new] =
            known.try_emplace(operation.name, static_cast<std::uint32_t>(names_.size()));
        if (is_new) {
            names_.push_back(operation.name);
        }
        name_of_.push_back(entry->second);
    }
    for (std::size_t iteration = 0; iteration < deciding_.size(); ++iteration) {
        any_stream_decides_.push_back(deciding_[iteration] == 0);
        if (deciding_[iteration] == 0) {
            deciding_[iteration] = of_any_stream[iteration];
        }
    }
}

OwnIndex Role::own(OperationId operation) const {
    if (has_all_) {
        return operation.index();
    }
    return static_cast<OwnIndex>(std::ranges::lower_bound(operations_, operation) - operations_.begin());
}

bool Role::has(OperationId operation) const {
    return has_all_ || std::ranges::binary_search(operations_, operation);
}

OwnIndex Role::first_from(OperationId operation) const {
    return static_cast<OwnIndex>(std::ranges::lower_bound(operations_, operation) - operations_.begin());
}

void Role::end_before(OperationId operation, std::size_t iteration) {
    const OwnIndex end = first_from(operation);
    operations_.resize(end);
    dependencies_.resize(end);
    dependents_.resize(end);
    name_of_.resize(end);
    const auto drop = [end](std::vector<OwnIndex>& ascending) {
        ascending.erase(std::ranges::lower_bound(ascending, end), ascending.end());
    };
    std::ranges::for_each(dependents_, drop);
    std::ranges::for_each(computations_, drop);
    deciding_.resize(iteration);
    any_stream_decides_.resize(iteration);
}

void Roles::end_before(OperationId operation, std::size_t iteration) {
    for (Role& role : roles_) {
        role.end_before(operation, iteration);
    }
}

Roles::Roles(const Program& program, const Participants& participants, std::size_t ranks)
    : role_of_(ranks) {
    IndexedVector<RankId, std::vector<OperationId>> own(ranks);
    std::vector<OperationId> of_all;
    for (std::size_t index = 0; index < program.operations.size(); ++index) {
        const OperationId id(index);
        if (participants.is_spmd()) {
            of_all.push_back(id);
            continue;
        }
        participants.for_each(id, [&](RankId rank) { own[rank].push_back(id); });
    }
    if (participants.is_spmd()) {
        roles_.emplace_back(program, std::move(of_all));
        return;
    }
    ASTROLABE_ASSERT(ranks == program.ranks, "ranks that differ are simulated one by one");
    std::map<std::vector<OperationId>, std::uint32_t> known;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        const auto [entry, is_new] =
            known.try_emplace(std::move(own[RankId(rank)]), static_cast<std::uint32_t>(roles_.size()));
        role_of_[RankId(rank)] = entry->second;
        if (is_new) {
            roles_.emplace_back(program, entry->first);
        }
    }
}

}  // namespace astrolabe::system::detail
