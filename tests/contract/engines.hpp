/// The engines that must keep the contract of backend.hpp, each on a network of its own.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <astrolabe/network/backend.hpp>
#include <astrolabe/network/components.hpp>
#include <astrolabe/network/fabric.hpp>

namespace astrolabe::testing {

/// A network and a backend as an experiment file names them.
struct Setting {
    std::shared_ptr<const network::Fabric> fabric;
    network::BackendMaker backend;

    [[nodiscard]] auto on(std::shared_ptr<const network::Fabric> other) const {
        return [maker = backend, other = std::move(other)] { return maker.make(other, 1); };
    }
    [[nodiscard]] auto make() const { return on(fabric); }
};
[[nodiscard]] Setting setting(const std::string& network, const std::string& backend, int ranks = 4);

struct ContractEngine {
    std::shared_ptr<const network::Fabric> fabric;  ///< null: there is none
    std::function<std::unique_ptr<network::NetworkBackend>()> make;
    std::size_t hosts = 0;
    /// Three hosts, of which the first is connected to the second when time starts.
    std::array<int, 3> trio{0, 1, 2};
    Time latency = Time(1'000'000);  ///< of the path from the first of them to the second
    /// Why a message of zero bytes takes longer than that; empty where it does not.
    std::string empty_messages_cost;

    /// The same engine where the message that `stuck` sends to `unreachable` never arrives.
    std::function<std::unique_ptr<network::NetworkBackend>()> make_stalled;
    int stuck = 0;
    int unreachable = 2;
    Bytes stuck_size = Bytes(1000);
    /// What `explain_stall` says of it, in part; empty where the engine knows no reason.
    std::string stall_reason;
    /// Why the counters of links are empty; empty where they are not.
    std::string no_link_counters;
};

/// An engine that a test builds for itself: to build all of them takes longer than most tests do.
struct NamedEngine {
    std::string name;
    std::function<ContractEngine()> build;

    friend std::ostream& operator<<(std::ostream& out, const NamedEngine& engine) {
        return out << engine.name;
    }
};

/// The one engine of `contract_engines` that has no network, and calls no watcher.
inline constexpr const char* kWithoutNetwork = "Fake";

[[nodiscard]] std::vector<NamedEngine> contract_engines();

}  // namespace astrolabe::testing
