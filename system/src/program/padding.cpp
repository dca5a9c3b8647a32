#include <algorithm>

#include <astrolabe/system/program/padding.hpp>

namespace astrolabe::system {

namespace {

bool is_shared_out(const CollectiveOperation& work) {
    return !work.is_uneven() &&
           (work.kind == CollectiveKind::kAllReduce || work.kind == CollectiveKind::kReduceScatter ||
            work.kind == CollectiveKind::kAllToAll);
}

/// More bytes may make more chunks, so the number of chunks grows until it fits.
Bytes padded(Bytes size, std::size_t ranks, Bytes minimum_chunk, std::uint32_t chunks) {
    for (std::uint32_t count = chunk_count(size, minimum_chunk, chunks);;) {
        const auto unit = static_cast<std::int64_t>(count * ranks);
        const Bytes rounded((size.count() + unit - 1) / unit * unit);
        const std::uint32_t needed = chunk_count(rounded, minimum_chunk, chunks);
        if (needed == count) {
            return rounded;
        }
        count = needed;
    }
}

}  // namespace

void pad_collectives(Program& program, const SystemOptions& options) {
    for (Operation& operation : program.operations) {
        if (!operation.is_collective() || !is_shared_out(operation.collective())) {
            continue;
        }
        auto& work = std::get<CollectiveOperation>(operation.work);
        const auto& groups = program.partitions[work.partition].groups;
        const std::size_t ranks = std::ranges::max_element(groups, {}, &std::vector<RankId>::size)->size();
        if (!work.moves_nothing(ranks)) {
            work.size = padded(work.size, ranks, options.minimum_chunk, chosen_chunks(work, options));
        }
    }
}

}  // namespace astrolabe::system
