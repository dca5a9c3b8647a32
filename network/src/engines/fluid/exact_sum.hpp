/// A sum of two doubles, from which terms are taken away nearly as exactly as they were added: TwoSum (Knuth)
/// for terms, TwoProduct (Dekker, A floating-point technique for extending the available precision,
/// Numerische Mathematik 18, 1971) for terms that are products. Errors are some 10^-32 of the largest value
/// for each term. Needs arithmetic without fused multiply-add, and factors below 2^996.
#pragma once

#include <cmath>

namespace astrolabe::network {

struct ExactSum {
    double most = 0.0;
    double rest = 0.0;

    void add(double term) {
        const double sum = most + term;
        const double added = sum - most;
        rest += (most - (sum - added)) + (term - added);
        most = sum;
    }
    void add_product(double a, double b) {
        if (std::abs(a) == 1.0) {
            add(a * b);
        } else {
            add_rounded_product(a, b);
        }
    }
    [[nodiscard]] double value() const { return most + rest; }

private:
    /// Of 26 bits each, so that products of them are exact (Veltkamp).
    struct Halves {
        explicit Halves(double value)
            : high(0x1.0000002p27 * value - (0x1.0000002p27 * value - value)),
              low(value - high) {}
        double high;
        double low;
    };

    void add_rounded_product(double a, double b) {
        const double product = a * b;
        const Halves x(a);
        const Halves y(b);
        add(product);
        rest += ((x.high * y.high - product) + x.high * y.low + x.low * y.high) + x.low * y.low;
    }
};

}  // namespace astrolabe::network
