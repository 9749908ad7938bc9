/* Written by src/bindings/generate.py from the headers: do not edit. */
/* clang-format off */
#include "raw.h"

#include <devicepool.h>

/* Arguments are integers and addresses in `a`; so is the result. The compiler compares each call with the
   headers. */
uint64_t raw_call(uint32_t function, const uint64_t *a)
{
    switch (function) {
    case 0:
        return (uint64_t)pool_version_number();
    case 1:
        return (uint64_t)(uintptr_t)pool_version_text();
    case 2:
        return (uint64_t)(uintptr_t)pool_status_name((pool_status)a[0]);
    case 3:
        return (uint64_t)(uintptr_t)pool_status_text((pool_status)a[0]);
    case 4:
        return (uint64_t)pool_status_class((pool_status)a[0]);
    case 5:
        return (uint64_t)(uintptr_t)pool_error_class_name((pool_error_class)a[0]);
    case 6:
        return (uint64_t)(uintptr_t)pool_last_error();
    case 7:
        return (uint64_t)pool_error_read((pool_error_slot *)(uintptr_t)a[0]);
    case 8:
        return (uint64_t)pool_error_set((pool_status)a[0], (const char *)(uintptr_t)a[1]);
    case 9:
        pool_text_free((char **)(uintptr_t)a[0]);
        return 0;
    case 10:
        return (uint64_t)pool_cancel_create((pool_cancel **)(uintptr_t)a[0]);
    case 11:
        pool_cancel_request((pool_cancel *)(uintptr_t)a[0]);
        return 0;
    case 12:
        return (uint64_t)pool_cancel_requested((const pool_cancel *)(uintptr_t)a[0]);
    case 13:
        pool_cancel_destroy((pool_cancel **)(uintptr_t)a[0]);
        return 0;
    case 14:
        return (uint64_t)pool_device_get_info((pool_device *)(uintptr_t)a[0], (pool_device_info *)(uintptr_t)a[1]);
    case 15:
        return (uint64_t)pool_device_describe((pool_device *)(uintptr_t)a[0], (pool_text_format)a[1], (char **)(uintptr_t)a[2]);
    case 16:
        return (uint64_t)pool_device_get_peer((pool_device *)(uintptr_t)a[0], (pool_device *)(uintptr_t)a[1], (pool_peer_info *)(uintptr_t)a[2]);
    case 17:
        return (uint64_t)pool_device_index((const pool_device *)(uintptr_t)a[0]);
    case 18:
        return (uint64_t)pool_device_ordinal((const pool_device *)(uintptr_t)a[0]);
    case 19:
        return (uint64_t)(uintptr_t)pool_device_gpu((pool_device *)(uintptr_t)a[0]);
    case 20:
        return (uint64_t)pool_device_partition((const pool_device *)(uintptr_t)a[0]);
    case 21:
        return (uint64_t)(uintptr_t)pool_device_uuid((const pool_device *)(uintptr_t)a[0]);
    case 22:
        return (uint64_t)pool_device_handle((pool_device *)(uintptr_t)a[0], (CUdevice *)(uintptr_t)a[1]);
    case 23:
        return (uint64_t)pool_device_context((pool_device *)(uintptr_t)a[0], (CUcontext *)(uintptr_t)a[1]);
    case 24:
        return (uint64_t)pool_device_get_limit((pool_device *)(uintptr_t)a[0], (pool_limit)a[1], (uint64_t *)(uintptr_t)a[2]);
    case 25:
        return (uint64_t)pool_device_set_limit((pool_device *)(uintptr_t)a[0], (pool_limit)a[1], (uint64_t)a[2]);
    case 26:
        return (uint64_t)pool_device_get_rate((pool_device *)(uintptr_t)a[0], (uint64_t *)(uintptr_t)a[1]);
    case 27:
        return (uint64_t)pool_device_set_rate((pool_device *)(uintptr_t)a[0], (uint64_t)a[1]);
    case 28:
        return (uint64_t)pool_measure_rates((device_pool *)(uintptr_t)a[0]);
    case 29:
        return (uint64_t)pool_profiler_start((pool_device *)(uintptr_t)a[0]);
    case 30:
        return (uint64_t)pool_profiler_stop((pool_device *)(uintptr_t)a[0]);
    case 31:
        return (uint64_t)pool_device_drain((pool_device *)(uintptr_t)a[0]);
    case 32:
        return (uint64_t)pool_device_wait_drained((pool_device *)(uintptr_t)a[0], (uint64_t)a[1]);
    case 33:
        return (uint64_t)pool_device_resume((pool_device *)(uintptr_t)a[0]);
    case 34:
        return (uint64_t)pool_device_quarantine((pool_device *)(uintptr_t)a[0], (const char *)(uintptr_t)a[1]);
    case 35:
        return (uint64_t)pool_device_probe((pool_device *)(uintptr_t)a[0], (uint64_t)a[1]);
    case 36:
        return (uint64_t)pool_device_abandon((pool_device *)(uintptr_t)a[0], (const char *)(uintptr_t)a[1]);
    case 37:
        return (uint64_t)pool_device_readmit((pool_device *)(uintptr_t)a[0]);
    case 38:
        return (uint64_t)pool_host_get_info((pool_host_info *)(uintptr_t)a[0]);
    case 39:
        return (uint64_t)pool_device_get_compiler((pool_device *)(uintptr_t)a[0], (pool_component *)(uintptr_t)a[1]);
    case 40:
        pool_params_init((pool_params *)(uintptr_t)a[0], (size_t)a[1]);
        return 0;
    case 41:
        return (uint64_t)pool_create((device_pool **)(uintptr_t)a[0], (const pool_params *)(uintptr_t)a[1]);
    case 42:
        return (uint64_t)(uintptr_t)pool_retain((device_pool *)(uintptr_t)a[0]);
    case 43:
        return (uint64_t)pool_destroy((device_pool **)(uintptr_t)a[0]);
    case 44:
        return (uint64_t)pool_device_count((const device_pool *)(uintptr_t)a[0]);
    case 45:
        return (uint64_t)pool_usable_count((const device_pool *)(uintptr_t)a[0]);
    case 46:
        return (uint64_t)pool_device_at((device_pool *)(uintptr_t)a[0], (size_t)a[1], (pool_device **)(uintptr_t)a[2]);
    case 47:
        return (uint64_t)pool_device_by_ordinal((device_pool *)(uintptr_t)a[0], (int)a[1], (pool_device **)(uintptr_t)a[2]);
    case 48:
        return (uint64_t)pool_device_by_uuid((device_pool *)(uintptr_t)a[0], (const char *)(uintptr_t)a[1], (pool_device **)(uintptr_t)a[2]);
    case 49:
        return (uint64_t)pool_device_by_pci((device_pool *)(uintptr_t)a[0], (const char *)(uintptr_t)a[1], (pool_device **)(uintptr_t)a[2]);
    case 50:
        return (uint64_t)pool_device_each((device_pool *)(uintptr_t)a[0], (pool_device_visitor)(uintptr_t)a[1], (void *)(uintptr_t)a[2], (int *)(uintptr_t)a[3]);
    case 51:
        return (uint64_t)pool_describe((device_pool *)(uintptr_t)a[0], (pool_text_format)a[1], (char **)(uintptr_t)a[2]);
    case 52:
        return (uint64_t)pool_next_device((device_pool *)(uintptr_t)a[0], (pool_device **)(uintptr_t)a[1]);
    case 53:
        return (uint64_t)pool_best_device((device_pool *)(uintptr_t)a[0], (pool_device **)(uintptr_t)a[1]);
    case 54:
        return (uint64_t)pool_pick_device((device_pool *)(uintptr_t)a[0], (const pool_pick *)(uintptr_t)a[1], (pool_device **)(uintptr_t)a[2]);
    case 55:
        return (uint64_t)pool_bind((pool_device *)(uintptr_t)a[0]);
    case 56:
        return (uint64_t)pool_unbind((pool_device *)(uintptr_t)a[0]);
    case 57:
        return (uint64_t)pool_bound_device((device_pool *)(uintptr_t)a[0], (pool_device **)(uintptr_t)a[1]);
    case 58:
        return (uint64_t)pool_check_device((device_pool *)(uintptr_t)a[0], (int)a[1]);
    case 59:
        return (uint64_t)pool_run_on((pool_device *)(uintptr_t)a[0], (pool_task)(uintptr_t)a[1], (void *)(uintptr_t)a[2]);
    case 60:
        return (uint64_t)pool_pointer_device((device_pool *)(uintptr_t)a[0], (const void *)(uintptr_t)a[1], (pool_device **)(uintptr_t)a[2]);
    case 61:
        return (uint64_t)pool_get_health((device_pool *)(uintptr_t)a[0], (pool_health_info *)(uintptr_t)a[1]);
    case 62:
        return (uint64_t)pool_setting_at((size_t)a[0], (pool_setting *)(uintptr_t)a[1]);
    case 63:
        return (uint64_t)pool_setting_by_name((const char *)(uintptr_t)a[0], (pool_setting *)(uintptr_t)a[1]);
    case 64:
        pool_stream_params_init((pool_stream_params *)(uintptr_t)a[0], (size_t)a[1]);
        return 0;
    case 65:
        return (uint64_t)pool_stream_get_priority_range((pool_device *)(uintptr_t)a[0], (int32_t *)(uintptr_t)a[1], (int32_t *)(uintptr_t)a[2]);
    case 66:
        return (uint64_t)pool_stream_create((pool_device *)(uintptr_t)a[0], (const pool_stream_params *)(uintptr_t)a[1], (pool_stream **)(uintptr_t)a[2]);
    case 67:
        return (uint64_t)pool_stream_adopt((pool_device *)(uintptr_t)a[0], (CUstream)(uintptr_t)a[1], (pool_stream **)(uintptr_t)a[2]);
    case 68:
        return (uint64_t)pool_stream_default((pool_device *)(uintptr_t)a[0], (pool_stream **)(uintptr_t)a[1]);
    case 69:
        return (uint64_t)pool_stream_destroy((pool_stream **)(uintptr_t)a[0]);
    case 70:
        return (uint64_t)(uintptr_t)pool_stream_device((const pool_stream *)(uintptr_t)a[0]);
    case 71:
        return (uint64_t)pool_stream_handle((const pool_stream *)(uintptr_t)a[0], (CUstream *)(uintptr_t)a[1]);
    case 72:
        return (uint64_t)pool_stream_get_priority((const pool_stream *)(uintptr_t)a[0], (int32_t *)(uintptr_t)a[1]);
    case 73:
        return (uint64_t)pool_stream_get_flags((const pool_stream *)(uintptr_t)a[0], (uint32_t *)(uintptr_t)a[1]);
    case 74:
        return (uint64_t)pool_stream_query((pool_stream *)(uintptr_t)a[0]);
    case 75:
        return (uint64_t)pool_stream_synchronize((pool_stream *)(uintptr_t)a[0]);
    case 76:
        return (uint64_t)pool_stream_wait((pool_stream *)(uintptr_t)a[0], (uint64_t)a[1]);
    case 77:
        return (uint64_t)pool_device_synchronize((pool_device *)(uintptr_t)a[0]);
    case 78:
        return (uint64_t)pool_device_wait((pool_device *)(uintptr_t)a[0], (uint64_t)a[1]);
    case 79:
        return (uint64_t)pool_stream_wait_event((pool_stream *)(uintptr_t)a[0], (pool_event *)(uintptr_t)a[1]);
    case 80:
        return (uint64_t)pool_stream_fork((pool_stream *)(uintptr_t)a[0], (pool_stream *const *)(uintptr_t)a[1], (size_t)a[2]);
    case 81:
        return (uint64_t)pool_stream_join((pool_stream *)(uintptr_t)a[0], (pool_stream *const *)(uintptr_t)a[1], (size_t)a[2]);
    case 82:
        return (uint64_t)pool_stream_call((pool_stream *)(uintptr_t)a[0], (pool_host_task)(uintptr_t)a[1], (void *)(uintptr_t)a[2]);
    case 83:
        return (uint64_t)pool_event_create((pool_device *)(uintptr_t)a[0], (uint32_t)a[1], (pool_event **)(uintptr_t)a[2]);
    case 84:
        return (uint64_t)pool_event_share((pool_event *)(uintptr_t)a[0], (pool_shared_event *)(uintptr_t)a[1]);
    case 85:
        return (uint64_t)pool_event_open((pool_device *)(uintptr_t)a[0], (const pool_shared_event *)(uintptr_t)a[1], (pool_event **)(uintptr_t)a[2]);
    case 86:
        return (uint64_t)pool_event_destroy((pool_event **)(uintptr_t)a[0]);
    case 87:
        return (uint64_t)(uintptr_t)pool_event_device((const pool_event *)(uintptr_t)a[0]);
    case 88:
        return (uint64_t)pool_event_handle((const pool_event *)(uintptr_t)a[0], (CUevent *)(uintptr_t)a[1]);
    case 89:
        return (uint64_t)pool_event_record((pool_event *)(uintptr_t)a[0], (pool_stream *)(uintptr_t)a[1]);
    case 90:
        return (uint64_t)pool_event_query((pool_event *)(uintptr_t)a[0]);
    case 91:
        return (uint64_t)pool_event_synchronize((pool_event *)(uintptr_t)a[0]);
    case 92:
        return (uint64_t)pool_event_wait((pool_event *)(uintptr_t)a[0], (uint64_t)a[1]);
    case 93:
        return (uint64_t)pool_event_elapsed((pool_event *)(uintptr_t)a[0], (pool_event *)(uintptr_t)a[1], (double *)(uintptr_t)a[2]);
    case 94:
        pool_request_init((pool_request *)(uintptr_t)a[0], (size_t)a[1]);
        return 0;
    case 95:
        return (uint64_t)pool_acquire((device_pool *)(uintptr_t)a[0], (const pool_request *)(uintptr_t)a[1], (pool_lease **)(uintptr_t)a[2]);
    case 96:
        return (uint64_t)pool_acquire_async((device_pool *)(uintptr_t)a[0], (const pool_request *)(uintptr_t)a[1], (pool_grant_hook)(uintptr_t)a[2], (void *)(uintptr_t)a[3], (pool_ticket **)(uintptr_t)a[4]);
    case 97:
        return (uint64_t)pool_ticket_fd((pool_ticket *)(uintptr_t)a[0], (int *)(uintptr_t)a[1]);
    case 98:
        return (uint64_t)pool_ticket_take((pool_ticket *)(uintptr_t)a[0], (pool_lease **)(uintptr_t)a[1]);
    case 99:
        return (uint64_t)pool_ticket_destroy((pool_ticket **)(uintptr_t)a[0]);
    case 100:
        return (uint64_t)pool_release((pool_lease **)(uintptr_t)a[0]);
    case 101:
        return (uint64_t)pool_lease_device_count((const pool_lease *)(uintptr_t)a[0]);
    case 102:
        return (uint64_t)pool_lease_device((const pool_lease *)(uintptr_t)a[0], (uint32_t)a[1], (pool_device **)(uintptr_t)a[2]);
    case 103:
        return (uint64_t)pool_lease_stream((pool_lease *)(uintptr_t)a[0], (uint32_t)a[1], (pool_stream **)(uintptr_t)a[2]);
    case 104:
        return (uint64_t)pool_lease_get_info((const pool_lease *)(uintptr_t)a[0], (pool_lease_info *)(uintptr_t)a[1]);
    case 105:
        return (uint64_t)pool_lease_get_usage((const pool_lease *)(uintptr_t)a[0], (uint32_t)a[1], (pool_lease_usage *)(uintptr_t)a[2]);
    case 106:
        return (uint64_t)pool_get_lease_counts((device_pool *)(uintptr_t)a[0], (pool_lease_counts *)(uintptr_t)a[1]);
    case 107:
        pool_buffer_params_init((pool_buffer_params *)(uintptr_t)a[0], (size_t)a[1]);
        return 0;
    case 108:
        return (uint64_t)pool_buffer_create((pool_device *)(uintptr_t)a[0], (const pool_buffer_params *)(uintptr_t)a[1], (pool_buffer **)(uintptr_t)a[2]);
    case 109:
        return (uint64_t)pool_buffer_alloc((pool_device *)(uintptr_t)a[0], (uint64_t)a[1], (pool_buffer **)(uintptr_t)a[2]);
    case 110:
        return (uint64_t)pool_buffer_zeroed((pool_device *)(uintptr_t)a[0], (uint64_t)a[1], (pool_buffer **)(uintptr_t)a[2]);
    case 111:
        return (uint64_t)pool_buffer_from_host((pool_device *)(uintptr_t)a[0], (const void *)(uintptr_t)a[1], (uint64_t)a[2], (pool_buffer **)(uintptr_t)a[3]);
    case 112:
        return (uint64_t)pool_buffer_adopt((pool_device *)(uintptr_t)a[0], (CUdeviceptr)a[1], (uint64_t)a[2], (pool_buffer **)(uintptr_t)a[3]);
    case 113:
        return (uint64_t)pool_buffer_slice((pool_buffer *)(uintptr_t)a[0], (uint64_t)a[1], (uint64_t)a[2], (pool_buffer **)(uintptr_t)a[3]);
    case 114:
        return (uint64_t)pool_buffer_destroy((pool_buffer **)(uintptr_t)a[0]);
    case 115:
        return (uint64_t)pool_buffer_destroy_on((pool_buffer **)(uintptr_t)a[0], (pool_stream *)(uintptr_t)a[1]);
    case 116:
        return (uint64_t)pool_buffer_share((pool_buffer *)(uintptr_t)a[0], (pool_shared_buffer *)(uintptr_t)a[1]);
    case 117:
        return (uint64_t)pool_buffer_open((pool_device *)(uintptr_t)a[0], (const pool_shared_buffer *)(uintptr_t)a[1], (pool_buffer **)(uintptr_t)a[2]);
    case 118:
        return (uint64_t)pool_buffer_address((const pool_buffer *)(uintptr_t)a[0], (CUdeviceptr *)(uintptr_t)a[1]);
    case 119:
        return (uint64_t)pool_buffer_bytes((const pool_buffer *)(uintptr_t)a[0]);
    case 120:
        return (uint64_t)pool_buffer_flags((const pool_buffer *)(uintptr_t)a[0]);
    case 121:
        return (uint64_t)(uintptr_t)pool_buffer_device((const pool_buffer *)(uintptr_t)a[0]);
    case 122:
        return (uint64_t)pool_buffer_span((const pool_buffer *)(uintptr_t)a[0], (uint64_t)a[1], (uint64_t)a[2], (pool_form)a[3], (pool_span *)(uintptr_t)a[4]);
    case 123:
        return (uint64_t)pool_buffer_fill8((pool_buffer *)(uintptr_t)a[0], (uint64_t)a[1], (uint64_t)a[2], (uint8_t)a[3], (pool_stream *)(uintptr_t)a[4]);
    case 124:
        return (uint64_t)pool_buffer_fill16((pool_buffer *)(uintptr_t)a[0], (uint64_t)a[1], (uint64_t)a[2], (uint16_t)a[3], (pool_stream *)(uintptr_t)a[4]);
    case 125:
        return (uint64_t)pool_buffer_fill32((pool_buffer *)(uintptr_t)a[0], (uint64_t)a[1], (uint64_t)a[2], (uint32_t)a[3], (pool_stream *)(uintptr_t)a[4]);
    case 126:
        return (uint64_t)pool_copy_to_device((pool_buffer *)(uintptr_t)a[0], (uint64_t)a[1], (const void *)(uintptr_t)a[2], (uint64_t)a[3], (pool_stream *)(uintptr_t)a[4]);
    case 127:
        return (uint64_t)pool_copy_to_host((void *)(uintptr_t)a[0], (const pool_buffer *)(uintptr_t)a[1], (uint64_t)a[2], (uint64_t)a[3], (pool_stream *)(uintptr_t)a[4]);
    case 128:
        return (uint64_t)pool_copy_device((pool_buffer *)(uintptr_t)a[0], (uint64_t)a[1], (const pool_buffer *)(uintptr_t)a[2], (uint64_t)a[3], (uint64_t)a[4], (pool_stream *)(uintptr_t)a[5]);
    case 129:
        return (uint64_t)pool_copy_2d((const pool_pitched *)(uintptr_t)a[0], (const pool_pitched *)(uintptr_t)a[1], (uint64_t)a[2], (uint64_t)a[3], (pool_stream *)(uintptr_t)a[4]);
    case 130:
        return (uint64_t)pool_device_enable_peer((pool_device *)(uintptr_t)a[0], (pool_device *)(uintptr_t)a[1]);
    case 131:
        return (uint64_t)pool_pinned_create((pool_device *)(uintptr_t)a[0], (uint64_t)a[1], (uint32_t)a[2], (pool_pinned **)(uintptr_t)a[3]);
    case 132:
        return (uint64_t)pool_pinned_register((pool_device *)(uintptr_t)a[0], (void *)(uintptr_t)a[1], (uint64_t)a[2], (uint32_t)a[3], (pool_pinned **)(uintptr_t)a[4]);
    case 133:
        return (uint64_t)pool_pinned_destroy((pool_pinned **)(uintptr_t)a[0]);
    case 134:
        return (uint64_t)(uintptr_t)pool_pinned_data((const pool_pinned *)(uintptr_t)a[0]);
    case 135:
        return (uint64_t)pool_pinned_bytes((const pool_pinned *)(uintptr_t)a[0]);
    case 136:
        return (uint64_t)pool_pinned_flags((const pool_pinned *)(uintptr_t)a[0]);
    case 137:
        return (uint64_t)(uintptr_t)pool_pinned_device((const pool_pinned *)(uintptr_t)a[0]);
    case 138:
        return (uint64_t)pool_memory_get_info((pool_device *)(uintptr_t)a[0], (pool_memory_info *)(uintptr_t)a[1]);
    case 139:
        return (uint64_t)pool_memory_reset_high_water((pool_device *)(uintptr_t)a[0]);
    case 140:
        return (uint64_t)pool_memory_set_threshold((pool_device *)(uintptr_t)a[0], (uint64_t)a[1]);
    case 141:
        return (uint64_t)pool_pinned_set_threshold((pool_device *)(uintptr_t)a[0], (uint64_t)a[1]);
    case 142:
        return (uint64_t)pool_memory_trim((pool_device *)(uintptr_t)a[0], (uint64_t)a[1]);
    case 143:
        return (uint64_t)pool_memory_handle((pool_device *)(uintptr_t)a[0], (CUmemoryPool *)(uintptr_t)a[1]);
    case 144:
        return (uint64_t)pool_memory_adopt((pool_device *)(uintptr_t)a[0], (CUmemoryPool)(uintptr_t)a[1]);
    case 145:
        pool_exec_init((pool_exec *)(uintptr_t)a[0], (size_t)a[1]);
        return 0;
    case 146:
        return (uint64_t)pool_field_count();
    case 147:
        return (uint64_t)(uintptr_t)pool_field_at((size_t)a[0]);
    case 148:
        return (uint64_t)(uintptr_t)pool_field_by_name((const char *)(uintptr_t)a[0]);
    case 149:
        pool_field_params_init((pool_field_params *)(uintptr_t)a[0], (size_t)a[1]);
        return 0;
    case 150:
        return (uint64_t)pool_field_create((const pool_field_params *)(uintptr_t)a[0], (pool_field **)(uintptr_t)a[1]);
    case 151:
        return (uint64_t)(uintptr_t)pool_field_retain((const pool_field *)(uintptr_t)a[0]);
    case 152:
        pool_field_destroy((pool_field **)(uintptr_t)a[0]);
        return 0;
    case 153:
        return (uint64_t)(uintptr_t)pool_field_name((const pool_field *)(uintptr_t)a[0]);
    case 154:
        return (uint64_t)pool_field_bits((const pool_field *)(uintptr_t)a[0]);
    case 155:
        return (uint64_t)pool_field_element_bytes((const pool_field *)(uintptr_t)a[0]);
    case 156:
        return (uint64_t)pool_field_two_adicity((const pool_field *)(uintptr_t)a[0]);
    case 157:
        return (uint64_t)pool_field_degree((const pool_field *)(uintptr_t)a[0]);
    case 158:
        return (uint64_t)(uintptr_t)pool_field_base((const pool_field *)(uintptr_t)a[0]);
    case 159:
        return (uint64_t)pool_field_fingerprint((const pool_field *)(uintptr_t)a[0], (uint8_t *)(uintptr_t)a[1]);
    case 160:
        return (uint64_t)pool_field_modulus((const pool_field *)(uintptr_t)a[0], (void *)(uintptr_t)a[1]);
    case 161:
        return (uint64_t)pool_field_generator((const pool_field *)(uintptr_t)a[0], (pool_form)a[1], (void *)(uintptr_t)a[2]);
    case 162:
        return (uint64_t)pool_field_root_of_unity((const pool_field *)(uintptr_t)a[0], (const char *)(uintptr_t)a[1], (uint32_t)a[2], (pool_form)a[3], (void *)(uintptr_t)a[4]);
    case 163:
        return (uint64_t)pool_field_parse((const pool_field *)(uintptr_t)a[0], (const char *)(uintptr_t)a[1], (pool_form)a[2], (void *)(uintptr_t)a[3]);
    case 164:
        return (uint64_t)pool_field_format((const pool_field *)(uintptr_t)a[0], (pool_form)a[1], (const void *)(uintptr_t)a[2], (pool_radix)a[3], (char *)(uintptr_t)a[4], (size_t)a[5], (size_t *)(uintptr_t)a[6]);
    case 165:
        return (uint64_t)pool_field_check((const pool_field *)(uintptr_t)a[0], (const void *)(uintptr_t)a[1], (size_t)a[2], (size_t *)(uintptr_t)a[3]);
    case 166:
        return (uint64_t)pool_field_to_montgomery((const pool_field *)(uintptr_t)a[0], (const void *)(uintptr_t)a[1], (size_t)a[2], (void *)(uintptr_t)a[3]);
    case 167:
        return (uint64_t)pool_field_from_montgomery((const pool_field *)(uintptr_t)a[0], (const void *)(uintptr_t)a[1], (size_t)a[2], (void *)(uintptr_t)a[3]);
    case 168:
        return (uint64_t)pool_field_from_bytes((const pool_field *)(uintptr_t)a[0], (size_t)a[1], (pool_byte_order)a[2], (const uint8_t *)(uintptr_t)a[3], (size_t)a[4], (pool_form)a[5], (void *)(uintptr_t)a[6]);
    case 169:
        return (uint64_t)pool_field_to_bytes((const pool_field *)(uintptr_t)a[0], (pool_form)a[1], (const void *)(uintptr_t)a[2], (size_t)a[3], (size_t)a[4], (pool_byte_order)a[5], (uint8_t *)(uintptr_t)a[6]);
    case 170:
        return (uint64_t)pool_field_reduce_bytes((const pool_field *)(uintptr_t)a[0], (size_t)a[1], (pool_byte_order)a[2], (const uint8_t *)(uintptr_t)a[3], (size_t)a[4], (pool_form)a[5], (void *)(uintptr_t)a[6]);
    case 171:
        return (uint64_t)pool_random_scalars((const pool_field *)(uintptr_t)a[0], (uint64_t)a[1], (size_t)a[2], (pool_form)a[3], (void *)(uintptr_t)a[4]);
    case 172:
        pool_ntt_domain_params_init((pool_ntt_domain_params *)(uintptr_t)a[0], (size_t)a[1]);
        return 0;
    case 173:
        return (uint64_t)pool_ntt_domain_create((const pool_ntt_domain_params *)(uintptr_t)a[0], (pool_ntt_domain **)(uintptr_t)a[1]);
    case 174:
        return (uint64_t)(uintptr_t)pool_ntt_domain_retain((pool_ntt_domain *)(uintptr_t)a[0]);
    case 175:
        return (uint64_t)pool_ntt_domain_destroy((pool_ntt_domain **)(uintptr_t)a[0]);
    case 176:
        return (uint64_t)(uintptr_t)pool_ntt_domain_field((const pool_ntt_domain *)(uintptr_t)a[0]);
    case 177:
        return (uint64_t)pool_ntt_domain_log_size((const pool_ntt_domain *)(uintptr_t)a[0]);
    case 178:
        return (uint64_t)pool_ntt_domain_root((const pool_ntt_domain *)(uintptr_t)a[0], (pool_form)a[1], (void *)(uintptr_t)a[2]);
    case 179:
        return (uint64_t)pool_ntt_domain_coset((const pool_ntt_domain *)(uintptr_t)a[0], (pool_form)a[1], (void *)(uintptr_t)a[2]);
    case 180:
        return (uint64_t)pool_ntt_domain_power((pool_ntt_domain *)(uintptr_t)a[0], (uint32_t)a[1], (pool_ntt_domain **)(uintptr_t)a[2]);
    case 181:
        return (uint64_t)pool_ntt_domain_bytes((const pool_ntt_domain *)(uintptr_t)a[0], (pool_device *)(uintptr_t)a[1], (uint64_t *)(uintptr_t)a[2]);
    case 182:
        pool_ntt_params_init((pool_ntt_params *)(uintptr_t)a[0], (size_t)a[1]);
        return 0;
    case 183:
        return (uint64_t)pool_ntt((const pool_ntt_params *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_span *)(uintptr_t)a[2], (const pool_span *)(uintptr_t)a[3]);
    case 184:
        return (uint64_t)pool_ntt_workspace((const pool_ntt_params *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_span *)(uintptr_t)a[2], (const pool_span *)(uintptr_t)a[3], (uint64_t *)(uintptr_t)a[4]);
    case 185:
        return (uint64_t)pool_ntt_warm_up((pool_ntt_domain *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1]);
    case 186:
        pool_ntt_extend_params_init((pool_ntt_extend_params *)(uintptr_t)a[0], (size_t)a[1]);
        return 0;
    case 187:
        return (uint64_t)pool_ntt_extend((const pool_ntt_extend_params *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_span *)(uintptr_t)a[2], (const pool_span *)(uintptr_t)a[3], (const pool_span *)(uintptr_t)a[4]);
    case 188:
        return (uint64_t)pool_ntt_extend_workspace((const pool_ntt_extend_params *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_span *)(uintptr_t)a[2], (const pool_span *)(uintptr_t)a[3], (const pool_span *)(uintptr_t)a[4], (uint64_t *)(uintptr_t)a[5]);
    case 189:
        return (uint64_t)pool_ntt_extend_warm_up((const pool_ntt_extend_params *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1]);
    case 190:
        return (uint64_t)pool_poseidon_count();
    case 191:
        return (uint64_t)(uintptr_t)pool_poseidon_name_at((size_t)a[0]);
    case 192:
        return (uint64_t)pool_poseidon_by_name((const char *)(uintptr_t)a[0], (pool_poseidon **)(uintptr_t)a[1]);
    case 193:
        pool_poseidon_params_init((pool_poseidon_params *)(uintptr_t)a[0], (size_t)a[1]);
        return 0;
    case 194:
        return (uint64_t)pool_poseidon_create((const pool_poseidon_params *)(uintptr_t)a[0], (pool_poseidon **)(uintptr_t)a[1]);
    case 195:
        return (uint64_t)(uintptr_t)pool_poseidon_retain((pool_poseidon *)(uintptr_t)a[0]);
    case 196:
        pool_poseidon_destroy((pool_poseidon **)(uintptr_t)a[0]);
        return 0;
    case 197:
        return (uint64_t)(uintptr_t)pool_poseidon_name((const pool_poseidon *)(uintptr_t)a[0]);
    case 198:
        return (uint64_t)(uintptr_t)pool_poseidon_field((const pool_poseidon *)(uintptr_t)a[0]);
    case 199:
        return (uint64_t)pool_poseidon_width((const pool_poseidon *)(uintptr_t)a[0]);
    case 200:
        return (uint64_t)pool_poseidon_max_inputs((const pool_poseidon *)(uintptr_t)a[0]);
    case 201:
        return (uint64_t)pool_poseidon_rate((const pool_poseidon *)(uintptr_t)a[0]);
    case 202:
        return (uint64_t)pool_poseidon_digest_elements((const pool_poseidon *)(uintptr_t)a[0]);
    case 203:
        return (uint64_t)pool_poseidon_fingerprint((const pool_poseidon *)(uintptr_t)a[0], (uint8_t *)(uintptr_t)a[1]);
    case 204:
        return (uint64_t)pool_poseidon_warm_up((const pool_poseidon *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1]);
    case 205:
        return (uint64_t)pool_poseidon_permute((const pool_poseidon *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_span *)(uintptr_t)a[2], (const pool_span *)(uintptr_t)a[3]);
    case 206:
        return (uint64_t)pool_poseidon_permute_workspace((const pool_poseidon *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_span *)(uintptr_t)a[2], (const pool_span *)(uintptr_t)a[3], (uint64_t *)(uintptr_t)a[4]);
    case 207:
        return (uint64_t)pool_poseidon_hash((const pool_poseidon *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_span *)(uintptr_t)a[2], (uint32_t)a[3], (const pool_span *)(uintptr_t)a[4]);
    case 208:
        return (uint64_t)pool_poseidon_hash_workspace((const pool_poseidon *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_span *)(uintptr_t)a[2], (uint32_t)a[3], (const pool_span *)(uintptr_t)a[4], (uint64_t *)(uintptr_t)a[5]);
    case 209:
        pool_poseidon_sponge_params_init((pool_poseidon_sponge_params *)(uintptr_t)a[0], (size_t)a[1]);
        return 0;
    case 210:
        return (uint64_t)pool_poseidon_sponge((const pool_poseidon *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_poseidon_sponge_params *)(uintptr_t)a[2], (const pool_span *)(uintptr_t)a[3], (const pool_span *)(uintptr_t)a[4]);
    case 211:
        return (uint64_t)pool_poseidon_sponge_workspace((const pool_poseidon *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_poseidon_sponge_params *)(uintptr_t)a[2], (const pool_span *)(uintptr_t)a[3], (const pool_span *)(uintptr_t)a[4], (uint64_t *)(uintptr_t)a[5]);
    case 212:
        pool_merkle_params_init((pool_merkle_params *)(uintptr_t)a[0], (size_t)a[1]);
        return 0;
    case 213:
        return (uint64_t)pool_merkle_get_shape((const pool_poseidon *)(uintptr_t)a[0], (const pool_merkle_params *)(uintptr_t)a[1], (uint64_t)a[2], (pool_merkle_shape *)(uintptr_t)a[3]);
    case 214:
        return (uint64_t)pool_poseidon_merkle_build((const pool_poseidon *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_merkle_params *)(uintptr_t)a[2], (const pool_span *)(uintptr_t)a[3], (const pool_span *)(uintptr_t)a[4]);
    case 215:
        return (uint64_t)pool_poseidon_merkle_build_workspace((const pool_poseidon *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_merkle_params *)(uintptr_t)a[2], (const pool_span *)(uintptr_t)a[3], (const pool_span *)(uintptr_t)a[4], (uint64_t *)(uintptr_t)a[5]);
    case 216:
        return (uint64_t)pool_poseidon_merkle_shards((const pool_poseidon *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_merkle_params *)(uintptr_t)a[2], (const pool_span *)(uintptr_t)a[3], (uint64_t *)(uintptr_t)a[4]);
    case 217:
        return (uint64_t)pool_poseidon_merkle_open((const pool_poseidon *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_merkle_params *)(uintptr_t)a[2], (uint64_t)a[3], (const pool_span *)(uintptr_t)a[4], (const pool_span *)(uintptr_t)a[5], (uint64_t)a[6], (const pool_span *)(uintptr_t)a[7]);
    case 218:
        return (uint64_t)pool_poseidon_merkle_open_workspace((const pool_poseidon *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_merkle_params *)(uintptr_t)a[2], (uint64_t)a[3], (const pool_span *)(uintptr_t)a[4], (const pool_span *)(uintptr_t)a[5], (uint64_t)a[6], (const pool_span *)(uintptr_t)a[7], (uint64_t *)(uintptr_t)a[8]);
    case 219:
        return (uint64_t)pool_poseidon_merkle_verify((const pool_poseidon *)(uintptr_t)a[0], (const pool_merkle_params *)(uintptr_t)a[1], (pool_form)a[2], (const void *)(uintptr_t)a[3], (const void *)(uintptr_t)a[4], (uint64_t)a[5], (const void *)(uintptr_t)a[6], (int32_t *)(uintptr_t)a[7]);
    case 220:
        pool_matrix_commit_params_init((pool_matrix_commit_params *)(uintptr_t)a[0], (size_t)a[1]);
        return 0;
    case 221:
        return (uint64_t)pool_matrix_commit_get_shape((const pool_matrix_commit_params *)(uintptr_t)a[0], (const pool_matrix *)(uintptr_t)a[1], (uint32_t)a[2], (pool_matrix_commit_shape *)(uintptr_t)a[3]);
    case 222:
        return (uint64_t)pool_matrix_commit((const pool_matrix_commit_params *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_matrix *)(uintptr_t)a[2], (uint32_t)a[3], (const pool_span *)(uintptr_t)a[4]);
    case 223:
        return (uint64_t)pool_matrix_commit_workspace((const pool_matrix_commit_params *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_matrix *)(uintptr_t)a[2], (uint32_t)a[3], (const pool_span *)(uintptr_t)a[4], (uint64_t *)(uintptr_t)a[5]);
    case 224:
        return (uint64_t)pool_matrix_commit_shards((const pool_matrix_commit_params *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_matrix *)(uintptr_t)a[2], (uint32_t)a[3], (uint64_t *)(uintptr_t)a[4]);
    case 225:
        return (uint64_t)pool_extend_commit((const pool_matrix_commit_params *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_extension *)(uintptr_t)a[2], (uint32_t)a[3], (const pool_span *)(uintptr_t)a[4]);
    case 226:
        return (uint64_t)pool_extend_commit_workspace((const pool_matrix_commit_params *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_extension *)(uintptr_t)a[2], (uint32_t)a[3], (const pool_span *)(uintptr_t)a[4], (uint64_t *)(uintptr_t)a[5]);
    case 227:
        return (uint64_t)pool_matrix_commit_warm_up((const pool_matrix_commit_params *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1]);
    case 228:
        return (uint64_t)pool_matrix_open((const pool_matrix_commit_params *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_matrix *)(uintptr_t)a[2], (uint32_t)a[3], (const pool_span *)(uintptr_t)a[4], (const uint64_t *)(uintptr_t)a[5], (uint64_t)a[6], (const pool_span *)(uintptr_t)a[7], (const pool_span *)(uintptr_t)a[8]);
    case 229:
        return (uint64_t)pool_matrix_open_workspace((const pool_matrix_commit_params *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_matrix *)(uintptr_t)a[2], (uint32_t)a[3], (const pool_span *)(uintptr_t)a[4], (uint64_t)a[5], (const pool_span *)(uintptr_t)a[6], (const pool_span *)(uintptr_t)a[7], (uint64_t *)(uintptr_t)a[8]);
    case 230:
        return (uint64_t)pool_matrix_verify((const pool_matrix_commit_params *)(uintptr_t)a[0], (pool_form)a[1], (const pool_matrix *)(uintptr_t)a[2], (uint32_t)a[3], (const void *)(uintptr_t)a[4], (uint64_t)a[5], (const void *)(uintptr_t)a[6], (const void *)(uintptr_t)a[7], (int32_t *)(uintptr_t)a[8]);
    case 231:
        return (uint64_t)pool_curve_count();
    case 232:
        return (uint64_t)(uintptr_t)pool_curve_at((size_t)a[0]);
    case 233:
        return (uint64_t)(uintptr_t)pool_curve_by_name((const char *)(uintptr_t)a[0]);
    case 234:
        pool_curve_params_init((pool_curve_params *)(uintptr_t)a[0], (size_t)a[1]);
        return 0;
    case 235:
        return (uint64_t)pool_curve_create((const pool_curve_params *)(uintptr_t)a[0], (pool_curve **)(uintptr_t)a[1]);
    case 236:
        return (uint64_t)(uintptr_t)pool_curve_retain((const pool_curve *)(uintptr_t)a[0]);
    case 237:
        pool_curve_destroy((pool_curve **)(uintptr_t)a[0]);
        return 0;
    case 238:
        return (uint64_t)(uintptr_t)pool_curve_name((const pool_curve *)(uintptr_t)a[0]);
    case 239:
        return (uint64_t)(uintptr_t)pool_curve_base_field((const pool_curve *)(uintptr_t)a[0]);
    case 240:
        return (uint64_t)(uintptr_t)pool_curve_scalar_field((const pool_curve *)(uintptr_t)a[0]);
    case 241:
        return (uint64_t)pool_curve_degree((const pool_curve *)(uintptr_t)a[0]);
    case 242:
        return (uint64_t)pool_curve_coordinate_bytes((const pool_curve *)(uintptr_t)a[0]);
    case 243:
        return (uint64_t)pool_curve_fingerprint((const pool_curve *)(uintptr_t)a[0], (uint8_t *)(uintptr_t)a[1]);
    case 244:
        return (uint64_t)pool_curve_cofactor((const pool_curve *)(uintptr_t)a[0], (size_t)a[1], (uint8_t *)(uintptr_t)a[2]);
    case 245:
        return (uint64_t)pool_point_bytes((const pool_curve *)(uintptr_t)a[0], (pool_point_layout)a[1]);
    case 246:
        return (uint64_t)pool_points_check((const pool_curve *)(uintptr_t)a[0], (const pool_point_format *)(uintptr_t)a[1], (const void *)(uintptr_t)a[2], (size_t)a[3], (uint32_t)a[4], (size_t *)(uintptr_t)a[5]);
    case 247:
        return (uint64_t)pool_points_convert((const pool_curve *)(uintptr_t)a[0], (const pool_point_format *)(uintptr_t)a[1], (const void *)(uintptr_t)a[2], (size_t)a[3], (uint32_t)a[4], (const pool_point_format *)(uintptr_t)a[5], (void *)(uintptr_t)a[6]);
    case 248:
        return (uint64_t)pool_encoding_bytes((const pool_curve *)(uintptr_t)a[0], (pool_encoding)a[1]);
    case 249:
        return (uint64_t)pool_points_encode((const pool_curve *)(uintptr_t)a[0], (const pool_point_format *)(uintptr_t)a[1], (const void *)(uintptr_t)a[2], (size_t)a[3], (pool_encoding)a[4], (size_t)a[5], (uint8_t *)(uintptr_t)a[6]);
    case 250:
        return (uint64_t)pool_points_decode((const pool_curve *)(uintptr_t)a[0], (pool_encoding)a[1], (size_t)a[2], (const uint8_t *)(uintptr_t)a[3], (size_t)a[4], (uint32_t)a[5], (const pool_point_format *)(uintptr_t)a[6], (void *)(uintptr_t)a[7]);
    case 251:
        return (uint64_t)pool_point_add((const pool_curve *)(uintptr_t)a[0], (const pool_point_format *)(uintptr_t)a[1], (const void *)(uintptr_t)a[2], (const void *)(uintptr_t)a[3], (void *)(uintptr_t)a[4]);
    case 252:
        return (uint64_t)pool_point_mul((const pool_curve *)(uintptr_t)a[0], (const pool_point_format *)(uintptr_t)a[1], (const void *)(uintptr_t)a[2], (const uint8_t *)(uintptr_t)a[3], (size_t)a[4], (void *)(uintptr_t)a[5]);
    case 253:
        return (uint64_t)pool_point_equal((const pool_curve *)(uintptr_t)a[0], (const pool_point_format *)(uintptr_t)a[1], (const void *)(uintptr_t)a[2], (const pool_point_format *)(uintptr_t)a[3], (const void *)(uintptr_t)a[4], (int32_t *)(uintptr_t)a[5]);
    case 254:
        return (uint64_t)pool_curve_generator((const pool_curve *)(uintptr_t)a[0], (const pool_point_format *)(uintptr_t)a[1], (void *)(uintptr_t)a[2]);
    case 255:
        return (uint64_t)pool_random_points((const pool_curve *)(uintptr_t)a[0], (uint64_t)a[1], (size_t)a[2], (const pool_point_format *)(uintptr_t)a[3], (void *)(uintptr_t)a[4], (void *)(uintptr_t)a[5]);
    case 256:
        pool_ecntt_params_init((pool_ecntt_params *)(uintptr_t)a[0], (size_t)a[1]);
        return 0;
    case 257:
        return (uint64_t)pool_ecntt((const pool_ecntt_params *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_span *)(uintptr_t)a[2], (const pool_span *)(uintptr_t)a[3]);
    case 258:
        return (uint64_t)pool_ecntt_workspace((const pool_ecntt_params *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_span *)(uintptr_t)a[2], (const pool_span *)(uintptr_t)a[3], (uint64_t *)(uintptr_t)a[4]);
    case 259:
        return (uint64_t)pool_ecntt_warm_up((const pool_curve *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1]);
    case 260:
        pool_fri_fold_params_init((pool_fri_fold_params *)(uintptr_t)a[0], (size_t)a[1]);
        return 0;
    case 261:
        return (uint64_t)pool_fri_fold((const pool_fri_fold_params *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_span *)(uintptr_t)a[2], (const pool_span *)(uintptr_t)a[3]);
    case 262:
        return (uint64_t)pool_fri_fold_workspace((const pool_fri_fold_params *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_span *)(uintptr_t)a[2], (const pool_span *)(uintptr_t)a[3], (uint64_t *)(uintptr_t)a[4]);
    case 263:
        return (uint64_t)pool_fri_layer((const pool_field *)(uintptr_t)a[0], (const pool_span *)(uintptr_t)a[1], (uint32_t)a[2], (int32_t)a[3], (pool_matrix *)(uintptr_t)a[4], (uint32_t *)(uintptr_t)a[5]);
    case 264:
        return (uint64_t)pool_fri_fold_commit((const pool_fri_fold_params *)(uintptr_t)a[0], (uint32_t)a[1], (const pool_matrix_commit_params *)(uintptr_t)a[2], (const pool_exec *)(uintptr_t)a[3], (const pool_span *)(uintptr_t)a[4], (const pool_span *)(uintptr_t)a[5], (const pool_span *)(uintptr_t)a[6]);
    case 265:
        return (uint64_t)pool_fri_fold_commit_workspace((const pool_fri_fold_params *)(uintptr_t)a[0], (uint32_t)a[1], (const pool_matrix_commit_params *)(uintptr_t)a[2], (const pool_exec *)(uintptr_t)a[3], (const pool_span *)(uintptr_t)a[4], (const pool_span *)(uintptr_t)a[5], (const pool_span *)(uintptr_t)a[6], (uint64_t *)(uintptr_t)a[7]);
    case 266:
        pool_matrix_evaluate_params_init((pool_matrix_evaluate_params *)(uintptr_t)a[0], (size_t)a[1]);
        return 0;
    case 267:
        return (uint64_t)pool_matrix_evaluate((const pool_matrix_evaluate_params *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_matrix *)(uintptr_t)a[2], (const void *)(uintptr_t)a[3], (uint32_t)a[4], (void *)(uintptr_t)a[5]);
    case 268:
        return (uint64_t)pool_matrix_evaluate_workspace((const pool_matrix_evaluate_params *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_matrix *)(uintptr_t)a[2], (uint32_t)a[3], (uint64_t *)(uintptr_t)a[4]);
    case 269:
        return (uint64_t)pool_matrix_bit_reverse((const pool_field *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_matrix *)(uintptr_t)a[2], (const pool_matrix *)(uintptr_t)a[3]);
    case 270:
        return (uint64_t)pool_fri_warm_up((const pool_field *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1]);
    case 271:
        return (uint64_t)(uintptr_t)pool_file_kind_name((pool_file_kind)a[0]);
    case 272:
        pool_file_params_init((pool_file_params *)(uintptr_t)a[0], (size_t)a[1]);
        return 0;
    case 273:
        return (uint64_t)pool_file_open((const char *)(uintptr_t)a[0], (const pool_file_params *)(uintptr_t)a[1], (pool_file **)(uintptr_t)a[2]);
    case 274:
        pool_file_destroy((pool_file **)(uintptr_t)a[0]);
        return 0;
    case 275:
        return (uint64_t)pool_file_get_info((const pool_file *)(uintptr_t)a[0], (pool_file_info *)(uintptr_t)a[1]);
    case 276:
        return (uint64_t)pool_file_get_section((const pool_file *)(uintptr_t)a[0], (const char *)(uintptr_t)a[1], (pool_file_section *)(uintptr_t)a[2]);
    case 277:
        return (uint64_t)pool_file_section_at((const pool_file *)(uintptr_t)a[0], (uint64_t)a[1], (pool_file_section *)(uintptr_t)a[2]);
    case 278:
        return (uint64_t)pool_stream_begin_capture((pool_stream *)(uintptr_t)a[0]);
    case 279:
        return (uint64_t)pool_stream_end_capture((pool_stream *)(uintptr_t)a[0], (pool_graph **)(uintptr_t)a[1]);
    case 280:
        return (uint64_t)pool_graph_launch((pool_graph *)(uintptr_t)a[0], (pool_stream *)(uintptr_t)a[1]);
    case 281:
        return (uint64_t)pool_graph_update((pool_graph *)(uintptr_t)a[0], (pool_stream *)(uintptr_t)a[1]);
    case 282:
        return (uint64_t)pool_graph_destroy((pool_graph **)(uintptr_t)a[0]);
    case 283:
        return (uint64_t)(uintptr_t)pool_graph_device((const pool_graph *)(uintptr_t)a[0]);
    case 284:
        pool_log_set((pool_log_callback)(uintptr_t)a[0], (void *)(uintptr_t)a[1], (pool_log_level)a[2]);
        return 0;
    case 285:
        pool_log_write((pool_log_level)a[0], (const char *)(uintptr_t)a[1]);
        return 0;
    case 286:
        return (uint64_t)pool_metrics((device_pool *)(uintptr_t)a[0], (pool_metrics_format)a[1], (char **)(uintptr_t)a[2]);
    case 287:
        return (uint64_t)pool_set_phase_timing((device_pool *)(uintptr_t)a[0], (int32_t)a[1]);
    case 288:
        return (uint64_t)pool_module_compile((pool_device *)(uintptr_t)a[0], (const pool_module_params *)(uintptr_t)a[1], (pool_module **)(uintptr_t)a[2]);
    case 289:
        return (uint64_t)pool_module_build((const pool_module_params *)(uintptr_t)a[0], (int32_t)a[1], (pool_image_form)a[2], (void **)(uintptr_t)a[3], (size_t *)(uintptr_t)a[4]);
    case 290:
        pool_image_free((void **)(uintptr_t)a[0]);
        return 0;
    case 291:
        return (uint64_t)pool_module_load((pool_device *)(uintptr_t)a[0], (const void *)(uintptr_t)a[1], (size_t)a[2], (pool_module **)(uintptr_t)a[3]);
    case 292:
        return (uint64_t)pool_module_load_file((pool_device *)(uintptr_t)a[0], (const char *)(uintptr_t)a[1], (pool_module **)(uintptr_t)a[2]);
    case 293:
        return (uint64_t)pool_module_destroy((pool_module **)(uintptr_t)a[0]);
    case 294:
        return (uint64_t)(uintptr_t)pool_module_device((const pool_module *)(uintptr_t)a[0]);
    case 295:
        return (uint64_t)(uintptr_t)pool_module_symbol((const pool_module *)(uintptr_t)a[0], (const char *)(uintptr_t)a[1]);
    case 296:
        return (uint64_t)pool_module_variable((pool_module *)(uintptr_t)a[0], (const char *)(uintptr_t)a[1], (CUdeviceptr *)(uintptr_t)a[2], (uint64_t *)(uintptr_t)a[3]);
    case 297:
        return (uint64_t)pool_module_handle((pool_module *)(uintptr_t)a[0], (CUmodule *)(uintptr_t)a[1]);
    case 298:
        return (uint64_t)pool_kernel_handle((pool_kernel *)(uintptr_t)a[0], (CUfunction *)(uintptr_t)a[1]);
    case 299:
        return (uint64_t)pool_kernel_get((pool_module *)(uintptr_t)a[0], (const char *)(uintptr_t)a[1], (pool_kernel **)(uintptr_t)a[2]);
    case 300:
        return (uint64_t)pool_kernel_get_info((pool_kernel *)(uintptr_t)a[0], (pool_kernel_info *)(uintptr_t)a[1]);
    case 301:
        return (uint64_t)pool_kernel_get_parameter((pool_kernel *)(uintptr_t)a[0], (size_t)a[1], (uint64_t *)(uintptr_t)a[2], (uint64_t *)(uintptr_t)a[3]);
    case 302:
        return (uint64_t)pool_kernel_set_carveout((pool_kernel *)(uintptr_t)a[0], (int32_t)a[1]);
    case 303:
        return (uint64_t)pool_kernel_get_carveout((pool_kernel *)(uintptr_t)a[0], (int32_t *)(uintptr_t)a[1]);
    case 304:
        return (uint64_t)pool_kernel_get_occupancy((pool_kernel *)(uintptr_t)a[0], (uint32_t)a[1], (uint64_t)a[2], (uint32_t *)(uintptr_t)a[3]);
    case 305:
        return (uint64_t)pool_kernel_get_best_block((pool_kernel *)(uintptr_t)a[0], (uint64_t)a[1], (uint32_t *)(uintptr_t)a[2], (uint32_t *)(uintptr_t)a[3]);
    case 306:
        return (uint64_t)pool_kernel_get_clusters((pool_kernel *)(uintptr_t)a[0], (const pool_launch_shape *)(uintptr_t)a[1], (uint32_t *)(uintptr_t)a[2], (uint32_t *)(uintptr_t)a[3]);
    case 307:
        return (uint64_t)pool_launch_shape_for((uint64_t)a[0], (pool_launch_shape *)(uintptr_t)a[1]);
    case 308:
        return (uint64_t)pool_launch((pool_kernel *)(uintptr_t)a[0], (const pool_launch_shape *)(uintptr_t)a[1], (void **)(uintptr_t)a[2], (pool_stream *)(uintptr_t)a[3]);
    case 309:
        return (uint64_t)pool_warm_up((device_pool *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_module_params *)(uintptr_t)a[2], (size_t)a[3]);
    case 310:
        return (uint64_t)pool_cache_directory((char *)(uintptr_t)a[0], (size_t)a[1]);
    case 311:
        return (uint64_t)pool_cache_each((pool_cache_visitor)(uintptr_t)a[0], (void *)(uintptr_t)a[1]);
    case 312:
        return (uint64_t)pool_cache_verify((uint64_t *)(uintptr_t)a[0], (uint64_t *)(uintptr_t)a[1]);
    case 313:
        return (uint64_t)pool_cache_clear((uint64_t *)(uintptr_t)a[0]);
    case 314:
        return (uint64_t)pool_pack_at((size_t)a[0], (pool_pack_info *)(uintptr_t)a[1]);
    case 315:
        return (uint64_t)pool_pack_build((const char *)(uintptr_t)a[0], (const pool_pack_params *)(uintptr_t)a[1], (pool_pack_info *)(uintptr_t)a[2]);
    case 316:
        return (uint64_t)pool_pack_cache((const char *)(uintptr_t)a[0], (int32_t)a[1], (pool_pack_info *)(uintptr_t)a[2], (uint64_t *)(uintptr_t)a[3]);
    case 317:
        return (uint64_t)pool_pack_unpack((const char *)(uintptr_t)a[0], (pool_pack_info *)(uintptr_t)a[1]);
    case 318:
        return (uint64_t)pool_pack_verify((const char *)(uintptr_t)a[0], (pool_pack_info *)(uintptr_t)a[1]);
    case 319:
        pool_bases_params_init((pool_bases_params *)(uintptr_t)a[0], (size_t)a[1]);
        return 0;
    case 320:
        return (uint64_t)pool_bases_create((const pool_bases_params *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_span *)(uintptr_t)a[2], (pool_bases **)(uintptr_t)a[3]);
    case 321:
        return (uint64_t)pool_bases_create_workspace((const pool_bases_params *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_span *)(uintptr_t)a[2], (uint64_t *)(uintptr_t)a[3], (uint64_t *)(uintptr_t)a[4]);
    case 322:
        return (uint64_t)pool_bases_load_workspace((const pool_bases_params *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const char *)(uintptr_t)a[2], (uint64_t *)(uintptr_t)a[3], (uint64_t *)(uintptr_t)a[4]);
    case 323:
        return (uint64_t)(uintptr_t)pool_bases_retain((pool_bases *)(uintptr_t)a[0]);
    case 324:
        return (uint64_t)pool_bases_destroy((pool_bases **)(uintptr_t)a[0]);
    case 325:
        return (uint64_t)(uintptr_t)pool_bases_curve((const pool_bases *)(uintptr_t)a[0]);
    case 326:
        return (uint64_t)(uintptr_t)pool_bases_device((const pool_bases *)(uintptr_t)a[0]);
    case 327:
        return (uint64_t)pool_bases_count((const pool_bases *)(uintptr_t)a[0]);
    case 328:
        return (uint64_t)pool_bases_bytes((const pool_bases *)(uintptr_t)a[0]);
    case 329:
        return (uint64_t)pool_bases_precompute_factor((const pool_bases *)(uintptr_t)a[0]);
    case 330:
        return (uint64_t)pool_bases_window_bits((const pool_bases *)(uintptr_t)a[0]);
    case 331:
        return (uint64_t)pool_bases_fingerprint((pool_bases *)(uintptr_t)a[0], (uint8_t *)(uintptr_t)a[1]);
    case 332:
        return (uint64_t)pool_bases_find((pool_device *)(uintptr_t)a[0], (const uint8_t *)(uintptr_t)a[1], (uint32_t)a[2], (pool_bases **)(uintptr_t)a[3]);
    case 333:
        return (uint64_t)pool_bases_save((pool_bases *)(uintptr_t)a[0], (const char *)(uintptr_t)a[1]);
    case 334:
        return (uint64_t)pool_bases_load((const pool_bases_params *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const char *)(uintptr_t)a[2], (pool_bases **)(uintptr_t)a[3]);
    case 335:
        pool_msm_params_init((pool_msm_params *)(uintptr_t)a[0], (size_t)a[1]);
        return 0;
    case 336:
        return (uint64_t)pool_msm((const pool_msm_params *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_span *)(uintptr_t)a[2], (const pool_span *)(uintptr_t)a[3], (const pool_span *)(uintptr_t)a[4]);
    case 337:
        return (uint64_t)pool_msm_workspace((const pool_msm_params *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_span *)(uintptr_t)a[2], (const pool_span *)(uintptr_t)a[3], (const pool_span *)(uintptr_t)a[4], (uint64_t *)(uintptr_t)a[5]);
    case 338:
        pool_msm_joint_params_init((pool_msm_joint_params *)(uintptr_t)a[0], (size_t)a[1]);
        return 0;
    case 339:
        return (uint64_t)pool_msm_joint((const pool_msm_joint_params *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_msm_term *)(uintptr_t)a[2], (uint32_t)a[3], (const pool_span *)(uintptr_t)a[4]);
    case 340:
        return (uint64_t)pool_msm_joint_workspace((const pool_msm_joint_params *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_msm_term *)(uintptr_t)a[2], (uint32_t)a[3], (const pool_span *)(uintptr_t)a[4], (uint64_t *)(uintptr_t)a[5]);
    case 341:
        return (uint64_t)pool_msm_warm_up((const pool_curve *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1]);
    case 342:
        pool_resident_params_init((pool_resident_params *)(uintptr_t)a[0], (size_t)a[1]);
        return 0;
    case 343:
        return (uint64_t)pool_resident_create((device_pool *)(uintptr_t)a[0], (const pool_resident_params *)(uintptr_t)a[1], (pool_resident **)(uintptr_t)a[2]);
    case 344:
        return (uint64_t)pool_resident_destroy((pool_resident **)(uintptr_t)a[0]);
    case 345:
        return (uint64_t)pool_resident_open((pool_resident *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (pool_resident_use **)(uintptr_t)a[2]);
    case 346:
        return (uint64_t)pool_resident_close((pool_resident_use **)(uintptr_t)a[0]);
    case 347:
        return (uint64_t)(uintptr_t)pool_resident_bases((const pool_resident_use *)(uintptr_t)a[0]);
    case 348:
        return (uint64_t)(uintptr_t)pool_resident_buffer((const pool_resident_use *)(uintptr_t)a[0]);
    case 349:
        return (uint64_t)pool_resident_open_workspace((const pool_resident *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (uint64_t *)(uintptr_t)a[2]);
    case 350:
        return (uint64_t)pool_resident_msm_workspace((const pool_resident *)(uintptr_t)a[0], (const pool_msm_params *)(uintptr_t)a[1], (const pool_exec *)(uintptr_t)a[2], (const pool_span *)(uintptr_t)a[3], (const pool_span *)(uintptr_t)a[4], (uint64_t *)(uintptr_t)a[5]);
    case 351:
        return (uint64_t)pool_resident_msm_joint_workspace((pool_resident *const *)(uintptr_t)a[0], (const pool_msm_joint_params *)(uintptr_t)a[1], (const pool_exec *)(uintptr_t)a[2], (const pool_msm_term *)(uintptr_t)a[3], (uint32_t)a[4], (const pool_span *)(uintptr_t)a[5], (uint64_t *)(uintptr_t)a[6]);
    case 352:
        return (uint64_t)pool_resident_bytes((const pool_resident *)(uintptr_t)a[0]);
    case 353:
        return (uint64_t)pool_resident_evict((pool_resident *)(uintptr_t)a[0], (pool_device *)(uintptr_t)a[1]);
    case 354:
        return (uint64_t)pool_resident_get_info((pool_resident *)(uintptr_t)a[0], (pool_device *)(uintptr_t)a[1], (pool_resident_info *)(uintptr_t)a[2]);
    case 355:
        return (uint64_t)pool_sim_set_faults((const char *)(uintptr_t)a[0]);
    case 356:
        return (uint64_t)pool_sim_resume();
    case 357:
        return (uint64_t)pool_sim_set_reports((uint32_t)a[0]);
    case 358:
        return (uint64_t)pool_sim_get_last_fault((pool_sim_fault *)(uintptr_t)a[0]);
    case 359:
        return (uint64_t)(uintptr_t)pool_sim_class_name((uint32_t)a[0]);
    case 360:
        return (uint64_t)pool_sim_kernel_stats_each((pool_sim_kernel_visitor)(uintptr_t)a[0], (void *)(uintptr_t)a[1]);
    case 361:
        return (uint64_t)pool_sim_kernel_stats_reset();
    case 362:
        return (uint64_t)pool_sim_kernel_stats_text((pool_text_format)a[0], (char **)(uintptr_t)a[1]);
    case 363:
        return (uint64_t)pool_sim_profile_text((pool_text_format)a[0], (char **)(uintptr_t)a[1]);
    case 364:
        return (uint64_t)pool_sim_leaks((pool_text_format)a[0], (uint64_t *)(uintptr_t)a[1], (char **)(uintptr_t)a[2]);
    case 365:
        pool_trace_set((pool_trace_hook)(uintptr_t)a[0], (void *)(uintptr_t)a[1]);
        return 0;
    case 366:
        return (uint64_t)pool_device_get_tuning((pool_device *)(uintptr_t)a[0], (pool_tuning_info *)(uintptr_t)a[1]);
    case 367:
        return (uint64_t)pool_tuning_create((pool_device *)(uintptr_t)a[0], (pool_tuning **)(uintptr_t)a[1]);
    case 368:
        pool_tuning_destroy((pool_tuning **)(uintptr_t)a[0]);
        return 0;
    case 369:
        return (uint64_t)pool_tuning_set((pool_tuning *)(uintptr_t)a[0], (const char *)(uintptr_t)a[1], (uint32_t)a[2]);
    case 370:
        return (uint64_t)pool_tuning_get((const pool_tuning *)(uintptr_t)a[0], (const char *)(uintptr_t)a[1], (uint32_t *)(uintptr_t)a[2]);
    case 371:
        return (uint64_t)pool_tuning_each((const pool_tuning *)(uintptr_t)a[0], (pool_tuning_visitor)(uintptr_t)a[1], (void *)(uintptr_t)a[2]);
    case 372:
        return (uint64_t)pool_tuning_path((pool_device *)(uintptr_t)a[0], (char *)(uintptr_t)a[1], (size_t)a[2]);
    case 373:
        return (uint64_t)pool_tuning_write((const pool_tuning *)(uintptr_t)a[0], (const char *)(uintptr_t)a[1]);
    case 374:
        return (uint64_t)pool_tuning_read((const char *)(uintptr_t)a[0], (pool_tuning **)(uintptr_t)a[1]);
    case 375:
        return (uint64_t)pool_vector_add((const pool_field *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_span *)(uintptr_t)a[2], (const pool_span *)(uintptr_t)a[3], (const pool_span *)(uintptr_t)a[4]);
    case 376:
        return (uint64_t)pool_vector_sub((const pool_field *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_span *)(uintptr_t)a[2], (const pool_span *)(uintptr_t)a[3], (const pool_span *)(uintptr_t)a[4]);
    case 377:
        return (uint64_t)pool_vector_mul((const pool_field *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_span *)(uintptr_t)a[2], (const pool_span *)(uintptr_t)a[3], (const pool_span *)(uintptr_t)a[4]);
    case 378:
        return (uint64_t)pool_vector_scale((const pool_field *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const void *)(uintptr_t)a[2], (const pool_span *)(uintptr_t)a[3], (const pool_span *)(uintptr_t)a[4]);
    case 379:
        return (uint64_t)pool_vector_inverse((const pool_field *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_span *)(uintptr_t)a[2], (const pool_span *)(uintptr_t)a[3]);
    case 380:
        return (uint64_t)pool_vector_bit_reverse((const pool_field *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_span *)(uintptr_t)a[2], (const pool_span *)(uintptr_t)a[3]);
    case 381:
        return (uint64_t)pool_vector_transpose((const pool_field *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (uint64_t)a[2], (uint64_t)a[3], (const pool_span *)(uintptr_t)a[4], (const pool_span *)(uintptr_t)a[5]);
    case 382:
        return (uint64_t)pool_vector_powers((const pool_field *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const void *)(uintptr_t)a[2], (const pool_span *)(uintptr_t)a[3]);
    case 383:
        return (uint64_t)pool_vector_evaluate((const pool_field *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (const pool_span *)(uintptr_t)a[2], (const void *)(uintptr_t)a[3], (void *)(uintptr_t)a[4]);
    case 384:
        return (uint64_t)pool_vector_workspace((const pool_field *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1], (pool_vector_operation)a[2], (const pool_span *)(uintptr_t)a[3], (const pool_span *)(uintptr_t)a[4], (const pool_span *)(uintptr_t)a[5], (uint64_t *)(uintptr_t)a[6]);
    case 385:
        return (uint64_t)pool_vector_warm_up((const pool_field *)(uintptr_t)a[0], (const pool_exec *)(uintptr_t)a[1]);
    case 386:
        return (uint64_t)pool_virtual_granularity((pool_device *)(uintptr_t)a[0], (uint64_t *)(uintptr_t)a[1]);
    case 387:
        return (uint64_t)pool_physical_create((pool_device *)(uintptr_t)a[0], (uint64_t)a[1], (uint32_t)a[2], (pool_physical **)(uintptr_t)a[3]);
    case 388:
        return (uint64_t)pool_physical_export((pool_physical *)(uintptr_t)a[0], (int *)(uintptr_t)a[1]);
    case 389:
        return (uint64_t)pool_physical_import((pool_device *)(uintptr_t)a[0], (int)a[1], (uint64_t)a[2], (pool_physical **)(uintptr_t)a[3]);
    case 390:
        return (uint64_t)pool_physical_destroy((pool_physical **)(uintptr_t)a[0]);
    case 391:
        return (uint64_t)pool_physical_bytes((const pool_physical *)(uintptr_t)a[0]);
    case 392:
        return (uint64_t)(uintptr_t)pool_physical_device((const pool_physical *)(uintptr_t)a[0]);
    case 393:
        return (uint64_t)pool_physical_handle((const pool_physical *)(uintptr_t)a[0], (CUmemGenericAllocationHandle *)(uintptr_t)a[1]);
    case 394:
        return (uint64_t)pool_range_reserve((pool_device *)(uintptr_t)a[0], (uint64_t)a[1], (pool_range **)(uintptr_t)a[2]);
    case 395:
        return (uint64_t)pool_range_map((pool_range *)(uintptr_t)a[0], (uint64_t)a[1], (pool_physical *)(uintptr_t)a[2]);
    case 396:
        return (uint64_t)pool_range_unmap((pool_range *)(uintptr_t)a[0], (uint64_t)a[1], (uint64_t)a[2]);
    case 397:
        return (uint64_t)pool_range_grant_access((pool_range *)(uintptr_t)a[0], (pool_device *const *)(uintptr_t)a[1], (size_t)a[2]);
    case 398:
        return (uint64_t)pool_range_buffer((pool_range *)(uintptr_t)a[0], (uint64_t)a[1], (uint64_t)a[2], (pool_buffer **)(uintptr_t)a[3]);
    case 399:
        return (uint64_t)pool_range_destroy((pool_range **)(uintptr_t)a[0]);
    case 400:
        return (uint64_t)pool_range_address((const pool_range *)(uintptr_t)a[0], (CUdeviceptr *)(uintptr_t)a[1]);
    case 401:
        return (uint64_t)pool_range_bytes((const pool_range *)(uintptr_t)a[0]);
    case 402:
        return (uint64_t)(uintptr_t)pool_range_device((const pool_range *)(uintptr_t)a[0]);
    case 403:
        return (uint64_t)pool_range_mapped_bytes((const pool_range *)(uintptr_t)a[0]);
    default:
        return 0;
    }
}

/* Whether a result is a pool_status, whose failures leave a detail. */
int raw_returns_status(uint32_t function)
{
    static const unsigned char returns_status[] = {
        0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1,
        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
        1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1,
        1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0,
        0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0,
        1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 1,
        1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0,
        1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0,
        0, 0, 0, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 1, 1,
        1, 0, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1,
        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0,
        0, 1, 1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 0,
        1, 1, 1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
        1, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0,
    };
    return function < sizeof(returns_status) && returns_status[function];
}
