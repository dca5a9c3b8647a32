/// The list of the files that are no run's, such as traces and reports: what an earlier owner of the folder
/// wrote of a set, the next one of the same set removes.
///
/// A line of JSON for each file, with its set, its name, its size and its CRC-32. A line comes before its
/// file has its name, so a list may have files that never came. The list is a text that others may have
/// written: it is read up to limits::kFileBytes, and what is removed is a file of the folder itself, no link,
/// with the bytes of its line.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <astrolabe/experiment/results/output_folder.hpp>

namespace astrolabe::experiment {

struct ListedFile {
    std::string set;
    std::string name;
    WrittenFile written;
};

[[nodiscard]] std::string line_of(const ListedFile& file);

/// What a list has; nothing where it is no file, or too large. Lines of another form are left out.
[[nodiscard]] std::vector<ListedFile> files_of_sets_in(const std::filesystem::path& list);

/// Removes the file if it is as it was written. 0, or the error number.
[[nodiscard]] int remove_as_listed(const std::filesystem::path& folder, const ListedFile& file);

}  // namespace astrolabe::experiment
