/// Rates of connections that keep one route, over links that are always there or that come and go with a
/// schedule (flow_rates.hpp). `StaticRates` keeps a rate for each connection; level_rates.hpp keeps one for
/// each link.
#pragma once

#include "circuit_rates.hpp"
#include "flow_rates.hpp"
#include "leg_bytes.hpp"

namespace astrolabe::network {

/// Room is made for so many legs of a connection.
inline constexpr std::size_t kLegsExpected = 6;

class FixedRouteRates : public FlowRates {
public:
    FixedRouteRates(const LinkClasses& classes, ConnectionTerms* terms, std::vector<Connection>& connections,
                    const ConnectionBytes& bytes)
        : FlowRates(connections, bytes),
          classes_(classes),
          terms_(terms) {}

    void add_connection() override;

protected:
    virtual void add_flow(std::span<const ClassLeg> route, const MaxMinSolver::Terms& terms) = 0;
    /// `for_each_leg(connection, visit)` visits the legs of its route.
    template <class ForEachLeg>
    void report_legs(NetworkStatistics& statistics, const ForEachLeg& for_each_leg) const;

    const LinkClasses& classes_;

private:
    ConnectionTerms* terms_;
    ClassRoute route_;  // of the newest
};

template <class ForEachLeg>
void FixedRouteRates::report_legs(NetworkStatistics& statistics, const ForEachLeg& for_each_leg) const {
    LegBytes carried(classes_.size());
    for (std::uint32_t i = 0; i < connections_.size(); ++i) {
        carried.start(bytes_.sent(i));
        for_each_leg(i, carried);
    }
    statistics.links.resize(classes_.fabric().link_count());
    for (LinkId link; link.index() < statistics.links.size(); ++link) {
        const std::uint32_t link_class = classes_.class_of(link);
        statistics.links[link].carried =
            carried.whole()[link_class] + round_sprayed(carried.shares()[link_class]);
    }
}

class StaticRates final : public FixedRouteRates {
public:
    StaticRates(const LinkClasses& classes, ConnectionTerms* terms, MaxMinSolver::Strategy strategy,
                std::vector<Connection>& connections, const ConnectionBytes& bytes);

    void start(std::uint32_t connection) override { solver_.start(MaxMinSolver::FlowId(connection)); }
    void stop(std::uint32_t connection) override { solver_.stop(MaxMinSolver::FlowId(connection)); }
    std::span<const std::uint32_t> update(Time now) override;
    [[nodiscard]] std::optional<LinkId> bottleneck(std::uint32_t connection) const override;
    void for_each_link(std::uint32_t connection, const LinkVisitor& visit) const override;
    void report(NetworkStatistics& statistics, Time now) const override;
    [[nodiscard]] const MaxMinSolver::Counters& counters() const override { return solver_.counters(); }

private:
    void add_flow(std::span<const ClassLeg> route, const MaxMinSolver::Terms& terms) override {
        solver_.add_flow(route, terms);
    }

    MaxMinSolver solver_;
    std::vector<std::uint32_t> changed_;
};

class PeriodicRates final : public FixedRouteRates {
public:
    PeriodicRates(const LinkClasses& classes, ConnectionTerms* terms, std::vector<Connection>& connections,
                  const ConnectionBytes& bytes)
        : FixedRouteRates(classes, terms, connections, bytes),
          rates_(classes) {}

    void start(std::uint32_t connection) override { rates_.start(CircuitRates::FlowId(connection)); }
    void stop(std::uint32_t connection) override { rates_.stop(CircuitRates::FlowId(connection)); }
    std::span<const std::uint32_t> update(Time now) override;
    [[nodiscard]] bool moves(std::uint32_t connection) const override { return !rate(connection).is_zero(); }
    [[nodiscard]] Time completion(std::uint32_t connection) const override;
    [[nodiscard]] std::optional<Time> completion_bound(std::uint32_t /*connection*/,
                                                       Time /*planned*/) const override {
        return std::nullopt;
    }
    [[nodiscard]] double work_left(std::uint32_t connection, Time now) const override;
    [[nodiscard]] Time circuit_wait(std::uint32_t connection, Time from, bool has_begun) const override;
    [[nodiscard]] std::optional<LinkId> bottleneck(std::uint32_t connection) const override;
    [[nodiscard]] const PeriodicRate* periodic(std::uint32_t connection) const override {
        return &rate(connection);
    }
    void for_each_link(std::uint32_t connection, const LinkVisitor& visit) const override;
    void report(NetworkStatistics& statistics, Time now) const override;

private:
    void add_flow(std::span<const ClassLeg> route, const MaxMinSolver::Terms& terms) override {
        rates_.add_flow(route, terms);
    }
    [[nodiscard]] const PeriodicRate& rate(std::uint32_t connection) const {
        return rates_.rate(CircuitRates::FlowId(connection));
    }

    CircuitRates rates_;
    std::vector<std::uint32_t> changed_;
};

}  // namespace astrolabe::network
