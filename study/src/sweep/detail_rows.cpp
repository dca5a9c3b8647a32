#include "detail_rows.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace astrolabe::study {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostLinks = 2048;
constexpr std::size_t kBusiestLinks = 256;

/// Every k-th link and, where that leaves some out, the busiest, by number.
std::set<std::size_t> chosen_links(const std::vector<double>& used, std::size_t step) {
    std::set<std::size_t> chosen;
    for (std::size_t i = 0; i < used.size(); i += step) {
        chosen.insert(i);
    }
    if (step > 1) {
        std::vector<std::size_t> order(used.size());
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return used[a] > used[b]; });
        order.resize(std::min(order.size(), kBusiestLinks));
        chosen.insert(order.begin(), order.end());
    }
    return chosen;
}

}  // namespace

std::size_t step_of(std::size_t all, std::size_t most) {
    return std::max<std::size_t>(1, (all + most - 1) / most);
}

std::vector<bool> chosen_iterations(const std::vector<std::size_t>& operations) {
    std::vector<bool> chosen(operations.size(), false);
    std::size_t kept = 0;
    std::size_t next = operations.size();
    while (next > 0 && (kept == 0 || kept + operations[next - 1] <= kMostOperations)) {
        kept += operations[--next];
        chosen[next] = true;
    }
    if (next > 0 && kept + operations.front() <= kMostOperations) {
        chosen.front() = true;
    }
    return chosen;
}

Json object_of(std::size_t all, std::size_t step) {
    return {{"all", all}, {"step", step}, {"rows", Json::array()}};
}

std::string text_of(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::size_t Names::place_of(const std::string& name) {
    const auto [found, is_new] = places_.try_emplace(name, places_.size());
    if (is_new) {
        list_.push_back(name);
    }
    return found->second;
}

std::string links_text(const std::vector<double>& used, const EndsOf& ends_of) {
    const std::size_t step = step_of(used.size(), kMostLinks);
    Json json = object_of(used.size(), step);
    json["busiest"] = step > 1 ? kBusiestLinks : 0;
    Names nodes;
    for (const std::size_t link : chosen_links(used, step)) {
        const auto [from, to] = ends_of(link);
        const std::size_t source = nodes.place_of(from);
        json["rows"].push_back({link, source, nodes.place_of(to), used[link]});
    }
    json["nodes"] = nodes.list();
    return text_of(json);
}

}  // namespace astrolabe::study
