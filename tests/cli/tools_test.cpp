// What editors, shells and other programs ask of the command line.

#include <cctype>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <process.hpp>

namespace astrolabe::testing {
namespace {

using Json = nlohmann::json;

const std::string kProgram = ASTROLABE_PROGRAM;
const std::string kRepository = ASTROLABE_SOURCE_DIR;

ProcessResult astrolabe(const std::vector<std::string>& arguments) {
    return run_program(kProgram, arguments);
}

TEST(Version, NamesTheCommitWhereItIsKnown) {
    const ProcessResult version = astrolabe({"--version"});
    EXPECT_EQ(version.exit_code, 0);
    const ProcessResult commit =
        run_shell("git -C " + quoted(kRepository) + " describe --always --abbrev=10 --exclude='*'");
    EXPECT_TRUE(version.out.starts_with("astrolabe 0.")) << version.out;
    if (commit.exit_code == 0) {
        // The program may be older than what is checked out, but has one.
        EXPECT_NE(version.out.find(" ("), std::string::npos) << version.out;
    }
}

TEST(ListAsJson, SaysWhatTheListSays) {
    const Json json = Json::parse(astrolabe({"list", "--json"}).out);
    std::istringstream lines(astrolabe({"list"}).out);
    std::string line;
    std::string section;
    std::size_t entry = 0;
    while (std::getline(lines, line)) {
        if (!line.starts_with("  ")) {
            section = line;
            entry = 0;
            continue;
        }
        const Json& component = json.at(section).at(entry++);
        EXPECT_NE(line.find("  " + component["name"].get<std::string>() + " "), std::string::npos) << line;
        EXPECT_TRUE(line.ends_with(component["help"].get<std::string>())) << line;
        EXPECT_EQ(json.at(section).size() >= entry, true);
    }
    EXPECT_EQ(Json::parse(astrolabe({"list", "networks", "--json"}).out).size(), 1U);
}

TEST(JsonSchema, OfAThingThatDoesNotExist) {
    const ProcessResult wrong = astrolabe({"describe", "--json-schema", "network.fat_treee"});
    EXPECT_EQ(wrong.exit_code, 2);
    EXPECT_NE(wrong.err.find("network.fat_tree"), std::string::npos) << wrong.err;
}

/// Of a schema with what it refers to; how many references there are.
std::size_t expect_resolved(const Json& schema) {
    std::size_t references = 0;
    const auto visit = [&](const auto& self, const Json& node) -> void {
        if (node.is_object() && node.contains("$ref")) {
            const std::string path = node["$ref"].get<std::string>();
            EXPECT_TRUE(path.starts_with("#/")) << path;
            EXPECT_TRUE(schema.contains(Json::json_pointer(path.substr(1)))) << path;
            ++references;
        }
        for (const Json& child : node) {
            if (child.is_structured()) {
                self(self, child);
            }
        }
    };
    visit(visit, schema);
    return references;
}

TEST(JsonSchema, EveryReferenceResolves) {
    EXPECT_GT(expect_resolved(Json::parse(astrolabe({"describe", "--json-schema"}).out)), 50U);
}

TEST(JsonSchema, OfAPartHasWhatItNeedsAndNothingElse) {
    for (const char* name : {"network", "device", "workload.dlrm.model", "experiment.part"}) {
        const Json schema = Json::parse(astrolabe({"describe", "--json-schema", name}).out);
        EXPECT_GT(expect_resolved(schema), 0U) << name;
        EXPECT_TRUE(schema["definitions"].contains(name)) << name;
    }
    const Json network = Json::parse(astrolabe({"describe", "--json-schema", "network"}).out)["definitions"];
    EXPECT_TRUE(network.contains("network.fat_tree"));
    EXPECT_FALSE(network.contains("workload")) << "nothing of a network refers to a workload";
    EXPECT_FALSE(network.contains("cluster"));
}

TEST(Diagnostics, AsJsonAreAnObjectALine) {
    const std::string file = kRepository + "/tests/cli/broken/three-at-once.yaml";
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"validate", file, "--diagnostics", "json"},
          {"--diagnostics", "json", "validate", file}}) {
        const ProcessResult result = astrolabe(arguments);
        EXPECT_EQ(result.exit_code, 3);
        std::istringstream lines(result.err);
        std::string line;
        int count = 0;
        while (std::getline(lines, line)) {
            const Json object = Json::parse(line);
            EXPECT_EQ(object["severity"], "error");
            EXPECT_EQ(object["file"], file);
            EXPECT_GE(object["line"], 1);
            EXPECT_GE(object["column"], 1);
            EXPECT_FALSE(object["message"].get<std::string>().empty());
            ++count;
        }
        const std::string as_text = astrolabe({"validate", file}).err;
        EXPECT_NE(as_text.find("\n" + std::to_string(count) + " errors"), std::string::npos) << as_text;
    }
    EXPECT_EQ(astrolabe({"validate", file, "--diagnostics", "xml"}).exit_code, 2);
}

/// Standard error as objects; every line of it has to be one.
std::vector<Json> diagnostics_of(std::vector<std::string> arguments, int exit_code) {
    arguments.insert(arguments.end(), {"--diagnostics", "json"});
    const ProcessResult result = astrolabe(arguments);
    EXPECT_EQ(result.exit_code, exit_code) << arguments.front() << ": " << result.err;
    std::vector<Json> found;
    std::istringstream lines(result.err);
    std::string line;
    while (std::getline(lines, line)) {
        Json object = Json::parse(line, nullptr, false);
        EXPECT_TRUE(object.is_object()) << arguments.front() << ": " << line;
        for (const char* key : {"severity", "code", "message", "hint", "notes"}) {
            EXPECT_TRUE(object.is_object() && object.contains(key)) << key << ": " << line;
        }
        found.push_back(std::move(object));
    }
    return found;
}

TEST(Diagnostics, OfFilesAreObjectsFromEveryCommand) {
    const TemporaryFolder folder;
    const std::string broken = kRepository + "/tests/cli/broken/wrong-unit.yaml";
    const std::string study = folder.write(
        "study.yaml", "schema: astrolabe/1\nbase: " + broken + "\nvary: {cluster.ranks: [16]}\n");
    const std::string search =
        folder.write("search.yaml", "schema: astrolabe/1\nbase: " + broken + "\noptimize: {budgt: 3}\n");
    const std::string system = folder.write("system.json", R"({"no-such-key": 1})");
    const std::string out = folder.path() / "out";
    const std::vector<std::vector<std::string>> commands{
        {"run", broken},
        {"validate", broken},
        {"compare", broken, "--backends", "fluid,packet"},
        {"what-if", broken},
        {"sweep", study, "--out", out},
        {"optimize", search, "--out", out},
        {"report", folder.path() / "nothing"},
        {"convert", "--system", system, "--out", out},
        {"export", broken, "--format", "chakra", "--out", out},
        {"collective", "--kind", "all-reduce", "--size", "1MiB", "--network", "{kind: flat, hosts: 0}"},
        {"calibrate", "collectives", folder.path() / "nothing.log", "--out", out},
        {"describe", broken},
        {"reproduce", "no-such-study"}};
    for (const std::vector<std::string>& command : commands) {
        const std::vector<Json> found = diagnostics_of(command, 3);
        ASSERT_FALSE(found.empty()) << command.front();
        EXPECT_EQ(found.front()["severity"], "error") << command.front();
        EXPECT_FALSE(found.front()["message"].get<std::string>().empty()) << command.front();
    }
}

TEST(Diagnostics, OfUsageAreObjectsFromEveryCommand) {
    std::vector<std::string> names;
    const Json commands =
        Json::parse(R"(["run", "validate", "compare", "what-if", "sweep", "report", "optimize",
        "calibrate", "reproduce", "convert", "export", "collective", "list", "describe", "completion"])");
    for (const Json& command : commands) {
        const std::vector<Json> found = diagnostics_of({command.get<std::string>(), "--no-such-option"}, 2);
        ASSERT_EQ(found.size(), 1U) << command;
        EXPECT_EQ(found.front()["code"], "command") << command;
        EXPECT_EQ(found.front()["message"].get<std::string>().find("astrolabe: "), std::string::npos);
        EXPECT_FALSE(found.front()["hint"].get<std::string>().empty()) << command;
    }
    const std::vector<Json> nothing = diagnostics_of({}, 2);
    ASSERT_EQ(nothing.size(), 1U);
    EXPECT_EQ(diagnostics_of({"compare", kRepository + "/examples/quickstart/experiment.yaml"}, 2)
                  .front()["message"],
              "one run has nothing to be compared with");
    EXPECT_EQ(diagnostics_of({"run", "x.yaml", "--within", "soon", "--json"}, 3).size(), 1U);
}

TEST(FirstHour, AFileWithoutACommandAndAFolderSayWhatToWrite) {
    const std::string folder = kRepository + "/examples/quickstart";
    const ProcessResult file = astrolabe({folder + "/experiment.yaml"});
    EXPECT_EQ(file.exit_code, 2);
    EXPECT_NE(file.err.find("astrolabe run " + folder + "/experiment.yaml\n"), std::string::npos) << file.err;
    const ProcessResult nothing = astrolabe({});
    EXPECT_NE(nothing.err.find("astrolabe run examples/quickstart/experiment.yaml\n"), std::string::npos)
        << nothing.err;
    const ProcessResult copied = run_shell("ASTROLABE_CALLED_AS=./astrolabe " + quoted(kProgram) + " run " +
                                           quoted(folder + "/experiment.yaml"));
    EXPECT_NE(copied.out.find(" ./astrolabe what-if " + folder), std::string::npos) << copied.out;
    const ProcessResult whole = astrolabe({"run", folder});
    EXPECT_EQ(whole.exit_code, 3);
    EXPECT_NE(whole.err.find("hint: name a file in it: experiment.yaml\n"), std::string::npos) << whole.err;
}

TEST(StandardInput, IsAFileLikeAnyOther) {
    const std::string experiment = kRepository + "/examples/quickstart/experiment.yaml";
    const std::string folder = kRepository + "/examples/quickstart";
    const ProcessResult piped =
        run_shell("cd " + quoted(folder) + " && cat experiment.yaml | " + quoted(kProgram) + " run - --json");
    ASSERT_EQ(piped.exit_code, 0) << piped.err;
    const Json one = Json::parse(piped.out);
    const Json other = Json::parse(astrolabe({"run", experiment, "--json"}).out);
    EXPECT_EQ(one["fingerprint"], other["fingerprint"]);
    const ProcessResult study = run_shell("cd " + quoted(kRepository + "/examples/codesign-tables") +
                                          " && cat study.yaml | " + quoted(kProgram) + " validate -");
    EXPECT_EQ(study.exit_code, 0) << study.err;
    const ProcessResult broken = run_shell("echo 'schema: [' | " + quoted(kProgram) + " run -");
    EXPECT_EQ(broken.exit_code, 3);
    EXPECT_NE(broken.err.find("standard input:2:1: error"), std::string::npos) << broken.err;
    EXPECT_EQ(run_shell(quoted(kProgram) + " run -").exit_code, 3);  // nothing there
}

TEST(KindOfFile, AStudyOrASearchNamesItsCommand) {
    const ProcessResult study = astrolabe({"run", kRepository + "/examples/codesign-tables/study.yaml"});
    EXPECT_EQ(study.exit_code, 3);
    EXPECT_NE(study.err.find("this is a study, not an experiment"), std::string::npos) << study.err;
    EXPECT_NE(study.err.find("hint: astrolabe sweep "), std::string::npos) << study.err;
    const ProcessResult search = astrolabe({"run", kRepository + "/examples/optimize/tables.yaml"});
    EXPECT_EQ(search.exit_code, 3);
    EXPECT_NE(search.err.find("hint: astrolabe optimize "), std::string::npos) << search.err;
}

TEST(Completion, BashOffersCommandsOptionsAndValues) {
    const TemporaryFolder folder;
    const std::filesystem::path script = folder.write("completion", astrolabe({"completion", "bash"}).out);
    const auto offers = [&](const std::string& words, int place) {
        return run_shell("bash -c '. " + script.string() + "; COMP_WORDS=(" + words + "); COMP_CWORD=" +
                         std::to_string(place) + "; _astrolabe; echo \"${COMPREPLY[@]}\"'");
    };
    EXPECT_EQ(offers("astrolabe swe", 1).out, "sweep\n") << offers("astrolabe swe", 1).err;
    EXPECT_NE(offers("astrolabe run --tim", 2).out.find("--timeline"), std::string::npos);
    EXPECT_EQ(offers("astrolabe run --progress pl", 3).out, "plain\n");
    EXPECT_EQ(offers("astrolabe run exp", 2).out, "\n");  // then bash offers files
}

TEST(Completion, EveryOptionIsInEveryScript) {
    const std::string help = astrolabe({"run", "--help"}).out;
    for (const char* shell : {"bash", "zsh", "fish", "man"}) {
        const std::string script = astrolabe({"completion", shell}).out;
        for (const char* option : {"timeline", "trace-links", "seed", "flows"}) {
            ASSERT_NE(help.find(option), std::string::npos) << option;
            std::string written = option;
            if (std::string(shell) == "man") {
                for (std::size_t dash = written.find('-'); dash != std::string::npos;
                     dash = written.find('-', dash + 2)) {
                    written.insert(dash, "\\");
                }
            }
            EXPECT_NE(script.find(written), std::string::npos) << shell << " " << option;
        }
    }
    EXPECT_EQ(astrolabe({"completion", "tcsh"}).exit_code, 2);
}

TEST(Completion, TheManualPageHasNoEmptyOptionAndEndsItsLines) {
    const std::string page = astrolabe({"completion", "man"}).out;
    EXPECT_TRUE(page.starts_with(".TH ASTROLABE 1"));
    EXPECT_EQ(page.find(".B \n"), std::string::npos);
    EXPECT_EQ(page.back(), '\n');
}

}  // namespace
}  // namespace astrolabe::testing
