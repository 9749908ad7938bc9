// Written by src/bindings/generate.py from the headers: do not edit.
'use strict';

// The names are those of C. A function: its number, what it returns, its parameters.
exports.functions = {
  pool_version_number: [0, 'i4', []], // 
  pool_version_text: [1, 's', []], // 
  pool_status_name: [2, 's', ['i4']], // status
  pool_status_text: [3, 's', ['i4']], // status
  pool_status_class: [4, 'u4', ['i4']], // status
  pool_error_class_name: [5, 's', ['u4']], // error_class
  pool_last_error: [6, 'p', []], // 
  pool_error_read: [7, 'i4', ['p']], // slot
  pool_error_set: [8, 'i4', ['i4', 's']], // status, message
  pool_text_free: [9, 'v', ['p']], // text
  pool_cancel_create: [10, 'i4', ['p']], // cancel
  pool_cancel_request: [11, 'v', ['p']], // cancel
  pool_cancel_requested: [12, 'i4', ['p']], // cancel
  pool_cancel_destroy: [13, 'v', ['p']], // cancel
  pool_device_get_info: [14, 'i4', ['p', 'p']], // device, info
  pool_device_describe: [15, 'i4', ['p', 'u4', 'p']], // device, format, text
  pool_device_get_peer: [16, 'i4', ['p', 'p', 'p']], // from, to, info
  pool_device_index: [17, 'i4', ['p']], // device
  pool_device_ordinal: [18, 'i4', ['p']], // device
  pool_device_gpu: [19, 'p', ['p']], // device
  pool_device_partition: [20, 'i4', ['p']], // device
  pool_device_uuid: [21, 's', ['p']], // device
  pool_device_handle: [22, 'i4', ['p', 'p']], // device, handle
  pool_device_context: [23, 'i4', ['p', 'p']], // device, context
  pool_device_get_limit: [24, 'i4', ['p', 'u4', 'p']], // device, limit, bytes
  pool_device_set_limit: [25, 'i4', ['p', 'u4', 'u8']], // device, limit, bytes
  pool_device_get_rate: [26, 'i4', ['p', 'p']], // device, rate
  pool_device_set_rate: [27, 'i4', ['p', 'u8']], // device, rate
  pool_measure_rates: [28, 'i4', ['p']], // pool
  pool_profiler_start: [29, 'i4', ['p']], // device
  pool_profiler_stop: [30, 'i4', ['p']], // device
  pool_device_drain: [31, 'i4', ['p']], // device
  pool_device_wait_drained: [32, 'i4', ['p', 'u8']], // device, timeout_ns
  pool_device_resume: [33, 'i4', ['p']], // device
  pool_device_quarantine: [34, 'i4', ['p', 's']], // device, reason
  pool_device_probe: [35, 'i4', ['p', 'u8']], // device, timeout_ns
  pool_device_abandon: [36, 'i4', ['p', 's']], // device, reason
  pool_device_readmit: [37, 'i4', ['p']], // device
  pool_host_get_info: [38, 'i4', ['p']], // info
  pool_device_get_compiler: [39, 'i4', ['p', 'p']], // device, compiler
  pool_params_init: [40, 'v', ['p', 'u8']], // params, struct_size
  pool_create: [41, 'i4', ['p', 'p']], // pool, params
  pool_retain: [42, 'p', ['p']], // pool
  pool_destroy: [43, 'i4', ['p']], // pool
  pool_device_count: [44, 'u8', ['p']], // pool
  pool_usable_count: [45, 'u8', ['p']], // pool
  pool_device_at: [46, 'i4', ['p', 'u8', 'p']], // pool, index, device
  pool_device_by_ordinal: [47, 'i4', ['p', 'i4', 'p']], // pool, ordinal, device
  pool_device_by_uuid: [48, 'i4', ['p', 's', 'p']], // pool, uuid, device
  pool_device_by_pci: [49, 'i4', ['p', 's', 'p']], // pool, address, device
  pool_device_each: [50, 'i4', ['p', 'p', 'p', 'p']], // pool, visit, user, answer
  pool_describe: [51, 'i4', ['p', 'u4', 'p']], // pool, format, text
  pool_next_device: [52, 'i4', ['p', 'p']], // pool, device
  pool_best_device: [53, 'i4', ['p', 'p']], // pool, device
  pool_pick_device: [54, 'i4', ['p', 'p', 'p']], // pool, pick, device
  pool_bind: [55, 'i4', ['p']], // device
  pool_unbind: [56, 'i4', ['p']], // device
  pool_bound_device: [57, 'i4', ['p', 'p']], // pool, device
  pool_check_device: [58, 'i4', ['p', 'i4']], // pool, ordinal
  pool_run_on: [59, 'i4', ['p', 'p', 'p']], // device, task, arg
  pool_pointer_device: [60, 'i4', ['p', 'p', 'p']], // pool, ptr, device
  pool_get_health: [61, 'i4', ['p', 'p']], // pool, info
  pool_setting_at: [62, 'i4', ['u8', 'p']], // index, setting
  pool_setting_by_name: [63, 'i4', ['s', 'p']], // name, setting
  pool_stream_params_init: [64, 'v', ['p', 'u8']], // params, struct_size
  pool_stream_get_priority_range: [65, 'i4', ['p', 'p', 'p']], // device, least, most_urgent
  pool_stream_create: [66, 'i4', ['p', 'p', 'p']], // device, params, stream
  pool_stream_adopt: [67, 'i4', ['p', 'p', 'p']], // device, handle, stream
  pool_stream_default: [68, 'i4', ['p', 'p']], // device, stream
  pool_stream_destroy: [69, 'i4', ['p']], // stream
  pool_stream_device: [70, 'p', ['p']], // stream
  pool_stream_handle: [71, 'i4', ['p', 'p']], // stream, handle
  pool_stream_get_priority: [72, 'i4', ['p', 'p']], // stream, priority
  pool_stream_get_flags: [73, 'i4', ['p', 'p']], // stream, flags
  pool_stream_query: [74, 'i4', ['p']], // stream
  pool_stream_synchronize: [75, 'i4', ['p']], // stream
  pool_stream_wait: [76, 'i4', ['p', 'u8']], // stream, timeout_ns
  pool_device_synchronize: [77, 'i4', ['p']], // device
  pool_device_wait: [78, 'i4', ['p', 'u8']], // device, timeout_ns
  pool_stream_wait_event: [79, 'i4', ['p', 'p']], // stream, event
  pool_stream_fork: [80, 'i4', ['p', 'p', 'u8']], // stream, streams, count
  pool_stream_join: [81, 'i4', ['p', 'p', 'u8']], // stream, streams, count
  pool_stream_call: [82, 'i4', ['p', 'p', 'p']], // stream, function, user
  pool_event_create: [83, 'i4', ['p', 'u4', 'p']], // device, flags, event
  pool_event_share: [84, 'i4', ['p', 'p']], // event, shared
  pool_event_open: [85, 'i4', ['p', 'p', 'p']], // device, shared, event
  pool_event_destroy: [86, 'i4', ['p']], // event
  pool_event_device: [87, 'p', ['p']], // event
  pool_event_handle: [88, 'i4', ['p', 'p']], // event, handle
  pool_event_record: [89, 'i4', ['p', 'p']], // event, stream
  pool_event_query: [90, 'i4', ['p']], // event
  pool_event_synchronize: [91, 'i4', ['p']], // event
  pool_event_wait: [92, 'i4', ['p', 'u8']], // event, timeout_ns
  pool_event_elapsed: [93, 'i4', ['p', 'p', 'p']], // start, end, milliseconds
  pool_request_init: [94, 'v', ['p', 'u8']], // request, struct_size
  pool_acquire: [95, 'i4', ['p', 'p', 'p']], // pool, request, lease
  pool_acquire_async: [96, 'i4', ['p', 'p', 'p', 'p', 'p']], // pool, request, hook, user, ticket
  pool_ticket_fd: [97, 'i4', ['p', 'p']], // ticket, fd
  pool_ticket_take: [98, 'i4', ['p', 'p']], // ticket, lease
  pool_ticket_destroy: [99, 'i4', ['p']], // ticket
  pool_release: [100, 'i4', ['p']], // lease
  pool_lease_device_count: [101, 'u4', ['p']], // lease
  pool_lease_device: [102, 'i4', ['p', 'u4', 'p']], // lease, index, device
  pool_lease_stream: [103, 'i4', ['p', 'u4', 'p']], // lease, index, stream
  pool_lease_get_info: [104, 'i4', ['p', 'p']], // lease, info
  pool_lease_get_usage: [105, 'i4', ['p', 'u4', 'p']], // lease, index, usage
  pool_get_lease_counts: [106, 'i4', ['p', 'p']], // pool, counts
  pool_buffer_params_init: [107, 'v', ['p', 'u8']], // params, struct_size
  pool_buffer_create: [108, 'i4', ['p', 'p', 'p']], // device, params, buffer
  pool_buffer_alloc: [109, 'i4', ['p', 'u8', 'p']], // device, bytes, buffer
  pool_buffer_zeroed: [110, 'i4', ['p', 'u8', 'p']], // device, bytes, buffer
  pool_buffer_from_host: [111, 'i4', ['p', 'p', 'u8', 'p']], // device, data, bytes, buffer
  pool_buffer_adopt: [112, 'i4', ['p', 'u8', 'u8', 'p']], // device, address, bytes, buffer
  pool_buffer_slice: [113, 'i4', ['p', 'u8', 'u8', 'p']], // parent, offset, bytes, slice
  pool_buffer_destroy: [114, 'i4', ['p']], // buffer
  pool_buffer_destroy_on: [115, 'i4', ['p', 'p']], // buffer, stream
  pool_buffer_share: [116, 'i4', ['p', 'p']], // buffer, shared
  pool_buffer_open: [117, 'i4', ['p', 'p', 'p']], // device, shared, buffer
  pool_buffer_address: [118, 'i4', ['p', 'p']], // buffer, address
  pool_buffer_bytes: [119, 'u8', ['p']], // buffer
  pool_buffer_flags: [120, 'u4', ['p']], // buffer
  pool_buffer_device: [121, 'p', ['p']], // buffer
  pool_buffer_span: [122, 'i4', ['p', 'u8', 'u8', 'u4', 'p']], // buffer, offset, count, form, span
  pool_buffer_fill8: [123, 'i4', ['p', 'u8', 'u8', 'u1', 'p']], // buffer, offset, count, value, stream
  pool_buffer_fill16: [124, 'i4', ['p', 'u8', 'u8', 'u2', 'p']], // buffer, offset, count, value, stream
  pool_buffer_fill32: [125, 'i4', ['p', 'u8', 'u8', 'u4', 'p']], // buffer, offset, count, value, stream
  pool_copy_to_device: [126, 'i4', ['p', 'u8', 'p', 'u8', 'p']], // to, offset, from, bytes, stream
  pool_copy_to_host: [127, 'i4', ['p', 'p', 'u8', 'u8', 'p']], // to, from, offset, bytes, stream
  pool_copy_device: [128, 'i4', ['p', 'u8', 'p', 'u8', 'u8', 'p']], // to, to_offset, from, from_offset, bytes, stream
  pool_copy_2d: [129, 'i4', ['p', 'p', 'u8', 'u8', 'p']], // to, from, row_bytes, rows, stream
  pool_device_enable_peer: [130, 'i4', ['p', 'p']], // device, peer
  pool_pinned_create: [131, 'i4', ['p', 'u8', 'u4', 'p']], // device, bytes, flags, pinned
  pool_pinned_register: [132, 'i4', ['p', 'p', 'u8', 'u4', 'p']], // device, data, bytes, flags, pinned
  pool_pinned_destroy: [133, 'i4', ['p']], // pinned
  pool_pinned_data: [134, 'p', ['p']], // pinned
  pool_pinned_bytes: [135, 'u8', ['p']], // pinned
  pool_pinned_flags: [136, 'u4', ['p']], // pinned
  pool_pinned_device: [137, 'p', ['p']], // pinned
  pool_memory_get_info: [138, 'i4', ['p', 'p']], // device, info
  pool_memory_reset_high_water: [139, 'i4', ['p']], // device
  pool_memory_set_threshold: [140, 'i4', ['p', 'u8']], // device, bytes
  pool_pinned_set_threshold: [141, 'i4', ['p', 'u8']], // device, bytes
  pool_memory_trim: [142, 'i4', ['p', 'u8']], // device, keep_bytes
  pool_memory_handle: [143, 'i4', ['p', 'p']], // device, handle
  pool_memory_adopt: [144, 'i4', ['p', 'p']], // device, handle
  pool_exec_init: [145, 'v', ['p', 'u8']], // exec, struct_size
  pool_field_count: [146, 'u8', []], // 
  pool_field_at: [147, 'p', ['u8']], // index
  pool_field_by_name: [148, 'p', ['s']], // name
  pool_field_params_init: [149, 'v', ['p', 'u8']], // params, struct_size
  pool_field_create: [150, 'i4', ['p', 'p']], // params, field
  pool_field_retain: [151, 'p', ['p']], // field
  pool_field_destroy: [152, 'v', ['p']], // field
  pool_field_name: [153, 's', ['p']], // field
  pool_field_bits: [154, 'u4', ['p']], // field
  pool_field_element_bytes: [155, 'u8', ['p']], // field
  pool_field_two_adicity: [156, 'u4', ['p']], // field
  pool_field_degree: [157, 'u4', ['p']], // field
  pool_field_base: [158, 'p', ['p']], // field
  pool_field_fingerprint: [159, 'i4', ['p', 'p']], // field, fingerprint
  pool_field_modulus: [160, 'i4', ['p', 'p']], // field, modulus
  pool_field_generator: [161, 'i4', ['p', 'u4', 'p']], // field, form, generator
  pool_field_root_of_unity: [162, 'i4', ['p', 's', 'u4', 'u4', 'p']], // field, convention, log2_order, form, root
  pool_field_parse: [163, 'i4', ['p', 's', 'u4', 'p']], // field, string, form, element
  pool_field_format: [164, 'i4', ['p', 'u4', 'p', 'u4', 'p', 'u8', 'p']], // field, form, element, radix, string, bytes, needed
  pool_field_check: [165, 'i4', ['p', 'p', 'u8', 'p']], // field, elements, count, first_bad
  pool_field_to_montgomery: [166, 'i4', ['p', 'p', 'u8', 'p']], // field, standard, count, montgomery
  pool_field_from_montgomery: [167, 'i4', ['p', 'p', 'u8', 'p']], // field, montgomery, count, standard
  pool_field_from_bytes: [168, 'i4', ['p', 'u8', 'u4', 'p', 'u8', 'u4', 'p']], // field, value_bytes, byte_order, values, count, form, elements
  pool_field_to_bytes: [169, 'i4', ['p', 'u4', 'p', 'u8', 'u8', 'u4', 'p']], // field, form, elements, count, value_bytes, byte_order, values
  pool_field_reduce_bytes: [170, 'i4', ['p', 'u8', 'u4', 'p', 'u8', 'u4', 'p']], // field, value_bytes, byte_order, values, count, form, elements
  pool_random_scalars: [171, 'i4', ['p', 'u8', 'u8', 'u4', 'p']], // field, seed, count, form, elements
  pool_ntt_domain_params_init: [172, 'v', ['p', 'u8']], // params, struct_size
  pool_ntt_domain_create: [173, 'i4', ['p', 'p']], // params, domain
  pool_ntt_domain_retain: [174, 'p', ['p']], // domain
  pool_ntt_domain_destroy: [175, 'i4', ['p']], // domain
  pool_ntt_domain_field: [176, 'p', ['p']], // domain
  pool_ntt_domain_log_size: [177, 'u4', ['p']], // domain
  pool_ntt_domain_root: [178, 'i4', ['p', 'u4', 'p']], // domain, form, root
  pool_ntt_domain_coset: [179, 'i4', ['p', 'u4', 'p']], // domain, form, coset
  pool_ntt_domain_power: [180, 'i4', ['p', 'u4', 'p']], // domain, log_size, power
  pool_ntt_domain_bytes: [181, 'i4', ['p', 'p', 'p']], // domain, device, bytes
  pool_ntt_params_init: [182, 'v', ['p', 'u8']], // params, struct_size
  pool_ntt: [183, 'i4', ['p', 'p', 'p', 'p']], // params, exec, in, out
  pool_ntt_workspace: [184, 'i4', ['p', 'p', 'p', 'p', 'p']], // params, exec, in, out, bytes
  pool_ntt_warm_up: [185, 'i4', ['p', 'p']], // domain, exec
  pool_ntt_extend_params_init: [186, 'v', ['p', 'u8']], // params, struct_size
  pool_ntt_extend: [187, 'i4', ['p', 'p', 'p', 'p', 'p']], // params, exec, in, coefficients, out
  pool_ntt_extend_workspace: [188, 'i4', ['p', 'p', 'p', 'p', 'p', 'p']], // params, exec, in, coefficients, out, bytes
  pool_ntt_extend_warm_up: [189, 'i4', ['p', 'p']], // params, exec
  pool_poseidon_count: [190, 'u8', []], // 
  pool_poseidon_name_at: [191, 's', ['u8']], // index
  pool_poseidon_by_name: [192, 'i4', ['s', 'p']], // name, set
  pool_poseidon_params_init: [193, 'v', ['p', 'u8']], // params, struct_size
  pool_poseidon_create: [194, 'i4', ['p', 'p']], // params, set
  pool_poseidon_retain: [195, 'p', ['p']], // set
  pool_poseidon_destroy: [196, 'v', ['p']], // set
  pool_poseidon_name: [197, 's', ['p']], // set
  pool_poseidon_field: [198, 'p', ['p']], // set
  pool_poseidon_width: [199, 'u4', ['p']], // set
  pool_poseidon_max_inputs: [200, 'u4', ['p']], // set
  pool_poseidon_rate: [201, 'u4', ['p']], // set
  pool_poseidon_digest_elements: [202, 'u4', ['p']], // set
  pool_poseidon_fingerprint: [203, 'i4', ['p', 'p']], // set, fingerprint
  pool_poseidon_warm_up: [204, 'i4', ['p', 'p']], // set, exec
  pool_poseidon_permute: [205, 'i4', ['p', 'p', 'p', 'p']], // set, exec, states, results
  pool_poseidon_permute_workspace: [206, 'i4', ['p', 'p', 'p', 'p', 'p']], // set, exec, states, results, bytes
  pool_poseidon_hash: [207, 'i4', ['p', 'p', 'p', 'u4', 'p']], // set, exec, inputs, elements, digests
  pool_poseidon_hash_workspace: [208, 'i4', ['p', 'p', 'p', 'u4', 'p', 'p']], // set, exec, inputs, elements, digests, bytes
  pool_poseidon_sponge_params_init: [209, 'v', ['p', 'u8']], // params, struct_size
  pool_poseidon_sponge: [210, 'i4', ['p', 'p', 'p', 'p', 'p']], // set, exec, params, messages, results
  pool_poseidon_sponge_workspace: [211, 'i4', ['p', 'p', 'p', 'p', 'p', 'p']], // set, exec, params, messages, results, bytes
  pool_merkle_params_init: [212, 'v', ['p', 'u8']], // params, struct_size
  pool_merkle_get_shape: [213, 'i4', ['p', 'p', 'u8', 'p']], // set, params, leaves, shape
  pool_poseidon_merkle_build: [214, 'i4', ['p', 'p', 'p', 'p', 'p']], // set, exec, params, leaves, levels
  pool_poseidon_merkle_build_workspace: [215, 'i4', ['p', 'p', 'p', 'p', 'p', 'p']], // set, exec, params, leaves, levels, bytes
  pool_poseidon_merkle_shards: [216, 'i4', ['p', 'p', 'p', 'p', 'p']], // set, exec, params, leaves, digests
  pool_poseidon_merkle_open: [217, 'i4', ['p', 'p', 'p', 'u8', 'p', 'p', 'u8', 'p']], // set, exec, params, leaf_count, leaves, levels, index, path
  pool_poseidon_merkle_open_workspace: [218, 'i4', ['p', 'p', 'p', 'u8', 'p', 'p', 'u8', 'p', 'p']], // set, exec, params, leaf_count, leaves, levels, index, path, bytes
  pool_poseidon_merkle_verify: [219, 'i4', ['p', 'p', 'u4', 'p', 'p', 'u8', 'p', 'p']], // set, params, form, root, leaf, index, path, is_member
  pool_matrix_commit_params_init: [220, 'v', ['p', 'u8']], // params, struct_size
  pool_matrix_commit_get_shape: [221, 'i4', ['p', 'p', 'u4', 'p']], // params, matrices, count, shape
  pool_matrix_commit: [222, 'i4', ['p', 'p', 'p', 'u4', 'p']], // params, exec, matrices, count, levels
  pool_matrix_commit_workspace: [223, 'i4', ['p', 'p', 'p', 'u4', 'p', 'p']], // params, exec, matrices, count, levels, bytes
  pool_matrix_commit_shards: [224, 'i4', ['p', 'p', 'p', 'u4', 'p']], // params, exec, matrices, count, digests
  pool_extend_commit: [225, 'i4', ['p', 'p', 'p', 'u4', 'p']], // params, exec, extensions, count, levels
  pool_extend_commit_workspace: [226, 'i4', ['p', 'p', 'p', 'u4', 'p', 'p']], // params, exec, extensions, count, levels, bytes
  pool_matrix_commit_warm_up: [227, 'i4', ['p', 'p']], // params, exec
  pool_matrix_open: [228, 'i4', ['p', 'p', 'p', 'u4', 'p', 'p', 'u8', 'p', 'p']], // params, exec, matrices, count, levels, indices, index_count, rows, paths
  pool_matrix_open_workspace: [229, 'i4', ['p', 'p', 'p', 'u4', 'p', 'u8', 'p', 'p', 'p']], // params, exec, matrices, count, levels, index_count, rows, paths, bytes
  pool_matrix_verify: [230, 'i4', ['p', 'u4', 'p', 'u4', 'p', 'u8', 'p', 'p', 'p']], // params, form, matrices, count, cap, index, row, path, is_member
  pool_curve_count: [231, 'u8', []], // 
  pool_curve_at: [232, 'p', ['u8']], // index
  pool_curve_by_name: [233, 'p', ['s']], // name
  pool_curve_params_init: [234, 'v', ['p', 'u8']], // params, struct_size
  pool_curve_create: [235, 'i4', ['p', 'p']], // params, curve
  pool_curve_retain: [236, 'p', ['p']], // curve
  pool_curve_destroy: [237, 'v', ['p']], // curve
  pool_curve_name: [238, 's', ['p']], // curve
  pool_curve_base_field: [239, 'p', ['p']], // curve
  pool_curve_scalar_field: [240, 'p', ['p']], // curve
  pool_curve_degree: [241, 'u4', ['p']], // curve
  pool_curve_coordinate_bytes: [242, 'u8', ['p']], // curve
  pool_curve_fingerprint: [243, 'i4', ['p', 'p']], // curve, fingerprint
  pool_curve_cofactor: [244, 'i4', ['p', 'u8', 'p']], // curve, bytes, cofactor
  pool_point_bytes: [245, 'u8', ['p', 'u4']], // curve, layout
  pool_points_check: [246, 'i4', ['p', 'p', 'p', 'u8', 'u4', 'p']], // curve, format, points, count, checks, first_bad
  pool_points_convert: [247, 'i4', ['p', 'p', 'p', 'u8', 'u4', 'p', 'p']], // curve, from_format, from, count, checks, to_format, to
  pool_encoding_bytes: [248, 'u8', ['p', 'u4']], // curve, encoding
  pool_points_encode: [249, 'i4', ['p', 'p', 'p', 'u8', 'u4', 'u8', 'p']], // curve, format, points, count, encoding, stride, encoded
  pool_points_decode: [250, 'i4', ['p', 'u4', 'u8', 'p', 'u8', 'u4', 'p', 'p']], // curve, encoding, stride, encoded, count, checks, format, points
  pool_point_add: [251, 'i4', ['p', 'p', 'p', 'p', 'p']], // curve, format, p, q, sum
  pool_point_mul: [252, 'i4', ['p', 'p', 'p', 'p', 'u8', 'p']], // curve, format, p, scalar, scalar_bytes, product
  pool_point_equal: [253, 'i4', ['p', 'p', 'p', 'p', 'p', 'p']], // curve, p_format, p, q_format, q, is_equal
  pool_curve_generator: [254, 'i4', ['p', 'p', 'p']], // curve, format, point
  pool_random_points: [255, 'i4', ['p', 'u8', 'u8', 'p', 'p', 'p']], // curve, seed, count, format, points, scalars
  pool_ecntt_params_init: [256, 'v', ['p', 'u8']], // params, struct_size
  pool_ecntt: [257, 'i4', ['p', 'p', 'p', 'p']], // params, exec, in, out
  pool_ecntt_workspace: [258, 'i4', ['p', 'p', 'p', 'p', 'p']], // params, exec, in, out, bytes
  pool_ecntt_warm_up: [259, 'i4', ['p', 'p']], // curve, exec
  pool_fri_fold_params_init: [260, 'v', ['p', 'u8']], // params, struct_size
  pool_fri_fold: [261, 'i4', ['p', 'p', 'p', 'p']], // params, exec, in, out
  pool_fri_fold_workspace: [262, 'i4', ['p', 'p', 'p', 'p', 'p']], // params, exec, in, out, bytes
  pool_fri_layer: [263, 'i4', ['p', 'p', 'u4', 'i4', 'p', 'p']], // field, layer, log_arity, is_bit_reversed, matrices, count
  pool_fri_fold_commit: [264, 'i4', ['p', 'u4', 'p', 'p', 'p', 'p', 'p']], // params, next_log_arity, commit, exec, in, out, levels
  pool_fri_fold_commit_workspace: [265, 'i4', ['p', 'u4', 'p', 'p', 'p', 'p', 'p', 'p']], // params, next_log_arity, commit, exec, in, out, levels, bytes
  pool_matrix_evaluate_params_init: [266, 'v', ['p', 'u8']], // params, struct_size
  pool_matrix_evaluate: [267, 'i4', ['p', 'p', 'p', 'p', 'u4', 'p']], // params, exec, matrix, points, count, values
  pool_matrix_evaluate_workspace: [268, 'i4', ['p', 'p', 'p', 'u4', 'p']], // params, exec, matrix, count, bytes
  pool_matrix_bit_reverse: [269, 'i4', ['p', 'p', 'p', 'p']], // field, exec, in, out
  pool_fri_warm_up: [270, 'i4', ['p', 'p']], // field, exec
  pool_file_kind_name: [271, 's', ['u4']], // kind
  pool_file_params_init: [272, 'v', ['p', 'u8']], // params, struct_size
  pool_file_open: [273, 'i4', ['s', 'p', 'p']], // path, params, file
  pool_file_destroy: [274, 'v', ['p']], // file
  pool_file_get_info: [275, 'i4', ['p', 'p']], // file, info
  pool_file_get_section: [276, 'i4', ['p', 's', 'p']], // file, name, section
  pool_file_section_at: [277, 'i4', ['p', 'u8', 'p']], // file, index, section
  pool_stream_begin_capture: [278, 'i4', ['p']], // stream
  pool_stream_end_capture: [279, 'i4', ['p', 'p']], // stream, graph
  pool_graph_launch: [280, 'i4', ['p', 'p']], // graph, stream
  pool_graph_update: [281, 'i4', ['p', 'p']], // graph, stream
  pool_graph_destroy: [282, 'i4', ['p']], // graph
  pool_graph_device: [283, 'p', ['p']], // graph
  pool_log_set: [284, 'v', ['p', 'p', 'u4']], // callback, user, level
  pool_log_write: [285, 'v', ['u4', 's']], // level, message
  pool_metrics: [286, 'i4', ['p', 'u4', 'p']], // pool, format, text
  pool_set_phase_timing: [287, 'i4', ['p', 'i4']], // pool, level
  pool_module_compile: [288, 'i4', ['p', 'p', 'p']], // device, params, module
  pool_module_build: [289, 'i4', ['p', 'i4', 'u4', 'p', 'p']], // params, compute_capability, form, image, size
  pool_image_free: [290, 'v', ['p']], // image
  pool_module_load: [291, 'i4', ['p', 'p', 'u8', 'p']], // device, image, size, module
  pool_module_load_file: [292, 'i4', ['p', 's', 'p']], // device, path, module
  pool_module_destroy: [293, 'i4', ['p']], // module
  pool_module_device: [294, 'p', ['p']], // module
  pool_module_symbol: [295, 's', ['p', 's']], // module, expression
  pool_module_variable: [296, 'i4', ['p', 's', 'p', 'p']], // module, name, address, bytes
  pool_module_handle: [297, 'i4', ['p', 'p']], // module, handle
  pool_kernel_handle: [298, 'i4', ['p', 'p']], // kernel, handle
  pool_kernel_get: [299, 'i4', ['p', 's', 'p']], // module, name, kernel
  pool_kernel_get_info: [300, 'i4', ['p', 'p']], // kernel, info
  pool_kernel_get_parameter: [301, 'i4', ['p', 'u8', 'p', 'p']], // kernel, index, offset, bytes
  pool_kernel_set_carveout: [302, 'i4', ['p', 'i4']], // kernel, percent
  pool_kernel_get_carveout: [303, 'i4', ['p', 'p']], // kernel, percent
  pool_kernel_get_occupancy: [304, 'i4', ['p', 'u4', 'u8', 'p']], // kernel, block_threads, dynamic_shared_bytes, blocks_per_multiprocessor
  pool_kernel_get_best_block: [305, 'i4', ['p', 'u8', 'p', 'p']], // kernel, dynamic_shared_bytes, block_threads, blocks
  pool_kernel_get_clusters: [306, 'i4', ['p', 'p', 'p', 'p']], // kernel, shape, largest, resident
  pool_launch_shape_for: [307, 'i4', ['u8', 'p']], // n, shape
  pool_launch: [308, 'i4', ['p', 'p', 'p', 'p']], // kernel, shape, arguments, stream
  pool_warm_up: [309, 'i4', ['p', 'p', 'p', 'u8']], // pool, exec, modules, count
  pool_cache_directory: [310, 'i4', ['p', 'u8']], // path, size
  pool_cache_each: [311, 'i4', ['p', 'p']], // visit, user
  pool_cache_verify: [312, 'i4', ['p', 'p']], // kept, deleted
  pool_cache_clear: [313, 'i4', ['p']], // deleted
  pool_pack_at: [314, 'i4', ['u8', 'p']], // index, info
  pool_pack_build: [315, 'i4', ['s', 'p', 'p']], // directory, params, info
  pool_pack_cache: [316, 'i4', ['s', 'i4', 'p', 'p']], // directory, compute_capability, info, left_out
  pool_pack_unpack: [317, 'i4', ['s', 'p']], // path, info
  pool_pack_verify: [318, 'i4', ['s', 'p']], // path, info
  pool_bases_params_init: [319, 'v', ['p', 'u8']], // params, struct_size
  pool_bases_create: [320, 'i4', ['p', 'p', 'p', 'p']], // params, exec, points, bases
  pool_bases_create_workspace: [321, 'i4', ['p', 'p', 'p', 'p', 'p']], // params, exec, points, bases_bytes, bytes
  pool_bases_load_workspace: [322, 'i4', ['p', 'p', 's', 'p', 'p']], // params, exec, path, bases_bytes, bytes
  pool_bases_retain: [323, 'p', ['p']], // bases
  pool_bases_destroy: [324, 'i4', ['p']], // bases
  pool_bases_curve: [325, 'p', ['p']], // bases
  pool_bases_device: [326, 'p', ['p']], // bases
  pool_bases_count: [327, 'u8', ['p']], // bases
  pool_bases_bytes: [328, 'u8', ['p']], // bases
  pool_bases_precompute_factor: [329, 'u4', ['p']], // bases
  pool_bases_window_bits: [330, 'u4', ['p']], // bases
  pool_bases_fingerprint: [331, 'i4', ['p', 'p']], // bases, fingerprint
  pool_bases_find: [332, 'i4', ['p', 'p', 'u4', 'p']], // device, fingerprint, factor, bases
  pool_bases_save: [333, 'i4', ['p', 's']], // bases, path
  pool_bases_load: [334, 'i4', ['p', 'p', 's', 'p']], // params, exec, path, bases
  pool_msm_params_init: [335, 'v', ['p', 'u8']], // params, struct_size
  pool_msm: [336, 'i4', ['p', 'p', 'p', 'p', 'p']], // params, exec, points, scalars, results
  pool_msm_workspace: [337, 'i4', ['p', 'p', 'p', 'p', 'p', 'p']], // params, exec, points, scalars, results, bytes
  pool_msm_joint_params_init: [338, 'v', ['p', 'u8']], // params, struct_size
  pool_msm_joint: [339, 'i4', ['p', 'p', 'p', 'u4', 'p']], // params, exec, terms, count, results
  pool_msm_joint_workspace: [340, 'i4', ['p', 'p', 'p', 'u4', 'p', 'p']], // params, exec, terms, count, results, bytes
  pool_msm_warm_up: [341, 'i4', ['p', 'p']], // curve, exec
  pool_resident_params_init: [342, 'v', ['p', 'u8']], // params, struct_size
  pool_resident_create: [343, 'i4', ['p', 'p', 'p']], // pool, params, resident
  pool_resident_destroy: [344, 'i4', ['p']], // resident
  pool_resident_open: [345, 'i4', ['p', 'p', 'p']], // resident, exec, use
  pool_resident_close: [346, 'i4', ['p']], // use
  pool_resident_bases: [347, 'p', ['p']], // use
  pool_resident_buffer: [348, 'p', ['p']], // use
  pool_resident_open_workspace: [349, 'i4', ['p', 'p', 'p']], // resident, exec, bytes
  pool_resident_msm_workspace: [350, 'i4', ['p', 'p', 'p', 'p', 'p', 'p']], // resident, params, exec, scalars, results, bytes
  pool_resident_msm_joint_workspace: [351, 'i4', ['p', 'p', 'p', 'p', 'u4', 'p', 'p']], // residents, params, exec, terms, count, results, bytes
  pool_resident_bytes: [352, 'u8', ['p']], // resident
  pool_resident_evict: [353, 'i4', ['p', 'p']], // resident, device
  pool_resident_get_info: [354, 'i4', ['p', 'p', 'p']], // resident, device, info
  pool_sim_set_faults: [355, 'i4', ['s']], // rules
  pool_sim_resume: [356, 'i4', []], // 
  pool_sim_set_reports: [357, 'i4', ['u4']], // reports
  pool_sim_get_last_fault: [358, 'i4', ['p']], // fault
  pool_sim_class_name: [359, 's', ['u4']], // index
  pool_sim_kernel_stats_each: [360, 'i4', ['p', 'p']], // visit, user
  pool_sim_kernel_stats_reset: [361, 'i4', []], // 
  pool_sim_kernel_stats_text: [362, 'i4', ['u4', 'p']], // format, text
  pool_sim_profile_text: [363, 'i4', ['u4', 'p']], // format, text
  pool_sim_leaks: [364, 'i4', ['u4', 'p', 'p']], // format, count, text
  pool_trace_set: [365, 'v', ['p', 'p']], // hook, user
  pool_device_get_tuning: [366, 'i4', ['p', 'p']], // device, info
  pool_tuning_create: [367, 'i4', ['p', 'p']], // device, tuning
  pool_tuning_destroy: [368, 'v', ['p']], // tuning
  pool_tuning_set: [369, 'i4', ['p', 's', 'u4']], // tuning, name, value
  pool_tuning_get: [370, 'i4', ['p', 's', 'p']], // tuning, name, value
  pool_tuning_each: [371, 'i4', ['p', 'p', 'p']], // tuning, visit, user
  pool_tuning_path: [372, 'i4', ['p', 'p', 'u8']], // device, path, size
  pool_tuning_write: [373, 'i4', ['p', 's']], // tuning, path
  pool_tuning_read: [374, 'i4', ['s', 'p']], // path, tuning
  pool_vector_add: [375, 'i4', ['p', 'p', 'p', 'p', 'p']], // field, exec, a, b, out
  pool_vector_sub: [376, 'i4', ['p', 'p', 'p', 'p', 'p']], // field, exec, a, b, out
  pool_vector_mul: [377, 'i4', ['p', 'p', 'p', 'p', 'p']], // field, exec, a, b, out
  pool_vector_scale: [378, 'i4', ['p', 'p', 'p', 'p', 'p']], // field, exec, scalar, a, out
  pool_vector_inverse: [379, 'i4', ['p', 'p', 'p', 'p']], // field, exec, a, out
  pool_vector_bit_reverse: [380, 'i4', ['p', 'p', 'p', 'p']], // field, exec, a, out
  pool_vector_transpose: [381, 'i4', ['p', 'p', 'u8', 'u8', 'p', 'p']], // field, exec, rows, columns, a, out
  pool_vector_powers: [382, 'i4', ['p', 'p', 'p', 'p']], // field, exec, base, out
  pool_vector_evaluate: [383, 'i4', ['p', 'p', 'p', 'p', 'p']], // field, exec, a, point, value
  pool_vector_workspace: [384, 'i4', ['p', 'p', 'u4', 'p', 'p', 'p', 'p']], // field, exec, operation, a, b, out, bytes
  pool_vector_warm_up: [385, 'i4', ['p', 'p']], // field, exec
  pool_virtual_granularity: [386, 'i4', ['p', 'p']], // device, bytes
  pool_physical_create: [387, 'i4', ['p', 'u8', 'u4', 'p']], // device, bytes, flags, physical
  pool_physical_export: [388, 'i4', ['p', 'p']], // physical, descriptor
  pool_physical_import: [389, 'i4', ['p', 'i4', 'u8', 'p']], // device, descriptor, bytes, physical
  pool_physical_destroy: [390, 'i4', ['p']], // physical
  pool_physical_bytes: [391, 'u8', ['p']], // physical
  pool_physical_device: [392, 'p', ['p']], // physical
  pool_physical_handle: [393, 'i4', ['p', 'p']], // physical, handle
  pool_range_reserve: [394, 'i4', ['p', 'u8', 'p']], // device, bytes, range
  pool_range_map: [395, 'i4', ['p', 'u8', 'p']], // range, offset, physical
  pool_range_unmap: [396, 'i4', ['p', 'u8', 'u8']], // range, offset, bytes
  pool_range_grant_access: [397, 'i4', ['p', 'p', 'u8']], // range, devices, count
  pool_range_buffer: [398, 'i4', ['p', 'u8', 'u8', 'p']], // range, offset, bytes, buffer
  pool_range_destroy: [399, 'i4', ['p']], // range
  pool_range_address: [400, 'i4', ['p', 'p']], // range, address
  pool_range_bytes: [401, 'u8', ['p']], // range
  pool_range_device: [402, 'p', ['p']], // range
  pool_range_mapped_bytes: [403, 'u8', ['p']], // range
};

// A struct: size, alignment; members: offset, type, size, and the lengths of an array.
exports.structs = {
  'pool_error': { size: 32, alignment: 8, members: {
    status: [0, 'i4', 4],
    driver_code: [4, 'i4', 4],
    driver_name: [8, 'p', 8],
    call: [16, 'p', 8],
    message: [24, 'p', 8],
  } },
  'pool_error_slot': { size: 1232, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    status: [8, 'i4', 4],
    driver_code: [12, 'i4', 4],
    driver_name: [16, 'u1', 64, [64]],
    call: [80, 'u1', 128, [128]],
    message: [208, 'u1', 1024, [1024]],
  } },
  'pool_cu_uuid': { size: 16, alignment: 1, members: {
    bytes: [0, 'u1', 16, [16]],
  } },
  'pool_cu_mem_location': { size: 8, alignment: 4, members: {
    type: [0, 'u4', 4],
    id: [4, 'i4', 4],
  } },
  'pool_cu_mem_pool_props': { size: 88, alignment: 8, members: {
    allocation_type: [0, 'u4', 4],
    handle_types: [4, 'u4', 4],
    location: [8, 'pool_cu_mem_location', 8],
    win32_security_attributes: [16, 'p', 8],
    max_size: [24, 'u8', 8],
    usage: [32, 'u2', 2],
    reserved: [34, 'u1', 54, [54]],
  } },
  'pool_cu_mem_access': { size: 12, alignment: 4, members: {
    location: [0, 'pool_cu_mem_location', 8],
    flags: [8, 'u4', 4],
  } },
  'pool_cu_mem_allocation_prop': { size: 32, alignment: 8, members: {
    type: [0, 'u4', 4],
    handle_types: [4, 'u4', 4],
    location: [8, 'pool_cu_mem_location', 8],
    win32_metadata: [16, 'p', 8],
    compression: [24, 'u1', 1],
    gpu_direct_rdma: [25, 'u1', 1],
    usage: [26, 'u2', 2],
    reserved: [28, 'u1', 4, [4]],
  } },
  'pool_cu_ipc_handle': { size: 64, alignment: 1, members: {
    bytes: [0, 'u1', 64, [64]],
  } },
  'pool_cu_copy_side': { size: 56, alignment: 8, members: {
    x_bytes: [0, 'u8', 8],
    y: [8, 'u8', 8],
    memory_type: [16, 'u4', 4],
    host: [24, 'p', 8],
    device: [32, 'u8', 8],
    array: [40, 'p', 8],
    pitch: [48, 'u8', 8],
  } },
  'pool_cu_copy_2d': { size: 128, alignment: 8, members: {
    from: [0, 'pool_cu_copy_side', 56],
    to: [56, 'pool_cu_copy_side', 56],
    width_bytes: [112, 'u8', 8],
    height: [120, 'u8', 8],
  } },
  'pool_cu_launch_attribute.value': { size: 64, alignment: 8, members: {
    bytes: [0, 'u1', 64, [64]],
    pointer: [0, 'p', 8],
    number: [0, 'i4', 4],
    cluster: [0, 'u4', 12, [3]],
  } },
  'pool_cu_launch_attribute': { size: 72, alignment: 8, members: {
    id: [0, 'u4', 4],
    padding: [4, 'u1', 4, [4]],
    value: [8, 'pool_cu_launch_attribute.value', 64],
  } },
  'pool_cu_launch_config': { size: 56, alignment: 8, members: {
    grid: [0, 'u4', 12, [3]],
    block: [12, 'u4', 12, [3]],
    dynamic_shared_bytes: [24, 'u4', 4],
    stream: [32, 'p', 8],
    attributes: [40, 'p', 8],
    attribute_count: [48, 'u4', 4],
  } },
  'pool_cu_graph_update': { size: 24, alignment: 8, members: {
    result: [0, 'u4', 4],
    error_node: [8, 'p', 8],
    error_from_node: [16, 'p', 8],
  } },
  'pool_cu_dev_resource': { size: 144, alignment: 4, members: {
    type: [0, 'u4', 4],
    internal: [4, 'u1', 92, [92]],
    sm_count: [96, 'u4', 4],
    min_partition: [100, 'u4', 4],
    sm_alignment: [104, 'u4', 4],
    oversize: [108, 'u1', 36, [36]],
  } },
  'pool_cuda_api': { size: 1104, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    flags: [8, 'u8', 8],
    Init: [16, 'p', 8],
    DriverGetVersion: [24, 'p', 8],
    GetErrorName: [32, 'p', 8],
    GetErrorString: [40, 'p', 8],
    DeviceGet: [48, 'p', 8],
    DeviceGetCount: [56, 'p', 8],
    DeviceGetName: [64, 'p', 8],
    DeviceGetUuid: [72, 'p', 8],
    DeviceGetUuidV2: [80, 'p', 8],
    DeviceTotalMem: [88, 'p', 8],
    DeviceGetAttribute: [96, 'p', 8],
    DeviceGetPCIBusId: [104, 'p', 8],
    DeviceGetByPCIBusId: [112, 'p', 8],
    DeviceCanAccessPeer: [120, 'p', 8],
    DeviceGetP2PAttribute: [128, 'p', 8],
    DevicePrimaryCtxRetain: [136, 'p', 8],
    DevicePrimaryCtxRelease: [144, 'p', 8],
    DevicePrimaryCtxGetState: [152, 'p', 8],
    CtxCreate: [160, 'p', 8],
    CtxDestroy: [168, 'p', 8],
    CtxPushCurrent: [176, 'p', 8],
    CtxPopCurrent: [184, 'p', 8],
    CtxSetCurrent: [192, 'p', 8],
    CtxGetCurrent: [200, 'p', 8],
    CtxGetDevice: [208, 'p', 8],
    CtxSynchronize: [216, 'p', 8],
    CtxGetFlags: [224, 'p', 8],
    CtxGetApiVersion: [232, 'p', 8],
    CtxGetLimit: [240, 'p', 8],
    CtxSetLimit: [248, 'p', 8],
    CtxGetStreamPriorityRange: [256, 'p', 8],
    CtxEnablePeerAccess: [264, 'p', 8],
    CtxDisablePeerAccess: [272, 'p', 8],
    MemGetInfo: [280, 'p', 8],
    MemAlloc: [288, 'p', 8],
    MemFree: [296, 'p', 8],
    MemGetAddressRange: [304, 'p', 8],
    MemHostAlloc: [312, 'p', 8],
    MemFreeHost: [320, 'p', 8],
    MemHostRegister: [328, 'p', 8],
    MemHostUnregister: [336, 'p', 8],
    MemHostGetDevicePointer: [344, 'p', 8],
    MemcpyHtoD: [352, 'p', 8],
    MemcpyDtoH: [360, 'p', 8],
    MemcpyDtoD: [368, 'p', 8],
    MemcpyPeer: [376, 'p', 8],
    MemcpyHtoDAsync: [384, 'p', 8],
    MemcpyDtoHAsync: [392, 'p', 8],
    MemcpyDtoDAsync: [400, 'p', 8],
    MemcpyPeerAsync: [408, 'p', 8],
    MemsetD8: [416, 'p', 8],
    MemsetD16: [424, 'p', 8],
    MemsetD32: [432, 'p', 8],
    MemsetD8Async: [440, 'p', 8],
    MemsetD16Async: [448, 'p', 8],
    MemsetD32Async: [456, 'p', 8],
    PointerGetAttribute: [464, 'p', 8],
    MemPoolCreate: [472, 'p', 8],
    MemPoolDestroy: [480, 'p', 8],
    MemPoolTrimTo: [488, 'p', 8],
    MemPoolSetAttribute: [496, 'p', 8],
    MemPoolGetAttribute: [504, 'p', 8],
    MemPoolSetAccess: [512, 'p', 8],
    MemAllocFromPoolAsync: [520, 'p', 8],
    MemFreeAsync: [528, 'p', 8],
    ModuleLoadData: [536, 'p', 8],
    ModuleLoadDataEx: [544, 'p', 8],
    ModuleUnload: [552, 'p', 8],
    ModuleGetFunction: [560, 'p', 8],
    ModuleGetGlobal: [568, 'p', 8],
    FuncGetAttribute: [576, 'p', 8],
    FuncSetAttribute: [584, 'p', 8],
    FuncSetCacheConfig: [592, 'p', 8],
    FuncGetParamInfo: [600, 'p', 8],
    OccupancyMaxActiveBlocksPerMultiprocessor: [608, 'p', 8],
    OccupancyMaxPotentialBlockSize: [616, 'p', 8],
    LaunchKernel: [624, 'p', 8],
    LaunchCooperativeKernel: [632, 'p', 8],
    LaunchHostFunc: [640, 'p', 8],
    StreamCreateWithPriority: [648, 'p', 8],
    StreamDestroy: [656, 'p', 8],
    StreamSynchronize: [664, 'p', 8],
    StreamQuery: [672, 'p', 8],
    StreamWaitEvent: [680, 'p', 8],
    StreamGetPriority: [688, 'p', 8],
    StreamGetFlags: [696, 'p', 8],
    StreamGetCtx: [704, 'p', 8],
    EventCreate: [712, 'p', 8],
    EventDestroy: [720, 'p', 8],
    EventRecord: [728, 'p', 8],
    EventQuery: [736, 'p', 8],
    EventSynchronize: [744, 'p', 8],
    EventElapsedTime: [752, 'p', 8],
    PointerGetAttributes: [760, 'p', 8],
    LaunchKernelEx: [768, 'p', 8],
    DevicePrimaryCtxSetFlags: [776, 'p', 8],
    ProfilerStart: [784, 'p', 8],
    ProfilerStop: [792, 'p', 8],
    Memcpy2DAsync: [800, 'p', 8],
    OccupancyMaxPotentialClusterSize: [808, 'p', 8],
    OccupancyMaxActiveClusters: [816, 'p', 8],
    MemGetAllocationGranularity: [824, 'p', 8],
    MemAddressReserve: [832, 'p', 8],
    MemAddressFree: [840, 'p', 8],
    MemCreate: [848, 'p', 8],
    MemRelease: [856, 'p', 8],
    MemMap: [864, 'p', 8],
    MemUnmap: [872, 'p', 8],
    MemSetAccess: [880, 'p', 8],
    MemExportToShareableHandle: [888, 'p', 8],
    MemImportFromShareableHandle: [896, 'p', 8],
    StreamBeginCapture: [904, 'p', 8],
    StreamEndCapture: [912, 'p', 8],
    GraphInstantiateWithFlags: [920, 'p', 8],
    GraphExecUpdate: [928, 'p', 8],
    GraphLaunch: [936, 'p', 8],
    GraphExecDestroy: [944, 'p', 8],
    GraphDestroy: [952, 'p', 8],
    IpcGetMemHandle: [960, 'p', 8],
    IpcOpenMemHandle: [968, 'p', 8],
    IpcCloseMemHandle: [976, 'p', 8],
    IpcGetEventHandle: [984, 'p', 8],
    IpcOpenEventHandle: [992, 'p', 8],
    CtxGetId: [1000, 'p', 8],
    DeviceGetDevResource: [1008, 'p', 8],
    DevSmResourceSplitByCount: [1016, 'p', 8],
    DevResourceGenerateDesc: [1024, 'p', 8],
    GreenCtxCreate: [1032, 'p', 8],
    GreenCtxDestroy: [1040, 'p', 8],
    CtxFromGreenCtx: [1048, 'p', 8],
    GreenCtxStreamCreate: [1056, 'p', 8],
    GreenCtxGetDevResource: [1064, 'p', 8],
    CtxGetDevResource: [1072, 'p', 8],
    StreamGetGreenCtx: [1080, 'p', 8],
    GreenCtxRecordEvent: [1088, 'p', 8],
    GreenCtxWaitEvent: [1096, 'p', 8],
  } },
  'pool_device_info': { size: 616, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    index: [8, 'u4', 4],
    ordinal: [12, 'i4', 4],
    uuid: [16, 'u1', 48, [48]],
    pci: [64, 'u1', 24, [24]],
    name: [88, 'u1', 128, [128]],
    compute_major: [216, 'i4', 4],
    compute_minor: [220, 'i4', 4],
    multiprocessors: [224, 'i4', 4],
    clock_khz: [228, 'i4', 4],
    memory_clock_khz: [232, 'i4', 4],
    memory_bus_bits: [236, 'i4', 4],
    l2_bytes: [240, 'u8', 8],
    total_bytes: [248, 'u8', 8],
    free_bytes: [256, 'u8', 8],
    ecc: [264, 'i4', 4],
    mps: [268, 'i4', 4],
    mig: [272, 'i4', 4],
    numa_node: [276, 'i4', 4],
    integrated: [280, 'i4', 4],
    compute_mode: [284, 'i4', 4],
    warp_size: [288, 'i4', 4],
    max_threads_per_block: [292, 'i4', 4],
    max_threads_per_multiprocessor: [296, 'i4', 4],
    max_blocks_per_multiprocessor: [300, 'i4', 4],
    registers_per_multiprocessor: [304, 'i4', 4],
    copy_engines: [308, 'i4', 4],
    shared_bytes_per_block: [312, 'u8', 8],
    shared_bytes_per_block_optin: [320, 'u8', 8],
    shared_bytes_per_multiprocessor: [328, 'u8', 8],
    memory_pools: [336, 'i4', 4],
    cooperative_launch: [340, 'i4', 4],
    has_context: [344, 'i4', 4],
    state: [348, 'u4', 4],
    reason: [352, 'u1', 256, [256]],
    partition: [608, 'i4', 4],
    partitions: [612, 'i4', 4],
  } },
  'pool_peer_info': { size: 24, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    access: [8, 'i4', 4],
    native_atomics: [12, 'i4', 4],
    performance_rank: [16, 'i4', 4],
  } },
  'pool_component': { size: 1288, alignment: 4, members: {
    status: [0, 'i4', 4],
    version: [4, 'i4', 4],
    path: [8, 'u1', 256, [256]],
    message: [264, 'u1', 1024, [1024]],
  } },
  'pool_host_info': { size: 2584, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    driver: [8, 'pool_component', 1288],
    compiler: [1296, 'pool_component', 1288],
  } },
  'pool_fault_kernel': { size: 40, alignment: 8, members: {
    device: [0, 'p', 8],
    ordinal: [8, 'i4', 4],
    launches: [12, 'u4', 4],
    name: [16, 'p', 8],
    stream: [24, 'p', 8],
    label: [32, 'p', 8],
  } },
  'pool_fault': { size: 56, alignment: 8, members: {
    error_class: [0, 'u4', 4],
    driver_code: [4, 'i4', 4],
    driver_name: [8, 'p', 8],
    message: [16, 'p', 8],
    device: [24, 'p', 8],
    shown_on: [32, 'p', 8],
    kernels: [40, 'p', 8],
    kernel_count: [48, 'u8', 8],
  } },
  'pool_params': { size: 200, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    devices: [8, 'p', 8],
    min_devices: [16, 'u4', 4],
    context_mode: [20, 'u4', 4],
    context_flags: [24, 'u4', 4],
    lazy: [28, 'i4', 4],
    contexts: [32, 'p', 8],
    context_count: [40, 'u8', 8],
    fault_hook: [48, 'p', 8],
    fault_user: [56, 'p', 8],
    driver: [64, 'p', 8],
    memory_limit: [72, 'u8', 8],
    memory_limit_percent: [80, 'u4', 4],
    slots: [84, 'u4', 4],
    memory_headroom: [88, 'u8', 8],
    stall_timeout_ns: [96, 'u8', 8],
    status_socket: [104, 'p', 8],
    isolation: [112, 'u4', 4],
    tuning: [120, 'p', 8],
    host_memory: [128, 'p', 8],
    host_memory_user: [136, 'p', 8],
    urgent_classes: [144, 'i4', 12, [3]],
    background_classes: [156, 'i4', 8, [2]],
    shared_multiprocessors: [164, 'u4', 4],
    slice_ns: [168, 'u8', 8],
    partitions: [176, 'p', 8],
    partition_count: [184, 'u4', 4],
    worker_spin_ns: [192, 'u8', 8],
  } },
  'pool_candidate': { size: 64, alignment: 8, members: {
    device: [0, 'p', 8],
    free_bytes: [8, 'u8', 8],
    total_bytes: [16, 'u8', 8],
    bindings: [24, 'u4', 4],
    calls: [28, 'u4', 4],
    busy_streams: [32, 'u4', 4],
    unfinished: [40, 'u8', 8],
    reserved_bytes: [48, 'u8', 8],
    leases: [56, 'u4', 4],
  } },
  'pool_pick': { size: 48, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    policy: [8, 'u4', 4],
    min_free_bytes: [16, 'u8', 8],
    filter: [24, 'p', 8],
    score: [32, 'p', 8],
    user: [40, 'p', 8],
  } },
  'pool_health_info': { size: 1152, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    harmed: [8, 'u4', 4],
    devices: [12, 'u4', 4],
    usable_devices: [16, 'u4', 4],
    bindings: [20, 'u4', 4],
    driver_code: [24, 'i4', 4],
    driver_name: [28, 'u1', 64, [64]],
    first_cause: [92, 'u1', 1024, [1024]],
    fault_unix_time: [1120, 'u8', 8],
    fault_device: [1128, 'i4', 4],
    fault_shown_on: [1132, 'i4', 4],
    draining_devices: [1136, 'u4', 4],
    quarantined_devices: [1140, 'u4', 4],
    abandoned_devices: [1144, 'u4', 4],
    stalled_devices: [1148, 'u4', 4],
  } },
  'pool_setting': { size: 56, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    name: [8, 'p', 8],
    value: [16, 'p', 8],
    fallback: [24, 'p', 8],
    meaning: [32, 'p', 8],
    source: [40, 'u4', 4],
    line: [44, 'u4', 4],
    file: [48, 'p', 8],
  } },
  'pool_stream_params': { size: 16, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    priority: [8, 'i4', 4],
    flags: [12, 'u4', 4],
  } },
  'pool_shared_event': { size: 64, alignment: 1, members: {
    handle: [0, 'u1', 64, [64]],
  } },
  'pool_request': { size: 96, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    bytes: [8, 'u8', 8],
    slots: [16, 'u4', 4],
    devices: [20, 'u4', 4],
    pick: [24, 'p', 8],
    device: [32, 'p', 8],
    near_resident: [40, 'p', 8],
    priority: [48, 'i4', 4],
    flags: [52, 'u4', 4],
    timeout_ns: [56, 'u8', 8],
    duration_ns: [64, 'u8', 8],
    cancel: [72, 'p', 8],
    label: [80, 'p', 8],
    error: [88, 'p', 8],
  } },
  'pool_lease_info': { size: 128, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    bytes: [8, 'u8', 8],
    slots: [16, 'u4', 4],
    devices: [20, 'u4', 4],
    priority: [24, 'i4', 4],
    flags: [28, 'u4', 4],
    waited_ns: [32, 'u8', 8],
    held_ns: [40, 'u8', 8],
    duration_ns: [48, 'u8', 8],
    is_overdue: [56, 'i4', 4],
    level: [60, 'i4', 4],
    label: [64, 'u1', 64, [64]],
  } },
  'pool_lease_usage': { size: 40, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    device: [8, 'p', 8],
    limit_bytes: [16, 'u8', 8],
    used_bytes: [24, 'u8', 8],
    peak_bytes: [32, 'u8', 8],
  } },
  'pool_lease_counts': { size: 56, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    leases: [8, 'u4', 4],
    overdue: [12, 'u4', 4],
    waiting: [16, 'u4', 4],
    reserved: [20, 'u4', 4],
    longest_wait_ns: [24, 'u8', 8],
    granted: [32, 'u8', 8],
    failed: [40, 'u8', 8],
    became_overdue: [48, 'u8', 8],
  } },
  'pool_span': { size: 32, alignment: 8, members: {
    data: [0, 'p', 8],
    count: [8, 'u8', 8],
    stride: [16, 'u8', 8],
    form: [24, 'u4', 4],
    space: [28, 'u4', 4],
  } },
  'pool_buffer_params': { size: 40, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    bytes: [8, 'u8', 8],
    flags: [16, 'u4', 4],
    stream: [24, 'p', 8],
    lease: [32, 'p', 8],
  } },
  'pool_shared_buffer': { size: 80, alignment: 8, members: {
    handle: [0, 'u1', 64, [64]],
    offset: [64, 'u8', 8],
    bytes: [72, 'u8', 8],
  } },
  'pool_pitched': { size: 32, alignment: 8, members: {
    buffer: [0, 'p', 8],
    offset: [8, 'u8', 8],
    host: [16, 'p', 8],
    pitch: [24, 'u8', 8],
  } },
  'pool_memory_info': { size: 200, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    free_bytes: [8, 'u8', 8],
    total_bytes: [16, 'u8', 8],
    used_bytes: [24, 'u8', 8],
    used_high_water_bytes: [32, 'u8', 8],
    reserved_bytes: [40, 'u8', 8],
    reserved_high_water_bytes: [48, 'u8', 8],
    release_threshold: [56, 'u8', 8],
    pinned_bytes: [64, 'u8', 8],
    staging_bytes: [72, 'u8', 8],
    quarantined_bytes: [80, 'u8', 8],
    buffers: [88, 'u8', 8],
    memory_pool: [96, 'i4', 4],
    pinned_deferred_bytes: [104, 'u8', 8],
    memory_limit: [112, 'u8', 8],
    memory_headroom: [120, 'u8', 8],
    available_bytes: [128, 'u8', 8],
    lease_reserved_bytes: [136, 'u8', 8],
    lease_charged_bytes: [144, 'u8', 8],
    leases: [152, 'u8', 8],
    pinned_unused_bytes: [160, 'u8', 8],
    pinned_threshold: [168, 'u8', 8],
    pinned_allocations: [176, 'u8', 8],
    pinned_reuses: [184, 'u8', 8],
    physical_bytes: [192, 'u8', 8],
  } },
  'pool_exec': { size: 136, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    device: [8, 'p', 8],
    stream: [16, 'p', 8],
    is_async: [24, 'i4', 4],
    on_host: [28, 'i4', 4],
    checks: [32, 'u4', 4],
    reserved: [36, 'u4', 4],
    workspace: [40, 'p', 8],
    memory_limit: [48, 'u8', 8],
    cancel: [56, 'p', 8],
    progress: [64, 'p', 8],
    user: [72, 'p', 8],
    lease: [80, 'p', 8],
    devices: [88, 'p', 8],
    device_count: [96, 'u4', 4],
    workspace_count: [100, 'u4', 4],
    workspaces: [104, 'p', 8],
    timeout_ns: [112, 'u8', 8],
    error: [120, 'p', 8],
    slice_ns: [128, 'u8', 8],
  } },
  'pool_field_params': { size: 40, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    modulus: [8, 'p', 8],
    name: [16, 'p', 8],
    generator: [24, 'p', 8],
    root: [32, 'p', 8],
  } },
  'pool_ntt_domain_params': { size: 48, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    field: [8, 'p', 8],
    log_size: [16, 'u4', 4],
    reserved: [20, 'u4', 4],
    convention: [24, 'p', 8],
    root: [32, 'p', 8],
    coset: [40, 'p', 8],
  } },
  'pool_ntt_params': { size: 40, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    domain: [8, 'p', 8],
    direction: [16, 'u4', 4],
    coset: [20, 'i4', 4],
    order: [24, 'u4', 4],
    layout: [28, 'u4', 4],
    batch: [32, 'u8', 8],
  } },
  'pool_ntt_extend_params': { size: 40, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    domain: [8, 'p', 8],
    log_blowup: [16, 'u4', 4],
    from_coefficients: [20, 'i4', 4],
    order: [24, 'u4', 4],
    layout: [28, 'u4', 4],
    batch: [32, 'u8', 8],
  } },
  'pool_poseidon_params': { size: 144, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    name: [8, 'p', 8],
    field: [16, 'p', 8],
    kind: [24, 'u4', 4],
    width: [28, 'u4', 4],
    alpha: [32, 'u4', 4],
    full_rounds: [36, 'u4', 4],
    partial_rounds: [40, 'u4', 4],
    partial_index: [44, 'u4', 4],
    form: [48, 'u4', 4],
    round_constants: [56, 'p', 8],
    round_constant_count: [64, 'u8', 8],
    mds: [72, 'p', 8],
    mds_count: [80, 'u8', 8],
    internal_diagonal: [88, 'p', 8],
    internal_diagonal_count: [96, 'u8', 8],
    max_inputs: [104, 'u4', 4],
    input_index: [108, 'u4', 4],
    rate: [112, 'u4', 4],
    domain_tag_index: [116, 'u4', 4],
    domain_tag: [120, 'p', 8],
    output_index: [128, 'u4', 4],
    digest_elements: [132, 'u4', 4],
    feed_forward: [136, 'i4', 4],
  } },
  'pool_poseidon_sponge_params': { size: 40, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    elements: [8, 'u4', 4],
    output_elements: [12, 'u4', 4],
    rate: [16, 'u4', 4],
    mode: [20, 'u4', 4],
    padding: [24, 'u4', 4],
    domain_tag: [32, 'p', 8],
  } },
  'pool_merkle_params': { size: 40, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    arity: [8, 'u4', 4],
    leaf_elements: [12, 'u4', 4],
    height: [16, 'u4', 4],
    kept_levels: [20, 'u4', 4],
    leaf_mode: [24, 'u4', 4],
    padding: [32, 'p', 8],
  } },
  'pool_merkle_shape': { size: 40, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    height: [8, 'u4', 4],
    first_level: [12, 'u4', 4],
    digest_count: [16, 'u8', 8],
    path_count: [24, 'u8', 8],
    bytes: [32, 'u8', 8],
  } },
  'pool_matrix': { size: 48, alignment: 8, members: {
    span: [0, 'pool_span', 32],
    height: [32, 'u8', 8],
    width: [40, 'u4', 4],
    layout: [44, 'u4', 4],
  } },
  'pool_matrix_commit_params': { size: 40, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    set: [8, 'p', 8],
    row_set: [16, 'p', 8],
    keeps_short_rows: [24, 'i4', 4],
    cap_height: [28, 'u4', 4],
    kept_levels: [32, 'u4', 4],
    reserved: [36, 'u4', 4],
  } },
  'pool_matrix_commit_shape': { size: 48, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    height: [8, 'u4', 4],
    first_level: [12, 'u4', 4],
    digest_count: [16, 'u8', 8],
    cap_count: [24, 'u8', 8],
    row_elements: [32, 'u8', 8],
    bytes: [40, 'u8', 8],
  } },
  'pool_extension': { size: 72, alignment: 8, members: {
    params: [0, 'p', 8],
    trace: [8, 'pool_span', 32],
    extended: [40, 'pool_span', 32],
  } },
  'pool_curve_params': { size: 120, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    field: [8, 'p', 8],
    a: [16, 'p', 16, [2]],
    b: [32, 'p', 16, [2]],
    generator_x: [48, 'p', 16, [2]],
    generator_y: [64, 'p', 16, [2]],
    order: [80, 'p', 8],
    cofactor: [88, 'p', 8],
    nonresidue: [96, 'i4', 4],
    reserved: [100, 'u4', 4],
    scalar_field: [104, 'p', 8],
    name: [112, 'p', 8],
  } },
  'pool_point_format': { size: 16, alignment: 8, members: {
    layout: [0, 'u4', 4],
    form: [4, 'u4', 4],
    stride: [8, 'u8', 8],
  } },
  'pool_ecntt_params': { size: 56, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    curve: [8, 'p', 8],
    domain: [16, 'p', 8],
    direction: [24, 'u4', 4],
    coset: [28, 'i4', 4],
    order: [32, 'u4', 4],
    layout: [36, 'u4', 4],
    batch: [40, 'u8', 8],
    point_layout: [48, 'u4', 4],
    result_layout: [52, 'u4', 4],
  } },
  'pool_fri_fold_params': { size: 48, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    field: [8, 'p', 8],
    domain: [16, 'p', 8],
    log_folded: [24, 'u4', 4],
    log_arity: [28, 'u4', 4],
    is_bit_reversed: [32, 'i4', 4],
    on_subgroup: [36, 'i4', 4],
    challenge: [40, 'p', 8],
  } },
  'pool_matrix_evaluate_params': { size: 32, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    field: [8, 'p', 8],
    domain: [16, 'p', 8],
    is_bit_reversed: [24, 'i4', 4],
    on_subgroup: [28, 'i4', 4],
  } },
  'pool_file_params': { size: 40, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    kind: [8, 'u4', 4],
    layout: [12, 'u4', 4],
    form: [16, 'u4', 4],
    trusted: [20, 'u4', 4],
    curve: [24, 'p', 8],
    field: [32, 'p', 8],
  } },
  'pool_file_info': { size: 160, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    kind: [8, 'u4', 4],
    version: [12, 'u4', 4],
    bytes: [16, 'u8', 8],
    sections: [24, 'u8', 8],
    field: [32, 'p', 8],
    curves: [40, 'p', 16, [2]],
    power: [56, 'u4', 4],
    ceremony_power: [60, 'u4', 4],
    domain_size: [64, 'u8', 8],
    variables: [72, 'u8', 8],
    public_signals: [80, 'u8', 8],
    outputs: [88, 'u8', 8],
    public_inputs: [96, 'u8', 8],
    private_inputs: [104, 'u8', 8],
    labels: [112, 'u8', 8],
    constraints: [120, 'u8', 8],
    convention: [128, 'p', 8],
    custom_gates: [136, 'u8', 8],
    custom_gate_uses: [144, 'u8', 8],
    unknown_sections: [152, 'u8', 8],
  } },
  'pool_file_section': { size: 96, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    name: [8, 'p', 8],
    item: [16, 'u4', 4],
    layout: [20, 'u4', 4],
    curve: [24, 'p', 8],
    field: [32, 'p', 8],
    span: [40, 'pool_span', 32],
    offset: [72, 'u8', 8],
    levels: [80, 'u4', 4],
    reserved: [84, 'u4', 4],
    convention: [88, 'p', 8],
  } },
  'pool_log_record': { size: 48, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    level: [8, 'u4', 4],
    device: [12, 'i4', 4],
    message: [16, 'p', 8],
    lease: [24, 'p', 8],
    call: [32, 'p', 8],
    code: [40, 'i4', 4],
  } },
  'pool_module_header': { size: 16, alignment: 8, members: {
    name: [0, 'p', 8],
    text: [8, 'p', 8],
  } },
  'pool_module_arithmetic': { size: 32, alignment: 8, members: {
    prefix: [0, 'p', 8],
    field: [8, 'p', 8],
    curve: [16, 'p', 8],
    poseidon: [24, 'p', 8],
  } },
  'pool_module_params': { size: 120, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    source: [8, 'p', 8],
    name: [16, 'p', 8],
    headers: [24, 'p', 8],
    header_count: [32, 'u8', 8],
    defines: [40, 'p', 8],
    define_count: [48, 'u8', 8],
    options: [56, 'p', 8],
    option_count: [64, 'u8', 8],
    no_cache: [72, 'i4', 4],
    cancel: [80, 'p', 8],
    arithmetic: [88, 'p', 8],
    arithmetic_count: [96, 'u8', 8],
    names: [104, 'p', 8],
    name_count: [112, 'u8', 8],
  } },
  'pool_kernel_info': { size: 64, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    max_threads_per_block: [8, 'i4', 4],
    registers: [12, 'i4', 4],
    static_shared_bytes: [16, 'u8', 8],
    max_dynamic_shared_bytes: [24, 'u8', 8],
    local_bytes: [32, 'u8', 8],
    constant_bytes: [40, 'u8', 8],
    ptx_version: [48, 'i4', 4],
    binary_version: [52, 'i4', 4],
    parameter_count: [56, 'i4', 4],
  } },
  'pool_launch_shape': { size: 80, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    grid: [8, 'u4', 12, [3]],
    block: [20, 'u4', 12, [3]],
    dynamic_shared_bytes: [32, 'u8', 8],
    cooperative: [40, 'i4', 4],
    argument_count: [44, 'u4', 4],
    argument_bytes: [48, 'p', 8],
    pdl: [56, 'i4', 4],
    priority: [60, 'i4', 4],
    cluster: [64, 'u4', 12, [3]],
  } },
  'pool_cache_entry': { size: 176, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    key: [8, 'u1', 65, [65]],
    name: [73, 'u1', 64, [64]],
    bytes: [144, 'u8', 8],
    created_unix_time: [152, 'u8', 8],
    compute_capability: [160, 'i4', 4],
    is_ptx: [164, 'i4', 4],
    valid: [168, 'i4', 4],
  } },
  'pool_pack_info': { size: 1064, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    path: [8, 'u1', 512, [512]],
    compute_capability: [520, 'i4', 4],
    compiler_version: [524, 'i4', 4],
    entries: [528, 'u8', 8],
    bytes: [536, 'u8', 8],
    is_used: [544, 'i4', 4],
    reason: [548, 'u1', 512, [512]],
  } },
  'pool_pack_params': { size: 80, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    compute_capability: [8, 'i4', 4],
    form: [12, 'i4', 4],
    fields: [16, 'p', 8],
    field_count: [24, 'u8', 8],
    curves: [32, 'p', 8],
    curve_count: [40, 'u8', 8],
    sets: [48, 'p', 8],
    set_count: [56, 'u8', 8],
    progress: [64, 'p', 8],
    user: [72, 'p', 8],
  } },
  'pool_bases_params': { size: 48, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    curve: [8, 'p', 8],
    layout: [16, 'u4', 4],
    precompute_factor: [20, 'u4', 4],
    window_bits: [24, 'u4', 4],
    scalar_bits: [28, 'u4', 4],
    planned_terms: [32, 'u8', 8],
    leading_infinities: [40, 'u8', 8],
  } },
  'pool_msm_params': { size: 80, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    curve: [8, 'p', 8],
    bases: [16, 'p', 8],
    first_base: [24, 'u8', 8],
    point_layout: [32, 'u4', 4],
    result_layout: [36, 'u4', 4],
    batch: [40, 'u8', 8],
    shared_bases: [48, 'i4', 4],
    scalar_bits: [52, 'u4', 4],
    window_bits: [56, 'u4', 4],
    device_bases: [64, 'p', 8],
    replicated_bases: [72, 'i4', 4],
    affine_passes: [76, 'u4', 4],
  } },
  'pool_msm_term': { size: 56, alignment: 8, members: {
    bases: [0, 'p', 8],
    first_base: [8, 'u8', 8],
    scalars: [16, 'pool_span', 32],
    result: [48, 'u8', 8],
  } },
  'pool_msm_joint_params': { size: 24, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    result_layout: [8, 'u4', 4],
    scalar_bits: [12, 'u4', 4],
    window_bits: [16, 'u4', 4],
  } },
  'pool_resident_params': { size: 72, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    name: [8, 'p', 8],
    flags: [16, 'u4', 4],
    reserved: [20, 'u4', 4],
    bases: [24, 'p', 8],
    points: [32, 'p', 8],
    path: [40, 'p', 8],
    source: [48, 'p', 8],
    user: [56, 'p', 8],
    bytes: [64, 'u8', 8],
  } },
  'pool_resident_info': { size: 112, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    name: [8, 'u1', 64, [64]],
    is_resident: [72, 'i4', 4],
    users: [76, 'u4', 4],
    bytes: [80, 'u8', 8],
    loads: [88, 'u8', 8],
    idle_ns: [96, 'u8', 8],
    survivals: [104, 'u8', 8],
  } },
  'pool_sim_fault': { size: 1168, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    driver_code: [8, 'i4', 4],
    device: [12, 'i4', 4],
    kind: [16, 'u1', 40, [40]],
    kernel: [56, 'u1', 256, [256]],
    block: [312, 'u4', 12, [3]],
    thread: [324, 'u4', 12, [3]],
    line: [336, 'u4', 4],
    space: [340, 'u1', 16, [16]],
    address: [360, 'u8', 8],
    bytes: [368, 'u4', 4],
    is_write: [372, 'i4', 4],
    nearest_address: [376, 'u8', 8],
    nearest_bytes: [384, 'u8', 8],
    text: [392, 'u1', 512, [512]],
    source_line: [904, 'u4', 4],
    source_file: [908, 'u1', 256, [256]],
  } },
  'pool_sim_kernel_stats': { size: 144, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    kernel: [8, 'p', 8],
    device: [16, 'i4', 4],
    launches: [24, 'u8', 8],
    blocks: [32, 'u8', 8],
    threads: [40, 'u8', 8],
    warp_instructions: [48, 'u8', 8],
    lane_instructions: [56, 'u8', 8],
    lanes_by_class: [64, 'u8', 80, [10]],
  } },
  'pool_trace_event': { size: 72, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    is_end: [8, 'i4', 4],
    kind: [12, 'u4', 4],
    id: [16, 'u8', 8],
    parent: [24, 'u8', 8],
    time_ns: [32, 'u8', 8],
    name: [40, 'p', 8],
    subject: [48, 'p', 8],
    device: [56, 'i4', 4],
    status: [60, 'i4', 4],
    items: [64, 'u8', 8],
  } },
  'pool_tuning_info': { size: 528, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    source: [8, 'u4', 4],
    changed: [12, 'u4', 4],
    path: [16, 'u1', 256, [256]],
    message: [272, 'u1', 256, [256]],
  } },
  'pool_tuning_number': { size: 48, alignment: 8, members: {
    struct_size: [0, 'u8', 8],
    name: [8, 'p', 8],
    value: [16, 'u4', 4],
    default_value: [20, 'u4', 4],
    min: [24, 'u4', 4],
    max: [28, 'u4', 4],
    candidates: [32, 'p', 8],
    candidate_count: [40, 'u4', 4],
  } },
};

exports.constants = {
  POOL_OK: 0,
  POOL_ERR_INVALID_ARGUMENT: -1,
  POOL_ERR_OUT_OF_HOST_MEMORY: -2,
  POOL_ERR_OUT_OF_DEVICE_MEMORY: -3,
  POOL_ERR_NOT_FOUND: -4,
  POOL_ERR_NOT_BOUND: -5,
  POOL_ERR_WRONG_DEVICE: -6,
  POOL_ERR_BUSY: -7,
  POOL_ERR_NOT_READY: -8,
  POOL_ERR_TIMEOUT: -9,
  POOL_ERR_CANCELLED: -10,
  POOL_ERR_UNSUPPORTED: -11,
  POOL_ERR_COMPILE: -12,
  POOL_ERR_BAD_IMAGE: -13,
  POOL_ERR_BAD_DATA: -14,
  POOL_ERR_IO: -15,
  POOL_ERR_UNBALANCED: -16,
  POOL_ERR_DRIVER: -17,
  POOL_ERR_DEVICE_UNUSABLE: -100,
  POOL_ERR_DEVICE_LOST: -101,
  POOL_ERR_NO_DRIVER: -200,
  POOL_ERR_DRIVER_TOO_OLD: -201,
  POOL_ERR_NO_DEVICE: -202,
  POOL_ERR_NO_COMPILER: -203,
  POOL_ERR_PROCESS_POISONED: -300,
  POOL_ERR_FORKED: -301,
  POOL_ERR_SHUTDOWN: -302,
  POOL_ERR_INTERNAL: -400,
  POOL_CLASS_NONE: 0,
  POOL_CLASS_CALL: 1,
  POOL_CLASS_DEVICE: 2,
  POOL_CLASS_HOST: 3,
  POOL_CLASS_PROCESS: 4,
  POOL_CLASS_INTERNAL: 5,
  POOL_TEXT_PLAIN: 0,
  POOL_TEXT_JSON: 1,
  POOL_CU_SUCCESS: 0,
  POOL_CU_INVALID_VALUE: 1,
  POOL_CU_OUT_OF_MEMORY: 2,
  POOL_CU_NOT_INITIALIZED: 3,
  POOL_CU_DEINITIALIZED: 4,
  POOL_CU_PROFILER_DISABLED: 5,
  POOL_CU_PROFILER_NOT_INITIALIZED: 6,
  POOL_CU_PROFILER_ALREADY_STARTED: 7,
  POOL_CU_PROFILER_ALREADY_STOPPED: 8,
  POOL_CU_STUB_LIBRARY: 34,
  POOL_CU_CALL_REQUIRES_NEWER_DRIVER: 36,
  POOL_CU_DEVICE_UNAVAILABLE: 46,
  POOL_CU_NO_DEVICE: 100,
  POOL_CU_INVALID_DEVICE: 101,
  POOL_CU_DEVICE_NOT_LICENSED: 102,
  POOL_CU_INVALID_IMAGE: 200,
  POOL_CU_INVALID_CONTEXT: 201,
  POOL_CU_CONTEXT_ALREADY_CURRENT: 202,
  POOL_CU_MAP_FAILED: 205,
  POOL_CU_UNMAP_FAILED: 206,
  POOL_CU_ARRAY_IS_MAPPED: 207,
  POOL_CU_ALREADY_MAPPED: 208,
  POOL_CU_NO_BINARY_FOR_GPU: 209,
  POOL_CU_ALREADY_ACQUIRED: 210,
  POOL_CU_NOT_MAPPED: 211,
  POOL_CU_NOT_MAPPED_AS_ARRAY: 212,
  POOL_CU_NOT_MAPPED_AS_POINTER: 213,
  POOL_CU_ECC_UNCORRECTABLE: 214,
  POOL_CU_UNSUPPORTED_LIMIT: 215,
  POOL_CU_CONTEXT_ALREADY_IN_USE: 216,
  POOL_CU_PEER_ACCESS_UNSUPPORTED: 217,
  POOL_CU_INVALID_PTX: 218,
  POOL_CU_INVALID_GRAPHICS_CONTEXT: 219,
  POOL_CU_NVLINK_UNCORRECTABLE: 220,
  POOL_CU_JIT_COMPILER_NOT_FOUND: 221,
  POOL_CU_UNSUPPORTED_PTX_VERSION: 222,
  POOL_CU_JIT_COMPILATION_DISABLED: 223,
  POOL_CU_UNSUPPORTED_EXEC_AFFINITY: 224,
  POOL_CU_UNSUPPORTED_DEVSIDE_SYNC: 225,
  POOL_CU_CONTAINED: 226,
  POOL_CU_INVALID_SOURCE: 300,
  POOL_CU_FILE_NOT_FOUND: 301,
  POOL_CU_SHARED_OBJECT_SYMBOL_NOT_FOUND: 302,
  POOL_CU_SHARED_OBJECT_INIT_FAILED: 303,
  POOL_CU_OPERATING_SYSTEM: 304,
  POOL_CU_INVALID_HANDLE: 400,
  POOL_CU_ILLEGAL_STATE: 401,
  POOL_CU_LOSSY_QUERY: 402,
  POOL_CU_NOT_FOUND: 500,
  POOL_CU_NOT_READY: 600,
  POOL_CU_ILLEGAL_ADDRESS: 700,
  POOL_CU_LAUNCH_OUT_OF_RESOURCES: 701,
  POOL_CU_LAUNCH_TIMEOUT: 702,
  POOL_CU_LAUNCH_INCOMPATIBLE_TEXTURING: 703,
  POOL_CU_PEER_ACCESS_ALREADY_ENABLED: 704,
  POOL_CU_PEER_ACCESS_NOT_ENABLED: 705,
  POOL_CU_PRIMARY_CONTEXT_ACTIVE: 708,
  POOL_CU_CONTEXT_IS_DESTROYED: 709,
  POOL_CU_ASSERT: 710,
  POOL_CU_TOO_MANY_PEERS: 711,
  POOL_CU_HOST_MEMORY_ALREADY_REGISTERED: 712,
  POOL_CU_HOST_MEMORY_NOT_REGISTERED: 713,
  POOL_CU_HARDWARE_STACK_ERROR: 714,
  POOL_CU_ILLEGAL_INSTRUCTION: 715,
  POOL_CU_MISALIGNED_ADDRESS: 716,
  POOL_CU_INVALID_ADDRESS_SPACE: 717,
  POOL_CU_INVALID_PC: 718,
  POOL_CU_LAUNCH_FAILED: 719,
  POOL_CU_COOPERATIVE_LAUNCH_TOO_LARGE: 720,
  POOL_CU_TENSOR_MEMORY_LEAK: 721,
  POOL_CU_NOT_PERMITTED: 800,
  POOL_CU_NOT_SUPPORTED: 801,
  POOL_CU_SYSTEM_NOT_READY: 802,
  POOL_CU_SYSTEM_DRIVER_MISMATCH: 803,
  POOL_CU_COMPAT_NOT_SUPPORTED_ON_DEVICE: 804,
  POOL_CU_MPS_CONNECTION_FAILED: 805,
  POOL_CU_MPS_RPC_FAILURE: 806,
  POOL_CU_MPS_SERVER_NOT_READY: 807,
  POOL_CU_MPS_MAX_CLIENTS_REACHED: 808,
  POOL_CU_MPS_MAX_CONNECTIONS_REACHED: 809,
  POOL_CU_MPS_CLIENT_TERMINATED: 810,
  POOL_CU_CDP_NOT_SUPPORTED: 811,
  POOL_CU_CDP_VERSION_MISMATCH: 812,
  POOL_CU_STREAM_CAPTURE_UNSUPPORTED: 900,
  POOL_CU_STREAM_CAPTURE_INVALIDATED: 901,
  POOL_CU_STREAM_CAPTURE_MERGE: 902,
  POOL_CU_STREAM_CAPTURE_UNMATCHED: 903,
  POOL_CU_STREAM_CAPTURE_UNJOINED: 904,
  POOL_CU_STREAM_CAPTURE_ISOLATION: 905,
  POOL_CU_STREAM_CAPTURE_IMPLICIT: 906,
  POOL_CU_CAPTURED_EVENT: 907,
  POOL_CU_STREAM_CAPTURE_WRONG_THREAD: 908,
  POOL_CU_TIMEOUT: 909,
  POOL_CU_GRAPH_EXEC_UPDATE_FAILURE: 910,
  POOL_CU_EXTERNAL_DEVICE: 911,
  POOL_CU_INVALID_CLUSTER_SIZE: 912,
  POOL_CU_FUNCTION_NOT_LOADED: 913,
  POOL_CU_INVALID_RESOURCE_TYPE: 914,
  POOL_CU_INVALID_RESOURCE_CONFIGURATION: 915,
  POOL_CU_KEY_ROTATION: 916,
  POOL_CU_UNKNOWN: 999,
  POOL_CU_CODE_MAX: 2147483647,
  POOL_CU_ATTRIBUTE_MAX_THREADS_PER_BLOCK: 1,
  POOL_CU_ATTRIBUTE_MAX_BLOCK_DIM_X: 2,
  POOL_CU_ATTRIBUTE_MAX_BLOCK_DIM_Y: 3,
  POOL_CU_ATTRIBUTE_MAX_BLOCK_DIM_Z: 4,
  POOL_CU_ATTRIBUTE_MAX_GRID_DIM_X: 5,
  POOL_CU_ATTRIBUTE_MAX_GRID_DIM_Y: 6,
  POOL_CU_ATTRIBUTE_MAX_GRID_DIM_Z: 7,
  POOL_CU_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: 8,
  POOL_CU_ATTRIBUTE_TOTAL_CONSTANT_MEMORY: 9,
  POOL_CU_ATTRIBUTE_WARP_SIZE: 10,
  POOL_CU_ATTRIBUTE_MAX_PITCH: 11,
  POOL_CU_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK: 12,
  POOL_CU_ATTRIBUTE_CLOCK_RATE: 13,
  POOL_CU_ATTRIBUTE_TEXTURE_ALIGNMENT: 14,
  POOL_CU_ATTRIBUTE_GPU_OVERLAP: 15,
  POOL_CU_ATTRIBUTE_MULTIPROCESSOR_COUNT: 16,
  POOL_CU_ATTRIBUTE_KERNEL_EXEC_TIMEOUT: 17,
  POOL_CU_ATTRIBUTE_INTEGRATED: 18,
  POOL_CU_ATTRIBUTE_CAN_MAP_HOST_MEMORY: 19,
  POOL_CU_ATTRIBUTE_COMPUTE_MODE: 20,
  POOL_CU_ATTRIBUTE_SURFACE_ALIGNMENT: 30,
  POOL_CU_ATTRIBUTE_CONCURRENT_KERNELS: 31,
  POOL_CU_ATTRIBUTE_ECC_ENABLED: 32,
  POOL_CU_ATTRIBUTE_PCI_BUS_ID: 33,
  POOL_CU_ATTRIBUTE_PCI_DEVICE_ID: 34,
  POOL_CU_ATTRIBUTE_MEMORY_CLOCK_RATE: 36,
  POOL_CU_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH: 37,
  POOL_CU_ATTRIBUTE_L2_CACHE_SIZE: 38,
  POOL_CU_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: 39,
  POOL_CU_ATTRIBUTE_ASYNC_ENGINE_COUNT: 40,
  POOL_CU_ATTRIBUTE_UNIFIED_ADDRESSING: 41,
  POOL_CU_ATTRIBUTE_PCI_DOMAIN_ID: 50,
  POOL_CU_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT: 51,
  POOL_CU_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: 75,
  POOL_CU_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: 76,
  POOL_CU_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED: 78,
  POOL_CU_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED: 79,
  POOL_CU_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED: 80,
  POOL_CU_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: 81,
  POOL_CU_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR: 82,
  POOL_CU_ATTRIBUTE_MANAGED_MEMORY: 83,
  POOL_CU_ATTRIBUTE_MULTI_GPU_BOARD: 84,
  POOL_CU_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID: 85,
  POOL_CU_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED: 86,
  POOL_CU_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO: 87,
  POOL_CU_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS: 88,
  POOL_CU_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS: 89,
  POOL_CU_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED: 90,
  POOL_CU_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM: 91,
  POOL_CU_ATTRIBUTE_COOPERATIVE_LAUNCH: 95,
  POOL_CU_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH: 96,
  POOL_CU_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: 97,
  POOL_CU_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES: 98,
  POOL_CU_ATTRIBUTE_HOST_REGISTER_SUPPORTED: 99,
  POOL_CU_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES: 100,
  POOL_CU_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST: 101,
  POOL_CU_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED: 102,
  POOL_CU_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED: 103,
  POOL_CU_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR: 106,
  POOL_CU_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED: 107,
  POOL_CU_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE: 108,
  POOL_CU_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE: 109,
  POOL_CU_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED: 110,
  POOL_CU_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK: 111,
  POOL_CU_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED: 113,
  POOL_CU_ATTRIBUTE_MEMORY_POOLS_SUPPORTED: 115,
  POOL_CU_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED: 116,
  POOL_CU_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS: 117,
  POOL_CU_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING: 118,
  POOL_CU_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES: 119,
  POOL_CU_ATTRIBUTE_CLUSTER_LAUNCH: 120,
  POOL_CU_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS: 122,
  POOL_CU_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR: 123,
  POOL_CU_ATTRIBUTE_DMA_BUF_SUPPORTED: 124,
  POOL_CU_ATTRIBUTE_IPC_EVENT_SUPPORTED: 125,
  POOL_CU_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT: 126,
  POOL_CU_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED: 128,
  POOL_CU_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS: 129,
  POOL_CU_ATTRIBUTE_NUMA_CONFIG: 130,
  POOL_CU_ATTRIBUTE_NUMA_ID: 131,
  POOL_CU_ATTRIBUTE_MULTICAST_SUPPORTED: 132,
  POOL_CU_ATTRIBUTE_MPS_ENABLED: 133,
  POOL_CU_ATTRIBUTE_HOST_NUMA_ID: 134,
  POOL_CU_ATTRIBUTE_GPU_PCI_DEVICE_ID: 139,
  POOL_CU_ATTRIBUTE_GPU_PCI_SUBSYSTEM_ID: 140,
  POOL_CU_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED: 141,
  POOL_CU_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED: 142,
  POOL_CU_ATTRIBUTE_HOST_NUMA_MULTINODE_IPC_SUPPORTED: 143,
  POOL_CU_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED: 144,
  POOL_CU_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED: 145,
  POOL_CU_ATTRIBUTE_HOST_ALLOC_DMA_BUF_SUPPORTED: 146,
  POOL_CU_ATTRIBUTE_ONLY_PARTIAL_HOST_NATIVE_ATOMIC_SUPPORTED: 147,
  POOL_CU_ATTRIBUTE_LIMIT: 2147483647,
  POOL_CUDA_PTX_ONLY: 1,
  POOL_CUDA_ISOLATED_DEVICES: 2,
  POOL_DEVICE_READY: 0,
  POOL_DEVICE_UNUSABLE: 1,
  POOL_DEVICE_POISONED: 2,
  POOL_DEVICE_DRAINING: 3,
  POOL_DEVICE_QUARANTINED: 4,
  POOL_DEVICE_ABANDONED: 5,
  POOL_LIMIT_STACK: 0,
  POOL_LIMIT_PRINTF: 1,
  POOL_LIMIT_HEAP: 2,
  POOL_CONTEXT_PRIMARY: 0,
  POOL_CONTEXT_OWN: 1,
  POOL_CONTEXT_ADOPT: 2,
  POOL_ISOLATION_NONE: 0,
  POOL_ISOLATION_WORKERS: 1,
  POOL_POLICY_ROUND_ROBIN: 0,
  POOL_POLICY_MOST_FREE: 1,
  POOL_POLICY_LEAST_LOADED: 2,
  POOL_POLICY_SCORE: 3,
  POOL_SETTING_DEFAULT: 0,
  POOL_SETTING_FILE: 1,
  POOL_SETTING_ENVIRONMENT: 2,
  POOL_STREAM_BLOCKING: 1,
  POOL_EVENT_TIMING: 1,
  POOL_EVENT_SLEEP: 2,
  POOL_EVENT_SHAREABLE: 4,
  POOL_LEASE_SECRET: 1,
  POOL_FORM_STANDARD: 0,
  POOL_FORM_MONTGOMERY: 1,
  POOL_MEMORY_HOST: 0,
  POOL_MEMORY_DEVICE: 1,
  POOL_MEMORY_SHARDED: 2,
  POOL_CHECK_NONE: 0,
  POOL_CHECK_CANONICAL: 1,
  POOL_CHECK_ON_CURVE: 2,
  POOL_CHECK_SUBGROUP: 6,
  POOL_CHECK_REDUCE: 8,
  POOL_BUFFER_ZEROED: 1,
  POOL_BUFFER_SECRET: 2,
  POOL_BUFFER_DURABLE: 4,
  POOL_BUFFER_SHAREABLE: 8,
  POOL_PINNED_SECRET: 1,
  POOL_PINNED_WRITE_COMBINED: 2,
  POOL_LITTLE_ENDIAN: 0,
  POOL_BIG_ENDIAN: 1,
  POOL_DECIMAL: 0,
  POOL_HEXADECIMAL: 1,
  POOL_NTT_FORWARD: 0,
  POOL_NTT_INVERSE: 1,
  POOL_NTT_NN: 0,
  POOL_NTT_NR: 1,
  POOL_NTT_RN: 2,
  POOL_NTT_RR: 3,
  POOL_NTT_ROWS: 0,
  POOL_NTT_COLUMNS: 1,
  POOL_POSEIDON: 0,
  POOL_POSEIDON2: 1,
  POOL_SPONGE_ADD: 0,
  POOL_SPONGE_OVERWRITE: 1,
  POOL_SPONGE_PAD_NONE: 0,
  POOL_SPONGE_PAD_10: 1,
  POOL_SPONGE_PAD_ZERO: 2,
  POOL_MATRIX_COLUMNS: 0,
  POOL_MATRIX_ROWS: 1,
  POOL_POINT_AFFINE: 0,
  POOL_POINT_AFFINE_FLAG: 1,
  POOL_POINT_JACOBIAN: 2,
  POOL_POINT_PROJECTIVE: 3,
  POOL_POINT_XYZZ: 4,
  POOL_ENCODING_ZCASH_COMPRESSED: 0,
  POOL_ENCODING_ZCASH_UNCOMPRESSED: 1,
  POOL_ENCODING_EIP196: 2,
  POOL_ENCODING_EIP2537: 3,
  POOL_ENCODING_GNARK_COMPRESSED: 4,
  POOL_ENCODING_ARKWORKS_COMPRESSED: 5,
  POOL_ENCODING_ARKWORKS_UNCOMPRESSED: 6,
  POOL_FILE_ANY: 0,
  POOL_FILE_RAW: 1,
  POOL_FILE_PTAU: 2,
  POOL_FILE_ZKEY: 3,
  POOL_FILE_WTNS: 4,
  POOL_FILE_R1CS: 5,
  POOL_FILE_KZG: 6,
  POOL_FILE_POINTS: 0,
  POOL_FILE_ELEMENTS: 1,
  POOL_FILE_COEFFICIENTS: 2,
  POOL_LOG_NONE: 0,
  POOL_LOG_ERROR: 1,
  POOL_LOG_WARN: 2,
  POOL_LOG_INFO: 3,
  POOL_LOG_DEBUG: 4,
  POOL_METRICS_PROMETHEUS: 0,
  POOL_METRICS_JSON: 1,
  POOL_IMAGE_CUBIN: 0,
  POOL_IMAGE_PTX: 1,
  POOL_RESIDENT_PINNED: 1,
  POOL_SIM_REPORT_UNINITIALISED: 1,
  POOL_SIM_REPORT_BARRIER: 2,
  POOL_SIM_REPORT_LEAK: 4,
  POOL_SIM_REPORT_RACES: 8,
  POOL_SIM_REPORT_PROFILE: 16,
  POOL_SIM_REPORT_UNWRITTEN: 32,
  POOL_TRACE_OPERATION: 0,
  POOL_TRACE_PHASE: 1,
  POOL_TRACE_COPY: 2,
  POOL_TRACE_COMPILE: 3,
  POOL_TRACE_LOAD: 4,
  POOL_TRACE_LEASE_WAIT: 5,
  POOL_TUNING_DEFAULT: 0,
  POOL_TUNING_FILE: 1,
  POOL_TUNING_GIVEN: 2,
  POOL_VECTOR_ADD: 0,
  POOL_VECTOR_SUB: 1,
  POOL_VECTOR_MUL: 2,
  POOL_VECTOR_SCALE: 3,
  POOL_VECTOR_INVERSE: 4,
  POOL_VECTOR_BIT_REVERSE: 5,
  POOL_VECTOR_TRANSPOSE: 6,
  POOL_VECTOR_POWERS: 7,
  POOL_VECTOR_EVALUATE: 8,
  POOL_PHYSICAL_EXPORTABLE: 1,
  POOL_UUID_TEXT: 48,
  POOL_PCI_TEXT: 24,
  POOL_MAX_RATE: 68719476736,
  POOL_ECNTT_MAX_LOG_SIZE: 32,
  POOL_FIELD_MAX_BITS: 768,
  POOL_FIELD_MAX_BYTES: 96,
  POOL_FINGERPRINT_BYTES: 32,
  POOL_FIELD_STRING_BYTES: 240,
  POOL_FRI_MAX_ARITY: 8,
  POOL_FILE_COEFFICIENT_ELEMENT: 12,
  POOL_LEASE_AGING_NS: 60000000000,
  POOL_LEASE_PRIORITY_MAX: 1000,
  POOL_LEASE_LABEL_BYTES: 64,
  POOL_LEASE_SLOTS: 4,
  POOL_WAIT_FOREVER: 18446744073709551615n,
  POOL_CARVEOUT_DEFAULT: -1,
  POOL_CACHE_KEY_TEXT: 65,
  POOL_PRECOMPUTE_ALL: 4294967295,
  POOL_PRECOMPUTE_AUTO: 4294967294,
  POOL_AFFINE_NONE: 4294967295,
  POOL_MSM_MAX_TERMS: 64,
  POOL_NTT_MAX_LOG_SIZE: 40,
  POOL_NTT_MAX_LOG_BLOWUP: 4,
  POOL_SLICE_NS: 2000000,
  POOL_SHARED_SLICE_NS: 500000,
  POOL_POSEIDON_MAX_WIDTH: 64,
  POOL_RESIDENT_NAME_BYTES: 64,
  POOL_SIM_CLASSES: 10,
  POOL_VERSION_MAJOR: 0,
  POOL_VERSION_MINOR: 1,
  POOL_VERSION_PATCH: 0,
  POOL_VERSION_NUMBER: 100,
};
