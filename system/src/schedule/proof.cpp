#include "proof.hpp"

#include <algorithm>
#include <bit>
#include <deque>
#include <numeric>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <astrolabe/core/assert.hpp>

namespace astrolabe::system {

namespace {

/// One order in which a network and its end points may do what is possible at the same time.
struct Order {
    enum class Pick : std::uint8_t { kOldest, kNewest, kRandom };
    std::string name;
    Pick pick = Pick::kOldest;
    bool sends_first = true;                // not for kRandom
    std::uint64_t seed = 0;                 // kRandom only
    std::optional<Position> slow_sender{};  // its messages arrive when nothing else can happen
};

std::vector<Order> orders_for(Position ranks) {
    std::vector<Order> orders{
        {"eager sends, oldest message first", Order::Pick::kOldest, true},
        {"eager sends, newest message first", Order::Pick::kNewest, true},
        {"lazy sends, oldest message first", Order::Pick::kOldest, false},
        {"lazy sends, newest message first", Order::Pick::kNewest, false},
        {"random order 1", Order::Pick::kRandom, true, 0x9e3779b97f4a7c15},
        {"random order 2", Order::Pick::kRandom, true, 0xd1b54a32d192ed03},
    };
    constexpr Position kAllSlowInTurn = 16;
    const Position stride = ranks <= kAllSlowInTurn ? 1 : (ranks + 3) / 4;
    for (Position slow = 0; slow < ranks; slow += stride) {
        orders.push_back({fmt::format("rank {} slow to deliver", slow), Order::Pick::kOldest, true, 0, slow});
    }
    return orders;
}

/// splitmix64: the same sequence on every machine.
std::uint64_t next_random(std::uint64_t& state) {
    std::uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

/// The values of all blocks on all ranks, as bit sets of contributors; an empty set means the block is not
/// held.
class Values {
public:
    explicit Values(const CollectiveSchedule& schedule)
        : blocks_(schedule.block_count()),
          words_((schedule.ranks() + 63) / 64),
          bits_(schedule.ranks() * blocks_ * words_) {
        for (Position rank = 0; rank < schedule.ranks(); ++rank) {
            for (std::uint64_t block = 0; block < blocks_; ++block) {
                if (holds_at_start(schedule, rank, block)) {
                    at(rank, block)[rank / 64] |= std::uint64_t{1} << (rank % 64);
                }
            }
        }
    }

    [[nodiscard]] std::uint64_t* at(Position rank, std::uint64_t block) {
        return bits_.data() + (rank * blocks_ + block) * words_;
    }
    [[nodiscard]] std::size_t words() const { return words_; }

    [[nodiscard]] static bool empty(const std::uint64_t* value, std::size_t words) {
        return std::all_of(value, value + words, [](std::uint64_t word) { return word == 0; });
    }

private:
    static bool holds_at_start(const CollectiveSchedule& schedule, Position rank, std::uint64_t block) {
        switch (schedule.kind()) {
            case CollectiveKind::kAllReduce:
            case CollectiveKind::kReduceScatter:
            case CollectiveKind::kReduce:
                return true;
            case CollectiveKind::kBroadcast:
            case CollectiveKind::kPointToPoint:
                return rank == 0;
            case CollectiveKind::kAllGather:
                return schedule.owner(block) == rank;
            case CollectiveKind::kAllToAll:
                return block / schedule.columns() == rank;
        }
        ASTROLABE_ASSERT(false, "every kind has an initial state");
    }

    std::size_t blocks_;
    std::size_t words_;
    std::vector<std::uint64_t> bits_;
};

/// An action of a rank, as a work item.
struct Item {
    Position rank;
    ActionIndex action;
};

/// Items from which the order takes the next.
class Ready {
public:
    void push(Item item) { items_.push_back(item); }
    [[nodiscard]] bool empty() const { return items_.empty(); }
    [[nodiscard]] std::size_t size() const { return items_.size(); }
    Item take(Order::Pick pick, std::uint64_t& random) {
        if (pick == Order::Pick::kRandom) {
            std::swap(items_[next_random(random) % items_.size()], items_.back());
        }
        const Item item = pick == Order::Pick::kOldest ? items_.front() : items_.back();
        if (pick == Order::Pick::kOldest) {
            items_.pop_front();
        } else {
            items_.pop_back();
        }
        return item;
    }

private:
    std::deque<Item> items_;
};

/// What every run of a schedule starts from: the actions of all ranks, numbered through.
struct Wiring {
    explicit Wiring(const CollectiveSchedule& schedule)
        : first(schedule.ranks() + 1, 0),
          stage_left(std::size_t{schedule.ranks()} * schedule.stages().size()) {
        for (Position rank = 0; rank < schedule.ranks(); ++rank) {
            first[rank + 1] = first[rank] + schedule.program(rank).actions.size();
        }
        waiting_for.resize(first.back());
        first_dependent.resize(first.back() + 1);
        channel.resize(first.back());
        for (Position rank = 0; rank < schedule.ranks(); ++rank) {
            add_actions(schedule, rank);
        }
        std::partial_sum(first_dependent.begin(), first_dependent.end(), first_dependent.begin());
        dependents.resize(first_dependent.back());
        std::vector<std::size_t> next(first_dependent.begin(), first_dependent.end() - 1);
        for (Position rank = 0; rank < schedule.ranks(); ++rank) {
            const RankProgram& program = schedule.program(rank);
            for (ActionIndex action = 0; action < program.actions.size(); ++action) {
                for (const ActionIndex dependency : program.dependencies_of(program.actions[action])) {
                    dependents[next[first[rank] + dependency]++] = action;
                }
            }
        }
    }

    [[nodiscard]] std::span<const ActionIndex> dependents_of(std::size_t action) const {
        return std::span(dependents)
            .subspan(first_dependent[action], first_dependent[action + 1] - first_dependent[action]);
    }

    std::vector<std::size_t> first;            // of each rank's actions
    std::vector<std::uint32_t> waiting_for;    // by action: what must happen before it
    std::vector<std::size_t> first_dependent;  // by action, into dependents
    std::vector<ActionIndex> dependents;       // of the same rank
    std::vector<std::uint32_t> channel;        // of a send: its pair of ranks, numbered as they occur
    std::uint32_t channels = 0;
    std::vector<std::size_t> stage_left;  // actions of a rank's stages not done

private:
    void add_actions(const CollectiveSchedule& schedule, Position rank) {
        const RankProgram& program = schedule.program(rank);
        std::unordered_map<Position, std::uint32_t> channel_to;  // looked up, never iterated
        for (std::size_t index = 0; index < program.actions.size(); ++index) {
            const Action& action = program.actions[index];
            // A receive also waits for its message, and what comes after the first stage for its stage.
            waiting_for[first[rank] + index] =
                action.dependency_count + (action.is_send() ? 0 : 1) + (action.stage > 0 ? 1 : 0);
            ++stage_left[rank * schedule.stages().size() + action.stage];
            for (const ActionIndex dependency : program.dependencies_of(action)) {
                ++first_dependent[first[rank] + dependency + 1];
            }
            if (action.is_send()) {
                const auto [known, is_new] = channel_to.try_emplace(action.peer, channels);
                channels += is_new ? 1 : 0;
                channel[first[rank] + index] = known->second;
            }
        }
    }
};

/// Messages of one pair of ranks in the order in which they were issued.
class Channel {
public:
    void push(ActionIndex send) { sends_.push_back(send); }
    ActionIndex pop() {
        const ActionIndex oldest = sends_[next_++];
        if (next_ == sends_.size()) {
            sends_.clear();
            next_ = 0;
        }
        return oldest;
    }

private:
    std::vector<ActionIndex> sends_;
    std::size_t next_ = 0;
};

/// The contents of messages in flight. Buffers are reused.
class Contents {
public:
    explicit Contents(std::size_t actions)
        : slots_(actions) {}

    /// An empty buffer for the message of a send.
    [[nodiscard]] std::vector<std::uint64_t>& open(std::size_t send) {
        if (free_.empty()) {
            free_.push_back(static_cast<std::uint32_t>(buffers_.size()));
            buffers_.emplace_back();
        }
        slots_[send] = free_.back();
        free_.pop_back();
        return of(send);
    }
    [[nodiscard]] std::vector<std::uint64_t>& of(std::size_t send) { return buffers_[slots_[send]]; }
    void close(std::size_t send) {
        of(send).clear();
        free_.push_back(slots_[send]);
    }

private:
    std::vector<std::uint32_t> slots_;  // by send
    std::vector<std::vector<std::uint64_t>> buffers_;
    std::vector<std::uint32_t> free_;
};

/// One run of a schedule under one order.
class SymbolicRun {
public:
    SymbolicRun(const CollectiveSchedule& schedule, const Wiring& wiring, const Order& order)
        : schedule_(schedule),
          wiring_(wiring),
          order_(order),
          random_(order.seed),
          values_(schedule),
          waiting_for_(wiring.waiting_for),
          contents_(wiring.waiting_for.size()),
          channels_(wiring.channels),
          stage_left_(wiring.stage_left),
          stage_(schedule.ranks(), 0) {}

    std::optional<ProofFailure> run() {
        for (Position rank = 0; rank < schedule_.ranks(); ++rank) {
            for (ActionIndex action = 0; action < schedule_.program(rank).actions.size(); ++action) {
                if (waiting_for_[wiring_.first[rank] + action] == 0) {
                    sends_.push({rank, action});
                }
            }
        }
        for (Position rank = 0; rank < schedule_.ranks(); ++rank) {
            advance(rank);
        }
        while (!failure_ && step()) {
        }
        if (!failure_) {
            check_all_done();
        }
        if (!failure_) {
            check_definition();
        }
        return std::move(failure_);
    }

private:
    [[nodiscard]] const Action& action_of(Item item) const {
        return schedule_.program(item.rank).actions[item.action];
    }
    [[nodiscard]] std::size_t number_of(Item item) const { return wiring_.first[item.rank] + item.action; }

    bool step() {
        if (sends_.empty() && messages_.empty()) {
            if (slow_messages_.empty()) {
                return false;
            }
            deliver(slow_messages_.take(order_.pick, random_));
            return true;
        }
        bool take_send = order_.sends_first ? !sends_.empty() : messages_.empty();
        if (order_.pick == Order::Pick::kRandom) {
            take_send = next_random(random_) % (sends_.size() + messages_.size()) < sends_.size();
        }
        if (take_send) {
            issue(sends_.take(order_.pick, random_));
        } else {
            deliver(messages_.take(order_.pick, random_));
        }
        return true;
    }

    void issue(Item send) {
        const Action& action = action_of(send);
        std::vector<std::uint64_t>& copy = contents_.open(number_of(send));
        for (const BlockReference reference : schedule_.program(send.rank).blocks_of(action)) {
            const std::uint64_t block = schedule_.resolve(send.rank, reference);
            const std::uint64_t* value = values_.at(send.rank, block);
            if (Values::empty(value, values_.words())) {
                fail(send.rank, send.action, block, "sends a block that it does not hold");
                return;
            }
            copy.insert(copy.end(), value, value + values_.words());
        }
        channels_[wiring_.channel[number_of(send)]].push(send.action);
        (send.rank == order_.slow_sender ? slow_messages_ : messages_).push(send);
        leave_stage(send);
    }

    /// The oldest message between the two ranks of `any` arrives.
    void deliver(Item any) {
        const Position peer = schedule_.resolve(any.rank, action_of(any).peer);
        const Item send{any.rank, channels_[wiring_.channel[number_of(any)]].pop()};
        complete(send);
        release({peer, action_of(send).match});
    }

    /// `item` waits for one event less.
    void release(Item item) {
        std::uint32_t& left = waiting_for_[number_of(item)];
        ASTROLABE_ASSERT(left > 0, "nothing is released twice");
        if (--left > 0) {
            return;
        }
        if (action_of(item).is_send()) {
            sends_.push(item);
        } else if (!failure_) {
            take_in(item);
            complete(item);
            leave_stage(item);
        }
    }

    [[nodiscard]] std::size_t& left_of(Position rank, std::size_t stage) {
        return stage_left_[rank * schedule_.stages().size() + stage];
    }

    /// In its stage a send counts as complete when it is issued, a receive when it is complete.
    void leave_stage(Item item) {
        --left_of(item.rank, action_of(item).stage);
        advance(item.rank);
    }

    /// Starts the next stages of a rank whose stage is complete.
    void advance(Position rank) {
        while (stage_[rank] + 1 < schedule_.stages().size() && left_of(rank, stage_[rank]) == 0) {
            const std::size_t stage = ++stage_[rank];
            const std::vector<Action>& actions = schedule_.program(rank).actions;
            for (ActionIndex action = 0; action < actions.size(); ++action) {
                if (actions[action].stage == stage) {
                    release({rank, action});
                }
            }
        }
    }

    void complete(Item item) {
        ++completed_;
        for (const ActionIndex dependent : wiring_.dependents_of(number_of(item))) {
            release({item.rank, dependent});
        }
    }

    void take_in(Item receive) {
        const Action& action = action_of(receive);
        const Position peer = schedule_.resolve(receive.rank, action.peer);
        const std::size_t send = wiring_.first[peer] + action.match;
        const std::uint64_t* incoming = contents_.of(send).data();
        for (const BlockReference reference : schedule_.program(receive.rank).blocks_of(action)) {
            const std::uint64_t block = schedule_.resolve(receive.rank, reference);
            std::uint64_t* value = values_.at(receive.rank, block);
            if (action.kind == Action::Kind::kReceive) {
                std::copy(incoming, incoming + values_.words(), value);
            } else {
                add(receive, block, value, incoming);
            }
            incoming += values_.words();
        }
        contents_.close(send);
    }

    void add(Item receive, std::uint64_t block, std::uint64_t* value, const std::uint64_t* incoming) {
        if (Values::empty(value, values_.words())) {
            fail(receive.rank, receive.action, block, "adds to a block that it does not hold");
        }
        for (std::size_t word = 0; word < values_.words(); ++word) {
            if ((value[word] & incoming[word]) != 0) {
                const auto twice =
                    word * 64 + static_cast<std::size_t>(std::countr_zero(value[word] & incoming[word]));
                fail(receive.rank, receive.action, block,
                     fmt::format("adds the contribution of rank {} twice", twice));
            }
            value[word] |= incoming[word];
        }
    }

    void check_all_done() {
        for (Position rank = 0; rank < schedule_.ranks(); ++rank) {
            for (ActionIndex action = 0; action < schedule_.program(rank).actions.size(); ++action) {
                if (waiting_for_[wiring_.first[rank] + action] > 0) {
                    fail(rank, action, std::nullopt, "is never ready");
                    return;
                }
            }
        }
        ASTROLABE_ASSERT(completed_ == waiting_for_.size(), "an action that was ready completes");
    }

    void check_definition() {
        const Position ranks = schedule_.ranks();
        for (Position rank = 0; rank < ranks; ++rank) {
            for (std::uint64_t block = 0; block < schedule_.block_count(); ++block) {
                switch (schedule_.kind()) {
                    case CollectiveKind::kAllReduce:
                        expect_all(rank, block);
                        break;
                    case CollectiveKind::kReduceScatter:
                        if (schedule_.owner(block) == rank) {
                            expect_all(rank, block);
                        }
                        break;
                    case CollectiveKind::kAllGather:
                        expect_only(rank, block, schedule_.owner(block));
                        break;
                    case CollectiveKind::kAllToAll:
                        if (schedule_.owner(block % schedule_.columns()) == rank) {
                            expect_only(rank, block, static_cast<Position>(block / schedule_.columns()));
                        }
                        break;
                    case CollectiveKind::kReduce:
                        if (rank == 0) {
                            expect_all(rank, block);
                        }
                        break;
                    case CollectiveKind::kBroadcast:
                    case CollectiveKind::kPointToPoint:
                        expect_only(rank, block, 0);
                        break;
                }
                if (failure_) {
                    return;
                }
            }
        }
    }

    [[nodiscard]] bool has(Position rank, std::uint64_t block, Position contributor) {
        return ((values_.at(rank, block)[contributor / 64] >> (contributor % 64)) & 1) != 0;
    }

    void expect_all(Position rank, std::uint64_t block) {
        for (Position contributor = 0; contributor < schedule_.ranks(); ++contributor) {
            if (!has(rank, block, contributor)) {
                fail(rank, std::nullopt, block,
                     fmt::format("ends without the contribution of rank {}", contributor));
                return;
            }
        }
    }

    void expect_only(Position rank, std::uint64_t block, Position owner) {
        for (Position contributor = 0; contributor < schedule_.ranks(); ++contributor) {
            if (has(rank, block, contributor) != (contributor == owner)) {
                fail(rank, std::nullopt, block,
                     fmt::format("ends {} the contribution of rank {}",
                                 contributor == owner ? "without" : "with", contributor));
                return;
            }
        }
    }

    void fail(Position rank, std::optional<ActionIndex> action, std::optional<std::uint64_t> block,
              const std::string& what) {
        if (failure_) {
            return;
        }
        std::string message =
            fmt::format("{} over {} ranks: rank {}", to_string(schedule_.kind()), schedule_.ranks(), rank);
        if (action) {
            message += fmt::format(" action {}", *action);
        }
        if (block) {
            message += fmt::format(" block {}", *block);
        }
        message += fmt::format(": {} ({})", what, order_.name);
        failure_ = ProofFailure{rank, action, block, std::move(message)};
    }

    const CollectiveSchedule& schedule_;
    const Wiring& wiring_;
    const Order& order_;
    std::uint64_t random_;
    Values values_;
    std::vector<std::uint32_t> waiting_for_;
    Contents contents_;                    // of messages issued and not received
    std::vector<Channel> channels_;        // of messages issued and not delivered
    std::vector<std::size_t> stage_left_;  // actions of a rank's stages not done
    std::vector<std::size_t> stage_;       // of each rank
    Ready sends_;
    Ready messages_;  // in flight
    Ready slow_messages_;
    std::size_t completed_ = 0;
    std::optional<ProofFailure> failure_;
};

}  // namespace

std::optional<ProofFailure> prove(const CollectiveSchedule& schedule) {
    const Wiring wiring(schedule);
    for (const Order& order : orders_for(schedule.ranks())) {
        if (std::optional<ProofFailure> failure = SymbolicRun(schedule, wiring, order).run()) {
            return failure;
        }
    }
    return std::nullopt;
}

}  // namespace astrolabe::system
