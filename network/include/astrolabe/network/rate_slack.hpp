/// Rates that follow changes only where there is enough to gain.
///
/// With a slack ε a link that limits connections keeps the rate it gives them until it could give each more
/// than the part ε more; less it gives at once where it has to. No link is ever given more than its capacity
/// C, and every link that limits a connection is full to (1 - ε)·C at least.
///
/// Error. With what such a link carries taken for its capacity, every connection has a bottleneck: a full
/// link on which nobody has more. So the rates are at every instant max-min fair ones of a network whose
/// links have rates between (1 - ε)·C and C. For messages that share one bottleneck and depend on nothing
/// else, such as those to one port, this bounds the error: they take longer by at most the part ε / (1 - ε),
/// 0.1 % for ε = 0.001. It does not where several links limit a message or messages depend on others: one
/// that is late may let others be faster or slower, and another order of messages is another iteration.
/// Which of several rates within the slack a link gives depends on its history, so equivalent ranks need not
/// have equal rates, and nothing folds.
#pragma once

namespace astrolabe::network {

struct RateSlackReport {
    double slack = 0.0;  ///< ε
    /// False where links are observed or the causes of delays are followed: rates are exact then.
    bool is_applied = true;

    /// Of what shares one bottleneck.
    [[nodiscard]] double longer_at_most() const { return slack / (1.0 - slack); }
};

}  // namespace astrolabe::network
