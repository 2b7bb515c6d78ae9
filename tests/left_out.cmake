# SPDX-License-Identifier: MIT
# What sanitizers leave out, and why; the run prints it. Names are files without `_test.cpp`.

# Without an entry an area is left out of the thread sanitizer's build: these files run on several threads.
bpm_under_threads(core thread_pool parallel progress)
bpm_under_threads(samplers perceptron/ordered_delivery perceptron/permuted_perceptron
                  perceptron/permuted_perceptron_control perceptron/permuted_perceptron_options
                  perceptron/windowed_perceptron perceptron/draw_pieces billiard/billiard)
bpm_under_threads(gaussian_process ensembles/value_sources ensembles/posterior_ensemble
                  orthant/orthant_probability)
bpm_under_threads(storage mapped_file)
bpm_under_threads(threads one_vs_rest)

bpm_not_under_addresses(samplers "laws at length: the tests of the chains run the same code once"
  gibbs/gibbs_law gibbs/gibbs_orthant mutants billiard/billiard_law billiard/billiard_error
  soft_boundary_geometry)
bpm_not_under_addresses(samplers "settings and budgets: what they run is run by the samplers' own tests"
  chains/chain_run billiard/billiard_settings billiard/billiard_kernels
  perceptron/permuted_perceptron_options)
bpm_not_under_addresses(samplers "single chains: billiard_test and kernel_gibbs_test run them"
  billiard/geodesic_chain gibbs/gibbs_chain)
bpm_not_under_addresses(machine "further pairings of kernels, inputs and samplers instantiate the same code"
  pairs_gaussian pairs_linear pairs_polynomial pairs_precomputed pairs_string pairs_own
  input_types chain_samplers choose)
bpm_not_under_addresses(machine "the same fits and predictions, judged otherwise: the tests left in run them"
  strategy drawn_digits batches votes_of_draws precomputed_kernel one_vs_rest)
bpm_not_under_addresses(samplers "numbers judged at length: the tests of the chains run the same code"
  gibbs/log_evidence chains/tangent_directions)
bpm_not_under_addresses(kernel_values "the same bits: instructions, not addresses" same_bits same_bits_inputs)
bpm_not_under_addresses(gaussian_process "further kinds of inputs instantiate the same code"
  expectation_propagation/machine_inputs)
bpm_not_under_addresses(gaussian_process "comparisons at length: the tests of edges and of the machine run it"
  expectation_propagation/expectation_propagation expectation_propagation/ep_iteration
  expectation_propagation/ep_posterior expectation_propagation/leave_one_out)
bpm_not_under_addresses(gaussian_process "the same interpolators and orthants, judged otherwise: the tests left in run them"
  interpolation/interpolator_training interpolation/interpolator_inputs interpolation/precomputed_interpolator
  interpolation/centre_values interpolation/kernel_complexity ensembles/posterior_ensemble
  orthant/covariance_path selection/kernel_score)
bpm_not_under_addresses(faults "an allocator in the place of the sanitizer's: GCC's release build runs it")
bpm_not_under_addresses(examples "the programs and their tests are GCC's")
bpm_not_under_addresses(benchmarks "the programs and their tests are GCC's")
bpm_not_under_addresses(docs "the documents' numbers: GCC's release build runs them")
bpm_not_under_addresses(openmp "threads of other libraries: GCC's release build runs them")
bpm_not_under_addresses(static "constants: GCC's release build runs them")
bpm_not_under_addresses(platforms "what all other areas do: here for other compilers")
