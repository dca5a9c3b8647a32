#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <zlib.h>

#include <astrolabe/experiment/results/run_files.hpp>

namespace astrolabe::experiment {
namespace {

std::string crc_text(std::uint32_t crc) {
    return fmt::format("{:08x}", crc);
}

/// What is wrong with it; empty: nothing.
std::string difference(const nlohmann::ordered_json& recorded, const std::optional<std::string>& content) {
    if (!content) {
        return "is not there or cannot be read";
    }
    if (!recorded.is_object() || !recorded.contains("bytes") || !recorded.contains("crc32")) {
        return "is not described there by bytes and crc32";
    }
    if (recorded["bytes"] != content->size()) {
        return fmt::format("has {} bytes, not {}", content->size(), recorded["bytes"].dump());
    }
    const auto* bytes = reinterpret_cast<const Bytef*>(content->data());
    const std::string crc = crc_text(static_cast<std::uint32_t>(crc32_z(0, bytes, content->size())));
    return recorded["crc32"] == crc
               ? ""
               : fmt::format("has other bytes: its CRC-32 is {}, not {}", crc, recorded["crc32"].dump());
}

}  // namespace

std::optional<Diagnostic> write_summary(const OutputFolder& folder, nlohmann::ordered_json summary) {
    if (folder.is_owned()) {
        summary["files"] = nlohmann::ordered_json::object();
        for (const auto& [name, file] : folder.files()) {
            summary["files"][name] = {{"bytes", file.bytes}, {"crc32", crc_text(file.crc32)}};
        }
    }
    std::optional<Diagnostic> error = folder.write("summary.json", summary.dump(2) + "\n");
    if (!error) {
        folder.mark_whole();
    }
    return error;
}

std::optional<Diagnostic> not_of_run(const nlohmann::ordered_json& summary,
                                     const std::filesystem::path& folder, const std::string& name,
                                     const std::optional<std::string>& content) {
    const auto files = summary.find("files");
    if (files == summary.end()) {
        return std::nullopt;
    }
    const auto recorded = files->is_object() ? files->find(name) : files->end();
    const bool is_recorded = files->is_object() && recorded != files->end();
    if (!is_recorded && !content) {
        return std::nullopt;
    }
    const std::string what = is_recorded ? difference(*recorded, content) : "is not of this run";
    if (what.empty()) {
        return std::nullopt;
    }
    return Diagnostic{"output.not-whole",
                      {},
                      fmt::format("'{}' is not what summary.json beside it recorded: it {}",
                                  (folder / name).string(), what),
                      "run again into the folder: what is there is cut, damaged or of several runs",
                      {}};
}

}  // namespace astrolabe::experiment
