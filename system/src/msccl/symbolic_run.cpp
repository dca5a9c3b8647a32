#include "symbolic_run.hpp"

#include <algorithm>
#include <bit>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::system::msccl {

namespace {

/// A set of GPUs.
class Contributors {
public:
    explicit Contributors(Position gpus)
        : words_((gpus + 63) / 64, 0) {}

    void insert(Position gpu) { words_[gpu / 64] |= std::uint64_t{1} << (gpu % 64); }
    [[nodiscard]] bool contains(Position gpu) const { return (words_[gpu / 64] >> (gpu % 64) & 1) != 0; }
    void unite(const Contributors& other) {
        for (std::size_t word = 0; word < words_.size(); ++word) {
            words_[word] |= other.words_[word];
        }
    }
    /// The first GPU that is in both.
    [[nodiscard]] std::optional<Position> common(const Contributors& other) const {
        for (std::size_t word = 0; word < words_.size(); ++word) {
            if (const std::uint64_t both = words_[word] & other.words_[word]; both != 0) {
                return static_cast<Position>(word * 64 + static_cast<std::size_t>(std::countr_zero(both)));
            }
        }
        return std::nullopt;
    }

    friend bool operator==(const Contributors&, const Contributors&) = default;

private:
    std::vector<std::uint64_t> words_;
};

/// Chunks that a step received and that may still be added to a sum.
struct Receipt {
    StepId step;
    std::uint32_t chunk = 0;  // of the step's
    Contributors contributors;
};

struct Value {
    std::uint64_t block = 0;
    Contributors contributors;
    std::vector<std::uint32_t> receipts{};  // of this GPU, in sums without its own contribution
};

using Message = std::vector<Value>;
using Route = std::tuple<Position, Position, std::uint32_t>;

[[nodiscard]] bool has_sums(CollectiveKind kind) {
    return kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kReduceScatter ||
           kind == CollectiveKind::kReduce;
}

/// What each GPU has.
struct GpuState {
    std::array<std::vector<std::optional<Value>>, 3> places{};
    std::vector<Receipt> receipts{};
    /// By block, what a schedule has for it: one sum.
    std::vector<Contributors> sums{};
    std::vector<std::uint32_t> next{};  // by thread block, the step that has not run
};

/// One run. Which receives add is known at its end; with what it found a second run shows whether one sum for
/// each block is enough.
class SymbolicExecution {
public:
    SymbolicExecution(const File& file, RunFacts& facts, bool checks_sums)
        : file_(file),
          facts_(facts),
          checks_sums_(checks_sums && has_sums(file.kind)),
          share_(file.chunks / file.ranks()) {
        for (Position gpu = 0; gpu < file.ranks(); ++gpu) {
            add_state(gpu);
        }
    }

    void run() {
        bool advances = true;
        while (advances) {
            advances = false;
            for (Position gpu = 0; gpu < file_.ranks(); ++gpu) {
                for (std::uint32_t block = 0; block < file_.gpus[gpu].blocks.size(); ++block) {
                    while (try_step(gpu, block)) {
                        advances = true;
                    }
                }
            }
        }
        check_all_ran();
        check_outputs();
    }

private:
    void add_state(Position gpu) {
        GpuState& state = states_.emplace_back();
        const Gpu& own = file_.gpus[gpu];
        for (std::size_t buffer = 0; buffer < 3; ++buffer) {
            state.places[buffer].resize(own.chunks[buffer]);
        }
        if (file_.in_place) {
            const std::size_t both = std::max(own.chunks[0], own.chunks[1]);
            state.places[0].resize(both);
            state.places[1].clear();
        }
        state.next.assign(own.blocks.size(), 0);
        if (checks_sums_) {
            state.sums.assign(file_.chunks, only(gpu));
        }
        const bool is_gather = file_.kind == CollectiveKind::kAllGather;
        const std::uint32_t inputs = is_gather ? share_ : file_.chunks;
        if (file_.kind == CollectiveKind::kBroadcast && gpu != 0) {
            return;
        }
        for (std::uint32_t chunk = 0; chunk < std::min(inputs, own.chunks[0]); ++chunk) {
            std::uint64_t block = chunk;
            if (is_gather) {
                block += std::uint64_t{gpu} * share_;
            } else if (file_.kind == CollectiveKind::kAllToAll) {
                block += std::uint64_t{gpu} * file_.chunks;
            }
            at(gpu, {Buffer::kInput, chunk}, 0) = Value{block, only(gpu), {}};
        }
    }

    [[nodiscard]] Contributors only(Position gpu) const {
        Contributors set(file_.ranks());
        set.insert(gpu);
        return set;
    }

    std::optional<Value>& at(Position gpu, Place place, std::uint32_t chunk) {
        std::size_t index = place.offset + chunk;
        std::size_t buffer = static_cast<std::size_t>(place.buffer);
        if (file_.in_place && place.buffer != Buffer::kScratch) {
            buffer = 0;
            const bool is_part =
                (file_.kind == CollectiveKind::kAllGather && place.buffer == Buffer::kInput) ||
                (file_.kind == CollectiveKind::kReduceScatter && place.buffer == Buffer::kOutput);
            index += is_part ? std::size_t{gpu} * share_ : 0;
        }
        std::vector<std::optional<Value>>& places = states_[gpu].places[buffer];
        ASTROLABE_ASSERT(index < places.size(), "offsets are inside their buffers");
        return places[index];
    }

    [[nodiscard]] const Step& step_at(Position gpu, StepId id) const {
        return file_.gpus[gpu].blocks[id.block].steps[id.step];
    }
    [[nodiscard]] StepFacts& facts_at(Position gpu, StepId id) { return facts_[gpu][id.block][id.step]; }

    [[nodiscard]] bool has_run(Position gpu, StepId id) const {
        return states_[gpu].next[id.block] > id.step;
    }

    [[nodiscard]] Route incoming(Position gpu, std::uint32_t block) const {
        const ThreadBlock& own = file_.gpus[gpu].blocks[block];
        return {own.receive_peer, gpu, own.channel};
    }

    /// Runs the next step of a thread block, if it can.
    bool try_step(Position gpu, std::uint32_t block) {
        std::uint32_t& next = states_[gpu].next[block];
        const ThreadBlock& own = file_.gpus[gpu].blocks[block];
        if (next == own.steps.size()) {
            return false;
        }
        const Step& step = own.steps[next];
        if (step.has_dependency && !has_run(gpu, step.dependency)) {
            return false;
        }
        Message message;
        if (receives(step.type)) {
            std::deque<Message>& waiting = messages_[incoming(gpu, block)];
            if (waiting.empty()) {
                return false;
            }
            message = std::move(waiting.front());
            waiting.pop_front();
        }
        carry_out(gpu, {block, next}, step, std::move(message));
        ++next;
        return true;
    }

    [[noreturn]] void fail(Position gpu, StepId id, const std::string& chunk, const std::string& what) const {
        throw Defect{{"msccl.proof",
                      step_at(gpu, id).where,
                      fmt::format("{}, {}: {}", name_of(gpu, id), chunk, what),
                      fmt::format("'{}' is what the file says that it does", to_string(file_.kind)),
                      {}}};
    }

    [[nodiscard]] std::string place_name(Place place, std::uint32_t chunk) const {
        static constexpr std::array<std::string_view, 3> kNames{"input", "output", "scratch buffer"};
        return fmt::format("chunk {} of its {}", place.offset + chunk,
                           kNames[static_cast<std::size_t>(place.buffer)]);
    }

    [[nodiscard]] const Value& source(Position gpu, StepId id, const Step& step, std::uint32_t chunk) {
        const std::optional<Value>& value = at(gpu, step.source, chunk);
        if (!value) {
            fail(gpu, id, place_name(step.source, chunk), "it is used and holds nothing");
        }
        return *value;
    }

    void carry_out(Position gpu, StepId id, const Step& step, Message message) {
        if (step.type == StepType::kNothing) {
            return;
        }
        StepFacts& facts = facts_at(gpu, id);
        const bool is_receive = receives(step.type);
        const bool adds_source = is_receive && reads_source(step.type);
        if (is_receive || sends(step.type)) {
            facts.blocks.clear();
        }
        Message out;
        for (std::uint32_t chunk = 0; chunk < step.chunks; ++chunk) {
            Value value = is_receive ? std::move(message[chunk]) : source(gpu, id, step, chunk);
            if (is_receive) {
                value.receipts.clear();
            }
            if (adds_source) {
                const Contributors received = value.contributors;
                value = sum_of(gpu, id, source(gpu, id, step, chunk), value, place_name(step.source, chunk));
                add_to_sum(gpu, id, value.block, received);
                facts.adds = true;
            } else if (is_receive) {
                take_in(gpu, id, chunk, value, facts);
            } else if (step.type == StepType::kReduce) {
                std::optional<Value>& old = at(gpu, step.destination, chunk);
                if (!old) {
                    fail(gpu, id, place_name(step.destination, chunk), "it is added to and holds nothing");
                }
                value = sum_of(gpu, id, *old, value, place_name(step.destination, chunk));
            }
            if (is_receive || sends(step.type)) {
                facts.blocks.push_back(value.block);
            }
            if (sends(step.type)) {
                check_sum(gpu, id, value);
                out.push_back(value);
            }
            if (writes_destination(step.type)) {
                at(gpu, step.destination, chunk) = std::move(value);
            }
        }
        if (sends(step.type)) {
            const ThreadBlock& own = file_.gpus[gpu].blocks[id.block];
            messages_[{gpu, own.send_peer, own.channel}].push_back(std::move(out));
        }
    }

    /// A chunk is stored as it was received: it replaces the sum, unless it is added later.
    void take_in(Position gpu, StepId id, std::uint32_t chunk, Value& value, const StepFacts& facts) {
        if (!has_sums(file_.kind)) {
            return;
        }
        GpuState& state = states_[gpu];
        if (!value.contributors.contains(gpu)) {
            value.receipts.push_back(static_cast<std::uint32_t>(state.receipts.size()));
            state.receipts.push_back({id, chunk, value.contributors});
        }
        if (checks_sums_ && !facts.adds) {
            state.sums[value.block] = value.contributors;
        }
    }

    [[nodiscard]] Value sum_of(Position gpu, StepId id, const Value& own, const Value& other,
                               const std::string& place) {
        if (own.block != other.block) {
            fail(gpu, id, place,
                 fmt::format("{} is added to {}", chunk_name(file_, other.block),
                             chunk_name(file_, own.block)));
        }
        if (const std::optional<Position> twice = own.contributors.common(other.contributors)) {
            fail(gpu, id, place, fmt::format("the contribution of GPU {} is added twice", *twice));
        }
        Value sum = own;
        sum.contributors.unite(other.contributors);
        sum.receipts.insert(sum.receipts.end(), other.receipts.begin(), other.receipts.end());
        if (sum.contributors.contains(gpu)) {
            for (const std::uint32_t receipt : sum.receipts) {
                absorb(gpu, id, states_[gpu].receipts[receipt], sum.block);
            }
            sum.receipts.clear();
        }
        return sum;
    }

    /// Chunks of an earlier receive are in a sum with the GPU's own contribution now.
    void absorb(Position gpu, StepId id, const Receipt& receipt, std::uint64_t block) {
        StepFacts& facts = facts_at(gpu, receipt.step);
        if (!checks_sums_) {
            facts.adds = true;
            facts.added_by.push_back(id);
            ++added_chunks_[{gpu, receipt.step}];
        }
        add_to_sum(gpu, id, block, receipt.contributors);
    }

    void add_to_sum(Position gpu, StepId id, std::uint64_t block, const Contributors& received) {
        if (!checks_sums_) {
            return;
        }
        Contributors& sum = states_[gpu].sums[block];
        if (sum.common(received)) {
            refuse_sums(gpu, id, block);
        }
        sum.unite(received);
    }

    void check_sum(Position gpu, StepId id, const Value& value) {
        if (checks_sums_ && value.contributors != states_[gpu].sums[value.block]) {
            refuse_sums(gpu, id, value.block);
        }
    }

    [[noreturn]] void refuse_sums(Position gpu, StepId id, std::uint64_t block) const {
        refuse(step_at(gpu, id).where,
               fmt::format("{}, {}: the GPU has two different sums of it and uses both", name_of(gpu, id),
                           chunk_name(file_, block)),
               "a schedule has one value for each chunk on each rank: this file cannot be said as one");
    }

    /// What keeps the first step that did not run, followed until a step comes again.
    void check_all_ran() const {
        for (Position gpu = 0; gpu < file_.ranks(); ++gpu) {
            for (std::uint32_t block = 0; block < file_.gpus[gpu].blocks.size(); ++block) {
                if (states_[gpu].next[block] < file_.gpus[gpu].blocks[block].steps.size()) {
                    report_circle(gpu, block);
                }
            }
        }
    }

    [[nodiscard]] std::pair<Position, std::uint32_t> waits_for(Position gpu, std::uint32_t block) const {
        const Step& step = step_at(gpu, {block, states_[gpu].next[block]});
        if (step.has_dependency && !has_run(gpu, step.dependency)) {
            return {gpu, step.dependency.block};
        }
        const ThreadBlock& own = file_.gpus[gpu].blocks[block];
        const std::vector<ThreadBlock>& there = file_.gpus[own.receive_peer].blocks;
        const auto sender = std::ranges::find_if(there, [&](const ThreadBlock& other) {
            return other.send_peer == gpu && other.channel == own.channel;
        });
        return {own.receive_peer, static_cast<std::uint32_t>(sender - there.begin())};
    }

    [[noreturn]] void report_circle(Position gpu, std::uint32_t block) const {
        std::map<std::pair<Position, std::uint32_t>, std::size_t> seen;
        std::vector<std::pair<Position, std::uint32_t>> chain;
        std::pair<Position, std::uint32_t> at_block{gpu, block};
        while (seen.try_emplace(at_block, chain.size()).second) {
            chain.push_back(at_block);
            at_block = waits_for(at_block.first, at_block.second);
        }
        const std::size_t begin = seen.at(at_block);
        std::string circle;
        constexpr std::size_t kMostNamed = 6;
        for (std::size_t i = begin; i < std::min(chain.size(), begin + kMostNamed); ++i) {
            circle += fmt::format("{}{}", i == begin ? "" : " waits for ", next_name(chain[i]));
        }
        const std::size_t length = chain.size() - begin;
        circle += length > kMostNamed ? fmt::format(" … and {} more", length - kMostNamed)
                                      : fmt::format(" waits for {}", next_name(chain[begin]));
        const auto& [first_gpu, first_block] = chain[begin];
        refuse(step_at(first_gpu, {first_block, states_[first_gpu].next[first_block]}).where,
               fmt::format("steps wait for each other: {}", circle),
               "a step waits for the one before in its thread block, its dependency and its message");
    }

    [[nodiscard]] std::string next_name(const std::pair<Position, std::uint32_t>& block) const {
        return name_of(block.first, {block.second, states_[block.first].next[block.second]});
    }

    void check_outputs() {
        for (Position gpu = 0; gpu < file_.ranks(); ++gpu) {
            if (file_.kind == CollectiveKind::kReduce && gpu != 0) {
                continue;
            }
            const bool is_scatter = file_.kind == CollectiveKind::kReduceScatter;
            for (std::uint32_t chunk = 0; chunk < (is_scatter ? share_ : file_.chunks); ++chunk) {
                check_output(gpu, chunk);
            }
        }
    }

    void check_output(Position gpu, std::uint32_t chunk) {
        Contributors expected(file_.ranks());
        std::uint64_t block = chunk;
        switch (file_.kind) {
            case CollectiveKind::kAllGather:
                expected.insert(chunk / share_);
                break;
            case CollectiveKind::kAllToAll:
                expected.insert(chunk / share_);
                block = std::uint64_t{chunk / share_} * file_.chunks + gpu * share_ + chunk % share_;
                break;
            case CollectiveKind::kBroadcast:
                expected.insert(0);
                break;
            default:
                for (Position other = 0; other < file_.ranks(); ++other) {
                    expected.insert(other);
                }
                block += file_.kind == CollectiveKind::kReduceScatter ? std::uint64_t{gpu} * share_ : 0;
        }
        const Place place{Buffer::kOutput, chunk};
        const std::size_t output = file_.in_place ? 0 : 1;
        if (states_[gpu].places[output].empty()) {
            refuse(file_.gpus[gpu].where, fmt::format("GPU {} has no output", gpu),
                   "o_chunks is the number of its chunks");
        }
        const std::optional<Value>& value = at(gpu, place, 0);
        std::string what;
        if (!value) {
            what = "ends with nothing in it";
        } else if (value->block != block) {
            what = fmt::format("ends with {}, expected {}", chunk_name(file_, value->block),
                               chunk_name(file_, block));
        } else if (value->contributors != expected) {
            for (Position other = 0; other < file_.ranks() && what.empty(); ++other) {
                if (value->contributors.contains(other) != expected.contains(other)) {
                    what = fmt::format("ends {} the contribution of GPU {}",
                                       expected.contains(other) ? "without" : "with", other);
                }
            }
        }
        if (what.empty()) {
            return;
        }
        const std::optional<StepId> last = last_writer(gpu, place);
        const SourceRange where = last ? step_at(gpu, *last).where : file_.gpus[gpu].where;
        const std::string by = last ? fmt::format("{}, ", name_of(gpu, *last)) : fmt::format("GPU {}, ", gpu);
        throw Defect{{"msccl.proof",
                      where,
                      fmt::format("{}{}: {}", by, place_name(place, 0), what),
                      last ? "this step wrote it last" : "no step writes it",
                      {}}};
    }

    /// The step that wrote a place last, by the order of thread blocks and steps.
    [[nodiscard]] std::optional<StepId> last_writer(Position gpu, Place place) {
        const std::optional<Value>* wanted = &at(gpu, place, 0);
        std::optional<StepId> last;
        for (std::uint32_t block = 0; block < file_.gpus[gpu].blocks.size(); ++block) {
            const std::vector<Step>& steps = file_.gpus[gpu].blocks[block].steps;
            for (std::uint32_t index = 0; index < steps.size(); ++index) {
                for (std::uint32_t chunk = 0;
                     writes_destination(steps[index].type) && chunk < steps[index].chunks; ++chunk) {
                    if (&at(gpu, steps[index].destination, chunk) == wanted) {
                        last = StepId{block, index};
                    }
                }
            }
        }
        return last;
    }

public:
    /// A receive adds all its chunks or none.
    void check_receives() const {
        for (const auto& [receive, added] : added_chunks_) {
            const Step& step = step_at(receive.first, receive.second);
            if (added != step.chunks) {
                refuse(step.where,
                       fmt::format("{}: {} of its {} chunks are added to a sum, the others stored",
                                   name_of(receive.first, receive.second), added, step.chunks),
                       "a message of a schedule adds all its blocks or none: make two steps of it");
            }
        }
    }

private:
    const File& file_;
    RunFacts& facts_;
    bool checks_sums_;
    std::uint32_t share_;
    std::vector<GpuState> states_;
    std::map<Route, std::deque<Message>> messages_;
    std::map<std::pair<Position, StepId>, std::uint32_t> added_chunks_;
};

}  // namespace

RunFacts run(const File& file) {
    RunFacts facts(file.ranks());
    for (Position gpu = 0; gpu < file.ranks(); ++gpu) {
        for (const ThreadBlock& block : file.gpus[gpu].blocks) {
            facts[gpu].emplace_back(block.steps.size());
        }
    }
    SymbolicExecution finds(file, facts, false);
    finds.run();
    finds.check_receives();
    SymbolicExecution(file, facts, true).run();
    return facts;
}

std::string chunk_name(const File& file, std::uint64_t block) {
    if (file.kind == CollectiveKind::kAllToAll) {
        return fmt::format("chunk {} of the input of GPU {}", block % file.chunks, block / file.chunks);
    }
    return fmt::format("chunk {}", block);
}

}  // namespace astrolabe::system::msccl
