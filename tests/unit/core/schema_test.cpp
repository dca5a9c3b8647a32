#include <string>

#include <gtest/gtest.h>

#include <astrolabe/core/config/registry.hpp>
#include <astrolabe/core/config/schema.hpp>

namespace astrolabe {
namespace {

enum class Colour { kRed, kBlue };

struct LinkKeys {
    Bandwidth rate = 100_Gbps;
    Time latency;
};

struct Keys {
    int hosts = 0;
    Colour colour = Colour::kRed;
    LinkKeys link;
    std::optional<Bytes> window;
    std::vector<int> widths;
};

}  // namespace

template <>
struct EnumNames<Colour> {
    static constexpr std::array<std::pair<std::string_view, Colour>, 2> kNames{
        {{"red", Colour::kRed}, {"blue", Colour::kBlue}}};
};

namespace {

Schema<Keys> schema() {
    Schema<LinkKeys> link("link", "a link");
    link.optional("rate", &LinkKeys::rate, "rate", {1_bps, {}})
        .required("latency", &LinkKeys::latency, "latency");
    Schema<Keys> keys("thing", "a thing");
    keys.required("hosts", &Keys::hosts, "number of hosts", {1, 1024})
        .optional("colour", &Keys::colour, "its colour")
        .section("link", &Keys::link, link, "its link", true)
        .optional("window", &Keys::window, "its window", {1_B, {}})
        .list("widths", &Keys::widths, "its widths", false, {1, {}})
        .check([](const Keys& k) -> ValidationErrors {
            if (k.hosts == 13) {
                return {{"hosts", "13 is unlucky", "take 12"}, {"link.rate", "too slow for 13", ""}};
            }
            return {};
        });
    return keys;
}

Diagnostics errors_of(const std::string& text) {
    const Result<ConfigNode> node = parse_config(text, "x.yaml");
    EXPECT_TRUE(node);
    ReadContext context;
    const bool read = schema().read(*node, context).has_value();
    EXPECT_EQ(read, context.error_count() == 0);
    return context.errors();
}

TEST(Schema, ReadsValuesAndFillsDefaults) {
    const Result<ConfigNode> node = parse_config("hosts: 8\nlink: {latency: 1us}\nwidths: [3, 4]\n", "x");
    ReadContext context;
    const std::optional<Keys> keys = schema().read(*node, context);
    ASSERT_TRUE(keys) << render(context.errors());
    EXPECT_EQ(keys->hosts, 8);
    EXPECT_EQ(keys->colour, Colour::kRed);
    EXPECT_EQ(keys->link.rate, 100_Gbps);
    EXPECT_EQ(keys->link.latency, 1_us);
    EXPECT_FALSE(keys->window);
    EXPECT_EQ(keys->widths, (std::vector<int>{3, 4}));
}

TEST(Schema, EveryDefectOfAMappingIsReportedAtItsPlace) {
    const Diagnostics errors = errors_of(
        "hosts: 0\ncolor: red\ncolour: green\nlink: {rate: 0, latency: 1}\nwindow: -1B\nwidths: 3\n");
    ASSERT_EQ(errors.size(), 7u) << render(errors);
    EXPECT_EQ(errors[0].where.to_string(), "x.yaml:1:8");  // hosts out of range
    EXPECT_NE(errors[0].message.find("1 to 1024"), std::string::npos);
    EXPECT_EQ(errors[1].where.to_string(), "x.yaml:3:9");   // colour: green
    EXPECT_EQ(errors[2].where.to_string(), "x.yaml:4:14");  // rate 0
    EXPECT_EQ(errors[3].where.to_string(), "x.yaml:4:26");  // latency without unit
    EXPECT_EQ(errors[4].where.to_string(), "x.yaml:5:9");
    EXPECT_EQ(errors[5].where.to_string(), "x.yaml:6:9");
    EXPECT_EQ(errors[6].where.to_string(), "x.yaml:2:1");  // unknown key
    EXPECT_NE(errors[6].hint.find("did you mean 'colour'?"), std::string::npos);
}

TEST(Schema, ARenamedKeyIsRefusedWithItsNewName) {
    Schema<Keys> renaming("thing", "renames a key");
    renaming.required("hosts", &Keys::hosts, "how many").renamed("nodes", "hosts");
    ReadContext context;
    EXPECT_FALSE(renaming.read(*parse_config("hosts: 4\nnodes: 4\n", "x.yaml"), context, {"kind"}));
    ASSERT_EQ(context.error_count(), 1u);
    EXPECT_EQ(context.errors()[0].message, "'nodes' is not a key of thing");
    EXPECT_EQ(context.errors()[0].hint, "it is called 'hosts' now (astrolabe describe thing lists all keys)");
    EXPECT_EQ(context.errors()[0].where.to_string(), "x.yaml:2:1");
}

TEST(Schema, WhatATypeCannotHoldIsOutsideTheParametersRange) {
    ReadContext context;
    const ConfigNode negative = ConfigNode::scalar("-1");
    EXPECT_FALSE(read_scalar<std::size_t>(negative, "'ranks'", context, {1, 1U << 20}));
    EXPECT_EQ(context.errors().back().message, "'ranks' is -1, expected 1 to 1048576");
    EXPECT_EQ(context.errors().back().hint, "choose a value 1 to 1048576");
    // Without a range of its own: what 64-bit signed integers and the type have in common.
    EXPECT_FALSE(read_scalar<std::uint64_t>(negative, "'seed'", context));
    EXPECT_EQ(context.errors().back().message, "'seed' is -1, expected 0 to 9223372036854775807");
    EXPECT_FALSE(read_scalar<std::uint8_t>(ConfigNode::scalar("256"), "'lanes'", context));
    EXPECT_EQ(context.errors().back().message, "'lanes' is 256, expected 0 to 255");
    EXPECT_EQ(context.error_count(), 3U);
}

TEST(Schema, MissingKeysNameTheSectionThatNeedsThem) {
    const Diagnostics errors = errors_of("colour: blue\n");
    ASSERT_EQ(errors.size(), 2u);
    EXPECT_NE(errors[0].message.find("'thing' needs 'hosts'"), std::string::npos);
    EXPECT_NE(errors[1].message.find("'thing' needs 'link'"), std::string::npos);
}

TEST(Schema, WrongShapesAreNamed) {
    EXPECT_NE(errors_of("hosts: [1]\nlink: {latency: 1us}\n").front().message.find("found a list"),
              std::string::npos);
    EXPECT_NE(errors_of("hosts: 1\nlink: 3\n").front().message.find("takes a mapping"), std::string::npos);
    EXPECT_NE(errors_of("hosts:\nlink: {latency: 1us}\n").front().message.find("found nothing"),
              std::string::npos);
}

TEST(Schema, ChecksAcrossKeysPointAtTheKeyOrItsSection) {
    const Diagnostics errors = errors_of("hosts: 13\nlink: {latency: 1us}\n");
    ASSERT_EQ(errors.size(), 2u);
    EXPECT_EQ(errors[0].where.to_string(), "x.yaml:1:8");
    EXPECT_EQ(errors[1].where.to_string(),
              "x.yaml:2:7");  // link.rate was left at its default: its section is the place
}

TEST(Schema, WhatItWritesItReadsBack) {
    const Result<ConfigNode> node =
        parse_config("hosts: 8\ncolour: blue\nlink: {latency: 1us}\nwindow: 0.5MB\n", "x");
    ReadContext context;
    const std::optional<Keys> keys = schema().read(*node, context);
    ASSERT_TRUE(keys);
    const ConfigNode written = schema().write(*keys);
    const std::optional<Keys> again = schema().read(written, context);
    ASSERT_TRUE(again) << render(context.errors());
    EXPECT_EQ(to_yaml(schema().write(*again)), to_yaml(written));
    EXPECT_EQ(again->window, Bytes(500'000));
}

TEST(Schema, DescriptorsCarryDefaultsAndRanges) {
    const std::vector<ParameterDescriptor> parameters = schema().parameters();
    EXPECT_EQ(parameters[0].range, "1 to 1024");
    EXPECT_TRUE(parameters[0].required);
    EXPECT_EQ(parameters[1].default_value, "red");
    EXPECT_EQ(parameters[1].type, "one of red, blue");
    EXPECT_EQ(parameters[2].parameters[0].default_value, "100Gbps");
    EXPECT_EQ(parameters[3].default_value, "unset");
}

TEST(Registry, ChoosesByKindAndKeepsTheResolvedMapping) {
    Registry<int> registry("network");
    registry.add<Keys>(schema(), [](const Keys& keys) { return keys.hosts * 2; });
    const Result<ConfigNode> node = parse_config("kind: thing\nhosts: 4\nlink: {latency: 0}\n", "x");
    ReadContext context;
    const auto configured = registry.read(*node, context);
    ASSERT_TRUE(configured) << render(context.errors());
    EXPECT_EQ(configured->make(), 8);
    EXPECT_EQ(configured->resolved.find("kind")->text, "thing");
    EXPECT_EQ(configured->resolved.find("colour")->text, "red");
}

TEST(Registry, TheDiscriminatorHasTheNameTheRegistryGivesIt) {
    Registry<int> registry("algorithm", "algorithm");
    registry.add<Keys>(schema(), [](const Keys& keys) { return keys.hosts; });
    ReadContext context;
    const Result<ConfigNode> node =
        parse_config("algorithm: thing\nhosts: 4\nlink: {latency: 0}\nchunks: 2\n", "x");
    const auto configured = registry.read(*node, context, {"chunks"});
    ASSERT_TRUE(configured) << render(context.errors());
    EXPECT_EQ(configured->resolved.find("algorithm")->text, "thing");
    EXPECT_EQ(configured->resolved.find("kind"), nullptr);
    EXPECT_EQ(configured->resolved.find("chunks"), nullptr);  // belongs to whoever said it knows it
    EXPECT_FALSE(registry.read(*parse_config("kind: thing\nhosts: 4\n", "x"), context));
    EXPECT_NE(context.errors().front().message.find("needs 'algorithm'"), std::string::npos);
}

struct Composite {
    std::optional<Registry<int>::Configured> inner;
};

TEST(Registry, ACompositeReadsComponentsThatWereAddedAfterIt) {
    Registry<int> registry("network");
    const auto make_schema = [](const Registry<int>& components) {
        Schema<Composite> composite("twice", "another component, doubled");
        composite.field(
            {"inner", "mapping", "", true, {}, "the other component", {}},
            [components](Composite& target, const ConfigNode& node, ReadContext& context) {
                target.inner = components.read(node, context);
            },
            [](const Composite& source) { return std::optional(source.inner->resolved); });
        return composite;
    };
    registry.add_composite<Composite>(make_schema,
                                      [](const Composite& keys) { return keys.inner->make() * 2; });
    registry.add<Keys>(schema(), [](const Keys& keys) { return keys.hosts; });
    ReadContext context;
    const auto configured = registry.read(
        *parse_config(
            "{kind: twice, inner: {kind: twice, inner: {kind: thing, hosts: 4, link: {latency: 0}}}}", "x"),
        context);
    ASSERT_TRUE(configured) << render(context.errors());
    EXPECT_EQ(configured->make(), 2 * 2 * 4);
    EXPECT_EQ(configured->resolved.find("inner")->find("inner")->find("colour")->text, "red");
    EXPECT_EQ(registry.descriptions().front().parameters.front().key, "inner");
    EXPECT_FALSE(registry.read(*parse_config("{kind: twice, inner: {kind: thnig}}", "x"), context));
    EXPECT_NE(context.errors().front().hint.find("did you mean 'thing'?"), std::string::npos);
}

TEST(Registry, UnknownAndMissingKindsListWhatThereIs) {
    Registry<int> registry("network");
    registry.add<Keys>(schema(), [](const Keys&) { return 0; });
    for (const auto& [text, expected] :
         {std::pair{"kind: thnig\n", "did you mean 'thing'?"}, std::pair{"hosts: 1\n", "'thing'"},
          std::pair{"kind: [thing]\n", "'thing'"}}) {
        ReadContext context;
        EXPECT_FALSE(registry.read(*parse_config(text, "x"), context));
        ASSERT_EQ(context.error_count(), 1u);
        EXPECT_NE(context.errors().front().hint.find(expected), std::string::npos)
            << context.errors().front().hint;
    }
}

}  // namespace
}  // namespace astrolabe
