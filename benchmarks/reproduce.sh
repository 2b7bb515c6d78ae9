#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the programs behind the tables and headline figures of README.md and docs/ at their documented
# settings, each into docs/results/NAME.json with the commit, the compiler and the machine it was made
# with:
#
#   ./benchmarks/reproduce.sh [--list] [--modified] [NAME...]
#
# --list       the names, their commands, and about how many minutes they take on two cores
# --modified   run although include/, examples/ or benchmarks/ differ from the commit; the results say so,
#              and the tests do not take them
#
# Without names all of them run, in the order of the list. The data is found by BPM_DATA_DIR. Nothing else
# should run on the machine meanwhile. Afterwards BPM_WRITE_TABLES=1 build/tests/gcc/tests/bpm_test_docs
# puts the numbers into the tables, and what is written around them wants to be read again.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
# shellcheck source=cmake/packages.sh
source "$root/cmake/packages.sh"

# Name, minutes, command. LIBSVM_SOURCE names LIBSVM's source for peers, which builds it with OpenMP.
bias_sets=heart,thyroid,diabetes,waveform,banana,sonar,ionosphere,means,covariances,rare
kinds=clusters_3,clusters_10,clusters_40,rings_4,rings_3_noisy,tree_5,tree_12,uneven_4,pixels_1000,noisy_50_3000
sizes=50,100,200,300,400,500,700,1000
runs=(
  "mnist                       0.3 mnist --floor"
  "mnist_5000                  0.1 mnist --train 5000"
  "mnist_seed2                 0.2 mnist --seed 2"
  "mnist_seed3                 0.2 mnist --seed 3"
  "mnist_float                 1   mnist --input float --floor"
  "mnist_normalise             0.4 mnist --normalise --floor"
  "mnist_one_thread            0.2 mnist --threads 1"
  "mnist_one_draw              0.1 mnist --draws 1"
  "mnist_one_draw_seed2        0.1 mnist --draws 1 --seed 2"
  "mnist_one_draw_seed3        0.1 mnist --draws 1 --seed 3"
  "mnist_one_draw_one_thread   0.1 mnist --draws 1 --threads 1"
  "mnist_gradient              0.2 mnist --features gradient"
  "mnist_gradient_seed2        0.2 mnist --features gradient --seed 2"
  "mnist_gradient_seed3        0.2 mnist --features gradient --seed 3"
  "mnist_gradient_fold1        0.2 mnist --features gradient --validate 1"
  "mnist_gradient_fold2        0.2 mnist --features gradient --validate 2"
  "mnist_gradient_fold3        0.2 mnist --features gradient --validate 3"
  "mnist_gradient_fold4        0.2 mnist --features gradient --validate 4"
  "mnist_gradient_fold5        0.2 mnist --features gradient --validate 5"
  "mnist_elastic               3   mnist --features gradient --virtual elastic --draws 7"
  "mnist_elastic_seed2         3   mnist --features gradient --virtual elastic --draws 7 --seed 2"
  "mnist_elastic_seed3         3   mnist --features gradient --virtual elastic --draws 7 --seed 3"
  "mnist_elastic_risk          2   mnist --features gradient --virtual elastic --draws 7 --risk 0.2"
  "mnist_gradient_one_draw     0.1 mnist --features gradient --draws 1"
  "mnist_elastic_one_draw      0.5 mnist --features gradient --virtual elastic --draws 1"
  "mnist_million               3   mnist --features gradient --virtual elastic --copies 17 --draws 1"
  "mnist_four_million          20  mnist --features gradient --virtual elastic --copies 66 --draws 1 --memory 3G"
  "mnist_eight_million         30  mnist --features gradient --virtual elastic --copies 134 --draws 1 --memory 6G"
  "growth                      2   growth"
  "robust_bpm                  4   robust_bpm"
  "sampler_accuracy            2   sampler_accuracy"
  "sampler_accuracy_sooner     1   sampler_accuracy --seconds 0.3"
  "model_selection             1   model_selection"
  "networks                    4   networks"
  "kernel_interpolation        8   kernel_interpolation --sizes $sizes --subsets 5 --voters 30000"
  "kernel_interpolation_bounds 9   kernel_interpolation --sizes $sizes --subsets 5 --parts ep --bounds"
  "kernel_interpolation_2000   2   kernel_interpolation --sizes 2000"
  "kernel_interpolation_study  2   kernel_interpolation --sizes 1000 --study"
  "cluster                     1   mpirun -np 4 cluster --train 10000 --cost --threads 1"
  "cluster_points              1   mpirun -np 4 cluster --sharded --train 10000 --cost --threads 1"
  "cluster_bytes               0.3 mpirun -np 4 cluster --input byte --threads 1"
  "cluster_bytes_points        0.3 mpirun -np 4 cluster --sharded --input byte --threads 1"
  "bpm_benchmarks              5   bpm_benchmarks"
  "mnist_even_odd              0.1 mnist --even-odd"
  "mnist_even_odd_gradient     0.1 mnist --even-odd --features gradient"
  "mnist_risk                  0.3 mnist --risk 0.5"
  "certified_risk              1   certified_risk"
  "mnist_automatic             0.5 mnist --lambda automatic"
  "any_data                    2   any_data"
  "any_data_made               5   any_data --datasets flipped,noise_300 --splits 1"
  "any_data_26                 45  any_data --datasets clusters_26 --splits 1 --seeds 5"
  "any_data_kinds              12  any_data --datasets $kinds --splits 1 --seeds 5"
  "any_data_nested             3   any_data --datasets shells_4,boxes_3 --splits 1 --seeds 5"
  "any_data_bias               1   any_data --datasets $bias_sets --bias 0,0.1,0.3,1,3 --splits 50 --first-split 51"
  "truncated_normals           5   truncated_normals"
  "peers                       12  peers --only ours-float,ours-byte,ours-byte-normalise,libsvm-polynomial,sklearn-polynomial"
  "peers_python                8   peers.py"
  "why_not                     20  tables.py"
)

usage() { sed -n '3,17s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }

modified=no
names=()
while [[ $# -gt 0 ]]; do
  case "$1" in
    -h | --help)
      usage
      exit 0
      ;;
    --list)
      printf '%-28s %-7s %s\n' name minutes command
      for run in "${runs[@]}"; do
        read -r name minutes command <<<"$run"
        printf '%-28s %-7s %s\n' "$name" "$minutes" "$command"
      done
      exit 0
      ;;
    --modified) modified=yes ;;
    -*)
      say "reproduce.sh: unknown argument '$1'"
      usage >&2
      exit 2
      ;;
    *) names+=("$1") ;;
  esac
  shift
done
if [[ ${#names[@]} -eq 0 ]]; then
  for run in "${runs[@]}"; do names+=("${run%% *}"); done
fi

# Prints the command of a name.
command_of() {
  local run name minutes command
  for run in "${runs[@]}"; do
    read -r name minutes command <<<"$run"
    if [[ "$name" == "$1" ]]; then
      echo "$command"
      return 0
    fi
  done
  return 1
}
programs=()
for name in "${names[@]}"; do
  if ! command="$(command_of "$name")"; then
    say "reproduce.sh: '$name' is none of the names that --list shows"
    exit 2
  fi
  command="${command#mpirun -np 4 }"
  programs+=("${command%% *}")
  [[ "$command" != peers\ * ]] || programs+=(mnist)  # Ours among them.
done
# What is written in Python needs the module, of the Python that has Debian's packages.
python=()
[[ " ${programs[*]} " != *.py\ * ]] || python=(-DBPM_PYTHON=ON -DPython3_EXECUTABLE=/usr/bin/python3)
programs=("${programs[@]/%*.py/bpm_python}")

# A result belongs to a commit.
commit="$(git -C "$root" rev-parse HEAD)"
if [[ -n "$(git -C "$root" status --porcelain -- include examples benchmarks)" ]]; then
  if [[ $modified == no ]]; then
    say "reproduce.sh: include/, examples/ or benchmarks/ have changes that are not committed; commit them" \
      "(or --modified: the results say so)"
    exit 1
  fi
  commit+=", modified"
fi

install_packages g++ cmake ninja-build libeigen3-dev libcli11-dev nlohmann-json3-dev zlib1g-dev libssl-dev \
  libsvm-dev libnlopt-dev libbenchmark-dev libdnnl-dev libopenmpi-dev openmpi-bin python3-sklearn \
  ${python:+python3-dev pybind11-dev}
build="$root/build/reproduce"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
say "Building the programs (release, for this machine) in $build ..."
if ! { cmake -S "$root" --preset release -B "$build" -DBPM_BUILD_EXAMPLES=ON -DBPM_BUILD_BENCHMARKS=ON \
  -DBPM_BUILD_TESTS=OFF -DBPM_FAST_PROGRAMS=ON "${python[@]}" &&
  cmake --build "$build" --parallel "$(nproc)" --target "${programs[@]}"; } >"$scratch/log" 2>&1; then
  cat "$scratch/log" >&2
  say "The build failed; see above."
  exit 1
fi

# A word or a line as a JSON string.
quoted() { printf '"%s"' "$(printf '%s' "$1" | tr -d '\000-\037' | sed 's/[\\"]/\\&/g')"; }

compiler="$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")"
compiler="$("$compiler" --version | head -n 1)"
machine="$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1), $(nproc) threads, $(awk \
  '/^MemTotal/ { printf "%.0f GiB", $2 / 1048576 }' /proc/meminfo)"

mkdir -p "$root/docs/results"
for name in "${names[@]}"; do
  command="$(command_of "$name")"
  say "$name: $command ..."
  launcher=()
  read -r -a words <<<"${command#mpirun -np 4 }"
  if [[ "$command" == mpirun* ]]; then
    launcher=(mpirun -np 4 --oversubscribe --mca mpi_yield_when_idle 1)
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  fi
  program="$(find "$build/examples" "$build/benchmarks" -maxdepth 1 -type f -name "${words[0]}")"
  arguments=("${words[@]:1}")
  if [[ "${words[0]}" == *.py ]]; then
    launcher=(env "PYTHONPATH=$build/python")
    program=/usr/bin/python3
    arguments=(-B "$root/benchmarks/peers/${words[0]}" "${arguments[@]}")
  fi
  case "${words[0]}" in
    bpm_benchmarks)
      # The median of five is what counts, of the tables' own benchmarks.
      arguments+=("--benchmark_filter=^(kernel_block/(linear|polynomial|gaussian)/(float|byte)/|billiard_bounce/geodesic/|expectation_propagation/|eigen_product/|byte_product/)"
        --benchmark_repetitions=5 --benchmark_report_aggregates_only=true
        --benchmark_enable_random_interleaving=true --benchmark_out_format=json
        "--benchmark_out=$scratch/result")
      ;;
    peers)
      # What ran before is still in the load average, above which the program says that its machine is not idle.
      for ((minute = 0; minute < 5; ++minute)); do
        awk '{ exit $1 < 0.5 }' /proc/loadavg || break
        sleep 60
      done
      arguments+=(${LIBSVM_SOURCE:+--libsvm "$LIBSVM_SOURCE"} --quiet --json "$scratch/result")
      ;;
    *) arguments+=(--quiet --json "$scratch/result") ;;
  esac
  OMP_WAIT_POLICY=passive "${launcher[@]}" "$program" "${arguments[@]}" >"$scratch/screen" </dev/null
  {
    printf '{\n"commit": %s,\n"compiler": %s,\n"machine": %s,\n"command": %s,\n"result": ' \
      "$(quoted "$commit")" "$(quoted "$compiler")" "$(quoted "$machine")" "$(quoted "$command")"
    # Google Benchmark writes ratios of zeros as numbers that JSON does not have, and the names of the host and
    # the program's file.
    sed -E -e 's/: -?(nan|inf)(,?)$/: null\2/I' -e '/^ *"(host_name|executable)": /d' "$scratch/result"
    printf '}\n'
  } >"$scratch/whole"
  mv "$scratch/whole" "$root/docs/results/$name.json"
  rm -f "$scratch/result"
done
say "docs/results: ${names[*]}"
