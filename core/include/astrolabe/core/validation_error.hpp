/// Validation errors: what is wrong with the parameters of a component, found by its own
/// `validation_errors(parameters)`. The configuration reader turns each into a diagnostic at the place of its
/// key.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace astrolabe {

struct ValidationError {
    std::string key;  ///< dotted, relative to the component: "link.rate"; "" means the component as a whole
    std::string message;  ///< found and expected: "rate must be positive, got 0"
    std::string hint;     ///< what to do; may be empty
};
using ValidationErrors = std::vector<ValidationError>;

inline void add_error(ValidationErrors& errors, std::string key, std::string message, std::string hint = {}) {
    errors.push_back({std::move(key), std::move(message), std::move(hint)});
}
/// Adds the error unless `holds`.
inline void require(ValidationErrors& errors, bool holds, std::string key, std::string message,
                    std::string hint = {}) {
    if (!holds) {
        add_error(errors, std::move(key), std::move(message), std::move(hint));
    }
}

}  // namespace astrolabe
