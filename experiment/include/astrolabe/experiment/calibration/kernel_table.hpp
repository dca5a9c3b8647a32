/// Tables of kernel times, and the device's rates fitted to them.
///
/// Input. CSV with the header `kernel,samples,forward,backward`, a row a point, times with their unit,
/// `backward` may be empty; or measure_*.json of kernels of FlexFlow (`batch_size` and `measurements` of
/// name, `pc_str`, `fw_time`, `bw_time` in milliseconds, `mem_req` in bytes; the last number of `pc_str` is
/// the number of parts that the batch is cut into, a point of batch_size/parts samples). Names say what a
/// kernel is:
///
///     Dense_K_N         a matrix product of samples × K by K × N, its backward pass two of them
///     Embed_RxD         a lookup of `lookups` rows of D columns a sample in a table of R rows
///     Embed_RxDxP       the same with P lookups a sample
///
/// others have no model and are left out, with a warning.
///
/// Left out, each with its place and the reason (`KernelDefect`):
///
///     contradiction   parts of a kernel's batch of which at least half of the points take more than 1.2
///                     times what other parts take for the same samples: all their points
///     not measured    a backward pass that is twice the forward pass at every point, to all its digits
///     impossible      what would move its operands, at two bytes a value, faster than the memory's
///                     bandwidth, where that is given
///
/// Fit, by least squares of the relative error (workload/device/device.hpp has the model):
///
///     product   t = max(floor, FLOP·(m + m½)/(m·r)), one r, m½ by the columns of the result, floors of
///               forward and backward apart, which are looked for among the least times
///     lookup    t = floor + bytes/bandwidth, bandwidth by D, with e bytes a value
///               bytes = samples·(P·(8 + D·e) + 8 + D·4)
///
/// Columns whose points are flat (half of the rate would take more rows than any has) are floors.
///
/// Residuals are printed a row a point; the cross-validated error predicts each (kernel, samples) by a fit
/// without any point of it.
///
/// Complexity O(points² · floors²), of hundreds of points well below a second.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <astrolabe/core/config/config.hpp>
#include <astrolabe/core/result.hpp>
#include <astrolabe/core/units.hpp>
#include <astrolabe/workload/device/device.hpp>

namespace astrolabe::experiment {

enum class KernelKind : std::uint8_t { kDense, kLookup, kOther };

struct KernelPoint {
    std::string kernel;
    KernelKind kind = KernelKind::kOther;
    std::int64_t inputs = 0;   ///< K, or the columns D
    std::int64_t columns = 0;  ///< N, or the columns D
    std::int64_t lookups = 0;  ///< a sample; 0 unless a lookup
    std::int64_t samples = 0;
    std::int64_t parts = 1;
    Time forward{};
    std::optional<Time> backward{};
    std::optional<Bytes> memory{};  ///< as the table states
    SourceRange where{};
};

struct KernelTable {
    std::string file;
    std::string fingerprint;
    std::vector<KernelPoint> points;
};

struct KernelTableOptions {
    std::int64_t lookups = 1;       ///< a sample, of tables whose name does not say
    std::int64_t element_size = 4;  ///< bytes of a value in a table
    std::optional<Bandwidth> memory_bandwidth = {};
};

/// Either form, by its first character. Errors name file, line and column.
[[nodiscard]] Result<KernelTable> read_kernel_table(const std::string& text, const std::string& name,
                                                    const KernelTableOptions& options);

struct KernelDefect {
    SourceRange where;
    std::string message;
};

/// One time that was fitted.
struct KernelResidual {
    const KernelPoint* point;  ///< of the tables that were fitted
    bool is_backward = false;
    Time measured;
    Time fitted;
};

struct KernelFit {
    std::optional<FlopRate> rate{};                    ///< unset: no product was usable
    std::map<std::int64_t, std::int64_t> half_rows{};  ///< by columns of the result
    Time gemm_floor{};
    Time gemm_backward_floor{};
    std::map<std::int64_t, Bandwidth> lookup_bandwidth{};  ///< by columns
    Time lookup_floor{};
    std::vector<KernelDefect> defects;
    std::vector<KernelResidual> residuals;
    double mean_error = 0;
    double largest_error = 0;
    double left_out_error = 0;  ///< mean over (kernel, samples), each predicted by a fit without it
    std::int64_t least_samples = 0;
    std::int64_t most_samples = 0;
};

/// `tables` must outlive the fit. Error where nothing is left to fit.
[[nodiscard]] Result<KernelFit> fit_kernels(const std::vector<KernelTable>& tables,
                                            const KernelTableOptions& options);

/// Keys of a device: `gemm` with the rate of `precision`, and `lookup`.
[[nodiscard]] ConfigNode device_keys(const KernelFit& fit, workload::Precision precision);

/// SVG: a panel for products and one for lookups, fitted over measured, both logarithmic.
[[nodiscard]] std::string kernel_plot(const std::string& title, const KernelFit& fit);

}  // namespace astrolabe::experiment
