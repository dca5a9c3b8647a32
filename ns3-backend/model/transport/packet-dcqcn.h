// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_DCQCN_H
#define PACKET_DCQCN_H

#include "ns3/packet-parameter.h"
#include "packet-congestion-control.h"

#include "ns3/data-rate.h"

#include <cstdint>

namespace ns3
{

/// Defaults: Zhu et al., section 5.2 and figure 14.
struct PacketDcqcnParameters
{
    double gain{1.0 / 256};                //!< g
    int64_t notifyInterval{50'000'000};    //!< N, ps
    int64_t alphaInterval{55'000'000};     //!< K, ps
    int64_t increaseInterval{55'000'000};  //!< T, ps
    uint64_t increaseBytes{10'000'000};    //!< B
    uint32_t fastRecovery{5};              //!< F, steps
    DataRate additiveIncrease{40'000'000}; //!< R_AI
    DataRate hyperIncrease{400'000'000};   //!< R_HAI
    DataRate minRate{10'000'000};
    bool clampTarget{true}; //!< every cut lowers the target, not only the first in a row

    // clang-format off
    template <class Visitor>
    static void VisitParameters(Visitor&& visit)
    {
        using P = PacketDcqcnParameters;
        constexpr int64_t NANOSECOND = 1'000;
        // A pair takes some 10^5 steps at most to come back to the rate of its link.
        constexpr int64_t MICROSECOND = 1'000'000;
        constexpr int64_t LONGEST = 1'000'000'000 * MICROSECOND;
        constexpr PacketBitRate RATES{1'000'000, 1'000'000'000'000'000'000};
        visit("gain", &P::gain, "g, of alpha", PacketNumber{PACKET_ABOVE_ZERO, 1});
        visit("notify_interval", &P::notifyInterval, "N, smallest time between two notifications of a pair",
              PacketDuration{NANOSECOND, LONGEST});
        visit("alpha_interval", &P::alphaInterval, "K, without a notification before alpha decays",
              PacketDuration{NANOSECOND, LONGEST});
        visit("increase_interval", &P::increaseInterval, "T, between steps of increase",
              PacketDuration{MICROSECOND, LONGEST});
        visit("increase_bytes", &P::increaseBytes, "B, sent between steps of increase",
              PacketSize{1, 1'000'000'000'000'000'000});
        visit("fast_recovery", &P::fastRecovery, "F, steps of fast recovery", PacketCount{1, 1'000'000});
        visit("additive_increase", &P::additiveIncrease, "R_AI, of the target rate by a step", RATES);
        visit("hyper_increase", &P::hyperIncrease, "R_HAI, of the target rate by a step, times i", RATES);
        visit("min_rate", &P::minRate, "smallest rate of a pair", RATES);
        visit("clamp_target", &P::clampTarget,
              "every cut lowers the target rate, not only the first in a row", PacketFlag{});
    }
    // clang-format on
};

/**
 * The rate of a queue pair under DCQCN (Zhu et al., "Congestion control for large-scale RDMA deployments",
 * SIGCOMM 2015, section 3.1), in bit/s on the wire. All defaults are that paper's (section 5.2, figure 14).
 *
 * Notification point. A receiver that gets a marked packet notifies the sender at once, at most once in N a
 * pair.
 *
 * Reaction point. A pair starts at its link's rate and is not timed before the first notification. Each
 * notification cuts the current rate R_C,
 *
 *     R_T <- R_C      R_C <- R_C·(1 - α/2)      α <- (1 - g)·α + g
 *
 * with α = 1 at first; each K without one, α <- (1 - g)·α. Each T, and each B bytes sent, is a step of
 * increase, counted from the last notification by t and b. With F steps of fast recovery,
 *
 *     max(t, b) < F     fast recovery                          R_C <- (R_T + R_C)/2
 *     min(t, b) > F     hyper increase     R_T <- R_T + (min(t, b) - F)·R_HAI,   the same
 *     otherwise         additive increase  R_T <- R_T + R_AI,                    the same
 *
 * Hyper increase grows from step to step as in QCN (IEEE 802.1Qau), which the paper takes it from. Rates stay
 * within the smallest rate and the link's. Without `clampTarget`, a cut that follows another with no step
 * in between leaves R_T.
 *
 * Time passes only when the state is used: α decays in closed form, and the steps of T since the last use are
 * taken then, at most one for each T and none once the rate is the link's, so a pair costs no events beside
 * its packets. The gap behind a packet follows from the rate when it was sent; a step within the gap counts
 * from the next packet on. Loss leaves the rate alone.
 */
struct PacketDcqcnState
{
    using Parameters = PacketDcqcnParameters;

    void Start(uint64_t bitsPerSecond);
    /// Takes all steps due by `now`, ps.
    void AdvanceTo(const Parameters& parameters, int64_t now);
    /// A notification has come.
    void Notify(const Parameters& parameters, int64_t now);
    /// A packet leaves at `when`. \returns when the next may.
    int64_t Sent(const Parameters& parameters, uint32_t bytes, int64_t when);
    /// A marked packet has come to the receiver. \returns whether it should notify the sender.
    bool Marked(const Parameters& parameters, int64_t now);

    double current{0}; //!< R_C
    double target{0};  //!< R_T
    double line{0};    //!< the link's
    double alpha{1};
    int64_t alphaSince{0}; //!< the last update of α, ps
    int64_t stepSince{0};  //!< the last step of T, ps
    int64_t ready{0};      //!< the next packet may leave, ps
    int64_t notified{-1};  //!< when the receiver last notified the sender, ps; negative: never
    uint64_t bytes{0};     //!< sent since the last step of B
    uint32_t timeSteps{0}; //!< t
    uint32_t byteSteps{0}; //!< b
    bool isTimed{false};   //!< there was a notification

  private:
    void Increase(const Parameters& parameters);
};

class PacketDcqcn final : public PacketCongestionControl
{
  public:
    using Parameters = PacketDcqcnParameters;
    static constexpr PacketControlKind KIND{"dcqcn",
                                            "DCQCN (Zhu et al., SIGCOMM 2015)",
                                            PacketControlKind::USES_MARKS | PacketControlKind::USES_RATES,
                                            MakePacketControl<PacketDcqcn>};

    explicit PacketDcqcn(PacketTransportCore& core);

    void Start(uint32_t index, PacketQueuePair& pair, const PacketLinkRates& rates) override;

    void Fetch(uint32_t index) const override
    {
        m_states.Fetch(index);
    }

    int64_t Sent(uint32_t index, PacketQueuePair& pair, uint32_t bytes, int64_t when) override;
    int64_t GetReadyTime(uint32_t index) const override;
    void Notified(uint32_t index, int64_t now) override;
    uint64_t GetRate(uint32_t index) const override;
    bool Marked(uint32_t index, int64_t now) override;

  private:
    const Parameters& m_own;
    PacketPairStates<PacketDcqcnState> m_states;
};

} // namespace ns3

#endif /* PACKET_DCQCN_H */
