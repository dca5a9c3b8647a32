/// fuzz_commands: the program with command lines that are nearly right, each in a process of its own.
///
/// A line is one of those below with one to three changes: a word becomes an edge value, is left out,
/// repeated, swapped or misspelt, a value behind `=` becomes an edge value, or one of the program's options
/// is put in. It must end within ten seconds of processor time and 2 GiB with an exit code of 0 to 4, print
/// nothing that is not UTF-8, and say why where the code is not 0. It runs among copies of what
/// the lines name, three folders deep, so that `../..` is a folder of the fuzzer, too. docs/fuzzing.md
/// explains it to users.
#include "format_list.hpp"
#include "mutations.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <process.hpp>
#include <sanitizers.hpp>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <astrolabe/core/utf8.hpp>

namespace astrolabe::fuzzing {
namespace {

using Path = std::filesystem::path;
using Words = std::vector<std::string>;

constexpr rlim_t kMostSeconds = testing::kMemoryCanBeLimited ? 10 : 60;
constexpr rlim_t kMostMemory = rlim_t{2} << 30U;

/// Of the commands all but `reproduce`, `optimize` and `convert`, with what takes a value. Those that
/// simulate name no number of ranks or bytes: what is large takes long without anything being wrong.
constexpr std::array<std::string_view, 26> kLines = {
    "--version",
    "list",
    "list algorithms",
    "describe flat",
    "describe --markdown",
    "describe --json-schema run",
    "describe inputs/networks/flat100g.yaml --json",
    "describe inputs/networks/flat100g.yaml --svg net.svg",
    "describe inputs/networks/torus-4x4x4.yaml --export net.json --costs inputs/costs/default.yaml",
    "completion bash",
    "validate examples/quickstart/experiment.yaml",
    "validate examples/quickstart/experiment.yaml --set cluster.ranks=8 --seed 3 --json",
    "validate examples/codesign-tables/study.yaml --json",
    "validate inputs/traces/dlrm-mini4 --json",
    "validate examples/quickstart/experiment.yaml --plan-out plan.json --set network.link.rate=10Gbps",
    "run examples/quickstart/experiment.yaml --seed 3 --json",
    "run examples/quickstart/experiment.yaml --out out --throughput 1ms --timeline --timeline-size 1MB",
    "run examples/quickstart/experiment.yaml --json --within 1s --progress none",
    "--experiment=examples/quickstart/experiment.yaml --seed=3",
    "compare examples/quickstart/experiment.yaml --change scaled.compute=2 --json",
    "what-if examples/quickstart/experiment.yaml --change scaled.latency=0 --json",
    "collective --kind all-reduce --algorithm ring --size 1MiB --network inputs/networks/flat100g.yaml "
    "--json",
    "sweep examples/codesign-tables/study.yaml --status --out out --shard 1/2 --time-limit 10min --memory "
    "1GB",
    "report out --answer --baseline flat --contest network",
    "export --format msccl --algorithm ring --kind all_reduce --ranks 8 --dimensions 2x4 --out ring.xml",
    "calibrate tests/fuzz/corpus/all_reduce.log --machine m --launch 1us --out machine.yaml --json",
};

constexpr std::array<std::string_view, 24> kOptions = {
    "--set",     "--seed",   "--json",      "--out",      "--study",    "--point",       "--flows",  "--why",
    "--help",    "--within", "--progress",  "--timeline", "--plan-out", "--costs",       "--change", "--only",
    "--backend", "--chunks", "--imbalance", "--format",   "--pdf",      "--diagnostics", "-j",       "--"};

Words words_of(std::string_view line) {
    Words words;
    for (std::size_t begin = 0; begin < line.size();) {
        const std::size_t end = std::min(line.find(' ', begin), line.size());
        words.emplace_back(line.substr(begin, end - begin));
        begin = end + 1;
    }
    return words;
}

/// As execv takes it: a word ends at its first zero byte.
std::string without_zeros(std::string word) {
    std::erase(word, '\0');
    return word;
}

void change(Words& words, Draw& draw) {
    if (words.empty()) {
        words.push_back(without_zeros(edge_value(draw)));
        return;
    }
    const std::size_t at = draw.below(words.size());
    switch (draw.below(8)) {
        case 0:
            words.erase(words.begin() + static_cast<std::ptrdiff_t>(at));
            break;
        case 1:
            words.insert(words.begin() + static_cast<std::ptrdiff_t>(at), std::string(words[at]));
            break;
        case 2:
            std::swap(words[at], words[draw.below(words.size())]);
            break;
        case 3:
            if (!words[at].empty()) {
                words[at].erase(draw.below(words[at].size()), 1);
            }
            break;
        case 4:
            words.insert(words.begin() + static_cast<std::ptrdiff_t>(at),
                         std::string(kOptions[draw.below(kOptions.size())]));
            break;
        case 5:
            if (const std::size_t equals = words[at].find('='); equals != std::string::npos) {
                words[at] = without_zeros(words[at].substr(0, equals + 1) + edge_value(draw));
                break;
            }
            [[fallthrough]];
        default:
            words[at] = without_zeros(edge_value(draw));
            break;
    }
}

/// Depends on nothing but the lines, `seed` and `index`.
Words line_of(std::uint64_t seed, std::uint64_t index) {
    Draw mixed(seed);
    Draw draw(mixed.bits() + index * 0xd1342543de82ef95U);
    Words words = words_of(kLines[draw.below(kLines.size())]);
    for (std::size_t i = 1 + draw.below(3); i > 0; --i) {
        change(words, draw);
    }
    return words;
}

/// Copies of what lines name, as a line may ask to write there, and files for what a command prints.
class Scratch {
public:
    explicit Scratch(const Path& root)
        : root_(root) {
        clear();
    }

    /// What commands before left is gone.
    void clear() const {
        std::filesystem::remove_all(top_.path() / "a");
        for (const char* folder :
             {"examples/quickstart", "examples/codesign-tables", "inputs", "tests/fuzz/corpus"}) {
            std::filesystem::create_directories((work() / folder).parent_path());
            std::filesystem::copy(root_ / folder, work() / folder, std::filesystem::copy_options::recursive);
        }
    }
    [[nodiscard]] Path work() const { return top_.path() / "a" / "b" / "c"; }
    [[nodiscard]] Path out() const { return top_.path() / "stdout"; }
    [[nodiscard]] Path err() const { return top_.path() / "stderr"; }

private:
    Path root_;
    testing::TemporaryFolder top_;
};

void write_to(const Path& file, int descriptor) {
    const int opened = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(opened, descriptor);
    ::close(opened);
}

[[noreturn]] void execute(const Scratch& scratch, Words words) {
    const rlimit seconds{kMostSeconds, kMostSeconds};
    setrlimit(RLIMIT_CPU, &seconds);
    if (testing::kMemoryCanBeLimited) {
        const rlimit memory{kMostMemory, kMostMemory};
        setrlimit(RLIMIT_AS, &memory);
    }
    if (::chdir(scratch.work().c_str()) != 0) {
        _exit(125);
    }
    write_to(scratch.out(), STDOUT_FILENO);
    write_to(scratch.err(), STDERR_FILENO);
    write_to("/dev/null", STDIN_FILENO);
    words.insert(words.begin(), ASTROLABE_PROGRAM);
    std::vector<char*> arguments;
    for (std::string& word : words) {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    execv(ASTROLABE_PROGRAM, arguments.data());
    _exit(errno == E2BIG ? 2 : 126);
}

/// What is wrong with how a command ended; empty: nothing.
std::string defect_of(const Scratch& scratch, const Words& words) {
    const pid_t child = fork();
    if (child == 0) {
        execute(scratch, words);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) {
        const int signal = WTERMSIG(status);
        return signal == SIGXCPU || signal == SIGKILL ? fmt::format("hang: over {} s", kMostSeconds)
                                                      : fmt::format("crash: {}", strsignal(signal));
    }
    const int code = WEXITSTATUS(status);
    if (code > 4) {
        return fmt::format("exit code {}: {}", code,
                           printable_utf8(testing::read_file(scratch.err()).substr(0, 400)));
    }
    for (const Path& file : {scratch.out(), scratch.err()}) {
        if (first_byte_not_utf8(testing::read_file(file))) {
            return fmt::format("not UTF-8: {}", file.filename().string());
        }
    }
    if (code != 0 && testing::read_file(scratch.err()).empty()) {
        return fmt::format("exit code {} without a reason", code);
    }
    return {};
}

constexpr std::uint64_t kLinesOfAFolder = 50;

/// Lines 1 to `count`, or those up to `only` that share its folder, of which that one is reported.
int fuzz(std::uint64_t count, std::uint64_t seed, std::optional<std::uint64_t> only) {
    const Scratch scratch(ASTROLABE_SOURCE_DIR);
    for (const std::string_view line : kLines) {
        // One that needs what another leaves behind may be refused, but must say so.
        if (const std::string defect = defect_of(scratch, words_of(line)); !defect.empty()) {
            fmt::print("the line itself: {}: {}\n", line, defect);
            return 1;
        }
    }
    const std::uint64_t last = only.value_or(count);
    const std::uint64_t first = only ? last / kLinesOfAFolder * kLinesOfAFolder : 0;
    std::uint64_t found = 0;
    for (std::uint64_t index = first; index <= last; ++index) {
        if (index % kLinesOfAFolder == 0) {
            scratch.clear();
        }
        const Words words = line_of(seed, index);
        const std::string defect = defect_of(scratch, words);
        if (!defect.empty() && (!only || index == last)) {
            ++found;
            Words shown;
            for (const std::string& word : words) {
                shown.push_back(printable_utf8(word.substr(0, 80)));
            }
            fmt::print("finding: --seed {} --only {}: {} ({})\n", seed, index, defect, fmt::join(shown, " "));
        }
    }
    fmt::print("{} command lines, {} findings\n", last - first + 1, found);
    return found == 0 ? 0 : 1;
}

}  // namespace
}  // namespace astrolabe::fuzzing

int main(int argc, char** argv) {
    std::uint64_t count = 500;
    std::uint64_t seed = 1;
    std::optional<std::uint64_t> only;
    CLI::App app("Runs the program with mutated command lines and reports crashes, hangs and codes over 4");
    app.add_option("--count", count, "command lines")->capture_default_str();
    app.add_option("--seed", seed, "of the mutations")->capture_default_str();
    app.add_option("--only", only, "only this one is reported, which those before it in its folder precede");
    CLI11_PARSE(app, argc, argv);
    return astrolabe::fuzzing::fuzz(count, seed, only);
}
