/// What is wrong with one parameter of a component, found by the component's own `problems(parameters)`.
/// The configuration reader turns it into a diagnostic at the place of the key.
#pragma once

#include <string>

namespace astrolabe {

struct ParameterProblem {
    std::string key;  ///< dotted, relative to the component: "link.rate"; "" means the component as a whole
    std::string message;  ///< found and expected: "rate must be positive, got 0"
    std::string hint;     ///< what to do; may be empty
};

}  // namespace astrolabe
