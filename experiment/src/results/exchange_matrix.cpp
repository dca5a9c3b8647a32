#include <algorithm>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include <astrolabe/experiment/results/exchange_matrix.hpp>
#include <astrolabe/system/executor/executor.hpp>

namespace astrolabe::experiment {
namespace {

const system::CollectiveOperation* all_to_all_of(const system::Operation& operation) {
    if (!operation.is_collective()) {
        return nullptr;
    }
    const system::CollectiveOperation& work = operation.collective();
    return work.kind == system::CollectiveKind::kAllToAll ? &work : nullptr;
}

/// What each rank sends to each, row by row.
std::vector<Bytes> bytes_by_pair(const system::Program& program, const system::CollectiveOperation& work) {
    std::vector<Bytes> bytes(program.ranks * program.ranks);
    const auto& groups = program.partitions[work.partition].groups;
    for (std::size_t index = 0; index < groups.size(); ++index) {
        const std::vector<system::RankId>& group = groups[index];
        for (std::size_t source = 0; source < group.size(); ++source) {
            for (std::size_t destination = 0; destination < group.size(); ++destination) {
                const Bytes block = work.is_uneven()
                                        ? (*work.pair_sizes)[index](source, destination)
                                        : system::part_size(work.size, group.size(), destination);
                bytes[group[source].index() * program.ranks + group[destination].index()] = block;
            }
        }
    }
    return bytes;
}

}  // namespace

std::vector<Exchange> exchanges_of(const Experiment& experiment) {
    std::vector<Exchange> exchanges;
    for (const system::Operation& operation : experiment.program.operations) {
        const system::CollectiveOperation* work = all_to_all_of(operation);
        if (work == nullptr) {
            continue;
        }
        const std::size_t ranks = experiment.program.ranks;
        const std::vector<Bytes> bytes = bytes_by_pair(experiment.program, *work);
        Exchange exchange{.name = operation.name, .iteration = operation.iteration};
        for (std::size_t source = 0; source < ranks; ++source) {
            Bytes sent;
            for (std::size_t destination = 0; destination < ranks; ++destination) {
                sent += source == destination ? Bytes(0) : bytes[source * ranks + destination];
            }
            exchange.sent += sent;
            exchange.largest_sent = std::max(exchange.largest_sent, sent);
        }
        exchanges.push_back(std::move(exchange));
    }
    return exchanges;
}

Result<std::string> exchange_matrix(const Experiment& experiment, std::string_view name, int iteration) {
    const system::Program& program = experiment.program;
    std::vector<std::string> names;
    for (const system::Operation& operation : program.operations) {
        const system::CollectiveOperation* work = all_to_all_of(operation);
        if (work == nullptr || operation.iteration != iteration) {
            continue;
        }
        if (operation.name != name) {
            names.push_back(operation.name);
            continue;
        }
        const std::vector<Bytes> bytes = bytes_by_pair(program, *work);
        std::string text;
        for (std::size_t source = 0; source < program.ranks; ++source) {
            for (std::size_t destination = 0; destination < program.ranks; ++destination) {
                fmt::format_to(std::back_inserter(text), "{}{}", destination == 0 ? "" : " ",
                               bytes[source * program.ranks + destination].count());
            }
            text += '\n';
        }
        return text;
    }
    const bool has_iteration = iteration >= 0 && iteration < program.iterations;
    return Diagnostic{"export.operation",
                      {},
                      has_iteration ? fmt::format("iteration {} has no all_to_all '{}'", iteration, name)
                                    : fmt::format("there is no iteration {}; there are {}, from 0", iteration,
                                                  program.iterations),
                      names.empty() ? "" : suggest(name, names),
                      {}};
}

}  // namespace astrolabe::experiment
