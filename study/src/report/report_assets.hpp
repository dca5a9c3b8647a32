/// Files of study/page/, which are part of the program.
#pragma once

#include <string>
#include <string_view>

namespace astrolabe::study::assets {

extern const std::string_view kPageHtml;
extern const std::string_view kPageCss;
extern const std::string_view kUnpackJs;
extern const std::string_view kFiltersJs;
extern const std::string_view kTableJs;
extern const std::string_view kPointJs;
extern const std::string_view kLiveJs;
extern const std::string_view kPageJs;
extern const std::string_view kAnswerJs;
extern const std::string_view kAssembleJs;
/// What draws figures, in the order in which its parts need each other.
[[nodiscard]] std::string drawing();
extern const std::string_view kRenderJs;
extern const std::string_view kPackage;      ///< package.json
extern const std::string_view kPackageLock;  ///< package-lock.json

}  // namespace astrolabe::study::assets
