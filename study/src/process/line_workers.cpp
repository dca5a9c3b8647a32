#include "line_workers.hpp"

#include "exit_code.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::study {
namespace {

void write_all(int descriptor, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
        if (count >= 0) {
            bytes.remove_prefix(static_cast<std::size_t>(count));
        } else if (errno != EINTR) {
            ::_exit(1);
        }
    }
}

[[noreturn]] void become(std::size_t place, int descriptor, pid_t parent,
                         const std::function<void(const SendLine&)>& work) {
    ::signal(SIGINT, SIG_IGN);
    ::signal(SIGTERM, SIG_DFL);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) {
        ::_exit(1);
    }
    try {
        work([descriptor](std::string_view line) { write_all(descriptor, std::string(line) + "\n"); });
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "astrolabe: worker %zu: %s\n", place, failure.what());
        ::_exit(1);
    }
    ::_exit(0);
}

int wait_for(pid_t process) {
    int status = 0;
    while (::waitpid(process, &status, 0) < 0) {
        ASTROLABE_ASSERT(errno == EINTR, "a worker can be waited for");
    }
    return exit_code_of(status);
}

}  // namespace

Workers::Workers(LineHandler handler)
    : handler_(std::move(handler)) {}

Workers::~Workers() {
    signal_all(SIGKILL);
    for (const Worker& worker : workers_) {
        ::close(worker.pipe);
        static_cast<void>(wait_for(worker.process));
    }
}

bool Workers::start(std::size_t place, const std::function<void(const SendLine&)>& work) {
    std::array<int, 2> ends{-1, -1};
    if (::pipe(ends.data()) != 0) {
        return false;
    }
    std::fflush(nullptr);
    const pid_t parent = ::getpid();
    const pid_t process = ::fork();
    if (process == 0) {
        ::close(ends[0]);
        become(place, ends[1], parent, work);
    }
    ::close(ends[1]);
    if (process < 0) {
        ::close(ends[0]);
        return false;
    }
    workers_.push_back({place, process, ends[0]});
    return true;
}

/// Hears what there is; false at the end.
bool Workers::listen(Worker& worker) const {
    std::array<char, 1 << 16> block;
    const ssize_t count = ::read(worker.pipe, block.data(), block.size());
    if (count < 0) {
        return errno == EINTR;
    }
    worker.unfinished.append(block.data(), static_cast<std::size_t>(count));
    std::size_t begin = 0;
    for (std::size_t end; (end = worker.unfinished.find('\n', begin)) != std::string::npos; begin = end + 1) {
        handler_(worker.place, std::string_view(worker.unfinished).substr(begin, end - begin));
    }
    worker.unfinished.erase(0, begin);
    return count > 0;
}

std::vector<Workers::Ended> Workers::wait() {
    std::vector<pollfd> pipes;
    for (const Worker& worker : workers_) {
        pipes.push_back({worker.pipe, POLLIN, 0});
    }
    std::vector<Ended> ended;
    constexpr int kMilliseconds = 100;
    if (::poll(pipes.data(), pipes.size(), kMilliseconds) <= 0) {
        return ended;
    }
    for (std::size_t i = pipes.size(); i-- > 0;) {
        if (pipes[i].revents != 0 && !listen(workers_[i])) {
            ::close(workers_[i].pipe);
            ended.push_back({workers_[i].place, wait_for(workers_[i].process)});
            workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(i));
        }
    }
    return ended;
}

void Workers::signal(std::size_t place, int number) const {
    for (const Worker& worker : workers_) {
        if (worker.place == place) {
            ::kill(worker.process, number);
        }
    }
}

void Workers::signal_all(int number) const {
    for (const Worker& worker : workers_) {
        ::kill(worker.process, number);
    }
}

std::vector<Workers::Running> Workers::running() const {
    std::vector<Running> all;
    for (const Worker& worker : workers_) {
        all.push_back({worker.place, worker.process});
    }
    return all;
}

std::vector<WorkerEnd> run_workers(std::size_t count, std::size_t at_once,
                                   const std::function<void(std::size_t, const SendLine&)>& work,
                                   const LineHandler& handler, const std::function<bool()>& stop) {
    ASTROLABE_ASSERT(at_once >= 1, "workers run one at a time or more");
    std::vector<WorkerEnd> ends(count);
    Workers workers(handler);
    bool stopped = false;
    for (std::size_t next = 0; (next < count && !stopped) || workers.count() > 0;) {
        if (!stopped && next < count && workers.count() < at_once) {
            const bool is_there =
                workers.start(next, [&work, next](const SendLine& send) { work(next, send); });
            ends[next++] = {true, is_there ? 0 : 1};
            continue;
        }
        if (!stopped && stop()) {
            stopped = true;
            workers.signal_all(SIGTERM);
        }
        for (const Workers::Ended& ended : workers.wait()) {
            ends[ended.place].exit_code = ended.exit_code;
        }
    }
    return ends;
}

}  // namespace astrolabe::study
