#include <variant>

#include <astrolabe/core/config/quantity.hpp>
#include <astrolabe/experiment/results/csv.hpp>
#include <astrolabe/study/report/report.hpp>

namespace astrolabe::study {
namespace {

using Json = nlohmann::ordered_json;

bool is_number(const std::string& text) {
    return std::holds_alternative<double>(parse_number(text));
}

std::string csv_text(const Json& value) {
    if (value.is_null()) {
        return "";
    }
    if (!value.is_string()) {
        return value.dump();
    }
    std::string text = value.get<std::string>();
    if (text.find_first_of("=+-@\t\r") == 0 && !is_number(text)) {
        text.insert(0, 1, '\'');
    }
    return experiment::csv_field(text);
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
