/// Where mutated files stand while they are read.
#pragma once

#include "mutate.hpp"

#include <filesystem>
#include <fstream>
#include <utility>

#include <process.hpp>

namespace astrolabe::fuzzing {

/// The repository as links in a folder of its own, of which an input takes one file's place: relative paths
/// in it resolve. The folder is gone with the object.
class InputTree {
public:
    explicit InputTree(std::filesystem::path root)
        : root_(std::move(root)) {
        for (const char* top : {"examples", "inputs", "reproduce", "tests/fuzz/corpus"}) {
            std::filesystem::create_directories(folder_.path() / top);
            for (const auto& entry : std::filesystem::recursive_directory_iterator(root_ / top)) {
                const std::filesystem::path below = std::filesystem::relative(entry.path(), root_);
                if (entry.is_directory()) {
                    std::filesystem::create_directories(folder_.path() / below);
                } else {
                    std::filesystem::create_symlink(entry.path(), folder_.path() / below);
                }
            }
        }
    }
    [[nodiscard]] std::filesystem::path put(const Input& input) const {
        const std::filesystem::path file = folder_.path() / input.file;
        std::filesystem::create_directories(file.parent_path());  // of seeds that are no file of the tree
        std::filesystem::remove(file);                            // a link: what it leads to stays
        std::ofstream(file, std::ios::binary) << input.bytes;
        return file;
    }

    void restore(const std::filesystem::path& name) const {
        std::filesystem::remove(folder_.path() / name);
        if (std::filesystem::exists(root_ / name)) {
            std::filesystem::create_symlink(root_ / name, folder_.path() / name);
        }
    }

private:
    std::filesystem::path root_;
    testing::TemporaryFolder folder_;
};

}  // namespace astrolabe::fuzzing
