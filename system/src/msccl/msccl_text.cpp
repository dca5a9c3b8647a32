#include "msccl_file.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>
#include <astrolabe/system/schedule/msccl_text.hpp>

namespace astrolabe::system {

namespace {

constexpr std::size_t kMaxOrderedActions = 32'768;

std::size_t stored_actions(const CollectiveSchedule& schedule) {
    const Position programs = schedule.symmetry() == Symmetry::kNone ? schedule.ranks() : 1;
    std::size_t actions = 0;
    for (Position rank = 0; rank < programs; ++rank) {
        actions += schedule.program(rank).actions.size();
    }
    return actions;
}

/// Which actions of a schedule are complete before another can be, whatever the network does. Under a
/// symmetry: of ranks that keep step.
class ActionOrder {
public:
    explicit ActionOrder(const CollectiveSchedule& schedule)
        : schedule_(schedule),
          programs_(schedule.symmetry() == Symmetry::kNone ? schedule.ranks() : 1),
          stages_(schedule.stages().size()) {
        // After the actions of a program come the ends of its stages.
        first_.push_back(0);
        for (Position rank = 0; rank < programs_; ++rank) {
            first_.push_back(first_.back() + schedule.program(rank).actions.size() + stages_);
        }
        words_ = (first_.back() + 63) / 64;
        before_.resize(first_.back());
        for (std::size_t node = 0; node < first_.back(); ++node) {
            close(node);
        }
    }

    [[nodiscard]] bool is_before(Position rank, ActionIndex early, ActionIndex late) const {
        const std::size_t from = first_[program_of(rank)] + early;
        const std::vector<std::uint64_t>& all = before_[first_[program_of(rank)] + late];
        return (all[from / 64] >> (from % 64) & 1) != 0;
    }

private:
    [[nodiscard]] Position program_of(Position rank) const { return programs_ == 1 ? 0 : rank; }

    [[nodiscard]] std::vector<std::size_t> direct(std::size_t node) const {
        const auto program =
            static_cast<Position>(std::ranges::upper_bound(first_, node) - first_.begin() - 1);
        const RankProgram& own = schedule_.program(program);
        const std::size_t index = node - first_[program];
        const std::size_t stage_ends = first_[program] + own.actions.size();
        std::vector<std::size_t> found;
        if (index >= own.actions.size()) {
            const std::size_t stage = index - own.actions.size();
            for (std::size_t action = 0; action < own.actions.size(); ++action) {
                if (own.actions[action].stage == stage) {
                    found.push_back(first_[program] + action);
                }
            }
            if (stage > 0) {
                found.push_back(stage_ends + stage - 1);
            }
            return found;
        }
        const Action& action = own.actions[index];
        for (const ActionIndex dependency : own.dependencies_of(action)) {
            found.push_back(first_[program] + dependency);
        }
        if (!action.is_send()) {
            found.push_back(first_[program_of(action.peer)] + action.match);
        }
        if (action.stage > 0) {
            found.push_back(stage_ends + action.stage - 1);
        }
        return found;
    }

    /// Fills the set of a node, those before it first.
    void close(std::size_t root) {
        std::vector<std::pair<std::size_t, bool>> stack{{root, false}};
        while (!stack.empty()) {
            const auto [node, is_ready] = stack.back();
            stack.pop_back();
            if (!before_[node].empty()) {
                continue;
            }
            const std::vector<std::size_t> found = direct(node);
            if (!is_ready) {
                stack.emplace_back(node, true);
                for (const std::size_t earlier : found) {
                    if (before_[earlier].empty()) {
                        stack.emplace_back(earlier, false);
                    }
                }
                continue;
            }
            std::vector<std::uint64_t> all(words_, 0);
            for (const std::size_t earlier : found) {
                for (std::size_t word = 0; word < words_; ++word) {
                    all[word] |= before_[earlier][word];
                }
                all[earlier / 64] |= std::uint64_t{1} << (earlier % 64);
            }
            before_[node] = std::move(all);
        }
    }

    const CollectiveSchedule& schedule_;
    Position programs_;
    std::size_t stages_;
    std::vector<std::size_t> first_;  // by program, of its nodes
    std::size_t words_ = 0;
    std::vector<std::vector<std::uint64_t>> before_;
};

/// The channel of every message, by the action of either end.
class Channels {
public:
    explicit Channels(const CollectiveSchedule& schedule)
        : schedule_(schedule),
          of_(schedule.symmetry() == Symmetry::kNone ? schedule.ranks() : 1) {
        const ActionOrder order(schedule);
        for (Position rank = 0; rank < of_.size(); ++rank) {
            of_[rank].resize(schedule.program(rank).actions.size());
        }
        for (Position rank = 0; rank < of_.size(); ++rank) {
            std::map<Position, std::vector<std::pair<ActionIndex, ActionIndex>>> last;  // by peer and channel
            const std::vector<Action>& actions = schedule.program(rank).actions;
            for (ActionIndex send = 0; send < actions.size(); ++send) {
                if (!actions[send].is_send()) {
                    continue;
                }
                const Position receiver = of_.size() == 1 ? 0 : actions[send].peer;
                const ActionIndex receive = actions[send].match;
                auto& channels = last[actions[send].peer];
                const auto free = std::ranges::find_if(channels, [&](const auto& message) {
                    return order.is_before(rank, message.first, send) &&
                           order.is_before(receiver, message.second, receive);
                });
                const auto channel = static_cast<std::uint32_t>(free - channels.begin());
                if (free == channels.end()) {
                    channels.emplace_back(send, receive);
                } else {
                    *free = {send, receive};
                }
                of_[rank][send] = channel;
                of_[receiver][receive] = channel;
                count_ = std::max(count_, channel + 1);
            }
        }
    }

    [[nodiscard]] std::uint32_t of(Position rank, ActionIndex action) const {
        return of_[of_.size() == 1 ? 0 : rank][action];
    }
    [[nodiscard]] std::uint32_t count() const { return count_; }

private:
    const CollectiveSchedule& schedule_;
    std::vector<std::vector<std::uint32_t>> of_;
    std::uint32_t count_ = 1;
};

using msccl::Buffer;
using msccl::Place;
using msccl::StepId;

/// Consecutive places in a buffer.
struct PlaceRange {
    Place first;
    std::uint32_t chunks = 0;
};

struct WrittenStep {
    std::string_view type;
    Place source{};
    Place destination{};
    std::uint32_t chunks = 0;
    std::optional<StepId> waits_for{};
    bool is_waited_for = false;
};

struct WrittenBlock {
    std::int64_t send_peer = -1;
    std::int64_t receive_peer = -1;
    std::uint32_t channel = 0;
    std::vector<WrittenStep> steps{};
};

/// What a file says of one rank.
class RankWriter {
public:
    RankWriter(const CollectiveSchedule& schedule, const Channels& channels, Position rank)
        : schedule_(schedule),
          channels_(channels),
          rank_(rank) {
        const RankProgram& program = schedule.program(rank);
        if (schedule.kind() == CollectiveKind::kAllToAll) {
            copy_own_chunks();
        }
        std::uint16_t stage = 0;
        for (ActionIndex index = 0; index < program.actions.size(); ++index) {
            const Action& action = program.actions[index];
            if (action.stage != stage) {
                end_stage();
                stage = action.stage;
            }
            std::vector<StepId> after =
                action.stage > 0 && action.dependency_count == 0 ? stage_end_ : std::vector<StepId>{};
            for (const ActionIndex dependency : program.dependencies_of(action)) {
                after.push_back(done_[dependency]);
            }
            done_.push_back(action.is_send() ? add_send(index, action, std::move(after))
                                             : add_receive(index, action, std::move(after)));
        }
    }

    [[nodiscard]] std::string text() const {
        const auto chunks = static_cast<std::uint32_t>(schedule_.columns());
        const bool is_exchange = schedule_.kind() == CollectiveKind::kAllToAll;
        const bool is_gather = schedule_.kind() == CollectiveKind::kAllGather;
        std::string text =
            fmt::format("  <gpu id=\"{}\" i_chunks=\"{}\" o_chunks=\"{}\" s_chunks=\"{}\">\n", rank_,
                        is_gather ? 0 : chunks, is_gather || is_exchange ? chunks : 0, scratch_);
        for (std::size_t number = 0; number < blocks_.size(); ++number) {
            const WrittenBlock& block = blocks_[number];
            text += fmt::format("    <tb id=\"{}\" send=\"{}\" recv=\"{}\" chan=\"{}\">\n", number,
                                block.send_peer, block.receive_peer, block.channel);
            for (std::size_t index = 0; index < block.steps.size(); ++index) {
                append(text, index, block.steps[index]);
            }
            text += "    </tb>\n";
        }
        return text + "  </gpu>\n";
    }

private:
    static void append(std::string& text, std::size_t index, const WrittenStep& step) {
        static constexpr std::array<char, 3> kBuffers{'i', 'o', 's'};
        const auto buffer = [](Place place) { return kBuffers[static_cast<std::size_t>(place.buffer)]; };
        text += fmt::format("      <step s=\"{}\" type=\"{}\" ", index, step.type);
        if (step.chunks == 0) {
            text += "srcbuf=\"i\" srcoff=\"-1\" dstbuf=\"o\" dstoff=\"-1\" cnt=\"0\" ";
        } else {
            text += fmt::format("srcbuf=\"{}\" srcoff=\"{}\" dstbuf=\"{}\" dstoff=\"{}\" cnt=\"{}\" ",
                                buffer(step.source), step.source.offset, buffer(step.destination),
                                step.destination.offset, step.chunks);
        }
        if (step.waits_for) {
            text += fmt::format("depid=\"{}\" deps=\"{}\" ", step.waits_for->block, step.waits_for->step);
        } else {
            text += "depid=\"-1\" deps=\"-1\" ";
        }
        text += fmt::format("hasdep=\"{}\"/>\n", step.is_waited_for ? 1 : 0);
    }

    /// The last steps of all thread blocks: what the next stage waits for.
    void end_stage() {
        stage_end_.clear();
        for (std::uint32_t block = 0; block < blocks_.size(); ++block) {
            const bool is_connected = blocks_[block].send_peer >= 0 || blocks_[block].receive_peer >= 0;
            if (is_connected && !blocks_[block].steps.empty()) {
                stage_end_.push_back({block, static_cast<std::uint32_t>(blocks_[block].steps.size() - 1)});
            }
        }
    }

    std::uint32_t block_of(std::int64_t send_peer, std::int64_t receive_peer, std::uint32_t channel) {
        const auto found = std::ranges::find_if(blocks_, [&](const WrittenBlock& block) {
            return block.send_peer == send_peer && block.receive_peer == receive_peer &&
                   block.channel == channel;
        });
        if (found == blocks_.end()) {
            blocks_.push_back({send_peer, receive_peer, channel, {}});
            return static_cast<std::uint32_t>(blocks_.size() - 1);
        }
        return static_cast<std::uint32_t>(found - blocks_.begin());
    }

    /// Adds steps to a thread block, the first of which waits for `after`.
    StepId add_steps(std::uint32_t number, const std::vector<StepId>& after, std::vector<WrittenStep> steps) {
        std::map<std::uint32_t, std::uint32_t> latest;  // steps of other thread blocks
        for (const StepId step : after) {
            if (step.block != number) {
                latest[step.block] = std::max(latest[step.block], step.step);
            }
        }
        WrittenBlock& block = blocks_[number];
        std::size_t left = latest.size();
        for (const auto& [other, step] : latest) {
            blocks_[other].steps[step].is_waited_for = true;
            if (--left > 0) {
                block.steps.push_back({.type = "nop", .waits_for = StepId{other, step}});
            } else {
                steps.front().waits_for = StepId{other, step};
            }
        }
        block.steps.insert(block.steps.end(), steps.begin(), steps.end());
        return {number, static_cast<std::uint32_t>(block.steps.size() - 1)};
    }

    [[nodiscard]] std::uint32_t parts() const { return schedule_.parts(); }

    /// Where a block is on this rank, or has to be; nothing: nowhere yet.
    [[nodiscard]] std::optional<Place> place_of(std::uint64_t block) const {
        if (schedule_.kind() == CollectiveKind::kAllGather) {
            return Place{Buffer::kOutput, static_cast<std::uint32_t>(block)};
        }
        if (schedule_.kind() != CollectiveKind::kAllToAll) {
            return Place{Buffer::kInput, static_cast<std::uint32_t>(block)};
        }
        const auto source = static_cast<std::uint32_t>(block / schedule_.columns());
        const auto column = static_cast<std::uint32_t>(block % schedule_.columns());
        if (source == rank_) {
            return Place{Buffer::kInput, column};
        }
        if (schedule_.owner(column) == rank_) {
            return Place{Buffer::kOutput, source * parts() + column % parts()};
        }
        const auto found = relayed_.find(block);
        return found == relayed_.end() ? std::nullopt : std::optional(found->second);
    }

    [[nodiscard]] std::vector<std::uint64_t> blocks_of(const Action& action) const {
        std::vector<std::uint64_t> blocks;
        for (const BlockReference reference : schedule_.program(rank_).blocks_of(action)) {
            blocks.push_back(schedule_.resolve(rank_, reference));
        }
        return blocks;
    }

    /// The places of blocks, neighbours together.
    [[nodiscard]] static std::vector<PlaceRange> ranges_of(const std::vector<Place>& places) {
        std::vector<PlaceRange> ranges;
        for (const Place place : places) {
            if (!ranges.empty() && ranges.back().first.buffer == place.buffer &&
                ranges.back().first.offset + ranges.back().chunks == place.offset) {
                ++ranges.back().chunks;
            } else {
                ranges.push_back({place, 1});
            }
        }
        return ranges;
    }

    Place new_scratch(std::size_t chunks) {
        const Place place{Buffer::kScratch, scratch_};
        scratch_ += static_cast<std::uint32_t>(chunks);
        return place;
    }

    StepId add_send(ActionIndex index, const Action& action, std::vector<StepId> after) {
        const std::vector<std::uint64_t> blocks = blocks_of(action);
        std::vector<Place> places;
        for (const std::uint64_t block : blocks) {
            const std::optional<Place> place = place_of(block);
            ASTROLABE_ASSERT(place.has_value(), "a proven schedule sends what its rank has");
            places.push_back(*place);
        }
        const std::vector<PlaceRange> ranges = ranges_of(places);
        const auto count = static_cast<std::uint32_t>(blocks.size());
        std::vector<WrittenStep> steps;
        Place from = places.front();
        if (ranges.size() > 1) {
            from = new_scratch(count);
            Place to = from;
            for (const PlaceRange& range : ranges) {
                steps.push_back(
                    {.type = "cpy", .source = range.first, .destination = to, .chunks = range.chunks});
                to.offset += range.chunks;
            }
        }
        steps.push_back({.type = "s", .source = from, .destination = from, .chunks = count});
        const std::uint32_t number =
            block_of(schedule_.resolve(rank_, action.peer), -1, channels_.of(rank_, index));
        return add_steps(number, after, std::move(steps));
    }

    StepId add_receive(ActionIndex index, const Action& action, std::vector<StepId> after) {
        const std::vector<std::uint64_t> blocks = blocks_of(action);
        const bool adds = action.kind == Action::Kind::kReceiveReduce;
        const auto count = static_cast<std::uint32_t>(blocks.size());
        const bool passes_on =
            std::ranges::any_of(blocks, [&](std::uint64_t block) { return !place_of(block); });
        std::vector<Place> places;
        if (!passes_on) {
            for (const std::uint64_t block : blocks) {
                places.push_back(*place_of(block));
            }
        }
        const std::vector<PlaceRange> ranges = ranges_of(places);
        std::vector<WrittenStep> steps;
        if (ranges.size() == 1) {
            steps.push_back({.type = adds ? "rrc" : "r",
                             .source = places.front(),
                             .destination = places.front(),
                             .chunks = count});
        } else {
            Place from = new_scratch(count);
            steps.push_back({.type = "r", .source = from, .destination = from, .chunks = count});
            for (const std::uint64_t block : blocks) {
                if (!place_of(block)) {
                    relayed_.emplace(block, from);
                } else {
                    steps.push_back({.type = adds ? "re" : "cpy",
                                     .source = from,
                                     .destination = *place_of(block),
                                     .chunks = 1});
                }
                ++from.offset;
            }
        }
        const std::uint32_t number =
            block_of(-1, schedule_.resolve(rank_, action.peer), channels_.of(rank_, index));
        return add_steps(number, after, std::move(steps));
    }

    void copy_own_chunks() {
        const Place from{Buffer::kInput, rank_ * parts()};
        const Place to{Buffer::kOutput, rank_ * parts()};
        add_steps(block_of(-1, -1, 0), {},
                  {{.type = "cpy", .source = from, .destination = to, .chunks = parts()}});
    }

    const CollectiveSchedule& schedule_;
    const Channels& channels_;
    Position rank_;
    std::vector<WrittenBlock> blocks_;
    std::vector<StepId> done_;       // by action, the step after which it is complete
    std::vector<StepId> stage_end_;  // of the stage before
    std::map<std::uint64_t, Place> relayed_;
    std::uint32_t scratch_ = 0;
};

}  // namespace

std::optional<std::string> unsupported_by_msccl(const CollectiveSchedule& schedule) {
    if (schedule.kind() == CollectiveKind::kPointToPoint) {
        return "MSCCL has no collective for a point_to_point";
    }
    if (const std::size_t actions = stored_actions(schedule); actions > kMaxOrderedActions) {
        return fmt::format("{} actions are more than the {} of which is known which is before which", actions,
                           kMaxOrderedActions);
    }
    return std::nullopt;
}

std::string msccl_text(const CollectiveSchedule& schedule, const std::string& name) {
    ASTROLABE_ASSERT(!unsupported_by_msccl(schedule), "what cannot be written was refused before");
    const Channels channels(schedule);
    const auto* kind = std::ranges::find(msccl::kCollectiveNames, schedule.kind(),
                                         &std::pair<std::string_view, CollectiveKind>::second);
    const bool in_place = schedule.kind() != CollectiveKind::kAllToAll;
    std::string text = fmt::format(
        "<algo name=\"{}\" proto=\"Simple\" nchannels=\"{}\" nchunksperloop=\"{}\" ngpus=\"{}\" coll=\"{}\" "
        "inplace=\"{}\" outofplace=\"{}\" minBytes=\"0\" maxBytes=\"0\">\n",
        name, channels.count(), schedule.columns(), schedule.ranks(), kind->first, in_place ? 1 : 0,
        in_place ? 0 : 1);
    for (Position rank = 0; rank < schedule.ranks(); ++rank) {
        text += RankWriter(schedule, channels, rank).text();
    }
    return text + "</algo>\n";
}

}  // namespace astrolabe::system
