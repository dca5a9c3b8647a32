#include <astrolabe/experiment/results/csv.hpp>
#include <astrolabe/study/report/report.hpp>

namespace astrolabe::study {
namespace {

using Json = nlohmann::ordered_json;

std::string csv_text(const Json& value) {
    if (value.is_null()) {
        return "";
    }
    if (value.is_string()) {
        return experiment::csv_field(value.get<std::string>());
    }
    // A list or a mapping has commas and quotes of its own.
    return value.is_structured() ? experiment::csv_field(value.dump()) : value.dump();
}

}  // namespace

std::string to_csv(const std::vector<std::string>& columns, const std::vector<std::vector<Json>>& rows) {
    std::string text;
    const auto add = [&text](const auto& cells) {
        for (std::size_t i = 0; i < cells.size(); ++i) {
            text.append(i == 0 ? 0 : 1, ',');
            text += csv_text(cells[i]);
        }
        text += "\n";
    };
    add(columns);
    for (const std::vector<Json>& row : rows) {
        add(row);
    }
    return text;
}

}  // namespace astrolabe::study
