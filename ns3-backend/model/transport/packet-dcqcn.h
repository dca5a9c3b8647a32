// SPDX-License-Identifier: GPL-2.0-only
#ifndef PACKET_DCQCN_H
#define PACKET_DCQCN_H

#include "packet-transport-parameters.h"

#include <cstdint>

namespace ns3
{

/**
 * The rate of a queue pair under DCQCN (Zhu et al., "Congestion control for large-scale RDMA deployments",
 * SIGCOMM 2015, section 3.1), in bit/s on the wire. All defaults are that paper's (section 5.2, figure 14).
 *
 * Notification point. A receiver that gets a marked packet says so at once, at most once in N a pair.
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
 * within the least rate and the link's. Without `dcqcnClampTarget`, a cut that follows another with no step
 * in between leaves R_T.
 *
 * Time passes only when somebody looks: α decays in closed form, and the steps of T since the last look are
 * taken then, at most one for each T and none once the rate is the link's, so a pair costs no events beside
 * its packets. The gap behind a packet follows from the rate when it was sent; a step within the gap counts
 * from the next packet on. Loss leaves the rate alone.
 */
struct PacketDcqcn
{
    void Start(uint64_t bitsPerSecond);
    /// Takes all steps due by `now`, ps.
    void AdvanceTo(const PacketTransportParameters& parameters, int64_t now);
    /// A notification has come.
    void Notify(const PacketTransportParameters& parameters, int64_t now);
    /// A packet leaves at `when`. \returns when the next may.
    int64_t Sent(const PacketTransportParameters& parameters, uint32_t bytes, int64_t when);
    /// A marked packet has come to the receiver. \returns whether it should tell the sender.
    bool Marked(const PacketTransportParameters& parameters, int64_t now);

    double current{0}; //!< R_C
    double target{0};  //!< R_T
    double line{0};    //!< the link's
    double alpha{1};
    int64_t alphaSince{0}; //!< the last update of α, ps
    int64_t stepSince{0};  //!< the last step of T, ps
    int64_t ready{0};      //!< the next packet may leave, ps
    int64_t notified{-1};  //!< the receiver told the sender last, ps; negative: never
    uint64_t bytes{0};     //!< sent since the last step of B
    uint32_t timeSteps{0}; //!< t
    uint32_t byteSteps{0}; //!< b
    bool isTimed{false};   //!< there was a notification

  private:
    void Increase(const PacketTransportParameters& parameters);
};

} // namespace ns3

#endif /* PACKET_DCQCN_H */
