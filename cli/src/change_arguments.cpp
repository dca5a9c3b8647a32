#include "change_arguments.hpp"

#include "commands.hpp"
#include "console.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace astrolabe::cli {
namespace {

constexpr std::string_view kBlank = " \t";

std::string_view trimmed(std::string_view text) {
    const std::size_t from = std::min(text.find_first_not_of(kBlank), text.size());
    text.remove_prefix(from);
    return text.substr(0, text.find_last_not_of(kBlank) + 1);
}

/// "network.degree=5": a path, and something behind the sign.
bool is_assignment(std::string_view text) {
    const std::size_t sign = text.find('=');
    return sign != std::string_view::npos && sign > 0 && text.find_first_of("[{\"'") > sign &&
           text.substr(0, sign).find_first_of(kBlank) == std::string_view::npos;
}

}  // namespace

std::vector<std::string> split_change(const std::string& text) {
    std::vector<std::string> assignments;
    std::size_t begin = 0;
    int depth = 0;
    char quote = 0;
    const auto end_at = [&](std::size_t end) {
        assignments.emplace_back(trimmed(std::string_view(text).substr(begin, end - begin)));
        begin = end + 1;
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quote != 0) {
            quote = c == quote ? '\0' : quote;
        } else if (c == '\'' || c == '"') {
            quote = c;
        } else if (c == '[' || c == '{') {
            ++depth;
        } else if (c == ']' || c == '}') {
            --depth;
        } else if (c == ',' && depth == 0 && is_assignment(trimmed(std::string_view(text).substr(i + 1)))) {
            end_at(i);
        }
    }
    end_at(text.size());
    return assignments;
}

int check_changes(const std::vector<std::string>& changes) {
    for (const std::string& change : changes) {
        for (const std::string& assignment : split_change(change)) {
            if (!is_assignment(assignment)) {
                print_failure(
                    fmt::format("astrolabe: --change: '{}' is not PATH=VALUE\n  hint: write --change "
                                "scaled.latency=0, or several with commas\n",
                                assignment));
                return kWrongUsage;
            }
        }
        if (std::count(changes.begin(), changes.end(), change) > 1) {
            print_failure(fmt::format("astrolabe: --change: '{}' is named twice\n", change));
            return kWrongUsage;
        }
    }
    return kDone;
}

CLI::Option* add_change_option(CLI::App& command, std::vector<std::string>& changes, const char* help) {
    return add_repeatable_option(command, "--change", changes, help, "PATH=VALUE[,PATH=VALUE]");
}

}  // namespace astrolabe::cli
