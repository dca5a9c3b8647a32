// Programs whose ranks differ: computations of some ranks, groups that leave ranks out, messages that are
// sent ahead. Worked examples, and random programs of which the contract says that they end.

#include "program_builder.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <algorithms.hpp>
#include <fake_backend.hpp>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <astrolabe/system/executor/executor.hpp>
#include <astrolabe/system/program/participants.hpp>

namespace astrolabe::testing {
namespace {

using system::CollectiveKind;
using system::ExecutionReport;
using system::OperationId;
using system::Participants;
using system::PerRank;
using system::Program;
using system::RankId;

constexpr Time kLatency(1000);
constexpr Time kPerByte(80);

/// What a message of `bytes` takes.
Time transfer(std::int64_t bytes) {
    return kLatency + kPerByte * bytes;
}

ExecutionReport execute(const Program& program, std::uint32_t active_chunks = 64,
                        std::uint64_t lose_message = 0) {
    FakeBackend backend(
        program.ranks, {.latency = kLatency, .time_per_byte = kPerByte, .lose_message = lose_message});
    system::Executor executor(program, options_with(algorithm_of("direct"), 1, active_chunks), backend,
                              host_of_each_rank(program.ranks));
    return executor.run();
}

void expect_accounts_to_add_up(const ExecutionReport& report) {
    for (const system::RankRecord& rank : report.ranks) {
        Time sum = rank.compute + rank.drain;
        for (const auto& [cause, waited] : rank.exposed) {
            sum += waited;
        }
        EXPECT_EQ(sum, report.total);
    }
}

TEST(RanksThatDiffer, ComputeByThemselves) {
    ProgramBuilder builder(3);
    const OperationId first = builder.compute_by({RankId(0)}, "first", Time(5000));
    const OperationId both = builder.compute_by({RankId(0), RankId(2)}, "both", Time(2000), {first});
    const ExecutionReport report = execute(builder.program());
    ASSERT_TRUE(report.finished) << report.stall;
    // Rank 2 does not take part in 'first', so it does not wait for it: 2,000; rank 0 takes 7,000.
    EXPECT_EQ(report.ranks[0].compute, Time(7000));
    EXPECT_EQ(report.ranks[1].compute, Time(0));
    EXPECT_EQ(report.ranks[1].drain, Time(7000));
    EXPECT_EQ(report.ranks[2].compute, Time(2000));
    EXPECT_EQ(report.ranks[2].drain, Time(5000));
    EXPECT_EQ(report.operations[both].last_finish, Time(7000));
    EXPECT_TRUE(report.ranks[2].exposed.empty());
    expect_accounts_to_add_up(report);
}

TEST(RanksThatDiffer, AMessageIsHandedOverWhetherAnybodyReceivesIt) {
    ProgramBuilder builder(2);
    const OperationId send = builder.send("send", RankId(0), RankId(1), Bytes(100));
    builder.compute_by({RankId(0)}, "after the send", Time(500), {send});
    const OperationId late = builder.compute_by({RankId(1)}, "late", Time(20'000));
    const OperationId receive = builder.receive("receive", send, {late});
    const OperationId use = builder.compute_by({RankId(1)}, "use", Time(700), {receive});
    const ExecutionReport report = execute(builder.program());
    ASSERT_TRUE(report.finished) << report.stall;
    EXPECT_EQ(report.operations[send].last_finish, Time(0));
    // The message came at 1,000 + 80·100 = 9,000, before the receiver asks for it at 20,000.
    EXPECT_EQ(report.operations[receive].last_finish, Time(20'000));
    EXPECT_EQ(report.operations[use].last_finish, Time(20'700));
    EXPECT_EQ(report.operations[send].bytes_sent, Bytes(100));
    EXPECT_EQ(report.operations[send].messages, 1U);
    EXPECT_EQ(report.operations[receive].bytes_sent, Bytes(0));
    EXPECT_EQ(report.ranks[0].drain, Time(20'200));  // 20,700 - 500
    expect_accounts_to_add_up(report);
}

TEST(RanksThatDiffer, AReceiverThatIsThereFirstWaits) {
    ProgramBuilder builder(2);
    const OperationId work = builder.compute_by({RankId(0)}, "work", Time(3000));
    const OperationId send = builder.send("send", RankId(0), RankId(1), Bytes(100), {work});
    const OperationId receive = builder.receive("receive", send);
    builder.compute_by({RankId(1)}, "use", Time(700), {receive});
    const ExecutionReport report = execute(builder.program());
    ASSERT_TRUE(report.finished) << report.stall;
    EXPECT_EQ(report.operations[receive].last_finish, Time(3000) + transfer(100));
    EXPECT_EQ(report.ranks[1].exposed,
              (std::map<std::string, Time>{{"receive", Time(3000) + transfer(100)}}));
    EXPECT_EQ(report.total, Time(3000) + transfer(100) + Time(700));
}

TEST(RanksThatDiffer, MessagesWithoutBytesTellOfTheSend) {
    ProgramBuilder builder(2);
    const OperationId work = builder.compute_by({RankId(0)}, "work", Time(3000));
    const OperationId send = builder.send("send", RankId(0), RankId(1), Bytes(0), {work});
    const OperationId receive = builder.receive("receive", send);
    const ExecutionReport report = execute(builder.program());
    ASSERT_TRUE(report.finished) << report.stall;
    EXPECT_EQ(report.operations[receive].last_finish, Time(3000));
    EXPECT_EQ(report.operations[send].messages, 0U);
}

TEST(RanksThatDiffer, EveryRankMaySendBeforeItReceives) {
    // A ring in which each sends to the next and then receives from the one before, three times over. As
    // two-sided operations the list would have no order.
    constexpr std::size_t kRanks = 5;
    ProgramBuilder builder(kRanks);
    std::vector<std::vector<OperationId>> before(kRanks);
    for (int round = 0; round < 3; ++round) {
        const std::string number = " " + std::to_string(round) + " of ";
        std::vector<OperationId> sends;
        for (std::size_t rank = 0; rank < kRanks; ++rank) {
            sends.push_back(builder.send("send" + number + std::to_string(rank), RankId(rank),
                                         RankId((rank + 1) % kRanks), Bytes(50), before[rank]));
        }
        for (std::size_t rank = 0; rank < kRanks; ++rank) {
            const std::size_t from = (rank + kRanks - 1) % kRanks;
            before[rank] = {
                builder.receive("receive" + number + std::to_string(rank), sends[from], {sends[rank]})};
        }
    }
    const ExecutionReport report = execute(builder.program());
    ASSERT_TRUE(report.finished) << report.stall;
    EXPECT_EQ(report.total, transfer(50) * 3);  // 3 · (1,000 + 80·50) = 15,000
    expect_accounts_to_add_up(report);
}

TEST(RanksThatDiffer, ReceiveInAnotherOrderThanTheOtherSends) {
    ProgramBuilder builder(2);
    const OperationId first = builder.send("first", RankId(0), RankId(1), Bytes(10));
    const OperationId second = builder.send("second", RankId(0), RankId(1), Bytes(10), {first});
    const OperationId receive_second = builder.receive("receive second", second);
    const OperationId receive_first = builder.receive("receive first", first, {receive_second});
    const ExecutionReport report = execute(builder.program(), 1);
    ASSERT_TRUE(report.finished) << report.stall;
    EXPECT_EQ(report.operations[receive_first].last_finish, transfer(10));
}

TEST(RanksThatDiffer, APipelineFillsAndDrains) {
    // p stages, m micro-batches, f to compute and t <= f to pass on: stage s starts at s·(f + t), and the
    // last ends at (p - 1)(f + t) + m·f.
    constexpr std::size_t kStages = 4;
    constexpr int kBatches = 6;
    const Time forward(10'000);
    ProgramBuilder builder(kStages);
    std::vector<std::vector<OperationId>> sends(kStages);
    for (std::size_t stage = 0; stage < kStages; ++stage) {
        for (int batch = 0; batch < kBatches; ++batch) {
            const std::string number = " " + std::to_string(stage) + "." + std::to_string(batch);
            std::vector<OperationId> after;
            if (stage > 0) {
                after.push_back(builder.receive(
                    "receive" + number, sends[stage - 1][static_cast<std::size_t>(batch)]));
            }
            const OperationId computed =
                builder.compute_by({RankId(stage)}, "forward" + number, forward, after);
            if (stage + 1 < kStages) {
                sends[stage].push_back(builder.send("send" + number, RankId(stage), RankId(stage + 1),
                                                    Bytes(100), {computed}));
            }
        }
    }
    const ExecutionReport report = execute(builder.program());
    ASSERT_TRUE(report.finished) << report.stall;
    EXPECT_EQ(report.total, (forward + transfer(100)) * (kStages - 1) + forward * kBatches);
    for (const system::RankRecord& rank : report.ranks) {
        EXPECT_EQ(rank.compute, forward * kBatches);
    }
    expect_accounts_to_add_up(report);
}

TEST(RanksThatDiffer, GroupsThatLeaveRanksOutEndEachByItself) {
    ProgramBuilder builder(6);
    const auto left = builder.groups("left", {{RankId(0), RankId(1)}});
    const auto right = builder.groups("right", {{RankId(5), RankId(3)}});
    const OperationId work = builder.compute_by({RankId(3)}, "work", Time(4000));
    const OperationId of_left = builder.collective(
        "of left", {.kind = CollectiveKind::kAllToAll, .partition = left, .size = Bytes(200)});
    const OperationId of_right = builder.collective(
        "of right", {.kind = CollectiveKind::kAllToAll, .partition = right, .size = Bytes(400)}, {work});
    const ExecutionReport report = execute(builder.program());
    ASSERT_TRUE(report.finished) << report.stall;
    EXPECT_EQ(report.operations[of_left].last_finish, transfer(100));
    // Rank 5 is there at 0 and waits for rank 3: whole groups begin together where ranks differ.
    EXPECT_EQ(report.operations[of_right].first_start, Time(4000));
    EXPECT_EQ(report.operations[of_right].last_finish, Time(4000) + transfer(200));
    EXPECT_EQ(report.operations[of_right].bytes_sent, Bytes(400));
    EXPECT_EQ(report.ranks[2].end, Time(0));
    expect_accounts_to_add_up(report);
}

TEST(RanksThatDiffer, WhatIsNeverSentIsNamed) {
    ProgramBuilder builder(2);
    const OperationId send = builder.send("send", RankId(0), RankId(1), Bytes(10));
    builder.receive("receive", send);
    const ExecutionReport report = execute(builder.program(), 64, 1);
    ASSERT_FALSE(report.finished);
    EXPECT_NE(report.stall.find("rank 1: 'receive' waits for 'send' from rank 0, which has sent it"),
              std::string::npos)
        << report.stall;
}

TEST(RanksThatDiffer, TakePartInSomeOperations) {
    ProgramBuilder builder(4);
    builder.compute_by({RankId(0), RankId(2)}, "some", Time(100));
    const Participants participants(builder.program());
    EXPECT_FALSE(participants.is_spmd());
    EXPECT_EQ(participants.total(), 2U);
    EXPECT_EQ(participants.place(OperationId(0), RankId(2)), 1U);
    EXPECT_EQ(participants.place(OperationId(0), RankId(1)), std::nullopt);
}

TEST(RanksThatDiffer, SetsOfAllRanksAreTheSameProgram) {
    ProgramBuilder plain(3);
    ProgramBuilder named(3);
    for (ProgramBuilder* builder : {&plain, &named}) {
        const bool is_named = builder == &named;
        const OperationId first =
            is_named ? builder->compute_by({RankId(0), RankId(1), RankId(2)}, "first", Time(3000))
                     : builder->compute("first", Time(3000));
        const OperationId exchange = builder->collective(
            "exchange", {.kind = CollectiveKind::kAllToAll, .size = Bytes(300)}, {first});
        builder->compute("last", PerRank<Time>({Time(10), Time(20), Time(30)}), {exchange});
    }
    EXPECT_TRUE(Participants(named.program()).is_spmd());
    const ExecutionReport a = execute(plain.program());
    const ExecutionReport b = execute(named.program());
    EXPECT_EQ(a.total, b.total);
    for (std::size_t rank = 0; rank < 3; ++rank) {
        EXPECT_EQ(a.ranks[rank].compute, b.ranks[rank].compute);
        EXPECT_EQ(a.ranks[rank].exposed, b.ranks[rank].exposed);
        EXPECT_EQ(a.ranks[rank].drain, b.ranks[rank].drain);
    }
}

struct Broken {
    std::string problem;
    std::function<void(ProgramBuilder&)> write;
};

TEST(RanksThatDiffer, BrokenProgramsAreRefused) {
    const std::vector<Broken> cases{
        {"nothing receives it",
         [](ProgramBuilder& b) { b.send("send", RankId(0), RankId(1), Bytes(1)); }},
        {"is received twice",
         [](ProgramBuilder& b) {
             const OperationId send = b.send("send", RankId(0), RankId(1), Bytes(1));
             b.receive("one", send);
             b.receive("two", send);
         }},
        {"which is no one-sided point_to_point",
         [](ProgramBuilder& b) { b.receive("receive", b.compute("work", Time(1))); }},
        {"which is not before it", [](ProgramBuilder& b) { b.receive("receive", OperationId(7)); }},
        {"no rank takes part in both",
         [](ProgramBuilder& b) {
             const OperationId first = b.compute_by({RankId(0)}, "first", Time(1));
             b.compute_by({RankId(1)}, "second", Time(1), {first});
         }},
        {"a set of ranks is empty", [](ProgramBuilder& b) { b.compute_by({}, "none", Time(1)); }},
        {"is not in ascending order",
         [](ProgramBuilder& b) { b.compute_by({RankId(1), RankId(0)}, "turned", Time(1)); }},
        {"names rank 9 of 4", [](ProgramBuilder& b) { b.compute_by({RankId(9)}, "far", Time(1)); }},
        {"one-sided and no point_to_point", [](ProgramBuilder& b) {
             b.collective("odd", {.kind = CollectiveKind::kAllToAll, .size = Bytes(4), .is_one_sided = true});
         }}};
    for (const Broken& broken : cases) {
        ProgramBuilder builder(4);
        broken.write(builder);
        try {
            builder.program().check();
            ADD_FAILURE() << broken.problem;
        } catch (const std::logic_error& error) {
            EXPECT_NE(std::string(error.what()).find(broken.problem), std::string::npos) << error.what();
        }
    }
}

/// Operations of any kind, each after some earlier ones that share a rank with it.
Program random_program() {
    const auto ranks = *rc::gen::inRange<std::size_t>(2, 6);
    ProgramBuilder builder(ranks);
    const auto count = *rc::gen::inRange(1, 25);
    const auto any_rank = [ranks] { return RankId(*rc::gen::inRange<std::size_t>(0, ranks)); };
    const auto some_ranks = [&] {
        std::vector<RankId> chosen;
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            if (*rc::gen::inRange(0, 2) == 1) {
                chosen.emplace_back(rank);
            }
        }
        return chosen.empty() ? std::vector<RankId>{any_rank()} : chosen;
    };
    std::vector<std::pair<OperationId, RankId>> unreceived;  // and who is to receive
    std::vector<std::vector<RankId>> taking_part;
    const auto after = [&](const std::vector<RankId>& own) {
        std::vector<OperationId> earlier;
        for (std::size_t i = 0; i < taking_part.size(); ++i) {
            const bool shares = std::ranges::any_of(
                own, [&](RankId rank) { return std::ranges::count(taking_part[i], rank) > 0; });
            if (shares && *rc::gen::inRange(0, 3) == 0) {
                earlier.emplace_back(i);
            }
        }
        return earlier;
    };
    for (int i = 0; i < count || !unreceived.empty(); ++i) {
        const std::string name = "operation " + std::to_string(i);
        const int kind = i < count ? *rc::gen::inRange(0, 4) : 3;
        if (kind == 0) {
            std::vector<RankId> own = some_ranks();
            std::vector<OperationId> earlier = after(own);
            taking_part.push_back(own);
            builder.compute_by(std::move(own), name, Time(*rc::gen::inRange(0, 5000)), std::move(earlier));
        } else if (kind == 1) {
            const std::vector<RankId> own = some_ranks();
            const auto group = builder.groups(name, {own});
            const Bytes size(*rc::gen::inRange(0, 3) * 50);
            builder.collective(
                name, {.kind = CollectiveKind::kAllToAll, .partition = group, .size = size}, after(own));
            taking_part.push_back(own);
        } else if (kind == 2) {
            const RankId from = any_rank();
            const RankId to((from.index() + 1 + *rc::gen::inRange<std::size_t>(0, ranks - 1)) % ranks);
            const OperationId send =
                builder.send(name, from, to, Bytes(*rc::gen::inRange(0, 100)), after({from}));
            taking_part.push_back({from});
            unreceived.emplace_back(send, to);
        } else if (!unreceived.empty()) {
            const auto which = static_cast<std::ptrdiff_t>(
                *rc::gen::inRange<std::size_t>(0, unreceived.size()));
            const auto [send, to] = unreceived[static_cast<std::size_t>(which)];
            unreceived.erase(unreceived.begin() + which);
            builder.receive(name, send, after({to}));
            taking_part.push_back({to});
        } else {
            builder.compute(name, Time(100));
            std::vector<RankId>& all = taking_part.emplace_back();
            for (std::size_t rank = 0; rank < ranks; ++rank) {
                all.emplace_back(rank);
            }
        }
    }
    return builder.program();
}

RC_GTEST_PROP(RanksThatDifferProperty, EveryProgramEnds, ()) {
    const Program program = random_program();
    const ExecutionReport report = execute(program, 1);
    RC_ASSERT(report.finished);
    // No computation, and no message after its send, can take less than it does alone.
    std::vector<Time> compute(program.ranks);
    const Participants participants(program);
    for (std::size_t i = 0; i < program.operations.size(); ++i) {
        const OperationId id(i);
        const system::Operation& operation = program.operations[id];
        if (operation.is_compute()) {
            participants.for_each(
                id, [&](RankId rank) { compute[rank.index()] += operation.compute().duration[rank]; });
        }
        if (operation.is_receive()) {
            const OperationId send = operation.receive().send;
            const Bytes size = program.operations[send].collective().size;
            const Time least = size > Bytes(0) ? transfer(size.count()) : Time(0);
            RC_ASSERT(report.operations[id].last_finish >= report.operations[send].first_issue + least);
        }
    }
    for (std::size_t rank = 0; rank < program.ranks; ++rank) {
        RC_ASSERT(report.ranks[rank].compute == compute[rank]);
        Time sum = report.ranks[rank].compute + report.ranks[rank].drain;
        for (const auto& [cause, waited] : report.ranks[rank].exposed) {
            sum += waited;
        }
        RC_ASSERT(sum == report.total);
    }
}

}  // namespace
}  // namespace astrolabe::testing
