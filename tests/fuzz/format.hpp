/// A kind of file that the program reads, as the fuzzer sees it: files to start from, and its reader.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <astrolabe/core/diagnostic.hpp>

namespace astrolabe::fuzzing {

/// What mutations know of a text.
enum class Syntax : std::uint8_t {
    kYaml,
    kJson,
    kXml,
    kLines,    ///< words in lines
    kBytes,    ///< no text
    kProtobuf  ///< messages, each behind its length
};

/// What a refusal must say of where it is, beside the file.
enum class Place : std::uint8_t {
    kColumn,  ///< line and column
    kRecord,  ///< a line, or what to look for: a byte, a record, a node, an event, a task, …
    kFile     ///< nothing but the file's path: the program wrote it, and what is wrong is that it changed
};

struct Seed {
    std::filesystem::path file;  ///< below the root of the repository; what it names resolves from there
    std::string bytes;
};

/// What a reader says of a file: no errors where it takes it.
using Verdict = Diagnostics;

struct Format {
    std::string name;
    Syntax syntax = Syntax::kLines;
    Place place = Place::kColumn;
    std::vector<Seed> seeds;  ///< accepted by `read`, and not empty
    std::function<Verdict(const std::filesystem::path&)> read;
};

/// All formats. `root` is the repository.
[[nodiscard]] std::vector<Format> all_formats(const std::filesystem::path& root);

/// What a verdict lacks, as a sentence; empty: it is as it should be.
[[nodiscard]] std::string defect_of(const Format& format, const Verdict& verdict);

}  // namespace astrolabe::fuzzing
