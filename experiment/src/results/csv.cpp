#include <variant>

#include <astrolabe/core/config/quantity.hpp>
#include <astrolabe/experiment/results/csv.hpp>

namespace astrolabe::experiment {
namespace {

/// Of what follows any number of '.
bool begins_as_formula(const std::string& text) {
    const std::size_t first = text.find_first_not_of('\'');
    return first != std::string::npos && std::string("=+-@\t\r\n").find(text[first]) != std::string::npos;
}

bool is_control(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t' && c != '\r' && c != '\n') || byte == 0x7f;
}

}  // namespace

std::string csv_field(const std::string& text) {
    std::string safe;
    if (begins_as_formula(text) && !std::holds_alternative<double>(parse_number(text))) {
        safe = "'";
    }
    for (const char c : text) {
        safe += is_control(c) ? "\xef\xbf\xbd" : std::string(1, c);
    }
    if (safe.find_first_of(",\"\n\r") == std::string::npos) {
        return safe;
    }
    std::string quoted = "\"";
    for (const char c : safe) {
        quoted += c == '"' ? "\"\"" : std::string(1, c);
    }
    return quoted + "\"";
}

std::string text_of_csv(const std::string& field) {
    return field.starts_with('\'') && begins_as_formula(field) ? field.substr(1) : field;
}

}  // namespace astrolabe::experiment
