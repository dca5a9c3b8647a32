/// What of a large run its details keep, and how they are written (run_details.hpp).
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace astrolabe::study {

inline constexpr std::size_t kMostOperations = 3000;

/// The least k so that every k-th of `all` are at most `most`.
[[nodiscard]] std::size_t step_of(std::size_t all, std::size_t most);

/// Which iterations of a run a timeline has, of their numbers of operations: the last, as many before it as
/// leave no more than kMostOperations, and the first if there is still room.
[[nodiscard]] std::vector<bool> chosen_iterations(const std::vector<std::size_t>& operations);

/// An object without rows.
[[nodiscard]] nlohmann::ordered_json object_of(std::size_t all, std::size_t step);

/// Names are the user's, and bytes that are no text come out as U+FFFD.
[[nodiscard]] std::string text_of(const nlohmann::ordered_json& json);

/// Places of things in a list of their names.
class Names {
public:
    std::size_t place_of(const std::string& name);
    [[nodiscard]] const nlohmann::ordered_json& list() const { return list_; }

private:
    std::map<std::string, std::size_t> places_;
    nlohmann::ordered_json list_ = nlohmann::ordered_json::array();
};

/// Names of the nodes that a link leads from and to.
using EndsOf = std::function<std::pair<std::string, std::string>(std::size_t link)>;

/// Details `links`, of the use of all links by number. O(links · log links).
[[nodiscard]] std::string links_text(const std::vector<double>& used, const EndsOf& ends_of);

}  // namespace astrolabe::study
