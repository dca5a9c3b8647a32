// Which program this is.
#pragma once

#include <string_view>

namespace astrolabe::cli {

/// "0.1.0 (3f2a91c04d, modified)": release, and the commit it was built from, where that is known.
[[nodiscard]] std::string_view version();

}  // namespace astrolabe::cli
