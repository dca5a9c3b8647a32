/// Pictures of a report as PDF: from their SVG, by librsvg's rsvg-convert, which draws text as text with the
/// fonts embedded. One process a picture.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <astrolabe/study/report/report.hpp>

namespace astrolabe::study {

/// Why there can be no PDF files here; empty where there can.
[[nodiscard]] std::string no_pdf();

/// Of the pictures among these files, by name, those that a report has as PDF too: NAME.pdf beside NAME.svg.
/// The same picture gives the same bytes wherever fonts and librsvg are the same. Errors: the converter
/// refuses one.
[[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> pdf_files(
    const StudyReport& report, const std::vector<std::pair<std::string, std::string>>& files);

}  // namespace astrolabe::study
