# SPDX-License-Identifier: MIT
# What sanitizers leave out, and why; the run prints it. Names are files without `_test.cpp`.

# Without an entry an area is left out of the thread sanitizer's build: these files run on several threads.
bpm_under_threads(core progress_thread_pool progress_parallel progress)
bpm_under_threads(samplers perceptron/perceptron_runs perceptron/permuted_perceptron
                  perceptron/permuted_perceptron_control perceptron/permuted_perceptron_options
                  perceptron/perceptron_passes_windows billiard/billiard)
bpm_under_threads(gaussian_process ensembles/posterior_ensemble_labels ensembles/posterior_ensemble
                  orthant/orthant_probability)
bpm_under_threads(storage disk_file_mapped)
bpm_under_threads(threads one_vs_rest)

bpm_not_under_addresses(samplers "laws at length: the tests of the chains run the same code once"
  gibbs/kernel_gibbs_law gibbs/kernel_gibbs_orthant billiard/geodesic_chain_mutants billiard/billiard_law
  billiard/billiard_error chains/largest_margin_soft_boundary)
bpm_not_under_addresses(samplers "settings and budgets: what they run is run by the samplers' own tests"
  chains/chain_run billiard/billiard_settings billiard/billiard_kernels
  perceptron/permuted_perceptron_options)
bpm_not_under_addresses(samplers "single chains: billiard_test and kernel_gibbs_test run them"
  billiard/geodesic_chain gibbs/kernel_gibbs_chain)
bpm_not_under_addresses(machine "further pairings of kernels, inputs and samplers instantiate the same code"
  bayes_point_machine_pairs_gaussian bayes_point_machine_pairs_linear bayes_point_machine_pairs_polynomial
  bayes_point_machine_pairs_precomputed bayes_point_machine_pairs_string bayes_point_machine_pairs_own
  bayes_point_machine_input_types run_sampler_chains)
bpm_not_under_addresses(selection "further pairings of kernels, inputs and samplers instantiate the same code"
  choose)
bpm_not_under_addresses(machine "the same fits and predictions, judged otherwise: the tests left in run them"
  fit_warnings strategy bayes_point_machine_drawn_digits prediction_batches bayes_point_machine_votes_of_draws
  bayes_point_machine_precomputed_kernel bayes_point_machine_one_vs_rest)
bpm_not_under_addresses(samplers "numbers judged at length: the tests of the chains run the same code"
  gibbs/log_evidence chains/chain_state_random_directions)
bpm_not_under_addresses(kernel_values "the same bits: instructions, not addresses" blocks_same_bits blocks_same_bits_inputs)
bpm_not_under_addresses(gaussian_process "further kinds of inputs instantiate the same code"
  expectation_propagation/machine_inputs)
bpm_not_under_addresses(gaussian_process "comparisons at length: the tests of edges and of the machine run it"
  expectation_propagation/expectation_propagation expectation_propagation/expectation_propagation_iteration
  expectation_propagation/ep_posterior expectation_propagation/ep_posterior_leave_one_out)
bpm_not_under_addresses(gaussian_process "the same interpolators and orthants, judged otherwise: the tests left in run them"
  interpolation/kernel_interpolator_training interpolation/kernel_interpolator_inputs
  interpolation/kernel_complexity_centre_values interpolation/kernel_complexity ensembles/posterior_ensemble
  orthant/orthant_stages selection/grid_search_kernel_score)
bpm_not_under_addresses(faults "an allocator in the place of the sanitizer's: GCC's release build runs it")
bpm_not_under_addresses(examples "the programs and their tests are GCC's")
bpm_not_under_addresses(benchmarks "the programs and their tests are GCC's")
bpm_not_under_addresses(docs "the documents' numbers: GCC's release build runs them")
bpm_not_under_addresses(openmp "threads of other libraries: GCC's release build runs them")
bpm_not_under_addresses(static "constants: GCC's release build runs them")
bpm_not_under_addresses(platforms "what all other areas do: here for other compilers")
