/// Slurm itself on this machine: a controller and nodes with a processor each, in a folder of their own.
/// Whatever ends the test ends them.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

namespace astrolabe::testing {

class RealSlurm {
public:
    /// Starts nodes n1, n2, …; SLURM_CONF names them to commands until the object goes.
    RealSlurm(std::filesystem::path folder, int nodes);
    ~RealSlurm();
    RealSlurm(const RealSlurm&) = delete;
    RealSlurm& operator=(const RealSlurm&) = delete;

    /// Why it does not run; empty: it does.
    [[nodiscard]] const std::string& problem() const { return problem_; }
    /// Ends a node as a power cut would: its daemon, the steps it looks after and all that they started.
    void kill_node(const std::string& name);

private:
    void write_configuration(const std::vector<int>& ports) const;
    void start(const std::string& name, const std::vector<std::string>& words);
    [[nodiscard]] bool becomes_idle(int nodes) const;
    [[nodiscard]] std::filesystem::path log_of(const std::string& name) const;

    std::filesystem::path folder_;
    std::map<std::string, pid_t> daemons_;
    std::string problem_;
};

}  // namespace astrolabe::testing
