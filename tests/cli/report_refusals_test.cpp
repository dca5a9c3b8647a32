/// What `astrolabe report` refuses, and what it says where something is missing to draw with.
#include "report_folder.hpp"

#include <astrolabe/study/sweep/result_store.hpp>

namespace astrolabe::testing {
namespace {

TEST_F(Report, RefusesWhatGivesNoReport) {
    const ProcessResult missing = report({out("nowhere")});
    EXPECT_EQ(missing.exit_code, 3);
    expect_says(missing.err, "there is no folder");
    std::filesystem::create_directory(out("empty"));
    const ProcessResult empty = report({out("empty")});
    EXPECT_EQ(empty.exit_code, 3);
    expect_says(empty.err, "neither results.sqlite nor summary.json");
    folder_.write("results.sqlite", "this is no data base at all, whatever its name says");
    EXPECT_EQ(report({folder_.path().string()}).exit_code, 1);
    // Nobody writes to the pipe: who opens it to read waits for ever.
    const ProcessResult pipe =
        run_shell("mkdir " + quoted(out("pipe")) + " && mkfifo " + quoted(out("pipe/results.sqlite")) +
                  " && timeout 60 " + quoted(ASTROLABE_PROGRAM) + " report " + quoted(out("pipe")));
    EXPECT_EQ(pipe.exit_code, 1) << pipe.err;
    expect_says(pipe.err, "'results.sqlite' is no regular file");
    ASSERT_TRUE(study::ResultStore::open(out("unused")));
    const ProcessResult unused = report({out("unused")});
    EXPECT_EQ(unused.exit_code, 3);
    expect_says(unused.err, "has no study");
}

TEST_F(Report, RefusesAFigureThatDoesNotExist) {
    const std::string file =
        folder_
            .write("study.yaml",
                   "schema: astrolabe/1\nbase: {}\nvary: {cluster.ranks: [2]}\nreport: [iteration_tim]\n")
            .string();
    const ProcessResult result = run_program(ASTROLABE_PROGRAM, {"sweep", file, "--out", out("refused")});
    EXPECT_EQ(result.exit_code, 3);
    expect_says(result.err, "did you mean 'iteration_time'?");
}

TEST_F(Report, SaysWhatIsMissing) {
    const std::string folder = sweep(kStudy, "study");
    // No node, then no npm, then no place for the cache.
    const std::string program = quoted(ASTROLABE_PROGRAM);
    const ProcessResult no_node = run_shell("PATH=/nowhere " + program + " report " + quoted(folder));
    EXPECT_EQ(no_node.exit_code, 1);
    expect_says(no_node.err, "there is no 'node'");
    expect_says(no_node.err, "nodejs");
    if (!works("node --version")) {
        return;
    }
    std::filesystem::create_directory(out("bin"));
    const ProcessResult no_npm =
        run_shell("ln -s \"$(command -v node)\" " + quoted(out("bin/node")) +
                  " && XDG_CACHE_HOME=" + quoted(out("cache")) + " PATH=" + quoted(out("bin")) + " " +
                  program + " report " + quoted(folder));
    EXPECT_EQ(no_npm.exit_code, 1);
    expect_says(no_npm.err, "there is no 'npm'");
    EXPECT_FALSE(std::filesystem::exists(folder + "/report/index.html"));
    if (works("npm --version")) {
        const ProcessResult no_registry =
            run_shell("npm_config_registry=http://127.0.0.1:9 npm_config_fetch_retries=0 XDG_CACHE_HOME=" +
                      quoted(out("cache")) + " " + program + " report " + quoted(folder));
        EXPECT_EQ(no_registry.exit_code, 1);
        expect_says(no_registry.err, "npm could not fetch ECharts 6.1.0");
        EXPECT_TRUE(std::filesystem::is_empty(out("cache/astrolabe")));
    }
}

/// Another npm than the user's, which does this where it is to fetch; words of a shell to go before a
/// command.
std::string with_npm(const TemporaryFolder& folder, const std::string& script) {
    std::filesystem::create_directory(folder.path() / "npm");
    const std::filesystem::path npm =
        folder.write("npm/npm", "#!/bin/sh\n[ \"$1\" = --version ] && exit 0\n" + script);
    std::filesystem::permissions(npm, std::filesystem::perms::owner_all);
    return "XDG_CACHE_HOME=" + quoted((folder.path() / "cache").string()) +
           " PATH=" + quoted((folder.path() / "npm").string()) + ":\"$PATH\" ";
}

TEST_F(Report, SaysTheEndOfWhatNpmSaid) {
    if (!works("node --version")) {
        GTEST_SKIP() << "there is no node";
    }
    const std::string folder = sweep(kStudy, "study");
    // 1001 letters of two bytes in one line: of the last 600 bytes the first is the second half of a letter.
    const std::string letters = "{ printf 'ß%.0s' $(seq 1001); printf x; } >&2; exit 1\n";
    const ProcessResult line =
        run_shell(with_npm(folder_, letters) + quoted(ASTROLABE_PROGRAM) + " report " + quoted(folder));
    EXPECT_EQ(line.exit_code, 1) << line.err.substr(0, 2000);
    std::string end = "…";
    for (int i = 0; i < 299; ++i) {
        end += "ß";
    }
    expect_says(line.err, "npm could not fetch ECharts 6.1.0: " + end + "x");
}

TEST_F(Report, SaysWhatIsInTheWayOfTheLibrary) {
    if (!works("node --version")) {
        GTEST_SKIP() << "there is no node";
    }
    const std::string folder = sweep(kStudy, "study");
    const std::string package =
        "mkdir -p node_modules/echarts/dist && cd node_modules/echarts && touch LICENSE NOTICE "
        "dist/echarts.min.js\n";
    std::filesystem::create_directories(out("cache/astrolabe/echarts-6.1.0"));
    folder_.write("cache/astrolabe/echarts-6.1.0/NOTICE", "of a folder that has lost its library");
    const ProcessResult result =
        run_shell(with_npm(folder_, package) + quoted(ASTROLABE_PROGRAM) + " report " + quoted(folder));
    EXPECT_EQ(result.exit_code, 1);
    expect_says(result.err, "echarts-6.1.0' could not be made: ");
    expect_says(result.err, "delete what is left of it");
}

}  // namespace
}  // namespace astrolabe::testing
