/// `--change path=value`, which several commands take: a change of an experiment that is looked at by itself.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace astrolabe::cli {

/// "network.degree=5,cluster.active_chunks=32" is two assignments. A comma ends one only where another
/// follows, outside of brackets and quotes: "a=[1, 2],b={c: 1, d: 2}" is two as well.
[[nodiscard]] std::vector<std::string> split_change(const std::string& text);

/// Of what is no assignment, and of a change that is named twice; kWrongUsage, or kDone.
[[nodiscard]] int check_changes(const std::vector<std::string>& changes);

CLI::Option* add_change_option(CLI::App& command, std::vector<std::string>& changes, const char* help);

}  // namespace astrolabe::cli
