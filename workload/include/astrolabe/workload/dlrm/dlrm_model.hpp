/// A deep learning recommendation model (DLRM), as far as its cost depends on it.
///
/// Model (Naumov et al., "Deep Learning Recommendation Model for Personalization and Recommendation Systems",
/// 2019). A sample has dense features and, for each of T embedding tables, `pooling` indices. The bottom MLP
/// turns the dense features into one vector; each table sums the `pooling` rows looked up into one vector;
/// the interaction combines the vectors; the top MLP turns the result into the prediction.
///
///     dot            F = T + 1 vectors of one dimension D: width = F·(F - 1)/2 pairs + D dense values
///     concatenation  width w = bottom output + Σ tables · dimension
///     dcn_v2         w likewise, followed by cross layers of as many outputs (Wang et al., "DCN V2: Improved
///                    deep & cross network and practical lessons for web-scale learning to rank systems", WWW
///                    2021): x' = x0 ∘ (W·x + b) + x, or of low rank r  x' = x0 ∘ (W·(V·x) + b) + x, W of
///                    w × r and V of r × w
///
/// An MLP is the list of its output widths; layer i is a k × n matrix with k the width before it. Biases are
/// left out unless asked for: they are n of k·n + n parameters, 0.05 % at the widths of the study
/// (docs/theory/hoti20-study.md, "Model"). A cross layer has one, of w values.
///
/// Layers are named as in the study: Embedding, Bottom_0 …, Interaction where it is modelled, Cross_0 …,
/// Top_0 …. Sharding may make several of the embeddings.
///
/// Limits: every sample looks up exactly `pooling` rows in a table, or as many in the mean (LookupTraits).
/// Numbers are integers throughout; `validation_errors` keeps them so small that no product of two of them
/// overflows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <astrolabe/core/units.hpp>
#include <astrolabe/core/validation_error.hpp>
#include <astrolabe/workload/dlrm/lookup_traits.hpp>
#include <astrolabe/workload/dlrm/table_values.hpp>

namespace astrolabe::workload {

inline constexpr std::string_view kEmbeddingLayer = "Embedding";
inline constexpr std::string_view kHostEmbeddingLayer = "Embedding_hosts";
inline constexpr std::string_view kGridEmbeddingLayer = "Embedding_grid";
inline constexpr std::string_view kRowEmbeddingLayer = "Embedding_rows";
inline constexpr std::string_view kReplicatedEmbeddingLayer = "Embedding_replicas";
inline constexpr std::string_view kInteractionLayer = "Interaction";

/// Whether a layer is embeddings, in whatever way they are sharded.
[[nodiscard]] constexpr bool is_embedding(std::string_view layer) {
    return layer == kEmbeddingLayer || layer == kHostEmbeddingLayer || layer == kGridEmbeddingLayer ||
           layer == kRowEmbeddingLayer || layer == kReplicatedEmbeddingLayer;
}

/// `count` embedding tables; each number is one for all of them, or one each.
struct EmbeddingTables {
    std::int64_t count = 1;
    TableValues rows = 1;
    TableValues dimension = 1;  ///< D, values in a row
    TableValues pooling = 1;    ///< rows a sample looks up and sums
    LookupTraits traits = {};
};

/// `count` tables in a row of the model that are alike.
struct EqualTables {
    std::int64_t count = 1;
    std::int64_t rows = 1;
    std::int64_t dimension = 1;
    std::int64_t pooling = 1;
    LookupTraits traits = {};
};

/// Consecutive tables of a list.
struct TableSlice {
    std::int64_t from = 0;
    std::optional<std::int64_t> count = std::nullopt;  ///< none: all from there on
};

/// Factors, to millionths, for the numbers of every table; each product is rounded to the nearest and at
/// least 1.
struct TableScale {
    double rows = 1;
    double dimension = 1;
    double pooling = 1;
};

enum class Interaction : std::uint8_t { kDot, kConcatenation, kDcnV2 };

/// Of kDcnV2.
struct CrossNetwork {
    std::int64_t layers = 3;
    std::optional<std::int64_t> rank = std::nullopt;  ///< r; none: full matrices

    bool operator==(const CrossNetwork&) const = default;
};

struct DlrmModel {
    std::int64_t dense_features = 0;
    std::vector<std::int64_t> bottom_mlp = {};  ///< output widths, first layer first
    std::vector<std::int64_t> top_mlp = {};
    std::vector<EmbeddingTables> tables = {};
    // What the model uses of them: a part, several times, of other sizes.
    std::optional<TableSlice> slice = std::nullopt;
    std::int64_t repeat = 1;
    std::optional<TableScale> scale = std::nullopt;
    Interaction interaction = Interaction::kDot;
    CrossNetwork cross = {};
    bool biases = false;            ///< of all dense layers
    Bytes element_size = Bytes(2);  ///< of weights and embeddings
    /// Of what layers hand to each other, pooled embeddings included, and its gradients; `element_size` where
    /// it is not given.
    std::optional<Bytes> activation_element_size = std::nullopt;
    /// Of the MLP gradients that are all-reduced; `element_size` where it is not given.
    std::optional<Bytes> gradient_element_size = std::nullopt;
};

/// A k × n matrix, or of low rank r the product of a k × r and an r × n one; with its bias where it has one.
struct MlpLayer {
    std::string name = {};
    std::int64_t input_width = 0;   ///< k
    std::int64_t output_width = 0;  ///< n
    std::int64_t rank = 0;          ///< r; 0: one matrix
    bool has_bias = false;
    bool is_cross = false;  ///< multiplies its output by x0 and adds its input

    /// Multiply-accumulate operations of a sample in a pass.
    [[nodiscard]] std::int64_t weights() const {
        return rank == 0 ? input_width * output_width : rank * (input_width + output_width);
    }
    [[nodiscard]] std::int64_t parameters() const { return weights() + (has_bias ? output_width : 0); }
};

/// A tensor of dense parameters.
struct DenseTensor {
    std::string layer = {};
    std::int64_t parameters = 0;
};

/// Everything that makes the model inconsistent, in the order of its fields; empty if it can be trained.
/// Keys: "bottom_mlp", "bottom_mlp.2", "tables.0.rows", "tables.0.rows.min", ….
[[nodiscard]] ValidationErrors validation_errors(const DlrmModel& model);

// The rest requires a model without validation errors.

/// The tables that the model uses in order, in runs of equal ones; the same at every call.
[[nodiscard]] std::vector<EqualTables> equal_tables(const DlrmModel& model);
[[nodiscard]] std::int64_t table_count(const DlrmModel& model);  ///< T
[[nodiscard]] std::int64_t row_count(const DlrmModel& model);    ///< Σ rows
/// Rows looked up for one sample: Σ tables · pooling.
[[nodiscard]] std::int64_t lookups_of_sample(const DlrmModel& model);
/// What a sample's input takes: dense features and a label of 4 bytes each, its indices, and the lengths.
[[nodiscard]] Bytes input_of_sample(const DlrmModel& model, Bytes index, Bytes length);
/// Values of the pooled embeddings of one sample: Σ tables · dimension.
[[nodiscard]] std::int64_t pooled_width(const DlrmModel& model);
/// Values read from the tables for one sample: Σ tables · pooling · dimension.
[[nodiscard]] std::int64_t lookup_width(const DlrmModel& model);
[[nodiscard]] std::int64_t interaction_width(const DlrmModel& model);
/// FLOP of the interaction of one sample, forward: 2·F²·D for dot, 0 for concatenation
/// (docs/theory/hoti20-study.md, "Embedding and interaction").
[[nodiscard]] std::int64_t interaction_work(const DlrmModel& model);

[[nodiscard]] std::vector<MlpLayer> bottom_layers(const DlrmModel& model);
/// Of the interaction; none unless it is kDcnV2.
[[nodiscard]] std::vector<MlpLayer> cross_layers(const DlrmModel& model);
[[nodiscard]] std::vector<MlpLayer> top_layers(const DlrmModel& model);
/// Bottom, cross and top layers, in the order of the forward pass.
[[nodiscard]] std::vector<MlpLayer> dense_layers(const DlrmModel& model);
/// In the order in which TorchRec's models register them: of an MLP layer the weights, then the bias; of the
/// cross layers all W, then all V where the rank is low, then all biases.
[[nodiscard]] std::vector<DenseTensor> dense_tensors(const DlrmModel& model);
/// Of all dense layers.
[[nodiscard]] std::int64_t mlp_parameters(const DlrmModel& model);
[[nodiscard]] std::int64_t embedding_parameters(const DlrmModel& model);
[[nodiscard]] Bytes embedding_size(const DlrmModel& model);
[[nodiscard]] Bytes gradient_element_size(const DlrmModel& model);
[[nodiscard]] Bytes activation_element_size(const DlrmModel& model);

}  // namespace astrolabe::workload
