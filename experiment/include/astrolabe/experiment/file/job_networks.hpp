/// Networks that were built for jobs, so that experiments which are read one after another and put the same
/// on the same network build it once.
///
/// A network depends on its section of the file, the seed, and what the job puts on it (network/demand.hpp);
/// `key_of` is a hash of all of that. Cluster, backend and computations are not in it: a study that varies
/// these alone builds one network. A fabric does not change once it is built, so sharing it changes no
/// result.
///
/// Nothing is kept unless `keep_at_most` says so: a run needs the one network that it takes. What is kept
/// counts as 64 bytes for every pair of hosts of every network, about what routes of all pairs take
/// (known_paths.hpp, shortest paths); where that is more than the limit, what was asked for longest ago is
/// forgotten.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <utility>
#include <variant>

#include <astrolabe/core/validation_error.hpp>
#include <astrolabe/network/components.hpp>
#include <astrolabe/network/demand.hpp>

namespace astrolabe::experiment {

class JobNetworks {
public:
    using Built = std::variant<network::NetworksForJob, ValidationErrors>;

    /// Of a section as it is written in a resolved file.
    [[nodiscard]] static std::string key_of(const std::string& section, std::uint64_t seed,
                                            const network::Demand& demand);

    /// What was built with this key, or what `build` makes now. Mistakes are not kept.
    [[nodiscard]] Built get(const std::string& key, const std::function<Built()>& build);

    void keep_at_most(std::size_t bytes);
    [[nodiscard]] std::uint64_t built() const;     ///< calls of `build`
    [[nodiscard]] std::size_t kept_bytes() const;  ///< as counted above

private:
    static std::size_t bytes_of(const network::NetworksForJob& networks);
    /// With `mutex_` held.
    void forget_beyond_limit();

    mutable std::mutex mutex_;
    std::list<std::pair<std::string, network::NetworksForJob>> kept_;  ///< asked for last comes first
    std::size_t most_bytes_ = 0;
    std::size_t bytes_ = 0;
    std::uint64_t built_ = 0;
};

}  // namespace astrolabe::experiment
