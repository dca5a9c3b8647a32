#include "msccl_schedule.hpp"

#include "../schedule/proof.hpp"
#include "symbolic_run.hpp"

#include <algorithm>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::system::msccl {

namespace {

constexpr std::uint64_t kMaxRunBytes = std::uint64_t{1} << 30;

/// An end of a message: a step's receive or its send.
struct NetworkAction {
    StepId step;
    bool is_send = false;

    friend auto operator<=>(const NetworkAction&, const NetworkAction&) = default;
};

/// What the actions of one GPU wait for, and their order.
class GpuActions {
public:
    GpuActions(const Gpu& gpu, Position rank, const std::vector<std::vector<StepFacts>>& facts)
        : gpu_(gpu),
          rank_(rank),
          facts_(facts) {
        first_.push_back(0);
        for (const ThreadBlock& block : gpu.blocks) {
            first_.push_back(first_.back() + block.steps.size());
        }
        visited_.assign(first_.back(), 0);
        for (std::uint32_t block = 0; block < gpu.blocks.size(); ++block) {
            for (std::uint32_t index = 0; index < gpu.blocks[block].steps.size(); ++index) {
                add_step({block, index});
            }
        }
        sort();
    }

    /// In an order in which what an action waits for is before it.
    [[nodiscard]] const std::vector<NetworkAction>& order() const { return order_; }
    [[nodiscard]] std::vector<ActionIndex> dependencies(const NetworkAction& action) const {
        std::vector<ActionIndex> found;
        for (const NetworkAction& before : waits_for_[number_of(action)]) {
            found.push_back(places_[number_of(before)]);
        }
        std::ranges::sort(found);
        return found;
    }

private:
    [[nodiscard]] const Step& step_at(StepId id) const { return gpu_.blocks[id.block].steps[id.step]; }
    [[nodiscard]] bool is_added_later(StepId id) const { return !facts_[id.block][id.step].added_by.empty(); }
    [[nodiscard]] std::size_t number_of(StepId id) const { return first_[id.block] + id.step; }
    [[nodiscard]] std::size_t number_of(const NetworkAction& action) const {
        return 2 * number_of(action.step) + (action.is_send ? 1 : 0);
    }

    void add_step(StepId id) {
        const Step& step = step_at(id);
        if (receives(step.type)) {
            std::set<NetworkAction> before;
            ++round_;
            collect_before(id, false, before);
            for (const StepId addition : facts_[id.block][id.step].added_by) {
                ++round_;
                collect_before(addition, true, before);
            }
            before.erase({id, false});
            add({id, false}, std::move(before));
        }
        if (sends(step.type)) {
            std::set<NetworkAction> before;
            if (receives(step.type)) {
                before.insert({id, false});
            } else {
                ++round_;
                collect_before(id, false, before);
            }
            add({id, true}, std::move(before));
        }
    }

    void add(const NetworkAction& action, std::set<NetworkAction> before) {
        waits_for_.resize(2 * first_.back());
        waits_for_[number_of(action)].assign(before.begin(), before.end());
        order_.push_back(action);
    }

    /// The nearest ends of messages that are before a step. `passes_arrivals`: the arrival of chunks that are
    /// added later is not one of them, but what is before it.
    void collect_before(StepId id, bool passes_arrivals, std::set<NetworkAction>& found) {
        std::vector<StepId> open;
        const auto visit = [&](StepId before) {
            std::uint32_t& seen = visited_[number_of(before)];
            if (seen == round_) {
                return;
            }
            seen = round_;
            const Step& step = step_at(before);
            if (sends(step.type)) {
                found.insert({before, true});
            } else if (receives(step.type) && !(passes_arrivals && is_added_later(before))) {
                found.insert({before, false});
            } else {
                open.push_back(before);
            }
        };
        const auto visit_before = [&](StepId own) {
            if (own.step > 0) {
                visit({own.block, own.step - 1});
            }
            if (step_at(own).has_dependency) {
                visit(step_at(own).dependency);
            }
        };
        visit_before(id);
        while (!open.empty()) {
            const StepId next = open.back();
            open.pop_back();
            visit_before(next);
        }
    }

    /// Of those that can come next the first by thread block and step.
    void sort() {
        const std::vector<NetworkAction> all = std::exchange(order_, {});
        waits_for_.resize(2 * first_.back());
        std::vector<std::size_t> left(waits_for_.size(), 0);
        std::vector<std::vector<NetworkAction>> followers(waits_for_.size());
        std::priority_queue<NetworkAction, std::vector<NetworkAction>, std::greater<>> ready;
        for (const NetworkAction& action : all) {
            left[number_of(action)] = waits_for_[number_of(action)].size();
            for (const NetworkAction& before : waits_for_[number_of(action)]) {
                followers[number_of(before)].push_back(action);
            }
            if (left[number_of(action)] == 0) {
                ready.push(action);
            }
        }
        places_.assign(waits_for_.size(), 0);
        while (!ready.empty()) {
            const NetworkAction action = ready.top();
            ready.pop();
            places_[number_of(action)] = static_cast<ActionIndex>(order_.size());
            order_.push_back(action);
            for (const NetworkAction& follower : followers[number_of(action)]) {
                if (--left[number_of(follower)] == 0) {
                    ready.push(follower);
                }
            }
        }
        for (const NetworkAction& action : all) {
            if (left[number_of(action)] > 0) {
                refuse(step_at(action.step).where,
                       fmt::format("{} waits for chunks that have arrived and are added after it",
                                   name_of(rank_, action.step)),
                       "a schedule has no arrival that is not an addition: this file cannot be said as one");
            }
        }
    }

    const Gpu& gpu_;
    Position rank_;
    const std::vector<std::vector<StepFacts>>& facts_;
    std::vector<std::size_t> first_;  // by thread block, of its steps
    std::vector<std::vector<NetworkAction>> waits_for_;
    std::vector<NetworkAction> order_;
    std::vector<ActionIndex> places_;
    std::vector<std::uint32_t> visited_;  // by step, the last round of collect_before
    std::uint32_t round_ = 0;
};

[[nodiscard]] BlockReference reference_of(const File& file, std::uint64_t block) {
    if (file.kind == CollectiveKind::kAllToAll) {
        return {static_cast<Position>(block / file.chunks), static_cast<BlockIndex>(block % file.chunks)};
    }
    return {0, static_cast<BlockIndex>(block)};
}

void check_size(const File& file) {
    const std::uint64_t ranks = file.ranks();
    const std::uint64_t blocks = file.chunks * (file.kind == CollectiveKind::kAllToAll ? ranks : 1);
    if (ranks * blocks > kMaxRunBytes / 8 / ((ranks + 63) / 64)) {
        refuse(file.where, fmt::format("{} GPUs and {} blocks are too many to prove", ranks, blocks),
               "the proof may take 1 GiB: GPUs · blocks · ⌈GPUs / 64⌉ words of 8 bytes");
    }
}

[[noreturn]] void report(const File& file, const CollectiveSchedule& schedule, const ProofFailure& failure,
                         const std::vector<GpuActions>& actions) {
    std::optional<NetworkAction> action;
    if (failure.action) {
        action = actions[failure.rank].order()[*failure.action];
    } else {
        const RankProgram& program = schedule.program(failure.rank);
        for (std::size_t index = 0; index < program.actions.size(); ++index) {
            const auto blocks = program.blocks_of(program.actions[index]);
            if (!program.actions[index].is_send() && std::ranges::any_of(blocks, [&](BlockReference block) {
                    return schedule.resolve(failure.rank, block) == failure.block;
                })) {
                action = actions[failure.rank].order()[index];
            }
        }
    }
    const Gpu& gpu = file.gpus[failure.rank];
    const SourceRange where =
        action ? gpu.blocks[action->step.block].steps[action->step.step].where : gpu.where;
    std::string place = action ? name_of(failure.rank, action->step) : fmt::format("GPU {}", failure.rank);
    if (failure.block) {
        place += ", " + chunk_name(file, *failure.block);
    }
    throw Defect{
        {"msccl.proof",
         where,
         fmt::format("{}: {}", place, failure.message),
         "in one order of messages the file is right, in this one it is not: a step lacks a dependency",
         {}}};
}

CollectiveSchedule proven_schedule(const File& file) {
    check_size(file);
    const RunFacts facts = run(file);
    const std::uint64_t blocks =
        std::uint64_t{file.chunks} * (file.kind == CollectiveKind::kAllToAll ? file.ranks() : 1);
    ScheduleBuilder builder(file.kind, file.ranks(), blocks, Symmetry::kNone);
    std::vector<GpuActions> actions;
    for (Position rank = 0; rank < file.ranks(); ++rank) {
        const Gpu& gpu = file.gpus[rank];
        const GpuActions& own = actions.emplace_back(gpu, rank, facts[rank]);
        for (const NetworkAction& action : own.order()) {
            const ThreadBlock& block = gpu.blocks[action.step.block];
            const StepFacts& step = facts[rank][action.step.block][action.step.step];
            std::vector<BlockReference> references;
            for (const std::uint64_t carried : step.blocks) {
                references.push_back(reference_of(file, carried));
            }
            if (action.is_send) {
                builder.send(rank, block.send_peer, references, own.dependencies(action), block.channel);
            } else {
                builder.receive(rank, block.receive_peer, references, own.dependencies(action), step.adds,
                                block.channel);
            }
        }
    }
    CollectiveSchedule schedule = std::move(builder).build();
    if (const std::optional<ProofFailure> failure = prove(schedule)) {
        report(file, schedule, *failure, actions);
    }
    return schedule;
}

}  // namespace

Result<CollectiveSchedule> schedule_of(const std::shared_ptr<const SourceText>& text) {
    try {
        return proven_schedule(parse(text));
    } catch (const Defect& defect) {
        return defect.diagnostic;
    }
}

}  // namespace astrolabe::system::msccl
