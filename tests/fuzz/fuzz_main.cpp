/// fuzz_readers: mutated files for every reader of the program, in children that may die.
///
/// A child reads a batch of inputs in order and says through shared memory which one it is at, so that a
/// signal, ten seconds of processor time or 2 GiB cost one input and name it. docs/fuzzing.md explains it to
/// users.
#include "format.hpp"
#include "input_tree.hpp"
#include "mutate.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sanitizers.hpp>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <astrolabe/core/diagnostic.hpp>

namespace astrolabe::fuzzing {
namespace {

using Path = std::filesystem::path;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kBatch = 500;
constexpr rlim_t kMostMemory = rlim_t{2} << 30U;
constexpr std::size_t kKeptPerKind = 5;

#ifdef __OPTIMIZE__
constexpr int kSecondsPerInput = testing::kMemoryCanBeLimited ? 10 : 60;
#else
constexpr int kSecondsPerInput = 60;
#endif

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct Arguments {
    std::vector<std::string> formats;
    std::uint64_t count = 2000;
    double seconds = 0;
    std::uint64_t seed = 1;
    std::optional<std::uint64_t> only;
    Path kept = "fuzz-findings";
    bool list = false;
};

/// What a child tells its parent; in memory that both see.
struct Progress {
    std::uint64_t index = 0;  ///< being read
    std::uint64_t accepted = 0;
    std::uint64_t refused = 0;
    std::uint64_t slowest = 0;  ///< index of the input that took longest
    double longest = 0;         ///< how long, in seconds
    char symptom[4096] = {};    ///< of the input at `index`; the child ends behind it
};

void limit_time() {
    itimerval timer{};
    timer.it_value.tv_sec = kSecondsPerInput;
    setitimer(ITIMER_PROF, &timer, nullptr);
}

/// Of one input; empty: none.
std::string symptom_of(const Format& format, const Path& file, Progress& progress) {
    try {
        const Verdict verdict = format.read(file);
        ++(verdict.empty() ? progress.accepted : progress.refused);
        return defect_of(format, verdict);
    } catch (const std::bad_alloc&) {
        return "memory: std::bad_alloc";
    } catch (const std::exception& exception) {
        return fmt::format("exception: {}", exception.what());
    }
}

[[noreturn]] void read_batch(const Format& format, const InputTree& tree, std::uint64_t seed,
                             std::uint64_t end, Progress& progress) {
    if (testing::kMemoryCanBeLimited) {
        const rlimit limit{kMostMemory, kMostMemory};
        setrlimit(RLIMIT_AS, &limit);
    }
    for (; progress.index < end; ++progress.index) {
        const Input input = input_of(format, seed, progress.index);
        const Path file = tree.put(input);
        limit_time();
        const Clock::time_point begin = Clock::now();
        const std::string symptom = symptom_of(format, file, progress);
        if (const double took = seconds_since(begin); took > progress.longest) {
            progress.longest = took;
            progress.slowest = progress.index;
        }
        tree.restore(input.file);
        if (!symptom.empty()) {
            progress.symptom[symptom.copy(progress.symptom, sizeof progress.symptom - 1)] = '\0';
            _exit(1);
        }
    }
    _exit(0);
}

/// Symptoms that differ in numbers, quoted text and paths alone are of one kind.
std::string kind_of(const std::string& symptom) {
    std::string kind;
    bool quoted = false;
    std::size_t word = 0;
    for (const char c : symptom) {
        quoted = c == '\'' ? !quoted : quoted;
        if (!quoted && std::isdigit(static_cast<unsigned char>(c)) == 0) {
            kind += c;
        }
        if (c == '/') {
            kind.resize(std::min(word, kind.size()));
        } else if (c == ' ' || c == ':' || c == '[') {
            word = kind.size();
        }
    }
    return kind.substr(0, 160);
}

class Fuzzer {
public:
    Fuzzer(Arguments arguments, const Path& root)
        : arguments_(std::move(arguments)),
          tree_(root) {
        void* shared =
            mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        progress_ = new (shared) Progress;
    }

    /// Whether nothing was found.
    bool run(const Format& format, double seconds) {
        const Clock::time_point begin = Clock::now();
        *progress_ = {};
        kinds_.clear();
        std::uint64_t found = 0;
        if (seeds_are_refused(format)) {
            return false;
        }
        while (progress_->index < arguments_.count && (seconds <= 0 || seconds_since(begin) < seconds)) {
            const std::string symptom = batch(format);
            if (!symptom.empty()) {
                ++found;
                report(format, symptom);
                ++progress_->index;
            }
        }
        fmt::print(
            "{}: {} inputs in {:.1f} s, {} accepted, {} refused, {} findings of {} kinds; "
            "number {} took {:.2f} s\n",
            format.name, progress_->index, seconds_since(begin), progress_->accepted, progress_->refused,
            found, kinds_.size(), progress_->slowest, progress_->longest);
        std::fflush(stdout);
        return found == 0;
    }

    /// One input again, here, so that a debugger sees it.
    bool replay(const Format& format, std::uint64_t index) {
        const Input input = input_of(format, arguments_.seed, index);
        keep(format, index);
        const Verdict verdict = format.read(tree_.put(input));
        fmt::print("{}\n", verdict.empty() ? "accepted" : render(verdict));
        const std::string defect = defect_of(format, verdict);
        fmt::print("{}\n", defect.empty() ? "no finding" : defect);
        return defect.empty();
    }

private:
    /// A seed that its reader refuses shows nothing of what is behind the first check.
    bool seeds_are_refused(const Format& format) {
        bool refused = false;
        for (const Seed& seed : format.seeds) {
            const Verdict verdict = format.read(tree_.put({seed.file, seed.bytes}));
            tree_.restore(seed.file);
            if (!verdict.empty()) {
                fmt::print("{}: the seed {} is refused\n{}\n", format.name, seed.file.string(),
                           render(verdict));
                refused = true;
            }
        }
        return refused;
    }

    /// What ended a child that did not come to the end of its batch.
    std::string batch(const Format& format) {
        for (const Seed& seed : format.seeds) {
            tree_.restore(seed.file);
        }
        progress_->symptom[0] = '\0';
        const std::uint64_t end = std::min(arguments_.count, progress_->index + batch_);
        const Clock::time_point begin = Clock::now();
        const std::uint64_t first = progress_->index;
        std::fflush(stdout);
        const pid_t child = fork();
        if (child == 0) {
            read_batch(format, tree_, arguments_.seed, end, *progress_);
        }
        int status = 0;
        waitpid(child, &status, 0);
        // Batches of about a second, so that --seconds holds.
        const double took = seconds_since(begin);
        const double each = took / static_cast<double>(std::max<std::uint64_t>(progress_->index - first, 1));
        batch_ = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(1.0 / std::max(each, 1e-6)), 5, kBatch);
        if (WIFSIGNALED(status)) {
            const int signal = WTERMSIG(status);
            return signal == SIGPROF ? fmt::format("hang: over {} s", kSecondsPerInput)
                                     : fmt::format("crash: {}", strsignal(signal));
        }
        if (WEXITSTATUS(status) == 0) {
            return {};
        }
        return progress_->symptom[0] != '\0' ? std::string(progress_->symptom)
                                             : fmt::format("crash: exit code {}", WEXITSTATUS(status));
    }

    void report(const Format& format, const std::string& symptom) {
        if (++kinds_[kind_of(symptom)] > kKeptPerKind) {
            return;
        }
        const Path kept = keep(format, progress_->index);
        fmt::print("finding: --format {} --seed {} --only {}: {} ({})\n", format.name, arguments_.seed,
                   progress_->index, symptom.substr(0, 400), kept.string());
    }

    Path keep(const Format& format, std::uint64_t index) const {
        const Input input = input_of(format, arguments_.seed, index);
        std::filesystem::create_directories(arguments_.kept);
        const Path file = arguments_.kept / fmt::format("{}-{}-{}{}", format.name, arguments_.seed, index,
                                                        input.file.extension().string());
        std::ofstream(file, std::ios::binary) << input.bytes;
        return file;
    }

    Arguments arguments_;
    InputTree tree_;
    Progress* progress_ = nullptr;
    std::uint64_t batch_ = 20;
    std::map<std::string, std::size_t> kinds_;
};

int fuzz(const Arguments& arguments) {
    const Path root = ASTROLABE_SOURCE_DIR;
    std::vector<Format> formats = all_formats(root);
    if (arguments.list) {
        for (const Format& format : formats) {
            fmt::print("{}: {} seeds\n", format.name, format.seeds.size());
        }
        return 0;
    }
    if (!arguments.formats.empty()) {
        for (const std::string& name : arguments.formats) {
            if (std::none_of(formats.begin(), formats.end(),
                             [&](const Format& f) { return f.name == name; })) {
                fmt::print(stderr, "error: '{}' is not a format (fuzz_readers --list)\n", name);
                return 2;
            }
        }
        std::erase_if(formats, [&](const Format& format) {
            return std::find(arguments.formats.begin(), arguments.formats.end(), format.name) ==
                   arguments.formats.end();
        });
    }
    Fuzzer fuzzer(arguments, root);
    bool good = true;
    for (const Format& format : formats) {
        good =
            (arguments.only ? fuzzer.replay(format, *arguments.only)
                            : fuzzer.run(format, arguments.seconds / static_cast<double>(formats.size()))) &&
            good;
    }
    return good ? 0 : 1;
}

}  // namespace
}  // namespace astrolabe::fuzzing

int main(int argc, char** argv) {
    astrolabe::fuzzing::Arguments arguments;
    CLI::App app(
        "Reads mutated files of every format and reports crashes, hangs, 2 GiB and refusals without a place");
    app.add_option("--format", arguments.formats, "only this one; may be repeated");
    app.add_option("--count", arguments.count, "inputs of each format")->capture_default_str();
    app.add_option("--seconds", arguments.seconds, "of all formats together; 0: until the count is reached");
    app.add_option("--seed", arguments.seed, "of the mutations")->capture_default_str();
    app.add_option("--only", arguments.only, "this input alone, in this process: a finding again");
    app.add_option("--keep", arguments.kept, "folder for inputs of findings")->capture_default_str();
    app.add_flag("--list", arguments.list, "the formats");
    CLI11_PARSE(app, argc, argv);
    return astrolabe::fuzzing::fuzz(arguments);
}
