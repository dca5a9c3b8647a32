/// Registries: components chosen by name in a file, explicit and described.
///
/// A layer offers `register_builtin_…(Registry<…>&)`; the composition root calls it. There are no
/// static initialisers and no global maps, so a test can hold a registry with one entry. From an entry come
/// the reading of its keys, the range checks, the nearest-name hints, `astrolabe describe` and the reference
/// page.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <astrolabe/core/config/schema.hpp>

namespace astrolabe {

/// What `list` and `describe` show of a component, whatever it makes.
struct ComponentDescription {
    std::string name;
    std::string help;
    std::vector<ParameterDescriptor> parameters;
};

/// Components that make a `Product` from validated parameters.
template <class Product>
class Registry {
public:
    /// A component chosen and configured by a file, not yet built.
    struct Configured {
        std::string kind;
        ConfigNode resolved;            ///< discriminator and every key, defaults filled in
        std::function<Product()> make;  ///< cannot fail for a reason the user can mend
    };

    /// `section` is the place of the component in a file and its name in `describe`: "network".
    /// `discriminator` is the key that names the component chosen.
    explicit Registry(std::string section, std::string discriminator = "kind")
        : section_(std::move(section)),
          discriminator_(std::move(discriminator)) {}

    template <class Parameters>
    void add(Schema<Parameters> schema, std::function<Product(const Parameters&)> make) {
        Entry entry;
        entry.description = {schema.name(), schema.help(), schema.parameters()};
        entry.read = [schema, make = std::move(make)](
                         const Registry& registry, const ConfigNode& node, ReadContext& context,
                         const std::vector<std::string>& also_known) -> std::optional<Configured> {
            return registry.configure(schema, make, node, context, also_known);
        };
        entries_.push_back(std::move(entry));
    }

    /// As `add`, of a component that is made of others of this registry: `schema` makes what reads a file of
    /// the registry as it is then, so that it knows components that were added later. It makes the same
    /// descriptors of every registry.
    template <class Parameters>
    void add_composite(std::function<Schema<Parameters>(const Registry&)> schema,
                       std::function<Product(const Parameters&)> make) {
        Entry entry;
        const Schema<Parameters> described = schema(*this);
        entry.description = {described.name(), described.help(), described.parameters()};
        entry.read = [schema = std::move(schema), make = std::move(make)](
                         const Registry& registry, const ConfigNode& node, ReadContext& context,
                         const std::vector<std::string>& also_known) -> std::optional<Configured> {
            return registry.configure(schema(registry), make, node, context, also_known);
        };
        entries_.push_back(std::move(entry));
    }

    /// Reads `{kind: name, …}`; reports what is wrong with it and returns nothing then. `also_known` are keys
    /// beside the component's own that are read elsewhere.
    [[nodiscard]] std::optional<Configured> read(const ConfigNode& node, ReadContext& context,
                                                 std::vector<std::string> also_known = {}) const {
        if (!node.is_mapping()) {
            context.error("config.type", node.where,
                          "'" + section_ + "' takes a mapping, found " + std::string(node.kind_name()),
                          "write {" + discriminator_ + ": " +
                              (entries_.empty() ? std::string("…") : entries_.front().description.name) +
                              ", …}");
            return std::nullopt;
        }
        const ConfigNode* kind = node.find(discriminator_);
        if (kind == nullptr) {
            context.error("config.missing-key", node.where,
                          "'" + section_ + "' needs '" + discriminator_ + "'", suggest("", names()));
            return std::nullopt;
        }
        also_known.push_back(discriminator_);
        for (const Entry& entry : entries_) {
            if (kind->is_scalar() && kind->text == entry.description.name) {
                return entry.read(*this, node, context, also_known);
            }
        }
        context.error("config.unknown-kind", kind->where, "'" + kind->text + "' is not a kind of " + section_,
                      context.is_next_shown() ? suggest(kind->text, names()) : "");
        return std::nullopt;
    }

    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> all;
        for (const Entry& entry : entries_) {
            all.push_back(entry.description.name);
        }
        return all;
    }
    [[nodiscard]] std::vector<ComponentDescription> descriptions() const {
        std::vector<ComponentDescription> all;
        for (const Entry& entry : entries_) {
            all.push_back(entry.description);
        }
        return all;
    }
    [[nodiscard]] const std::string& section() const { return section_; }
    [[nodiscard]] const std::string& discriminator() const { return discriminator_; }

private:
    struct Entry {
        ComponentDescription description;
        std::function<std::optional<Configured>(const Registry&, const ConfigNode&, ReadContext&,
                                                const std::vector<std::string>& also_known)>
            read;
    };

    template <class Parameters>
    [[nodiscard]] std::optional<Configured> configure(const Schema<Parameters>& schema,
                                                      const std::function<Product(const Parameters&)>& make,
                                                      const ConfigNode& node, ReadContext& context,
                                                      const std::vector<std::string>& also_known) const {
        std::optional<Parameters> parameters = schema.read(node, context, also_known);
        if (!parameters) {
            return std::nullopt;
        }
        ConfigNode resolved = ConfigNode::mapping();
        resolved.set(discriminator_, ConfigNode::scalar(schema.name()));
        ConfigNode written = schema.write(*parameters);
        for (ConfigEntry& key : written.entries) {
            resolved.entries.push_back(std::move(key));
        }
        return Configured{schema.name(), std::move(resolved),
                          [make, parameters = *std::move(parameters)] { return make(parameters); }};
    }

    std::string section_;
    std::string discriminator_;
    std::vector<Entry> entries_;
};

}  // namespace astrolabe
