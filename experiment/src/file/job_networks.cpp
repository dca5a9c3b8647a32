#include <algorithm>

#include <astrolabe/experiment/file/job_networks.hpp>
#include <astrolabe/experiment/results/fingerprint.hpp>

namespace astrolabe::experiment {

std::string JobNetworks::key_of(const std::string& section, std::uint64_t seed,
                                const network::Demand& demand) {
    Fingerprint print;
    print.add(section);
    print.add(seed);
    print.add(std::uint64_t{demand.servers});
    print.add(demand.exchanges);
    print.add(std::uint64_t{demand.groups.size()});
    for (const network::AllReduceGroup& group : demand.groups) {
        print.add(group.bytes);
        print.add(group.operations);
        print.add(std::uint64_t{group.members.size()});
        for (const network::Server member : group.members) {
            print.add(std::uint64_t{member});
        }
    }
    const network::PairDemand& pairs = demand.point_to_point;
    for (network::Server source = 0; source < pairs.servers(); ++source) {
        for (network::Server destination = 0; destination < pairs.servers(); ++destination) {
            print.add(pairs.at(source, destination));
        }
    }
    return print.text();
}

JobNetworks::Built JobNetworks::get(const std::string& key, const std::function<Built()>& build) {
    {
        const std::scoped_lock lock(mutex_);
        const auto known = std::ranges::find(kept_, key, [](const auto& one) { return one.first; });
        if (known != kept_.end()) {
            kept_.splice(kept_.begin(), kept_, known);
            return known->second;
        }
        ++built_;
    }
    Built built = build();
    if (const auto* networks = std::get_if<network::NetworksForJob>(&built)) {
        const std::scoped_lock lock(mutex_);
        kept_.emplace_front(key, *networks);
        bytes_ += bytes_of(*networks);
        forget_beyond_limit();
    }
    return built;
}

void JobNetworks::keep_at_most(std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    most_bytes_ = bytes;
    forget_beyond_limit();
}

std::uint64_t JobNetworks::built() const {
    const std::scoped_lock lock(mutex_);
    return built_;
}

std::size_t JobNetworks::kept_bytes() const {
    const std::scoped_lock lock(mutex_);
    return bytes_;
}

std::size_t JobNetworks::bytes_of(const network::NetworksForJob& networks) {
    constexpr std::size_t kBytesOfAPair = 64;
    std::size_t bytes = 0;
    for (const auto& fabric : networks) {
        bytes += kBytesOfAPair * fabric->host_count() * fabric->host_count();
    }
    return bytes;
}

void JobNetworks::forget_beyond_limit() {
    while (bytes_ > most_bytes_) {
        bytes_ -= bytes_of(kept_.back().second);
        kept_.pop_back();
    }
}

}  // namespace astrolabe::experiment
