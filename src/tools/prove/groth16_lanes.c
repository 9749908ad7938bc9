/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sums of points of a proof. The points of the key are read from the memory-mapped file, or
 * those that are resident are used; the witness is copied once to each device, and everything up to
 * the sums stays there. The MSM in G2 runs beside all other steps; more devices take more of the
 * MSMs.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "groth16_prover.h"

pool_exec groth16_exec(const struct groth16_prover *prover)
{
    pool_exec exec = {.struct_size = sizeof(exec),
        .device = prover->device,
        .stream = prover->stream,
        .lease = prover->job->lease};

    return exec;
}

static void begin_step(struct groth16_prover *prover, const char *step)
{
    prover->step = step;
    if (prover->job->progress && !prover->is_beside)
        prover->job->progress(prover->job->user, step, 0, 1);
}

static void on_progress(void *user, uint64_t done, uint64_t total)
{
    const struct groth16_prover *prover = user;

    if (prover->job->progress)
        prover->job->progress(prover->job->user, prover->step, done, total);
}

/* Copies the witness to the device. */
static pool_status upload_witness(struct groth16_prover *prover)
{
    const uint64_t stride = prover->witness.stride ? prover->witness.stride : prover->width;
    const pool_buffer_params params = {.struct_size = sizeof(params),
        .bytes = prover->witness.count * prover->width,
        .stream = prover->stream,
        .lease = prover->job->lease};
    pool_status status = pool_buffer_create(prover->device, &params, &prover->signals);

    if (status)
        return status;
    return pool_copy_2d(&(pool_pitched){.buffer = prover->signals, .pitch = prover->width},
        &(pool_pitched){.host = prover->witness.data, .pitch = stride}, prover->width,
        prover->witness.count, prover->stream);
}

/* The scalars of an MSM but H, on the device: the witness, of which C has the private signals, or,
 * over resident points, which have infinity for the others, all. */
static pool_status scalars_of(
    const struct groth16_prover *prover, enum groth16_msm which, pool_span *scalars)
{
    const bool has_infinities = prover->job->residents != NULL;
    uint64_t first = which == GROTH16_C && !has_infinities ? prover->key.public_signals + 1 : 0;
    CUdeviceptr address = 0;
    pool_status status = pool_buffer_address(prover->signals, &address);

    *scalars = (pool_span){.data = (void *)(uintptr_t)(address + first * prover->width),
        .count = prover->witness.count - first,
        .space = POOL_MEMORY_DEVICE};
    return status;
}

/* Of an MSM over the key's points, and of loading points that stay on the device. */
static uint32_t checks_of_points(const struct groth16_prover *prover)
{
    return prover->job->is_trusted ? POOL_CHECK_NONE : POOL_CHECK_ON_CURVE;
}

/* The MSM over a section's points; the result is a packed affine point in standard form. */
static pool_status section_msm(
    struct groth16_prover *prover, enum groth16_msm which, const pool_span *scalars, void *sum)
{
    const struct groth16_residents *residents = prover->job->residents;
    pool_exec exec = groth16_exec(prover);
    pool_file_section points;
    pool_span result = {.data = sum, .count = 1};
    pool_resident_use *use = NULL;
    pool_status status = groth16_get_section(prover, groth16_sections[which], &points);

    if (status)
        return status;
    pool_msm_params params = {
        .struct_size = sizeof(params), .curve = points.curve, .point_layout = points.layout};
    exec.checks = checks_of_points(prover);
    begin_step(prover, groth16_sections[which]);
    exec.progress = prover->is_beside ? NULL : on_progress;
    exec.user = prover;
    if (!residents)
        return pool_msm(&params, &exec, &points.span, scalars, &result);
    status = pool_resident_open(residents->points[which], &exec, &use); /* checks what it loads */
    if (status)
        return status;
    params = (pool_msm_params){.struct_size = sizeof(params), .bases = pool_resident_bases(use)};
    exec.checks = POOL_CHECK_NONE;
    status = pool_msm(&params, &exec, NULL, scalars, &result);
    pool_resident_close(&use);
    return status;
}

/* ---- the MSMs in G1 over resident points, as one --------------------------------------------- */

/* Those of a lane. C and H have one sum, as the proof has the sum of both. */
struct joint {
    pool_msm_term terms[GROTH16_MSMS];
    pool_resident_use *uses[GROTH16_MSMS];
    enum groth16_msm which[GROTH16_MSMS]; /* of each term */
    uint32_t count;
    uint64_t results;
};

uint64_t groth16_joint_result(uint32_t msms, enum groth16_msm which, uint64_t next)
{
    return which == GROTH16_H && (msms & 1u << GROTH16_C) ? next - 1 : next;
}

static pool_status add_term(const struct groth16_prover *prover, struct joint *joint, uint32_t msms,
    enum groth16_msm which, const pool_span *quotient)
{
    pool_exec exec = groth16_exec(prover);
    pool_msm_term *term = &joint->terms[joint->count];
    pool_status status = POOL_OK;

    exec.checks = checks_of_points(prover);
    if (which == GROTH16_H)
        term->scalars = *quotient;
    else
        status = scalars_of(prover, which, &term->scalars);
    if (!status)
        status = pool_resident_open(
            prover->job->residents->points[which], &exec, &joint->uses[joint->count]);
    if (status)
        return status;
    term->bases = pool_resident_bases(joint->uses[joint->count]);
    term->result = groth16_joint_result(msms, which, joint->results);
    joint->results = term->result + 1;
    joint->which[joint->count++] = which;
    return POOL_OK;
}

/* A sum that is part of another one's is infinity, which is zeros. */
static pool_status compute_joint(
    struct groth16_prover *prover, const struct joint *joint, uint8_t (*sums)[GROTH16_MAX_POINT])
{
    const size_t bytes = pool_point_bytes(prover->key.curves[0], POOL_POINT_AFFINE);
    const pool_msm_joint_params params = {.struct_size = sizeof(params)};
    uint8_t packed[GROTH16_MSMS * GROTH16_MAX_POINT];
    const pool_span results = {.data = packed, .count = joint->results};
    pool_exec exec = groth16_exec(prover);
    pool_status status;

    begin_step(prover, "G1");
    exec.progress = prover->is_beside ? NULL : on_progress;
    exec.user = prover;
    status = pool_msm_joint(&params, &exec, joint->terms, joint->count, &results);
    for (uint32_t i = 0; i < joint->count && !status; i++)
        memset(sums[joint->which[i]], 0, GROTH16_MAX_POINT);
    for (uint32_t i = joint->count; i-- > 0 && !status;)
        if (i == 0 || joint->terms[i].result != joint->terms[i - 1].result)
            memcpy(sums[joint->which[i]], packed + joint->terms[i].result * bytes, bytes);
    return status;
}

static pool_status joint_msm(struct groth16_prover *prover, uint32_t msms,
    const pool_span *quotient, uint8_t (*sums)[GROTH16_MAX_POINT])
{
    struct joint joint = {.count = 0};
    pool_status status = POOL_OK;

    for (int i = 0; i < GROTH16_MSMS && !status; i++)
        if (i != GROTH16_B2 && (msms >> i & 1))
            status = add_term(prover, &joint, msms, (enum groth16_msm)i, quotient);
    if (!status)
        status = compute_joint(prover, &joint, sums);
    for (int i = GROTH16_MSMS; i-- > 0;)
        pool_resident_close(&joint.uses[i]);
    return status;
}

/* ---- which device takes which MSMs ----------------------------------------------------------- */

/*
 * The MSMs are dealt to lanes: a stream each, and a thread, where lane 0 is the caller's and also
 * computes the quotient. There is a lane per device, and two on a single one.
 */
enum { LANES = GROTH16_DEVICES };

/* Measured on an H200 with 2^20 constraints, in tenths of an MSM in G1: the transforms and the
 * matrices before MSM H, and the MSM in G2 for coordinates of up to 32 bytes and for longer ones.
 */
enum { G1_COST = 10, QUOTIENT_COST = 4, G2_COST = 27, LONG_G2_COST = 41, SHORT_BYTES = 32 };

#define TAKES(msm) (1u << (msm))

/* The longest first, each to the lane with the least to do. */
static void deal_msms(const struct groth16_prover *prover, uint32_t msms[LANES])
{
    static const enum groth16_msm others[] = {GROTH16_A, GROTH16_B1, GROTH16_C};
    const bool is_long = pool_curve_coordinate_bytes(prover->key.curves[0]) > SHORT_BYTES;
    uint32_t cost[LANES] = {G1_COST + QUOTIENT_COST, is_long ? LONG_G2_COST : G2_COST};

    msms[0] = TAKES(GROTH16_H);
    msms[1] = TAKES(GROTH16_B2);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        uint32_t least = 0;

        for (uint32_t lane = 1; lane < prover->device_count; lane++)
            if (cost[lane] < cost[least])
                least = lane;
        msms[least] |= TAKES(others[i]);
        cost[least] += G1_COST;
    }
}

/* ---- lanes ----------------------------------------------------------------------------------- */

/* What runs on a thread beside the caller's. */
struct task {
    pthread_t thread;
    int is_running;
    pool_status status;
    char failure[512];
};

struct lane {
    struct groth16_prover prover; /* with the lane's device, stream and witness */
    uint32_t msms;
    uint8_t (*sums)[GROTH16_MAX_POINT]; /* of all lanes */
    pool_stream *own_stream;
    pool_buffer *own_signals; /* NULL: those of lane 0 */
    struct task task;
};

struct lanes {
    struct lane lane[LANES];
    struct groth16_prover host_prover;
    struct groth16_result host_result; /* for its failure */
    pool_status (*on_host)(struct groth16_prover *prover, void *user);
    void *user;
    struct task host_task;
};

static void end_task(struct task *task, pool_status status)
{
    task->status = status;
    if (status)
        snprintf(task->failure, sizeof(task->failure), "%s", pool_last_error()->message);
}

static void start_task(struct task *task, void *(*run)(void *argument), void *argument)
{
    task->is_running = !pthread_create(&task->thread, NULL, run, argument);
}

/* Returns whether the task has run. */
static int join_task(struct task *task)
{
    const int has_run = task->is_running;

    if (has_run)
        pthread_join(task->thread, NULL);
    task->is_running = 0;
    return has_run;
}

static bool is_joint(const struct groth16_prover *prover, uint32_t msms)
{
    const uint32_t of_g1 = msms & ~TAKES(GROTH16_B2);

    return prover->job->residents && (of_g1 & (of_g1 - 1));
}

/* All MSMs of a lane; H has the quotient's values, and begins as it is there first. */
static pool_status compute_sums(struct groth16_prover *prover, uint32_t msms,
    const pool_span *quotient, uint8_t (*sums)[GROTH16_MAX_POINT])
{
    static const enum groth16_msm order[] = {
        GROTH16_H, GROTH16_A, GROTH16_B1, GROTH16_B2, GROTH16_C};
    pool_status status = POOL_OK;

    if (is_joint(prover, msms)) {
        status = joint_msm(prover, msms, quotient, sums);
        if (status == POOL_ERR_OUT_OF_DEVICE_MEMORY)
            status = POOL_OK; /* not all points fit at once: one MSM after the other */
        else
            msms &= TAKES(GROTH16_B2);
    }
    for (int i = 0; i < GROTH16_MSMS && !status; i++) {
        pool_span scalars;

        if (!(msms & TAKES(order[i])))
            continue;
        if (order[i] == GROTH16_H)
            scalars = *quotient;
        else
            status = scalars_of(prover, order[i], &scalars);
        if (!status)
            status = section_msm(prover, order[i], &scalars, sums[order[i]]);
    }
    return status;
}

static void *run_lane(void *argument)
{
    struct lane *lane = argument;
    pool_status status = POOL_OK;

    if (!lane->prover.signals) {
        status = upload_witness(&lane->prover);
        lane->own_signals = lane->prover.signals;
    }
    if (!status)
        status = compute_sums(&lane->prover, lane->msms, NULL, lane->sums);
    end_task(&lane->task, status);
    return NULL;
}

static void *run_on_host(void *argument)
{
    struct lanes *lanes = argument;

    end_task(&lanes->host_task, lanes->on_host(&lanes->host_prover, lanes->user));
    return NULL;
}

/* The device of a lane, and its stream: the lease's where it has that device for itself. */
static pool_status open_lane(struct lane *lane, uint32_t device, int shares_device)
{
    const struct groth16_job *job = lane->prover.job;
    pool_status status = POOL_OK;

    if (job->lease)
        status = pool_lease_device(job->lease, device, &lane->prover.device);
    else
        lane->prover.device = job->device_count ? job->devices[device] : job->device;
    if (!status && job->lease && !shares_device)
        return pool_lease_stream(job->lease, device, &lane->prover.stream);
    if (!status)
        status = pool_stream_create(lane->prover.device, NULL, &lane->own_stream);
    lane->prover.stream = lane->own_stream;
    return status;
}

static pool_status open_lanes(
    const struct groth16_prover *prover, struct lanes *lanes, uint8_t (*sums)[GROTH16_MAX_POINT])
{
    const bool shares_device = prover->device_count == 1;
    uint32_t msms[LANES] = {0};
    pool_status status = POOL_OK;

    deal_msms(prover, msms);
    for (uint32_t i = 0; i < LANES && msms[i] && !status; i++) {
        struct lane *lane = &lanes->lane[i];

        lane->prover = *prover;
        lane->prover.is_beside = i > 0;
        lane->msms = msms[i];
        lane->sums = sums;
        status = open_lane(lane, shares_device ? 0 : i, i > 0 && shares_device);
    }
    return status;
}

/* Copies the witness to the devices, lane 0 here and others on their threads. A lane on the device
 * of lane 0 begins behind that copy. */
static pool_status start_lanes(struct lanes *lanes, bool shares_device)
{
    struct lane *first = &lanes->lane[0];
    pool_status status;

    start_task(&lanes->host_task, run_on_host, lanes);
    for (int i = 1; i < LANES && lanes->lane[i].msms && !shares_device; i++)
        start_task(&lanes->lane[i].task, run_lane, &lanes->lane[i]);
    status = upload_witness(&first->prover);
    first->own_signals = first->prover.signals;
    if (status || !shares_device)
        return status;
    lanes->lane[1].prover.signals = first->prover.signals;
    status = pool_stream_fork(first->prover.stream, &lanes->lane[1].prover.stream, 1);
    if (!status)
        start_task(&lanes->lane[1].task, run_lane, &lanes->lane[1]);
    return status;
}

/* Waits for a lane. Where there was not enough memory for it beside the others, or no thread, its
 * sums are computed now. */
static pool_status end_lane(struct lane *first, struct lane *lane)
{
    for (int i = 0; lane->task.is_running && i < GROTH16_MSMS; i++)
        if (lane->msms >> i & 1)
            begin_step(&first->prover, groth16_sections[i]);
    if (!join_task(&lane->task) || lane->task.status == POOL_ERR_OUT_OF_DEVICE_MEMORY)
        return compute_sums(&first->prover, lane->msms, NULL, lane->sums);
    return lane->task.status ? pool_error_set(lane->task.status, lane->task.failure) : POOL_OK;
}

/* The host's part, here where there was no thread for it. */
static pool_status end_host(struct lanes *lanes)
{
    struct task *task = &lanes->host_task;

    if (!join_task(task))
        end_task(task, lanes->on_host(&lanes->host_prover, lanes->user));
    memcpy(lanes->lane[0].prover.result->failure, lanes->host_result.failure,
        sizeof(lanes->host_result.failure));
    return task->status ? pool_error_set(task->status, task->failure) : POOL_OK;
}

static pool_status run_lanes(struct lanes *lanes)
{
    struct lane *first = &lanes->lane[0];
    pool_span quotient;
    pool_status status = groth16_compute_quotient(&first->prover, &quotient);

    if (!status)
        status = compute_sums(&first->prover, first->msms, &quotient, first->sums);
    if (!status)
        status = end_host(lanes);
    for (int i = 1; i < LANES && lanes->lane[i].msms && !status; i++)
        status = end_lane(first, &lanes->lane[i]);
    return status;
}

static void close_lanes(struct lanes *lanes)
{
    join_task(&lanes->host_task);
    for (int i = LANES; i-- > 0;) {
        struct lane *lane = &lanes->lane[i];

        join_task(&lane->task);
        pool_buffer_destroy(&lane->prover.rows);
        pool_buffer_destroy(&lane->own_signals);
        pool_stream_destroy(&lane->own_stream);
    }
}

pool_status groth16_compute_sums(const struct groth16_prover *prover,
    pool_status (*on_host)(struct groth16_prover *prover, void *user), void *user,
    uint8_t (*sums)[GROTH16_MAX_POINT])
{
    struct lanes lanes = {.host_prover = *prover, .on_host = on_host, .user = user};
    pool_status status = open_lanes(prover, &lanes, sums);

    lanes.host_prover.result = &lanes.host_result;
    if (!status) {
        begin_step(&lanes.lane[0].prover, "quotient");
        status = start_lanes(&lanes, prover->device_count == 1);
    }
    if (!status)
        status = run_lanes(&lanes);
    close_lanes(&lanes);
    return status;
}
