/// Runs a program as a user would, for tests of the command line.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace astrolabe::testing {

inline std::string read_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// A folder of its own that goes away with the object.
class TemporaryFolder {
public:
    TemporaryFolder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "astrolabe-test-XXXXXX").string();
        path_ = ::mkdtemp(pattern.data());
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    std::filesystem::path write(const std::string& name, const std::string& text) const {
        std::ofstream(path_ / name, std::ios::binary) << text;
        return path_ / name;
    }

private:
    std::filesystem::path path_;
};

struct ProcessResult {
    int exit_code = -1;  ///< 128 + signal if it was killed, as a shell counts
    std::string out;
    std::string err;
};

inline std::string quoted(const std::string& argument) {
    std::string text = "'";
    for (const char c : argument) {
        text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return text + "'";
}

/// Runs a shell command line with its output caught.
inline ProcessResult run_shell(const std::string& command) {
    const TemporaryFolder folder;
    const std::filesystem::path out = folder.path() / "out";
    const std::filesystem::path err = folder.path() / "err";
    const int status = std::system(
        ("{ " + command + " ; } >" + quoted(out.string()) + " 2>" + quoted(err.string()) + " </dev/null")
            .c_str());
    ProcessResult result;
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    result.out = read_file(out);
    result.err = read_file(err);
    return result;
}

/// What gzip packed.
inline std::string read_gzipped(const std::filesystem::path& path) {
    return run_shell("gzip -dc " + quoted(path.string())).out;
}

inline ProcessResult run_program(const std::string& program, const std::vector<std::string>& arguments) {
    std::string command = quoted(program);
    for (const std::string& argument : arguments) {
        command += " " + quoted(argument);
    }
    return run_shell(command);
}

}  // namespace astrolabe::testing
