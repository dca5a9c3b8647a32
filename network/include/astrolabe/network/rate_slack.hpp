/// Rates that follow changes only where there is enough to gain.
///
/// With a slack ε a link that limits connections keeps the rate it gives them until it could give each more
/// than the part ε more; less it gives at once where it has to. No link is ever given more than its capacity
/// C, and every link that limits a connection is full to (1 - ε)·C at least.
///
/// Error bound. With what such a link carries taken for its capacity, every connection has a bottleneck: a
/// full link on which nobody has more. So the rates are at every instant exactly the max-min fair ones of a
/// network whose links have rates between (1 - ε)·C and C. Were they all (1 - ε)·C, every transmission would
/// take 1 / (1 - ε) times as long, and an iteration would be longer by at most the part ε / (1 - ε) of it:
/// 0.1 % for ε = 0.001. In between, as with any change of rates, a message that is late may also let others
/// be faster.
#pragma once

namespace astrolabe::network {

/// Of a backend whose rates may have slack.
class SlackRates {
public:
    /// ε; 0: rates adapt at once, as they do where links are observed or the causes of delays are followed.
    [[nodiscard]] virtual double rate_slack() const = 0;

protected:
    ~SlackRates() = default;
};

}  // namespace astrolabe::network
