#include "picture_files.hpp"

#include "../process/tool.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace astrolabe::study {
namespace {

constexpr const char* kConverter = "rsvg-convert";
constexpr std::string_view kSvg = ".svg";

bool is_wanted(const StudyReport& report, const std::string& name) {
    if (!name.ends_with(kSvg)) {
        return false;
    }
    const std::string base = name.substr(0, name.size() - kSvg.size());
    return report.pictures.pdf == PdfPictures::kAll || (report.winner && base == report.winner->name) ||
           std::any_of(report.figures.begin(), report.figures.end(),
                       [&](const Figure& figure) { return figure.name == base; });
}

}  // namespace

std::string no_pdf() {
    return run_tool({kConverter, "--version"}, "").exit_code == 0
               ? ""
               : "there is no 'rsvg-convert' that makes them (Debian: apt-get install librsvg2-bin)";
}

Result<std::vector<std::pair<std::string, std::string>>> pdf_files(
    const StudyReport& report, const std::vector<std::pair<std::string, std::string>>& files) {
    std::vector<std::pair<std::string, std::string>> made;
    if (report.pictures.pdf == PdfPictures::kNone) {
        return made;
    }
    for (const auto& [name, content] : files) {
        if (!is_wanted(report, name)) {
            continue;
        }
        // Else the time of day would be in the file.
        ToolOutcome converted = run_tool({"env", "SOURCE_DATE_EPOCH=0", kConverter, "--format=pdf"}, content);
        if (converted.exit_code != 0) {
            return Diagnostic{
                "report.pdf",
                {},
                fmt::format("'{}' could not be made a PDF file: {}", name, failure_text(converted)),
                "--pdf none leaves PDF files out",
                {}};
        }
        made.emplace_back(name.substr(0, name.size() - kSvg.size()) + ".pdf", std::move(converted.out));
    }
    return made;
}

}  // namespace astrolabe::study
