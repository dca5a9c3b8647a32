/// A text in XML, whatever is in it: the one place where names of users become part of SVG or GraphML.
#pragma once

#include <string>
#include <string_view>

namespace astrolabe {

/// `text` as character data of an element or as a value of an attribute in double quotes: & < > and " as
/// entities; what XML 1.0 (section 2.2, "Characters") has no room for, control characters other than tab,
/// line feed and carriage return and the code points U+FFFE and U+FFFF, as U+FFFD, and so every byte that is
/// no UTF-8. O(size).
[[nodiscard]] std::string xml_text(std::string_view text);

}  // namespace astrolabe
