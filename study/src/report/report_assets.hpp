/// Files of study/page/, which are part of the program.
#pragma once

#include <string_view>

namespace astrolabe::study::assets {

extern const std::string_view kPageHtml;
extern const std::string_view kPageCss;
extern const std::string_view kPageJs;
extern const std::string_view kSheetJs;
extern const std::string_view kChartsJs;
extern const std::string_view kDetailsJs;
extern const std::string_view kRenderJs;
extern const std::string_view kPackage;      ///< package.json
extern const std::string_view kPackageLock;  ///< package-lock.json

}  // namespace astrolabe::study::assets
