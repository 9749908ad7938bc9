// SPDX-License-Identifier: Apache-2.0

// Package devicepool runs zero-knowledge cryptography on GPUs: libdevicepool for Go.
//
// Objects are closed with Close, a pool last; it refuses while others exist. Any goroutine may use an object, but not
// while it is closed. Operations take a context, whose end cancels them: they return when the library has stopped, so that
// the memory of a call is the program's again. Arrays are slices of numbers, which are used where they lie, or buffers of a
// device. Package raw has the whole API of C.
package devicepool

// #cgo pkg-config: devicepool
// #include <stdlib.h>
// #include "shim.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"runtime/cgo"
	"unsafe"

	"devicepool/raw"
)

// Error is a failure: its status, what was attempted, why it failed and what to do. Code, CodeName and Call are the
// driver's, 0 and "" when no driver call was the cause. It matches (errors.Is) the Err values of this package, and
// context.Canceled or context.DeadlineExceeded where a context has ended it.
type Error struct {
	Status   raw.Status
	Message  string
	Code     int
	CodeName string
	Call     string
	cause    error
}

func (e *Error) Error() string { return e.Name() + ": " + e.Message }

// Name is "POOL_ERR_TIMEOUT" and so on.
func (e *Error) Name() string { return C.GoString(C.pool_status_name(C.pool_status(e.Status))) }

// Harms is the largest thing that is harmed: "call", "device", "host", "process" or "internal".
func (e *Error) Harms() string {
	return C.GoString(C.pool_error_class_name(C.pool_status_class(C.pool_status(e.Status))))
}

// Unwrap is the context's error, if that has ended the call.
func (e *Error) Unwrap() error { return e.cause }

// Is reports whether target is the same status: errors.Is(err, devicepool.Status(raw.ErrTimeout)).
func (e *Error) Is(target error) bool {
	status, ok := target.(Status)
	return ok && raw.Status(status) == e.Status
}

// Status is a status as an error to compare with.
type Status raw.Status

func (s Status) Error() string { return C.GoString(C.pool_status_name(C.pool_status(s))) }

func text(from []C.char) string { return C.GoString(&from[0]) }

func failure(status C.pool_status, slot *C.pool_error_slot) error {
	if status == C.POOL_OK {
		return nil
	}
	return &Error{Status: raw.Status(status), Message: text(slot.message[:]), Code: int(slot.driver_code),
		CodeName: text(slot.driver_name[:]), Call: text(slot.call[:])}
}

func refused(message string) error {
	return &Error{Status: raw.ErrInvalidArgument, Message: message}
}

// --- pools and devices ------------------------------------------------------------------------------

// Pool is a set of devices.
type Pool struct{ raw *C.device_pool }

// Options of a pool; zero is the default.
type Options struct {
	Slots      int // of each device, for leases
	MinDevices int
}

// Open creates a pool: "all", "0,2-3", "sim:4", "workers:all"; "" stands for DEVICEPOOL_DEVICES, or all.
func Open(devices string, options ...Options) (*Pool, error) {
	var slot C.pool_error_slot
	var pool Pool
	var name *C.char
	var chosen Options
	if devices != "" {
		name = C.CString(devices)
		defer C.free(unsafe.Pointer(name))
	}
	for _, option := range options {
		chosen = option
	}
	status := C.go_open(name, C.uint32_t(chosen.Slots), C.uint32_t(chosen.MinDevices), &pool.raw, &slot)
	if status != C.POOL_OK {
		return nil, failure(status, &slot)
	}
	return &pool, nil
}

// Close destroys the pool. It fails while objects of the pool exist.
func (p *Pool) Close() error {
	var slot C.pool_error_slot
	return failure(C.go_close(&p.raw, &slot), &slot)
}

// Raw is the handle for package raw.
func (p *Pool) Raw() unsafe.Pointer { return unsafe.Pointer(p.raw) }

// Len is the number of devices.
func (p *Pool) Len() int { return int(C.pool_device_count(p.raw)) }

// Usable is the number of devices that can be used.
func (p *Pool) Usable() int { return int(C.pool_usable_count(p.raw)) }

// Device belongs to its pool.
type Device struct{ raw *C.pool_device }

func (p *Pool) found(status C.pool_status, device Device, slot *C.pool_error_slot) (Device, error) {
	return device, failure(status, slot)
}

// At is a device by its index.
func (p *Pool) At(index int) (Device, error) {
	var slot C.pool_error_slot
	var device Device
	status := C.go_device_at(p.raw, C.size_t(index), &device.raw, &slot)
	return p.found(status, device, &slot)
}

// Next is the next usable device, round robin.
func (p *Pool) Next() (Device, error) {
	var slot C.pool_error_slot
	var device Device
	status := C.go_next_device(p.raw, &device.raw, &slot)
	return p.found(status, device, &slot)
}

// Best is the usable device with most free memory.
func (p *Pool) Best() (Device, error) {
	var slot C.pool_error_slot
	var device Device
	status := C.go_best_device(p.raw, &device.raw, &slot)
	return p.found(status, device, &slot)
}

// ByUUID finds a device by a unique prefix of its UUID.
func (p *Pool) ByUUID(uuid string) (Device, error) {
	var slot C.pool_error_slot
	var device Device
	name := C.CString(uuid)
	defer C.free(unsafe.Pointer(name))
	status := C.go_device_by_uuid(p.raw, name, &device.raw, &slot)
	return p.found(status, device, &slot)
}

// Candidate is a device as a filter or a score sees it. They must not call the library.
type Candidate struct {
	Device                Device
	FreeBytes, TotalBytes uint64
	Calls, Leases         int
}

func candidate(from *C.pool_candidate) Candidate {
	return Candidate{Device{from.device}, uint64(from.free_bytes), uint64(from.total_bytes), int(from.calls), int(from.leases)}
}

//export goFilter
func goFilter(handle C.uint64_t, from *C.pool_candidate) C.int {
	if cgo.Handle(handle).Value().(func(Candidate) bool)(candidate(from)) {
		return 1
	}
	return 0
}

//export goScore
func goScore(handle C.uint64_t, from *C.pool_candidate) C.double {
	return C.double(cgo.Handle(handle).Value().(func(Candidate) float64)(candidate(from)))
}

// Pick chooses by policy among the devices with so much free memory that pass the filter, which may be nil.
func (p *Pool) Pick(policy raw.Policy, minFree uint64, filter func(Candidate) bool) (Device, error) {
	var slot C.pool_error_slot
	var device Device
	var handle cgo.Handle
	if filter != nil {
		handle = cgo.NewHandle(filter)
		defer handle.Delete()
	}
	status := C.go_pick(p.raw, C.pool_policy(policy), C.uint64_t(minFree), C.uint64_t(handle), 0, &device.raw, &slot)
	return p.found(status, device, &slot)
}

// PickByScore chooses the device with the highest score.
func (p *Pool) PickByScore(score func(Candidate) float64) (Device, error) {
	var slot C.pool_error_slot
	var device Device
	handle := cgo.NewHandle(score)
	defer handle.Delete()
	status := C.go_pick(p.raw, C.POOL_POLICY_SCORE, 0, 0, C.uint64_t(handle), &device.raw, &slot)
	return p.found(status, device, &slot)
}

// Health is what pool_get_health reports.
func (p *Pool) Health() (raw.HealthInfo, error) {
	var slot C.pool_error_slot
	info := raw.NewHealthInfo()
	status := C.go_health(p.raw, (*C.pool_health_info)(unsafe.Pointer(&info)), &slot)
	return info, failure(status, &slot)
}

// Raw is the handle for package raw.
func (d Device) Raw() unsafe.Pointer { return unsafe.Pointer(d.raw) }

// Index is that in the pool.
func (d Device) Index() int { return int(C.pool_device_index(d.raw)) }

// UUID is "GPU-…" or "MIG-…".
func (d Device) UUID() string { return C.GoString(C.pool_device_uuid(d.raw)) }

// Info has the properties of the device.
func (d Device) Info() (raw.DeviceInfo, error) {
	var slot C.pool_error_slot
	info := raw.NewDeviceInfo()
	status := C.go_info(d.raw, (*C.pool_device_info)(unsafe.Pointer(&info)), &slot)
	return info, failure(status, &slot)
}

// Synchronize waits for all work of the device.
func (d Device) Synchronize() error {
	var slot C.pool_error_slot
	return failure(C.go_synchronize(d.raw, &slot), &slot)
}

// Bind makes the device's context current on the calling thread, for code that calls the driver itself; Unbind restores
// what was current before. Between them the goroutine has to be on its thread: runtime.LockOSThread. The operations of
// this package need neither.
func (d Device) Bind() error {
	var slot C.pool_error_slot
	return failure(C.go_bind(d.raw, &slot), &slot)
}

// Unbind ends the last Bind of this thread.
func (d Device) Unbind() error {
	var slot C.pool_error_slot
	return failure(C.go_unbind(d.raw, &slot), &slot)
}

// Bound is the device that this thread has bound.
func (p *Pool) Bound() (Device, error) {
	var slot C.pool_error_slot
	var device Device
	status := C.go_bound(p.raw, &device.raw, &slot)
	return p.found(status, device, &slot)
}

// --- contexts ---------------------------------------------------------------------------------------

// watch makes a cancellation object that the end of the context requests. `finish` has to be called; it adds the context's
// error to a failure that it has caused.
func watch(ctx context.Context) (cancel *C.pool_cancel, finish func(error) error, err error) {
	if ctx.Done() == nil {
		return nil, func(err error) error { return err }, nil
	}
	var slot C.pool_error_slot
	if status := C.go_cancel(&cancel, &slot); status != C.POOL_OK {
		return nil, nil, failure(status, &slot)
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-ctx.Done():
			C.pool_cancel_request(cancel)
		case <-done:
		}
	}()
	if ctx.Err() != nil {
		C.pool_cancel_request(cancel)
	}
	return cancel, func(err error) error {
		close(done)
		<-ended
		C.pool_cancel_destroy(&cancel)
		var failed *Error
		if errors.As(err, &failed) && failed.Status == raw.ErrCancelled {
			failed.cause = ctx.Err()
		}
		return err
	}, nil
}

// --- leases -----------------------------------------------------------------------------------------

// Lease is memory and slots that are reserved on devices until Close.
type Lease struct{ raw *C.pool_lease }

// Request is what a job requests.
type Request struct {
	Bytes    uint64 // of device memory, on each device
	Devices  int    // 0: 1
	Slots    int    // 0: 1
	Priority int
	Label    string
}

type decision struct {
	lease *C.pool_lease
	err   error
}

//export goGranted
func goGranted(handle C.uint64_t, status C.pool_status, lease *C.pool_lease, slot *C.pool_error_slot) {
	// The channel has room for it, so that the library's thread does not wait.
	cgo.Handle(handle).Value().(chan decision) <- decision{lease, failure(status, slot)}
}

// Acquire waits for a lease, without a thread that waits, until the context ends.
func (p *Pool) Acquire(ctx context.Context, request Request) (*Lease, error) {
	var slot C.pool_error_slot
	cancel, finish, err := watch(ctx)
	if err != nil {
		return nil, err
	}
	decided := make(chan decision, 1)
	handle := cgo.NewHandle(decided)
	defer handle.Delete()
	label := C.CString(request.Label)
	defer C.free(unsafe.Pointer(label))
	status := C.go_acquire(p.raw, C.uint64_t(request.Bytes), C.uint32_t(request.Slots), C.uint32_t(request.Devices),
		C.int32_t(request.Priority), label, cancel, C.uint64_t(handle), &slot)
	if status != C.POOL_OK {
		return nil, finish(failure(status, &slot))
	}
	answer := <-decided
	if err := finish(answer.err); err != nil {
		return nil, err
	}
	return &Lease{answer.lease}, nil
}

// Close returns the reservation.
func (l *Lease) Close() error {
	var slot C.pool_error_slot
	return failure(C.go_release(&l.raw, &slot), &slot)
}

// Len is the number of devices.
func (l *Lease) Len() int { return int(C.pool_lease_device_count(l.raw)) }

// Device is the index-th device.
func (l *Lease) Device(index int) (Device, error) {
	var slot C.pool_error_slot
	var device Device
	status := C.go_lease_device(l.raw, C.uint32_t(index), &device.raw, &slot)
	return device, failure(status, &slot)
}

// Info says what the lease is.
func (l *Lease) Info() (raw.LeaseInfo, error) {
	var slot C.pool_error_slot
	info := raw.NewLeaseInfo()
	status := C.go_lease_info(l.raw, (*C.pool_lease_info)(unsafe.Pointer(&info)), &slot)
	return info, failure(status, &slot)
}

// Usage says what it uses of its index-th device.
func (l *Lease) Usage(index int) (raw.LeaseUsage, error) {
	var slot C.pool_error_slot
	usage := raw.NewLeaseUsage()
	status := C.go_lease_usage(l.raw, C.uint32_t(index), (*C.pool_lease_usage)(unsafe.Pointer(&usage)), &slot)
	return usage, failure(status, &slot)
}

// --- memory -----------------------------------------------------------------------------------------

// Number is what arrays consist of.
type Number interface {
	~uint8 | ~uint16 | ~uint32 | ~uint64 | ~int8 | ~int16 | ~int32 | ~int64
}

// Array is what operations read and write: memory of Go, or a buffer.
type Array struct {
	data   unsafe.Pointer
	bytes  uint64
	form   C.pool_form
	buffer *Buffer
}

// Slice is an array of Go's memory, which is used where it lies.
func Slice[T Number](of []T) Array {
	if len(of) == 0 {
		return Array{}
	}
	return Array{data: unsafe.Pointer(&of[0]), bytes: uint64(len(of)) * uint64(unsafe.Sizeof(of[0]))}
}

// Montgomery says that the elements inside are in Montgomery form.
func (a Array) Montgomery() Array {
	a.form = C.POOL_FORM_MONTGOMERY
	return a
}

func (a Array) c() C.struct_go_array {
	array := C.struct_go_array{bytes: C.uint64_t(a.bytes), form: a.form}
	if a.buffer != nil {
		array.buffer = a.buffer.raw
	}
	return array
}

// Buffer is memory of a device.
type Buffer struct{ raw *C.pool_buffer }

// Alloc allocates memory of the device; the lease, whose budget it is charged to, may be nil.
func (d Device) Alloc(bytes uint64, flags raw.BufferFlag, lease *Lease) (*Buffer, error) {
	var slot C.pool_error_slot
	var buffer Buffer
	var under *C.pool_lease
	if lease != nil {
		under = lease.raw
	}
	status := C.go_alloc(d.raw, C.uint64_t(bytes), C.uint32_t(flags), under, &buffer.raw, &slot)
	if status != C.POOL_OK {
		return nil, failure(status, &slot)
	}
	return &buffer, nil
}

// Upload copies memory of Go to the device.
func Upload[T Number](d Device, from []T) (*Buffer, error) {
	array := Slice(from)
	buffer, err := d.Alloc(array.bytes, 0, nil)
	if err != nil {
		return nil, err
	}
	if err := buffer.Write(0, array); err != nil {
		buffer.Close()
		return nil, err
	}
	return buffer, nil
}

// Close frees the memory after the work that uses it.
func (b *Buffer) Close() error {
	var slot C.pool_error_slot
	return failure(C.go_free(&b.raw, &slot), &slot)
}

// Bytes is its size.
func (b *Buffer) Bytes() uint64 { return uint64(C.pool_buffer_bytes(b.raw)) }

// Array is the buffer as an operand.
func (b *Buffer) Array() Array { return Array{bytes: b.Bytes(), buffer: b} }

// Slice is a view of a part.
func (b *Buffer) Slice(offset, bytes uint64) (*Buffer, error) {
	var slot C.pool_error_slot
	var part Buffer
	status := C.go_slice(b.raw, C.uint64_t(offset), C.uint64_t(bytes), &part.raw, &slot)
	if status != C.POOL_OK {
		return nil, failure(status, &slot)
	}
	return &part, nil
}

// Write copies memory of Go, which has been read when it returns.
func (b *Buffer) Write(offset uint64, from Array) error {
	var slot C.pool_error_slot
	return failure(C.go_write(b.raw, C.uint64_t(offset), from.data, C.uint64_t(from.bytes), &slot), &slot)
}

// Read copies to memory of Go.
func (b *Buffer) Read(offset uint64, to Array) error {
	var slot C.pool_error_slot
	return failure(C.go_read(b.raw, C.uint64_t(offset), to.data, C.uint64_t(to.bytes), &slot), &slot)
}

// Content is a copy of all of it.
func (b *Buffer) Content() ([]byte, error) {
	to := make([]byte, b.Bytes())
	return to, b.Read(0, Slice(to))
}

// Fill writes a byte `count` times.
func (b *Buffer) Fill(value byte, offset, count uint64) error {
	var slot C.pool_error_slot
	return failure(C.go_fill(b.raw, C.uint64_t(offset), C.uint64_t(count), C.uint8_t(value), &slot), &slot)
}

// Pinned is page-locked memory, which is not Go's.
type Pinned struct{ raw *C.pool_pinned }

// Pinned allocates page-locked memory.
func (d Device) Pinned(bytes uint64) (*Pinned, error) {
	var slot C.pool_error_slot
	var pinned Pinned
	status := C.go_pinned(d.raw, C.uint64_t(bytes), &pinned.raw, &slot)
	if status != C.POOL_OK {
		return nil, failure(status, &slot)
	}
	return &pinned, nil
}

// Memory is valid until Close.
func (p *Pinned) Memory() []byte {
	return unsafe.Slice((*byte)(C.pool_pinned_data(p.raw)), uint64(C.pool_pinned_bytes(p.raw)))
}

// Close frees the memory.
func (p *Pinned) Close() error {
	var slot C.pool_error_slot
	return failure(C.go_unpin(&p.raw, &slot), &slot)
}

// Stream is a queue of work.
type Stream struct{ raw *C.pool_stream }

// Stream creates a stream.
func (d Device) Stream() (*Stream, error) {
	var slot C.pool_error_slot
	var stream Stream
	status := C.go_stream(d.raw, &stream.raw, &slot)
	if status != C.POOL_OK {
		return nil, failure(status, &slot)
	}
	return &stream, nil
}

// Close destroys the stream; work that is enqueued still ends.
func (s *Stream) Close() error {
	var slot C.pool_error_slot
	return failure(C.go_stream_close(&s.raw, &slot), &slot)
}

// Synchronize waits for its work.
func (s *Stream) Synchronize() error {
	var slot C.pool_error_slot
	return failure(C.go_stream_wait(s.raw, &slot), &slot)
}

// Idle reports whether all its work is done.
func (s *Stream) Idle() (bool, error) {
	var slot C.pool_error_slot
	status := C.go_stream_query(s.raw, &slot)
	if status == C.POOL_ERR_NOT_READY {
		return false, nil
	}
	return status == C.POOL_OK, failure(status, &slot)
}

// --- kernels ----------------------------------------------------------------------------------------

// Module has kernels that are loaded on a device.
type Module struct{ raw *C.pool_module }

// Load loads PTX, a cubin or a fatbin.
func (d Device) Load(image []byte) (*Module, error) {
	var slot C.pool_error_slot
	var module Module
	status := C.go_load(d.raw, Slice(image).data, C.size_t(len(image)), &module.raw, &slot)
	if status != C.POOL_OK {
		return nil, failure(status, &slot)
	}
	return &module, nil
}

// Compile compiles CUDA C++ with NVRTC.
func (d Device) Compile(source string) (*Module, error) {
	var slot C.pool_error_slot
	var module Module
	code := C.CString(source)
	defer C.free(unsafe.Pointer(code))
	status := C.go_compile(d.raw, code, &module.raw, &slot)
	if status != C.POOL_OK {
		return nil, failure(status, &slot)
	}
	return &module, nil
}

// Close unloads it.
func (m *Module) Close() error {
	var slot C.pool_error_slot
	return failure(C.go_unload(&m.raw, &slot), &slot)
}

// Kernel belongs to its module.
type Kernel struct{ raw *C.pool_kernel }

// Kernel finds a kernel.
func (m *Module) Kernel(name string) (Kernel, error) {
	var slot C.pool_error_slot
	var kernel Kernel
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	status := C.go_kernel(m.raw, text, &kernel.raw, &slot)
	return kernel, failure(status, &slot)
}

// Launch enqueues the kernel with a thread for each of `items`. Arguments are *Buffer, or numbers of a fixed size. It
// accesses what its code says: buffers must be large enough and closed later than the work ends or by Close.
func (k Kernel) Launch(items uint64, stream *Stream, arguments ...interface{}) error {
	var slot C.pool_error_slot
	var shape C.pool_launch_shape
	if status := C.go_shape(C.uint64_t(items), &shape, &slot); status != C.POOL_OK {
		return failure(status, &slot)
	}
	values, sizes := make([]byte, 16*len(arguments)+16), make([]C.uint32_t, len(arguments)+1)
	for i, argument := range arguments {
		size, err := encode(values[16*i:], argument)
		if err != nil {
			return err
		}
		sizes[i] = C.uint32_t(size)
	}
	var on *C.pool_stream
	if stream != nil {
		on = stream.raw
	}
	status := C.go_launch(k.raw, &shape, (*C.uint8_t)(&values[0]), &sizes[0], C.uint32_t(len(arguments)), on, &slot)
	return failure(status, &slot)
}

func encode(to []byte, argument interface{}) (int, error) {
	place := unsafe.Pointer(&to[0])
	switch value := argument.(type) {
	case *Buffer:
		var slot C.pool_error_slot
		var address C.CUdeviceptr
		status := C.go_address(value.raw, &address, &slot)
		*(*uint64)(place) = uint64(address)
		return 8, failure(status, &slot)
	case uint32:
		*(*uint32)(place) = value
		return 4, nil
	case int32:
		*(*int32)(place) = value
		return 4, nil
	case uint64:
		*(*uint64)(place) = value
		return 8, nil
	case int64:
		*(*int64)(place) = value
		return 8, nil
	case float32:
		*(*float32)(place) = value
		return 4, nil
	case float64:
		*(*float64)(place) = value
		return 8, nil
	case uint8:
		to[0] = value
		return 1, nil
	}
	return 0, refused(fmt.Sprintf("an argument of a kernel is a *Buffer or a number of a fixed size, not %T", argument))
}

// --- operations -------------------------------------------------------------------------------------

// Where says where and how an operation runs.
type Where struct {
	Device      Device
	Lease       *Lease // its first device and budget
	Stream      *Stream
	Checks      raw.CheckFlag
	MemoryLimit uint64
	Progress    func(done, total uint64) // called during the operation
}

// On is on a device.
func On(device Device) Where { return Where{Device: device} }

// Under is under a lease.
func Under(lease *Lease) Where { return Where{Lease: lease} }

//export goProgress
func goProgress(handle, done, total C.uint64_t) {
	cgo.Handle(handle).Value().(func(done, total uint64))(uint64(done), uint64(total))
}

// run makes a call with the struct of C.
func run(ctx context.Context, w Where, call func(C.struct_go_where, *C.pool_error_slot) C.pool_status) error {
	cancel, finish, err := watch(ctx)
	if err != nil {
		return err
	}
	where := C.struct_go_where{device: w.Device.raw, cancel: cancel, memory_limit: C.uint64_t(w.MemoryLimit),
		checks: C.uint32_t(w.Checks)}
	if w.Lease != nil {
		where.lease = w.Lease.raw
	}
	if w.Stream != nil {
		where.stream = w.Stream.raw
	}
	if w.Progress != nil {
		handle := cgo.NewHandle(w.Progress)
		defer handle.Delete()
		where.progress = C.uint64_t(handle)
	}
	var slot C.pool_error_slot
	status := call(where, &slot)
	return finish(failure(status, &slot))
}

// Field is a prime field.
type Field struct{ raw *C.pool_field }

// NamedField is a built-in field.
func NamedField(name string) (*Field, error) {
	var slot C.pool_error_slot
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	var field Field
	status := C.go_named_field(text, &field.raw, &slot)
	if status != C.POOL_OK {
		return nil, failure(status, &slot)
	}
	return &field, nil
}

// NewField is one from its modulus, decimal or hexadecimal after "0x".
func NewField(modulus string) (*Field, error) {
	var slot C.pool_error_slot
	text := C.CString(modulus)
	defer C.free(unsafe.Pointer(text))
	var field Field
	status := C.go_field(text, &field.raw, &slot)
	if status != C.POOL_OK {
		return nil, failure(status, &slot)
	}
	return &field, nil
}

// Close releases it; a no-op for built-in ones.
func (f *Field) Close() { C.pool_field_destroy(&f.raw) }

// ElementBytes is the size of an element.
func (f *Field) ElementBytes() int { return int(C.pool_field_element_bytes(f.raw)) }

// Modulus is little-endian.
func (f *Field) Modulus() ([]byte, error) {
	var slot C.pool_error_slot
	to := make([]byte, f.ElementBytes())
	return to, failure(C.go_modulus(f.raw, Slice(to).data, &slot), &slot)
}

// RootOfUnity is a primitive root of order 2^log.
func (f *Field) RootOfUnity(log int) ([]byte, error) {
	var slot C.pool_error_slot
	to := make([]byte, f.ElementBytes())
	return to, failure(C.go_root(f.raw, C.uint32_t(log), Slice(to).data, &slot), &slot)
}

// Random elements are for tests, not for secrets.
func (f *Field) Random(count int, seed uint64) ([]byte, error) {
	var slot C.pool_error_slot
	to := make([]byte, count*f.ElementBytes())
	return to, failure(C.go_random(f.raw, C.uint64_t(seed), C.size_t(count), Slice(to).data, &slot), &slot)
}

// ToMontgomery converts elements of standard form.
func (f *Field) ToMontgomery(standard []byte) ([]byte, error) {
	var slot C.pool_error_slot
	if len(standard)%f.ElementBytes() != 0 {
		return nil, refused("the size of an array is no multiple of an item's")
	}
	to := make([]byte, len(standard))
	count := C.size_t(len(standard) / f.ElementBytes())
	return to, failure(C.go_montgomery(f.raw, Slice(standard).data, count, Slice(to).data, &slot), &slot)
}

// VectorAdd is a + b, element by element; so are VectorSub and VectorMul.
func (f *Field) VectorAdd(ctx context.Context, a, b, out Array, where Where) error {
	return f.vector(ctx, C.POOL_VECTOR_ADD, nil, a, b, out, where)
}

// VectorSub is a - b.
func (f *Field) VectorSub(ctx context.Context, a, b, out Array, where Where) error {
	return f.vector(ctx, C.POOL_VECTOR_SUB, nil, a, b, out, where)
}

// VectorMul is a b.
func (f *Field) VectorMul(ctx context.Context, a, b, out Array, where Where) error {
	return f.vector(ctx, C.POOL_VECTOR_MUL, nil, a, b, out, where)
}

// VectorScale multiplies by one element.
func (f *Field) VectorScale(ctx context.Context, scalar []byte, a, out Array, where Where) error {
	if len(scalar) != f.ElementBytes() {
		return refused("the scalar is no element of the field")
	}
	return f.vector(ctx, C.POOL_VECTOR_SCALE, unsafe.Pointer(&scalar[0]), a, Array{}, out, where)
}

// VectorInverse inverts each element; that of 0 is 0.
func (f *Field) VectorInverse(ctx context.Context, a, out Array, where Where) error {
	return f.vector(ctx, C.POOL_VECTOR_INVERSE, nil, a, Array{}, out, where)
}

// VectorBitReverse permutes 2^k elements.
func (f *Field) VectorBitReverse(ctx context.Context, a, out Array, where Where) error {
	return f.vector(ctx, C.POOL_VECTOR_BIT_REVERSE, nil, a, Array{}, out, where)
}

func (f *Field) vector(ctx context.Context, operation C.pool_vector_operation, scalar unsafe.Pointer, a, b, out Array,
	where Where) error {
	return run(ctx, where, func(where C.struct_go_where, slot *C.pool_error_slot) C.pool_status {
		return C.go_vector(operation, f.raw, where, scalar, a.data, a.c(), b.data, b.c(), out.data, out.c(), slot)
	})
}

// Curve is an elliptic curve.
type Curve struct{ raw *C.pool_curve }

// NamedCurve is a built-in curve.
func NamedCurve(name string) (*Curve, error) {
	var slot C.pool_error_slot
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	var curve Curve
	status := C.go_named_curve(text, &curve.raw, &slot)
	if status != C.POOL_OK {
		return nil, failure(status, &slot)
	}
	return &curve, nil
}

// ScalarField has the curve's order as its modulus. It belongs to the curve.
func (c *Curve) ScalarField() *Field {
	return &Field{(*C.pool_field)(unsafe.Pointer(C.pool_curve_scalar_field(c.raw)))}
}

// PointBytes is the size of an affine point.
func (c *Curve) PointBytes() int { return int(C.pool_point_bytes(c.raw, C.POOL_POINT_AFFINE)) }

// Add adds two affine points on the host, for checking results.
func (c *Curve) Add(p, q []byte) ([]byte, error) {
	var slot C.pool_error_slot
	if len(p) != c.PointBytes() || len(q) != c.PointBytes() {
		return nil, refused("a point of another size")
	}
	to := make([]byte, c.PointBytes())
	return to, failure(C.go_point_add(c.raw, Slice(p).data, Slice(q).data, Slice(to).data, &slot), &slot)
}

// Multiply multiplies an affine point by a little-endian number on the host, for checking results.
func (c *Curve) Multiply(p, scalar []byte) ([]byte, error) {
	var slot C.pool_error_slot
	if len(p) != c.PointBytes() {
		return nil, refused("a point of another size")
	}
	to := make([]byte, c.PointBytes())
	return to, failure(C.go_point_mul(c.raw, Slice(p).data, Slice(scalar).data, C.size_t(len(scalar)), Slice(to).data, &slot), &slot)
}

// RandomPoints are multiples of the generator by the scalars, for tests.
func (c *Curve) RandomPoints(count int, seed uint64) (points, scalars []byte, err error) {
	var slot C.pool_error_slot
	points = make([]byte, count*c.PointBytes())
	scalars = make([]byte, count*c.ScalarField().ElementBytes())
	status := C.go_random_points(c.raw, C.uint64_t(seed), C.size_t(count), Slice(points).data, Slice(scalars).data, &slot)
	return points, scalars, failure(status, &slot)
}

// Encode writes points as other systems exchange them.
func (c *Curve) Encode(points []byte, encoding raw.Encoding) ([]byte, error) {
	var slot C.pool_error_slot
	count := len(points) / c.PointBytes()
	to := make([]byte, count*int(C.pool_encoding_bytes(c.raw, C.pool_encoding(encoding))))
	status := C.go_encode(c.raw, Slice(points).data, C.size_t(count), C.pool_encoding(encoding), Slice(to).data, &slot)
	return to, failure(status, &slot)
}

// Decode reads them, and checks that they are in the subgroup.
func (c *Curve) Decode(encoded []byte, encoding raw.Encoding) ([]byte, error) {
	var slot C.pool_error_slot
	size := int(C.pool_encoding_bytes(c.raw, C.pool_encoding(encoding)))
	if size == 0 || len(encoded)%size != 0 {
		return nil, refused("the size of an array is no multiple of an encoded point's")
	}
	count := len(encoded) / size
	to := make([]byte, count*c.PointBytes())
	status := C.go_decode(c.raw, Slice(encoded).data, C.size_t(count), C.pool_encoding(encoding), Slice(to).data, &slot)
	return to, failure(status, &slot)
}

// Bases are base points that stay on a device.
type Bases struct {
	raw   *C.pool_bases
	curve *Curve
}

// NewBases copies points to a device; `factor` multiples of each are stored, raw.PrecomputeAll: one per window.
func (c *Curve) NewBases(ctx context.Context, points Array, factor uint32, where Where) (*Bases, error) {
	bases := &Bases{curve: c}
	var made *C.pool_bases
	err := run(ctx, where, func(where C.struct_go_where, slot *C.pool_error_slot) C.pool_status {
		return C.go_bases(c.raw, C.uint32_t(factor), where, points.data, points.c(), &made, slot)
	})
	bases.raw = made
	if err != nil {
		return nil, err
	}
	return bases, nil
}

// Close frees them.
func (b *Bases) Close() error {
	var slot C.pool_error_slot
	return failure(C.go_free_bases(&b.raw, &slot), &slot)
}

// MSM is the sum of scalars times points.
func (c *Curve) MSM(ctx context.Context, points, scalars Array, where Where) ([]byte, error) {
	sum := make([]byte, c.PointBytes())
	return sum, c.MSMs(ctx, points, scalars, Slice(sum), 1, false, where)
}

// MSMs are `batch` of them, over points of their own or the same, to memory of the caller.
func (c *Curve) MSMs(ctx context.Context, points, scalars, results Array, batch int, isShared bool, where Where) error {
	var shared C.int32_t
	if isShared {
		shared = 1
	}
	return run(ctx, where, func(where C.struct_go_where, slot *C.pool_error_slot) C.pool_status {
		return C.go_msm(c.raw, nil, C.uint64_t(batch), shared, where, points.data, points.c(), scalars.data, scalars.c(),
			results.data, results.c(), slot)
	})
}

// MSM is that over bases.
func (b *Bases) MSM(ctx context.Context, scalars Array, where Where) ([]byte, error) {
	sum := make([]byte, b.curve.PointBytes())
	results := Slice(sum)
	return sum, run(ctx, where, func(where C.struct_go_where, slot *C.pool_error_slot) C.pool_status {
		return C.go_msm(b.curve.raw, b.raw, 1, 0, where, nil, Array{}.c(), scalars.data, scalars.c(), results.data,
			results.c(), slot)
	})
}

// Domain is a multiplicative subgroup of order 2^log, for transforms. Its tables are on the devices that have used it, so
// it is closed before their pool.
type Domain struct{ raw *C.pool_ntt_domain }

// NewDomain creates a domain.
func (f *Field) NewDomain(log int) (*Domain, error) {
	var slot C.pool_error_slot
	var domain Domain
	status := C.go_domain(f.raw, C.uint32_t(log), &domain.raw, &slot)
	if status != C.POOL_OK {
		return nil, failure(status, &slot)
	}
	return &domain, nil
}

// Close frees it and its tables.
func (d *Domain) Close() error {
	var slot C.pool_error_slot
	return failure(C.go_free_domain(&d.raw, &slot), &slot)
}

// Transform says which transforms.
type Transform struct {
	Inverse bool
	Coset   bool
	Order   raw.NttOrder
	Columns bool
	Batch   int // 0: 1
}

// Transform transforms `in` to `out`, which may be the same.
func (d *Domain) Transform(ctx context.Context, which Transform, in, out Array, where Where) error {
	direction, layout, coset := C.pool_ntt_direction(C.POOL_NTT_FORWARD), C.pool_ntt_layout(C.POOL_NTT_ROWS), C.int32_t(0)
	if which.Inverse {
		direction = C.POOL_NTT_INVERSE
	}
	if which.Columns {
		layout = C.POOL_NTT_COLUMNS
	}
	if which.Coset {
		coset = 1
	}
	return run(ctx, where, func(where C.struct_go_where, slot *C.pool_error_slot) C.pool_status {
		return C.go_ntt(d.raw, direction, coset, C.pool_ntt_order(which.Order), layout, C.uint64_t(which.Batch), where,
			in.data, in.c(), out.data, out.c(), slot)
	})
}

// Poseidon is a parameter set.
type Poseidon struct{ raw *C.pool_poseidon }

// NamedPoseidon is a built-in parameter set.
func NamedPoseidon(name string) (*Poseidon, error) {
	var slot C.pool_error_slot
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	var set Poseidon
	status := C.go_poseidon(text, &set.raw, &slot)
	if status != C.POOL_OK {
		return nil, failure(status, &slot)
	}
	return &set, nil
}

// Close releases it.
func (p *Poseidon) Close() { C.pool_poseidon_destroy(&p.raw) }

// Field is that of its elements. It belongs to the set.
func (p *Poseidon) Field() *Field {
	return &Field{(*C.pool_field)(unsafe.Pointer(C.pool_poseidon_field(p.raw)))}
}

// DigestBytes is the size of a digest.
func (p *Poseidon) DigestBytes() int {
	return int(C.pool_poseidon_digest_elements(p.raw)) * p.Field().ElementBytes()
}

// Hash computes a digest for each `elements` elements.
func (p *Poseidon) Hash(ctx context.Context, inputs Array, elements int, where Where) ([]byte, error) {
	size := uint64(elements * p.Field().ElementBytes())
	if size == 0 || inputs.bytes%size != 0 {
		return nil, refused("the size of an array is no multiple of an item's")
	}
	digests := make([]byte, int(inputs.bytes/size)*p.DigestBytes())
	out := Slice(digests)
	return digests, run(ctx, where, func(where C.struct_go_where, slot *C.pool_error_slot) C.pool_status {
		return C.go_hash(p.raw, C.uint32_t(elements), where, inputs.data, inputs.c(), out.data, out.c(), slot)
	})
}

// Permute permutes states.
func (p *Poseidon) Permute(ctx context.Context, states Array, where Where) ([]byte, error) {
	results := make([]byte, states.bytes)
	out := Slice(results)
	return results, run(ctx, where, func(where C.struct_go_where, slot *C.pool_error_slot) C.pool_status {
		return C.go_permute(p.raw, where, states.data, states.c(), out.data, out.c(), slot)
	})
}

// Merkle computes all levels of a tree of digests, the root last.
func (p *Poseidon) Merkle(ctx context.Context, leaves Array, arity int, where Where) ([]byte, error) {
	var slot C.pool_error_slot
	var bytes C.uint64_t
	count := leaves.bytes / uint64(p.DigestBytes())
	status := C.go_merkle_bytes(p.raw, C.uint32_t(arity), C.uint64_t(count), &bytes, &slot)
	if status != C.POOL_OK {
		return nil, failure(status, &slot)
	}
	levels := make([]byte, uint64(bytes))
	out := Slice(levels)
	return levels, run(ctx, where, func(where C.struct_go_where, slot *C.pool_error_slot) C.pool_status {
		return C.go_merkle(p.raw, C.uint32_t(arity), where, leaves.data, leaves.c(), out.data, out.c(), slot)
	})
}
