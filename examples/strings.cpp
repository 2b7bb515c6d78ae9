// SPDX-License-Identifier: MIT
// A kernel of the user's own on inputs of the user's own: words, by the pieces that they share.
// Learns to tell Italian nouns from German ones and says how sure it is of each new word.
#include <bpm/bpm.hpp>
#include <cstddef>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

namespace {

/// How many pairs of equal pieces of one to three letters two words have, their ends marked: the
/// inner product of the words' piece counts, so positive semi-definite.
struct CommonPieces {
  double operator()(const std::string& first, const std::string& second) const {
    const std::string a = "^" + first + "$";
    const std::string b = "^" + second + "$";
    double common = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      for (std::size_t j = 0; j < b.size(); ++j) {
        for (std::size_t n = 0; n < 3 && i + n < a.size() && j + n < b.size(); ++n) {
          if (a[i + n] != b[j + n]) break;
          ++common;
        }
      }
    }
    return common;
  }
};

const std::vector<std::string> italian{
    "albero",   "amico",     "bambino",  "bocca",    "cane",     "casa",     "cavallo",  "chiesa",
    "cielo",    "coltello",  "cuore",    "donna",    "estate",   "famiglia", "finestra", "fiore",
    "fiume",    "forchetta", "fratello", "gatto",    "giardino", "giorno",   "inverno",  "isola",
    "latte",    "libro",     "luce",     "madre",    "mano",     "mare",     "mattina",  "mela",
    "montagna", "notte",     "occhio",   "orologio", "padre",    "pane",     "ponte",    "porta"};
const std::vector<std::string> german{
    "abend",  "apfel",  "arbeit", "auge",   "baum",  "berg",    "blume",  "brief",
    "brot",   "bruder", "buch",   "burg",   "dorf",  "fenster", "feuer",  "fisch",
    "fluss",  "freund", "garten", "geld",   "hals",  "haus",    "herbst", "herz",
    "himmel", "hund",   "kind",   "kirche", "kopf",  "licht",   "mensch", "messer",
    "milch",  "mond",   "morgen", "mutter", "nacht", "pferd",   "schiff", "schule"};

}  // namespace

int main() {
  std::vector<std::string> words = italian;
  words.insert(words.end(), german.begin(), german.end());
  std::vector<int> labels(italian.size(), 1);
  labels.resize(words.size(), 0);

  // Normalised, so that long words do not outweigh short ones.
  const auto kernel = bpm::normalised(CommonPieces{});
  const bpm::BayesPointMachine machine(kernel, bpm::PermutedPerceptron{.draws = 100},
                                       {.keep_draws = true});
  const auto fitted = machine.fit(words, labels);

  const std::vector<std::string> unseen{"scuola", "spiaggia", "sorella", "stella", "tavolo",
                                        "vento",  "wasser",   "strasse", "stern",  "schwester",
                                        "tisch",  "wind",     "piano",   "hotel"};
  const Eigen::VectorXd values = fitted.decision_values(unseen);
  const Eigen::VectorXd votes = fitted.vote_fractions(unseen);
  const std::vector<int> predicted = fitted.labels_of(values);
  std::cout << "word        language   score   votes for Italian\n" << std::fixed;
  for (std::size_t i = 0; i < unseen.size(); ++i) {
    const auto at = static_cast<Eigen::Index>(i);
    std::cout << std::left << std::setw(12) << unseen[i] << std::setw(8)
              << (predicted[i] == 1 ? "Italian" : "German") << std::right << std::setw(8)
              << std::setprecision(2) << values[at] << std::setw(8) << std::setprecision(0)
              << 100 * votes[at] << " %\n";
  }
}
