// SPDX-License-Identifier: Apache-2.0
//! Zero-knowledge cryptography on GPUs: libdevicepool for Rust, without other crates.
//!
//! ```no_run
//! use devicepool::{Curve, Exec, Pool};
//! fn main() -> devicepool::Result<()> {
//!     let pool = Pool::open("sim:1")?;
//!     let curve = Curve::named("bn254_g1")?;
//!     let (points, _) = curve.random_points(1000, 1)?;
//!     let scalars = curve.scalar_field().random(1000, 2)?;
//!     let sum = devicepool::msm(&curve, &points, &scalars, Exec::on(&pool.next()?))?;
//!     println!("{:?}", sum);
//!     Ok(())
//! }
//! ```
//!
//! A [`Pool`] is destroyed when it and everything that belongs to it are gone, in any order. All types are `Send` and `Sync`
//! but [`Binding`], which belongs to its thread. Slices are read and written where they lie, during the call. What a safe call
//! cannot promise is `unsafe`: launching kernels, and deadlines, after which the library may still use a call's memory.
//! Everything else of the library is in [`sys`], with the names of C.
pub use devicepool_sys as sys;

use std::ffi::{CStr, CString};
use std::fmt;
use std::marker::PhantomData;
use std::os::raw::{c_char, c_int, c_void};
use std::ptr::{null, null_mut, NonNull};
use std::sync::Arc;

mod lease;
mod operations;
mod task;
pub use lease::{Lease, LeaseFuture, Request};
pub use operations::*;
pub use task::{run, Task};

// --- failures ----------------------------------------------------------------------------------------

/// A failure: its status, what was attempted, why it failed and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// `sys::POOL_ERR_…`
    pub status: sys::pool_status,
    pub message: String,
    /// The driver's code and its name; 0 and empty when no driver call was the cause.
    pub code: i32,
    pub code_name: String,
    /// That call.
    pub call: String,
}

pub type Result<T> = std::result::Result<T, Error>;

/// The largest thing that a failure harms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harm {
    None,
    Call,
    Device,
    Host,
    Process,
    Internal,
}

impl Error {
    /// "POOL_ERR_TIMEOUT" and so on.
    pub fn name(&self) -> &'static str {
        // Static strings of ASCII.
        unsafe { CStr::from_ptr(sys::pool_status_name(self.status)) }.to_str().unwrap_or("POOL_ERR_?")
    }

    pub fn harms(&self) -> Harm {
        Harm::of(unsafe { sys::pool_status_class(self.status) })
    }

    fn last() -> Error {
        // Never NULL, and valid until the thread's next failing call.
        unsafe {
            let from = &*sys::pool_last_error();
            Error {
                status: from.status,
                message: text(from.message),
                code: from.driver_code,
                code_name: text(from.driver_name),
                call: text(from.call),
            }
        }
    }

    fn of(slot: &sys::pool_error_slot) -> Error {
        // The library ends each with a NUL.
        unsafe {
            Error {
                status: slot.status,
                message: text(slot.message.as_ptr()),
                code: slot.driver_code,
                code_name: text(slot.driver_name.as_ptr()),
                call: text(slot.call.as_ptr()),
            }
        }
    }

    /// A refusal of this layer.
    fn refused(message: &str) -> Error {
        Error {
            status: sys::POOL_ERR_INVALID_ARGUMENT,
            message: message.to_string(),
            code: 0,
            code_name: String::new(),
            call: String::new(),
        }
    }
}

impl Harm {
    fn of(class: sys::pool_error_class) -> Harm {
        match class {
            sys::POOL_CLASS_NONE => Harm::None,
            sys::POOL_CLASS_CALL => Harm::Call,
            sys::POOL_CLASS_DEVICE => Harm::Device,
            sys::POOL_CLASS_HOST => Harm::Host,
            sys::POOL_CLASS_PROCESS => Harm::Process,
            _ => Harm::Internal,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Harm::None => "none",
            Harm::Call => "call",
            Harm::Device => "device",
            Harm::Host => "host",
            Harm::Process => "process",
            Harm::Internal => "internal",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name(), self.message)
    }
}

impl std::error::Error for Error {}

/// A result of a call of `sys` that has just been made on this thread.
pub fn check(status: sys::pool_status) -> Result<()> {
    if status == sys::POOL_OK {
        Ok(())
    } else {
        Err(Error::last())
    }
}

unsafe fn text(from: *const c_char) -> String {
    CStr::from_ptr(from).to_string_lossy().into_owned()
}

fn c_string(from: &str) -> Result<CString> {
    CString::new(from).map_err(|_| Error::refused("a string has a NUL"))
}

/// The pointer that a call writes on success.
fn made<T>(call: impl FnOnce(*mut *mut T) -> sys::pool_status) -> Result<NonNull<T>> {
    let mut pointer = null_mut();
    check(call(&mut pointer))?;
    NonNull::new(pointer).ok_or_else(|| Error::refused("the library has written no object"))
}

/// An owner of an object that `$destroy` destroys; a failure of that is logged by the library.
macro_rules! owned {
    ($name:ident, $raw:ident, $destroy:ident) => {
        impl Drop for $name {
            fn drop(&mut self) {
                let mut pointer = self.raw.as_ptr();
                unsafe {
                    let _ = sys::$destroy(&mut pointer);
                }
            }
        }
        // Objects of the library may be used by any thread; destruction needs exclusive access, as drop has it.
        unsafe impl Send for $name {}
        unsafe impl Sync for $name {}
        impl $name {
            /// For calls of `sys`.
            pub fn as_ptr(&self) -> *mut sys::$raw {
                self.raw.as_ptr()
            }
        }
    };
}
pub(crate) use owned;

// --- pools and devices -------------------------------------------------------------------------------

struct PoolOwner {
    raw: NonNull<sys::device_pool>,
}
owned!(PoolOwner, device_pool, pool_destroy);

/// The devices of a host. A clone is the same pool.
#[derive(Clone)]
pub struct Pool {
    owner: Arc<PoolOwner>,
}

impl Pool {
    /// "all", "0,2-3", "sim:4", "workers:all"; "" stands for DEVICEPOOL_DEVICES, or all.
    pub fn open(devices: &str) -> Result<Pool> {
        Pool::with(devices, |_| ())
    }

    /// With further params, which `change` sets.
    pub fn with(devices: &str, change: impl FnOnce(&mut sys::pool_params)) -> Result<Pool> {
        let devices = c_string(devices)?;
        let mut params = sys::pool_params::default();
        if !devices.as_bytes().is_empty() {
            params.devices = devices.as_ptr();
        }
        change(&mut params);
        let raw = made(|to| unsafe { sys::pool_create(to, &params) })?;
        Ok(Pool { owner: Arc::new(PoolOwner { raw }) })
    }

    pub fn as_ptr(&self) -> *mut sys::device_pool {
        self.owner.as_ptr()
    }

    pub fn len(&self) -> usize {
        unsafe { sys::pool_device_count(self.as_ptr()) as usize }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn usable(&self) -> usize {
        unsafe { sys::pool_usable_count(self.as_ptr()) as usize }
    }

    fn device(&self, call: impl FnOnce(*mut *mut sys::pool_device) -> sys::pool_status) -> Result<Device> {
        Ok(Device { pool: self.clone(), raw: made(call)? })
    }

    pub fn at(&self, index: usize) -> Result<Device> {
        self.device(|to| unsafe { sys::pool_device_at(self.as_ptr(), index as _, to) })
    }

    /// The next usable device, round robin.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&self) -> Result<Device> {
        self.device(|to| unsafe { sys::pool_next_device(self.as_ptr(), to) })
    }

    /// The usable device with most free memory.
    pub fn best(&self) -> Result<Device> {
        self.device(|to| unsafe { sys::pool_best_device(self.as_ptr(), to) })
    }

    pub fn by_uuid(&self, uuid: &str) -> Result<Device> {
        let uuid = c_string(uuid)?;
        self.device(|to| unsafe { sys::pool_device_by_uuid(self.as_ptr(), uuid.as_ptr(), to) })
    }

    /// The device that this thread has bound.
    pub fn bound(&self) -> Result<Device> {
        self.device(|to| unsafe { sys::pool_bound_device(self.as_ptr(), to) })
    }

    /// By a policy `sys::POOL_POLICY_…`, of those that pass the filter.
    pub fn pick(&self, policy: sys::pool_policy, mut filter: impl FnMut(&Candidate) -> bool) -> Result<Device> {
        unsafe extern "C" fn passes<F: FnMut(&Candidate) -> bool>(user: *mut c_void, of: *const sys::pool_candidate) -> c_int {
            guarded(|| (*(user as *mut F))(&Candidate::of(&*of))).unwrap_or(false) as c_int
        }
        fn hook<F: FnMut(&Candidate) -> bool>(_: &F) -> sys::pool_pick_filter {
            Some(passes::<F>)
        }
        let mut pick = sys::pool_pick { policy, ..Default::default() };
        pick.filter = hook(&filter);
        pick.user = &mut filter as *mut _ as *mut c_void;
        self.device(|to| unsafe { sys::pool_pick_device(self.as_ptr(), &pick, to) })
    }

    /// The one with the highest score; NaN excludes a device.
    pub fn pick_by_score(&self, mut score: impl FnMut(&Candidate) -> f64) -> Result<Device> {
        unsafe extern "C" fn value<F: FnMut(&Candidate) -> f64>(user: *mut c_void, of: *const sys::pool_candidate) -> f64 {
            guarded(|| (*(user as *mut F))(&Candidate::of(&*of))).unwrap_or(f64::NAN)
        }
        fn hook<F: FnMut(&Candidate) -> f64>(_: &F) -> sys::pool_pick_score {
            Some(value::<F>)
        }
        let mut pick = sys::pool_pick { policy: sys::POOL_POLICY_SCORE, ..Default::default() };
        pick.score = hook(&score);
        pick.user = &mut score as *mut _ as *mut c_void;
        self.device(|to| unsafe { sys::pool_pick_device(self.as_ptr(), &pick, to) })
    }

    pub fn health(&self) -> Result<sys::pool_health_info> {
        let mut info = sys::pool_health_info::default();
        check(unsafe { sys::pool_get_health(self.as_ptr(), &mut info) })?;
        Ok(info)
    }

    /// For people, or as JSON.
    pub fn describe(&self, is_json: bool) -> Result<String> {
        let format = if is_json { sys::POOL_TEXT_JSON } else { sys::POOL_TEXT_PLAIN };
        let mut written = null_mut();
        unsafe {
            check(sys::pool_describe(self.as_ptr(), format, &mut written))?;
            let copy = text(written);
            sys::pool_text_free(&mut written);
            Ok(copy)
        }
    }
}

/// A panic must not pass through C.
fn guarded<T>(call: impl FnOnce() -> T) -> Option<T> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).ok()
}

/// A device as a filter or a score sees it.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    pub index: usize,
    pub free_bytes: u64,
    pub total_bytes: u64,
    pub calls: u32,
    pub busy_streams: u32,
    pub leases: u32,
}

impl Candidate {
    fn of(from: &sys::pool_candidate) -> Candidate {
        Candidate {
            index: unsafe { sys::pool_device_index(from.device) as usize },
            free_bytes: from.free_bytes,
            total_bytes: from.total_bytes,
            calls: from.calls,
            busy_streams: from.busy_streams,
            leases: from.leases,
        }
    }
}

/// A device of a pool.
#[derive(Clone)]
pub struct Device {
    pool: Pool,
    raw: NonNull<sys::pool_device>,
}
unsafe impl Send for Device {}
unsafe impl Sync for Device {}

impl PartialEq for Device {
    fn eq(&self, other: &Device) -> bool {
        self.raw == other.raw
    }
}

impl Device {
    pub fn as_ptr(&self) -> *mut sys::pool_device {
        self.raw.as_ptr()
    }

    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    pub fn index(&self) -> usize {
        unsafe { sys::pool_device_index(self.as_ptr()) as usize }
    }

    pub fn ordinal(&self) -> i32 {
        unsafe { sys::pool_device_ordinal(self.as_ptr()) }
    }

    pub fn uuid(&self) -> String {
        unsafe { text(sys::pool_device_uuid(self.as_ptr())) }
    }

    pub fn info(&self) -> Result<sys::pool_device_info> {
        let mut info = sys::pool_device_info::default();
        check(unsafe { sys::pool_device_get_info(self.as_ptr(), &mut info) })?;
        Ok(info)
    }

    /// Its context is current on this thread until the binding is dropped; bindings are dropped in reverse order.
    pub fn bind(&self) -> Result<Binding> {
        check(unsafe { sys::pool_bind(self.as_ptr()) })?;
        Ok(Binding { device: self.clone(), _of_this_thread: PhantomData })
    }

    pub fn alloc(&self, bytes: u64) -> Result<Buffer> {
        self.create_buffer(sys::pool_buffer_params { bytes, ..Default::default() })
    }

    pub fn zeroed(&self, bytes: u64) -> Result<Buffer> {
        self.create_buffer(sys::pool_buffer_params { bytes, flags: sys::POOL_BUFFER_ZEROED, ..Default::default() })
    }

    /// Overwritten before it is reused.
    pub fn secret(&self, bytes: u64) -> Result<Buffer> {
        self.create_buffer(sys::pool_buffer_params { bytes, flags: sys::POOL_BUFFER_SECRET, ..Default::default() })
    }

    /// Charged to the lease's budget.
    pub fn alloc_under(&self, lease: &Lease, bytes: u64) -> Result<Buffer> {
        self.create_buffer(sys::pool_buffer_params { bytes, lease: lease.as_ptr(), ..Default::default() })
    }

    fn create_buffer(&self, params: sys::pool_buffer_params) -> Result<Buffer> {
        let raw = made(|to| unsafe { sys::pool_buffer_create(self.as_ptr(), &params, to) })?;
        Ok(Buffer { raw, device: self.clone() })
    }

    pub fn upload<T: Plain>(&self, from: &[T]) -> Result<Buffer> {
        let bytes = std::mem::size_of_val(from) as u64;
        let raw = made(|to| unsafe { sys::pool_buffer_from_host(self.as_ptr(), from.as_ptr().cast(), bytes, to) })?;
        Ok(Buffer { raw, device: self.clone() })
    }

    /// Page-locked host memory.
    pub fn pinned(&self, bytes: usize) -> Result<Pinned> {
        let raw = made(|to| unsafe { sys::pool_pinned_create(self.as_ptr(), bytes as u64, 0, to) })?;
        let memory = Pinned { raw, _device: self.clone() };
        memory.check_context()?;
        unsafe { std::ptr::write_bytes(sys::pool_pinned_data(memory.as_ptr()) as *mut u8, 0, bytes) };
        Ok(memory)
    }

    pub fn stream(&self) -> Result<Stream> {
        let raw = made(|to| unsafe { sys::pool_stream_create(self.as_ptr(), null(), to) })?;
        Ok(Stream { raw, device: self.clone() })
    }

    /// PTX, a cubin or a fatbin.
    pub fn load(&self, image: &[u8]) -> Result<Module> {
        let raw = made(|to| unsafe { sys::pool_module_load(self.as_ptr(), image.as_ptr().cast(), image.len() as _, to) })?;
        Ok(Module { raw, _device: self.clone() })
    }

    /// Compiles CUDA C++ with NVRTC.
    pub fn compile(&self, source: &str) -> Result<Module> {
        let source = c_string(source)?;
        let params = sys::pool_module_params { source: source.as_ptr(), ..Default::default() };
        let raw = made(|to| unsafe { sys::pool_module_compile(self.as_ptr(), &params, to) })?;
        Ok(Module { raw, _device: self.clone() })
    }

    /// Waits for all work of the device.
    pub fn synchronize(&self) -> Result<()> {
        check(unsafe { sys::pool_device_synchronize(self.as_ptr()) })
    }
}

/// A device is bound to this thread until this is dropped.
pub struct Binding {
    device: Device,
    _of_this_thread: PhantomData<*const ()>,
}

impl Drop for Binding {
    fn drop(&mut self) {
        unsafe {
            let _ = sys::pool_unbind(self.device.as_ptr());
        }
    }
}

/// A queue of work.
pub struct Stream {
    raw: NonNull<sys::pool_stream>,
    device: Device,
}
owned!(Stream, pool_stream, pool_stream_destroy);

impl Stream {
    pub fn device(&self) -> &Device {
        &self.device
    }

    pub fn synchronize(&self) -> Result<()> {
        check(unsafe { sys::pool_stream_synchronize(self.as_ptr()) })
    }

    pub fn is_idle(&self) -> Result<bool> {
        match unsafe { sys::pool_stream_query(self.as_ptr()) } {
            sys::POOL_ERR_NOT_READY => Ok(false),
            status => check(status).map(|_| true),
        }
    }
}

/// Plain values without gaps, of which every pattern of bits is one.
///
/// # Safety
/// As said.
pub unsafe trait Plain: Copy + 'static {}
unsafe impl Plain for u8 {}
unsafe impl Plain for u16 {}
unsafe impl Plain for u32 {}
unsafe impl Plain for u64 {}
unsafe impl Plain for u128 {}
unsafe impl Plain for i8 {}
unsafe impl Plain for i16 {}
unsafe impl Plain for i32 {}
unsafe impl Plain for i64 {}
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

/// Memory of a device. Several threads may use it, as on a GPU: what is in it is not Rust's to know.
pub struct Buffer {
    raw: NonNull<sys::pool_buffer>,
    device: Device,
}
owned!(Buffer, pool_buffer, pool_buffer_destroy);

impl Buffer {
    pub fn device(&self) -> &Device {
        &self.device
    }

    pub fn bytes(&self) -> u64 {
        unsafe { sys::pool_buffer_bytes(self.as_ptr()) }
    }

    pub fn address(&self) -> Result<u64> {
        let mut address = 0;
        check(unsafe { sys::pool_buffer_address(self.as_ptr(), &mut address) })?;
        Ok(address)
    }

    pub fn slice(&self, offset: u64, bytes: u64) -> Result<Buffer> {
        let raw = made(|to| unsafe { sys::pool_buffer_slice(self.as_ptr(), offset, bytes, to) })?;
        Ok(Buffer { raw, device: self.device.clone() })
    }

    pub fn write<T: Plain>(&self, offset: u64, from: &[T]) -> Result<()> {
        let bytes = std::mem::size_of_val(from) as u64;
        check(unsafe { sys::pool_copy_to_device(self.as_ptr(), offset, from.as_ptr().cast(), bytes, null_mut()) })
    }

    pub fn read<T: Plain>(&self, offset: u64, to: &mut [T]) -> Result<()> {
        let bytes = std::mem::size_of_val(to) as u64;
        check(unsafe { sys::pool_copy_to_host(to.as_mut_ptr().cast(), self.as_ptr(), offset, bytes, null_mut()) })
    }

    pub fn to_vec(&self) -> Result<Vec<u8>> {
        let mut to = vec![0u8; self.bytes() as usize];
        self.read(0, &mut to)?;
        Ok(to)
    }

    pub fn fill(&self, value: u8, offset: u64, count: u64) -> Result<()> {
        check(unsafe { sys::pool_buffer_fill8(self.as_ptr(), offset, count, value, null_mut()) })
    }
}

/// Page-locked host memory.
pub struct Pinned {
    raw: NonNull<sys::pool_pinned>,
    _device: Device,
}
owned!(Pinned, pool_pinned, pool_pinned_destroy);

impl Pinned {
    /// The memory ends with a context that other code of the process has destroyed.
    fn check_context(&self) -> Result<()> {
        if unsafe { sys::pool_pinned_data(self.as_ptr()) }.is_null() {
            return Err(Error::refused("the pinned memory has ended with its device's context"));
        }
        Ok(())
    }

    pub fn as_slice(&self) -> &[u8] {
        self.check_context().expect("pinned memory");
        unsafe {
            let data = sys::pool_pinned_data(self.as_ptr()) as *const u8;
            std::slice::from_raw_parts(data, sys::pool_pinned_bytes(self.as_ptr()) as usize)
        }
    }

    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        self.check_context().expect("pinned memory");
        unsafe {
            let data = sys::pool_pinned_data(self.as_ptr()) as *mut u8;
            std::slice::from_raw_parts_mut(data, sys::pool_pinned_bytes(self.as_ptr()) as usize)
        }
    }
}

// --- kernels -----------------------------------------------------------------------------------------

/// Kernels and variables that are loaded on a device.
pub struct Module {
    raw: NonNull<sys::pool_module>,
    _device: Device,
}
owned!(Module, pool_module, pool_module_destroy);

impl Module {
    pub fn kernel(&self, name: &str) -> Result<Kernel<'_>> {
        let name = c_string(name)?;
        let raw = made(|to| unsafe { sys::pool_kernel_get(self.as_ptr(), name.as_ptr(), to) })?;
        Ok(Kernel { raw, _module: PhantomData })
    }
}

/// A kernel of a module.
#[derive(Clone, Copy)]
pub struct Kernel<'m> {
    raw: NonNull<sys::pool_kernel>,
    _module: PhantomData<&'m Module>,
}
unsafe impl Send for Kernel<'_> {}
unsafe impl Sync for Kernel<'_> {}

/// An argument of a kernel: the bytes of a value, or a buffer's address.
#[derive(Clone, Copy)]
pub struct Argument {
    bytes: [u8; 16],
    size: usize,
}

macro_rules! argument {
    ($($kind:ty),*) => {$(
        impl From<$kind> for Argument {
            fn from(value: $kind) -> Argument {
                let from = value.to_ne_bytes();
                let mut bytes = [0; 16];
                bytes[..from.len()].copy_from_slice(&from);
                Argument { bytes, size: from.len() }
            }
        }
    )*};
}
argument!(u8, u16, u32, u64, u128, i8, i16, i32, i64, f32, f64);

impl TryFrom<&Buffer> for Argument {
    type Error = Error;
    fn try_from(buffer: &Buffer) -> Result<Argument> {
        Ok(buffer.address()?.into())
    }
}

/// A shape with a thread per item.
pub fn threads_for(items: u64) -> Result<sys::pool_launch_shape> {
    let mut shape = sys::pool_launch_shape::default();
    check(unsafe { sys::pool_launch_shape_for(items, &mut shape) })?;
    Ok(shape)
}

impl Kernel<'_> {
    pub fn as_ptr(&self) -> *mut sys::pool_kernel {
        self.raw.as_ptr()
    }

    /// Enqueues the kernel. Numbers and sizes of arguments are checked where the driver knows them.
    ///
    /// # Safety
    /// A kernel reads and writes what its code says: its buffers must be large enough and live until the work is done.
    pub unsafe fn launch(
        &self,
        shape: &sys::pool_launch_shape,
        arguments: &[Argument],
        stream: Option<&Stream>,
    ) -> Result<()> {
        let mut values = arguments.to_vec();
        let mut pointers: Vec<*mut c_void> = values.iter_mut().map(|value| value.bytes.as_mut_ptr().cast()).collect();
        let sizes: Vec<_> = values.iter().map(|value| value.size as _).collect();
        let mut shape = *shape;
        shape.argument_count = values.len() as u32;
        shape.argument_bytes = sizes.as_ptr();
        check(sys::pool_launch(self.as_ptr(), &shape, pointers.as_mut_ptr(), stream.map_or(null_mut(), |s| s.as_ptr())))
    }
}
