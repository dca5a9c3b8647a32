#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include <astrolabe/study/slurm/slurm.hpp>
#include <astrolabe/study/sweep/spool.hpp>

namespace astrolabe::study {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kStopInterval{100};
constexpr std::chrono::seconds kMergeInterval{1};
constexpr std::chrono::seconds kLongestInterval{30};

/// When to ask squeue, which its controller answers for a whole cluster: ever less often.
class AskTimes {
public:
    [[nodiscard]] bool is_time() {
        if (Clock::now() < next_) {
            return false;
        }
        interval_ = std::min<std::chrono::milliseconds>(interval_ * 3 / 2, kLongestInterval);
        next_ = Clock::now() + interval_;
        return true;
    }

private:
    std::chrono::milliseconds interval_{1000};
    Clock::time_point next_ = Clock::now() + interval_;
};

/// No task is left that could bring what is missing.
bool have_ended(const std::vector<ArrayStatus>& arrays) {
    return std::all_of(arrays.begin(), arrays.end(),
                       [](const ArrayStatus& array) { return !array.unknown && array.held == 0; });
}

}  // namespace

Result<bool> wait_for_slurm(const Study& study, ResultStore& store, const std::filesystem::path& folder,
                            const SlurmWait& wait) {
    AskTimes times;
    std::vector<ArrayStatus> arrays;
    std::vector<StudyRow> rows = store.rows(study.name);
    std::set<std::string> open = open_keys(study, &store, rows);
    while (true) {
        const bool is_time = times.is_time();
        bool is_over = false;
        if (is_time) {
            Result<std::vector<ArrayStatus>> asked = slurm_status(folder, open);
            if (!asked) {
                return asked.error();
            }
            arrays = *std::move(asked);
            is_over = have_ended(arrays);  // what they left before they ended is merged below
        }
        const Result<std::size_t> merged = merge_spool(folder, store);
        if (!merged) {
            return merged.error();
        }
        if (*merged > 0 || is_time) {  // other commands merge too
            rows = store.rows(study.name);
            open = open_keys(study, &store, rows);
        }
        if (is_over || open.empty()) {
            return true;
        }
        wait.observer(rows, arrays);
        for (const Clock::time_point next = Clock::now() + kMergeInterval; Clock::now() < next;) {
            if (wait.stop()) {
                return false;
            }
            std::this_thread::sleep_for(kStopInterval);
        }
    }
}

}  // namespace astrolabe::study
