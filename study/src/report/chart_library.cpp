#include "chart_library.hpp"

#include "../process/tool.hpp"
#include "report_assets.hpp"

#include <cstdlib>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace astrolabe::study {
namespace {

namespace fs = std::filesystem;

Diagnostic library_error(std::string message, std::string hint) {
    return {"report.library", {}, std::move(message), std::move(hint), {}};
}

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

/// The XDG base directory specification wants absolute paths there and ignores others.
fs::path cache_folder() {
    if (const fs::path cache = variable("XDG_CACHE_HOME"); cache.is_absolute()) {
        return cache / "astrolabe";
    }
    const fs::path home = variable("HOME");
    return home.is_absolute() ? home / ".cache" / "astrolabe" : fs::path();
}

/// Where an installation has what belongs to the program in this process.
fs::path installed_folder() {
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    return error ? fs::path() : program.parent_path().parent_path() / "share" / "astrolabe";
}

/// The version that package.json pins.
std::string pinned_version() {
    return nlohmann::json::parse(assets::kPackage)["dependencies"]["echarts"].get<std::string>();
}

/// The end of what a program said, where its reason is: whole lines where there are any, else whole
/// characters.
std::string last_lines(const std::string& text) {
    constexpr std::size_t kMost = 600;
    const std::string whole = text.substr(0, text.find_last_not_of("\n ") + 1);
    if (whole.size() <= kMost) {
        return whole;
    }
    std::size_t first = whole.find('\n', whole.size() - kMost);
    if (first == std::string::npos) {
        first = whole.size() - kMost;
        while (first < whole.size() && (static_cast<unsigned char>(whole[first]) & 0xC0U) == 0x80U) {
            ++first;  // of UTF-8, a byte within a character
        }
    }
    return "…" + whole.substr(first);
}

/// A folder that goes away with the object.
class WorkFolder {
public:
    explicit WorkFolder(const fs::path& parent) {
        std::string pattern = (parent / ".echarts-XXXXXX").string();
        path_ = ::mkdtemp(pattern.data()) == nullptr ? "" : pattern;
    }
    WorkFolder(const WorkFolder&) = delete;
    WorkFolder& operator=(const WorkFolder&) = delete;
    ~WorkFolder() {
        std::error_code ignored;
        if (!path_.empty()) {
            fs::remove_all(path_, ignored);
        }
    }
    [[nodiscard]] const fs::path& path() const { return path_; }

private:
    fs::path path_;
};

std::optional<Diagnostic> missing_program(const char* name, const char* does) {
    if (run_tool({name, "--version"}, "").exit_code == 0) {
        return std::nullopt;
    }
    return library_error(fmt::format("there is no '{}', which {}", name, does),
                         "apt-get install nodejs npm (./astrolabe report does it), or put them on PATH");
}

std::optional<Diagnostic> install(const fs::path& work) {
    std::ofstream(work / "package.json") << assets::kPackage;
    std::ofstream(work / "package-lock.json") << assets::kPackageLock;
    const ToolOutcome npm = run_tool(
        {"npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier",
         "--loglevel=error", "--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-timeout=60000"},
        "", work);
    if (npm.exit_code != 0) {
        return library_error(
            fmt::format("npm could not fetch ECharts {}: {}", pinned_version(),
                        last_lines(npm.err + npm.out)),
            "it is fetched once, from the registry that npm is set up for: is the network there?");
    }
    return std::nullopt;
}

constexpr const char* kLibrary = "echarts.min.js";

/// Leaves what is needed of it in `target`; another process may have done so in the meantime.
std::optional<Diagnostic> keep(const fs::path& work, const fs::path& target) {
    std::error_code error;
    const fs::path package = work / "node_modules" / "echarts";
    const fs::path kept = work / "kept";
    fs::create_directory(kept, error);
    for (const char* file : {"LICENSE", "NOTICE", "dist/echarts.min.js"}) {
        if (!error) {
            fs::copy_file(package / file, kept / fs::path(file).filename(), error);
        }
    }
    if (!error) {
        fs::rename(kept, target, error);
    }
    std::error_code ignored;
    if (error && !fs::exists(target / kLibrary, ignored)) {
        return library_error(
            fmt::format("'{}' could not be made: {}", target.string(), error.message()),
            "make room there, delete what is left of it, or set XDG_CACHE_HOME to another folder");
    }
    return std::nullopt;
}

}  // namespace

Result<fs::path> chart_library() {
    if (std::optional<Diagnostic> missing = missing_program("node", "draws the pictures")) {
        return *std::move(missing);
    }
    const std::string name = "echarts-" + pinned_version();
    std::error_code error;
    if (const fs::path installed = installed_folder() / name / kLibrary; fs::exists(installed, error)) {
        return installed;
    }
    const fs::path cache = cache_folder();
    if (cache.empty()) {
        return library_error("there is no place to keep ECharts", "set XDG_CACHE_HOME, or HOME, to a folder");
    }
    const fs::path target = cache / name;
    if (fs::exists(target / kLibrary, error)) {
        return target / kLibrary;
    }
    if (std::optional<Diagnostic> missing = missing_program("npm", "fetches ECharts on first use")) {
        return *std::move(missing);
    }
    fs::create_directories(cache, error);
    const WorkFolder work(cache);
    if (work.path().empty()) {
        return library_error(fmt::format("'{}' cannot be written to", cache.string()),
                             "set XDG_CACHE_HOME to a folder that can");
    }
    if (std::optional<Diagnostic> failed = install(work.path())) {
        return *std::move(failed);
    }
    if (std::optional<Diagnostic> failed = keep(work.path(), target)) {
        return *std::move(failed);
    }
    return target / kLibrary;
}

}  // namespace astrolabe::study
