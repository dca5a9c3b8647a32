/// How the executor's parts return control at the end of a notification.
#pragma once

namespace astrolabe::system::detail {

/// `settle` acts on everything that the notification set off, before simulated time moves on.
class Continuation {
public:
    virtual void settle() = 0;
    /// A computation is about to end: nothing of this notification has happened yet.
    virtual void before_compute_ends() = 0;
    /// Called every so many deliveries, for observers of a long run.
    virtual void beat() = 0;

protected:
    ~Continuation() = default;
};

}  // namespace astrolabe::system::detail
