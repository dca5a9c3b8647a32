/// Tables of kernel times become rates of a device.
#include "calibrate.hpp"
#include "console.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <astrolabe/core/config/quantity.hpp>
#include <astrolabe/experiment/calibration/kernel_table.hpp>

namespace astrolabe::cli {
namespace {

using Json = nlohmann::ordered_json;
using experiment::KernelFit;
using experiment::KernelResidual;

double error_of(const KernelResidual& residual) {
    return to_seconds(residual.fitted) / to_seconds(residual.measured) - 1;
}

std::string kernels_table(const KernelFit& fit) {
    std::string text;
    if (fit.rate) {
        text += fmt::format("matrix products: {:.4g} TFLOPS, floor {} forward, {} backward\n",
                            static_cast<double>(fit.rate->count()) / 1e12, readable(fit.gemm_floor),
                            readable(fit.gemm_backward_floor));
        for (const auto& [columns, rows] : fit.half_rows) {
            text += fmt::format("  {} columns: half of it with {} rows\n", columns, rows);
        }
    }
    for (const auto& [columns, bandwidth] : fit.lookup_bandwidth) {
        text += fmt::format("lookups of {} columns: {:.4g} GB/s, floor {}\n", columns,
                            to_bytes_per_second(bandwidth) / 1e9, readable(fit.lookup_floor));
    }
    text += fmt::format("error {:.1f} % mean, {:.1f} % at most; of samples that are left out {:.1f} %\n",
                        100 * fit.mean_error, 100 * fit.largest_error, 100 * fit.left_out_error);
    for (const KernelResidual& residual : fit.residuals) {
        text +=
            fmt::format("  {:<20} {:>9} samples / {:<4} {:>8}  measured {:>10}  fitted {:>10}  {:+.1f} %\n",
                        residual.point->kernel, residual.point->samples, residual.point->parts,
                        residual.is_backward ? "backward" : "forward", readable(residual.measured),
                        readable(residual.fitted), 100 * error_of(residual));
    }
    return text;
}

Json to_json(const KernelFit& fit) {
    Json defects = Json::array();
    for (const experiment::KernelDefect& defect : fit.defects) {
        defects.push_back({{"where", defect.where.to_string()}, {"message", defect.message}});
    }
    Json residuals = Json::array();
    for (const KernelResidual& residual : fit.residuals) {
        residuals.push_back({{"kernel", residual.point->kernel},
                             {"samples", residual.point->samples},
                             {"pass", residual.is_backward ? "backward" : "forward"},
                             {"measured_s", to_seconds(residual.measured)},
                             {"fitted_s", to_seconds(residual.fitted)}});
    }
    Json half_rows = Json::object();
    for (const auto& [columns, rows] : fit.half_rows) {
        half_rows[std::to_string(columns)] = rows;
    }
    Json bandwidth = Json::object();
    for (const auto& [columns, rate] : fit.lookup_bandwidth) {
        bandwidth[std::to_string(columns)] = to_bytes_per_second(rate);
    }
    return {{"gemm",
             {{"rate_FLOPS", fit.rate ? Json(static_cast<double>(fit.rate->count())) : Json()},
              {"half_rows", std::move(half_rows)},
              {"floor_s", to_seconds(fit.gemm_floor)},
              {"backward_floor_s", to_seconds(fit.gemm_backward_floor)}}},
            {"lookup", {{"bandwidth_Bps", std::move(bandwidth)}, {"floor_s", to_seconds(fit.lookup_floor)}}},
            {"mean_error", fit.mean_error},
            {"largest_error", fit.largest_error},
            {"left_out_error", fit.left_out_error},
            {"defects", std::move(defects)},
            {"points", std::move(residuals)}};
}

workload::Precision precision_named(const std::string& name) {
    return name == "tf32"   ? workload::Precision::kTf32
           : name == "bf16" ? workload::Precision::kBf16
           : name == "fp16" ? workload::Precision::kFp16
                            : workload::Precision::kFp32;
}

}  // namespace

int calibrate_kernels(const CalibrateArguments& arguments) {
    experiment::KernelTableOptions options{.lookups = static_cast<std::int64_t>(arguments.lookups)};
    if (!arguments.memory_bandwidth.empty()) {
        const Parsed<Bandwidth> parsed = parse_bandwidth(arguments.memory_bandwidth);
        if (const auto* failure = std::get_if<ParseFailure>(&parsed)) {
            return report_invalid(
                {calibrate_error("--memory-bandwidth: " + failure->message, failure->hint)});
        }
        options.memory_bandwidth = std::get<Bandwidth>(parsed);
    }
    std::vector<experiment::KernelTable> tables;
    std::string sources;
    for (const std::string& path : arguments.files) {
        const Result<std::string> text = calibration_text(path);
        if (!text) {
            return report_invalid(text.error());
        }
        Result<experiment::KernelTable> table = experiment::read_kernel_table(*text, path, options);
        if (!table) {
            return report_invalid(table.error());
        }
        sources += fmt::format("# {}, hash {}\n", std::filesystem::path(path).filename().string(),
                               table->fingerprint);
        tables.push_back(*std::move(table));
    }
    const Result<KernelFit> fit = experiment::fit_kernels(tables, options);
    if (!fit) {
        return report_invalid(fit.error());
    }
    for (const experiment::KernelDefect& defect : fit->defects) {
        print_warning(fmt::format("{}: warning: {}\n", defect.where.to_string(), defect.message));
    }
    const std::string keys = fmt::format(
        "# Kernels, from tables of times by `astrolabe calibrate`: {} to {} samples, error {:.1f} % mean, "
        "{:.1f} % "
        "at most,\n# {:.1f} % of samples left out.\n{}",
        fit->least_samples, fit->most_samples, 100 * fit->mean_error, 100 * fit->largest_error,
        100 * fit->left_out_error, sources);
    const int code = write_calibration(
        {{arguments.device_out,
          keys + to_yaml(experiment::device_keys(*fit, precision_named(arguments.precision)))},
         {arguments.plot,
          arguments.plot.empty()
              ? ""
              : kernel_plot(arguments.machine.empty() ? "kernels" : arguments.machine, *fit)}});
    print_out(arguments.json ? to_json(*fit).dump(2) + "\n" : kernels_table(*fit));
    return code;
}

}  // namespace astrolabe::cli
