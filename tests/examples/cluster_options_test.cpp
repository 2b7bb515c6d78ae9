// SPDX-License-Identifier: MIT
// As built without MPI; tests/cluster/ runs the program.
#include "experiments/cluster/options.hpp"

#include <string>
#include <vector>

#include "catch.hpp"
#include "message_of.hpp"

using Catch::Matchers::ContainsSubstring;

namespace {

bpm_examples::ClusterOptions parse_cluster(const std::vector<std::string>& words, int ranks = 1) {
  std::vector<const char*> argv{"cluster"};
  for (const auto& word : words) argv.push_back(word.c_str());
  return bpm_examples::parse_cluster_options(static_cast<int>(argv.size()), argv.data(), ranks);
}

}  // namespace

TEST_CASE("cluster: draws are kept in a folder that has a name", "[examples]") {
  CHECK(parse_cluster({}).checkpoint.empty());
  CHECK(parse_cluster({"--checkpoint", "draws"}).checkpoint == "draws");
  CHECK_THROWS_AS(parse_cluster({"--checkpoint", ""}), bpm_examples::UsageError);
  CHECK(test_support::message_of([] {
          (void)parse_cluster({"--checkpoint", ""});
        }) == "--checkpoint: the name is empty");
  CHECK_THAT(test_support::message_of([] {
               (void)parse_cluster({"--sharded", "--checkpoint", "draws"});
             }),
             ContainsSubstring("--checkpoint excludes --sharded"));
}

TEST_CASE("cluster: ranks of one machine share its processors", "[examples]") {
  const int all = bpm_examples::all_threads();
  CHECK(parse_cluster({}).common.threads == all);
  CHECK(parse_cluster({}, all).common.threads == 1);
  CHECK(parse_cluster({}, 3 * all).common.threads == 1);
  CHECK(parse_cluster({"--threads", "2"}, all).common.threads == 2);
}
