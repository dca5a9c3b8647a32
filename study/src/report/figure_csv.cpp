#include <astrolabe/experiment/results/csv.hpp>
#include <astrolabe/study/report/report.hpp>

namespace astrolabe::study {
namespace {

using Json = nlohmann::ordered_json;

std::string csv_text(const Json& value) {
    if (value.is_null()) {
        return "";
    }
    if (!value.is_string()) {
        return value.dump();
    }
    return experiment::csv_field(value.get<std::string>());
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
