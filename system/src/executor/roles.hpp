/// The programs of ranks: which operations are a rank's own, in what order, and what they wait for.
///
/// Ranks that take part in the same operations share a *role*. An SPMD program has one, a pipeline one for
/// each stage, several jobs one for each job, a trace of ranks that all differ one for each rank. Inside a
/// role operations have numbers of their own, 0, 1, … in program order; dependencies on operations of other
/// ranks are left out, since they hold here.
///
/// Memory: O(own operations and their dependencies) for each role; while roles are found, 4 bytes for each
/// operation of each rank that does not take part in all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <astrolabe/system/program/participants.hpp>
#include <astrolabe/system/program/program.hpp>

namespace astrolabe::system::detail {

/// The number of an operation among those of a role.
using OwnIndex = std::uint32_t;

class Role {
public:
    /// `operations` are its own, ascending.
    Role(const Program& program, std::vector<OperationId> operations);

    [[nodiscard]] std::size_t size() const { return operations_.size(); }
    [[nodiscard]] OperationId operation(OwnIndex own) const { return operations_[own]; }
    /// Precondition: `operation` is one of its own.
    [[nodiscard]] OwnIndex own(OperationId operation) const;
    [[nodiscard]] bool has(OperationId operation) const;

    /// What `own` waits for, in the order listed.
    [[nodiscard]] const std::vector<OwnIndex>& dependencies(OwnIndex own) const { return dependencies_[own]; }
    /// What is to be told when `own` has finished: all that occupies no stream and waits for it, and in
    /// first-come order computations; in program order, each once.
    [[nodiscard]] const std::vector<OwnIndex>& dependents(OwnIndex own) const { return dependents_[own]; }
    /// Computations of a stream, in program order.
    [[nodiscard]] const std::vector<OwnIndex>& computations(std::size_t stream) const {
        return computations_[stream];
    }
    /// Names of its operations, each once, and which is whose.
    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
    [[nodiscard]] std::uint32_t name_of(OwnIndex own) const { return name_of_[own]; }

    /// By iteration, how many computations have to end before it does: those of stream 0, or where there are
    /// none those of all streams.
    [[nodiscard]] const std::vector<std::uint32_t>& deciding() const { return deciding_; }
    [[nodiscard]] bool any_stream_decides(std::size_t iteration) const {
        return any_stream_decides_[iteration];
    }

    /// The first of its operations that is `operation` or comes after it; size() where none does.
    [[nodiscard]] OwnIndex first_from(OperationId operation) const;
    /// Forgets the operations from `operation` on, with which iteration `iteration` begins.
    void end_before(OperationId operation, std::size_t iteration);

private:
    bool has_all_ = false;  // operations of the program: own numbers are theirs
    std::vector<OperationId> operations_;
    std::vector<std::vector<OwnIndex>> dependencies_;
    std::vector<std::vector<OwnIndex>> dependents_;
    std::vector<std::vector<OwnIndex>> computations_;  // by stream
    std::vector<std::string> names_;
    std::vector<std::uint32_t> name_of_;
    std::vector<std::uint32_t> deciding_;
    std::vector<bool> any_stream_decides_;
};

class Roles {
public:
    /// Of the ranks below `ranks`.
    Roles(const Program& program, const Participants& participants, std::size_t ranks);

    [[nodiscard]] const Role& of(RankId rank) const { return roles_[role_of_[rank]]; }
    [[nodiscard]] std::size_t count() const { return roles_.size(); }
    /// Of every role.
    void end_before(OperationId operation, std::size_t iteration);

private:
    std::vector<Role> roles_;
    IndexedVector<RankId, std::uint32_t> role_of_;
};

}  // namespace astrolabe::system::detail
