// SPDX-License-Identifier: MIT
#include "common/output_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <limits>
#include <string>

#include "catch.hpp"
#include "common/json_file.hpp"
#include "temporary_folder.hpp"

namespace fs = std::filesystem;
using bpm_examples::check_writable;
using bpm_examples::OutputError;
using bpm_examples::write_whole;
using examples_test::read_text;
using examples_test::TemporaryFolder;
using examples_test::write_text;

TEST_CASE("a result file is written and replaced as a whole", "[examples]") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "result.txt";
  check_writable(file);
  CHECK(folder.count() == 0);  // Looking leaves nothing behind.
  write_whole(file, "first\n");
  CHECK(read_text(file) == "first\n");
  check_writable(file);
  CHECK(read_text(file) == "first\n");
  write_whole(file, "");
  CHECK(read_text(file).empty());
  const std::string large(3'000'000, 'x');
  write_whole(file, large);
  CHECK(read_text(file) == large);
  CHECK(folder.count() == 1);
}

TEST_CASE("a result file keeps the permissions of the one it replaces", "[examples]") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "result.txt";
  write_text(file, "old");
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
  write_whole(file, "new");
  CHECK(fs::status(file).permissions() ==
        (fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read));
}

TEST_CASE("a link stays a link to the file it names", "[examples]") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "result.txt";
  const fs::path link = folder.path() / "link";
  write_text(file, "old");
  fs::create_symlink("result.txt", link);
  check_writable(link);
  write_whole(link, "new");
  CHECK(fs::is_symlink(link));
  CHECK(read_text(file) == "new");
}

TEST_CASE("names of the greatest length are written", "[examples]") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / std::string(255, 'n');
  check_writable(file);
  write_whole(file, "text");
  CHECK(read_text(file) == "text");
}

TEST_CASE("a path that cannot be written is found out", "[examples]") {
  const TemporaryFolder folder;
  const std::string at = folder.path().string();
  CHECK_THROWS_AS(check_writable(at), OutputError);
  CHECK_THROWS_WITH(check_writable(at), "cannot write '" + at + "': it is a folder");
  CHECK_THROWS_WITH(check_writable(at + "/new/"), "cannot write '" + at + "/new/': it is a folder");
  CHECK_THROWS_WITH(check_writable(""), "cannot write '': the file name is empty");
  CHECK_THROWS_WITH(check_writable(at + "/none/file"),
                    "cannot write '" + at +
                        "/none/file': no file can be made in its folder: No such file or "
                        "directory");
  const std::string too_long = at + "/" + std::string(256, 'n');
  CHECK_THROWS_WITH(check_writable(too_long),
                    "cannot write '" + too_long + "': look-up: File name too long");
  write_text(folder.path() / "plain", "x");
  CHECK_THROWS_AS(check_writable(at + "/plain/file"), OutputError);
  if (::geteuid() != 0) {  // Nothing is forbidden to root.
    fs::permissions(folder.path() / "plain", fs::perms::owner_read);
    CHECK_THROWS_WITH(check_writable(at + "/plain"),
                      "cannot write '" + at + "/plain': no permission: Permission denied");
  }
}

TEST_CASE("what is no regular file is written to as it is", "[examples]") {
  if (!fs::exists("/dev/null") || !fs::exists("/dev/full")) {
    return;
  }
  check_writable("/dev/null");
  write_whole("/dev/null", "text");
  CHECK(fs::is_character_file("/dev/null"));
  // A full disk is an error.
  check_writable("/dev/full");
  CHECK_THROWS_WITH(write_whole("/dev/full", "text"),
                    "cannot write '/dev/full': write: No space left on device");
}

TEST_CASE("a JSON file is indented and keeps the order of its keys", "[examples]") {
  const TemporaryFolder folder;
  const bpm_examples::JsonFile file(folder.path() / "a.json");
  CHECK(folder.count() == 0);
  bpm_examples::Json json;
  json["z"] = 1;
  json["a"] = {0.5, std::numeric_limits<double>::infinity()};
  file.write(json);
  CHECK(read_text(folder.path() / "a.json") ==
        "{\n  \"z\": 1,\n  \"a\": [\n    0.5,\n    null\n  ]\n}\n");
  // Bytes that are no text do not lose a run's results.
  file.write("\xff");
  CHECK(read_text(folder.path() / "a.json") == "\"\xEF\xBF\xBD\"\n");

  bpm_examples::JsonFile("").write(json);  // No --json: nothing happens.
  CHECK(folder.count() == 1);
  CHECK_THROWS_AS(bpm_examples::JsonFile(folder.path()), OutputError);
}
