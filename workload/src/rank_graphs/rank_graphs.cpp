#include "rank_graphs.hpp"

namespace astrolabe::workload {
namespace {

std::string key_of(std::span<const system::RankId> members) {
    std::string key;
    key.reserve(members.size() * sizeof(std::uint32_t));
    for (const system::RankId member : members) {
        const std::uint32_t index = member.index();
        key.append(reinterpret_cast<const char*>(&index), sizeof index);
    }
    return key;
}

}  // namespace

std::uint32_t RankGraphs::name(std::string_view text) {
    const auto [place, is_new] =
        name_places_.try_emplace(std::string(text), static_cast<std::uint32_t>(names.size()));
    if (is_new) {
        names.emplace_back(text);
    }
    return place->second;
}

std::uint32_t RankGraphs::group(std::vector<system::RankId> members, std::string_view name) {
    const auto [place, is_new] =
        group_places_.try_emplace(key_of(members), static_cast<std::uint32_t>(groups.size()));
    if (is_new) {
        groups.push_back(std::move(members));
        group_names.emplace_back(name);
    }
    return place->second;
}

}  // namespace astrolabe::workload
