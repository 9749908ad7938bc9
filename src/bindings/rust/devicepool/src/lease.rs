// SPDX-License-Identifier: Apache-2.0
//! Leases: guards of memory and slots, at once or as futures.
use crate::*;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Condvar, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// What a job requests.
#[derive(Clone)]
pub struct Request {
    /// Of device memory, on each device.
    pub bytes: u64,
    pub devices: u32,
    pub slots: u32,
    pub priority: i32,
    /// None: no deadline.
    pub timeout: Option<Duration>,
    pub label: String,
}

impl Default for Request {
    fn default() -> Request {
        Request { bytes: 0, devices: 1, slots: 1, priority: 0, timeout: None, label: String::new() }
    }
}

impl Request {
    pub fn bytes(bytes: u64) -> Request {
        Request { bytes, ..Default::default() }
    }

    fn raw(&self, label: &CString) -> sys::pool_request {
        sys::pool_request {
            bytes: self.bytes,
            devices: self.devices,
            slots: self.slots,
            priority: self.priority,
            timeout_ns: self.timeout.map_or(sys::POOL_WAIT_FOREVER, nanoseconds),
            label: label.as_ptr(),
            ..Default::default()
        }
    }
}

pub(crate) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(sys::POOL_WAIT_FOREVER)
}

/// Bytes and slots that are reserved on devices until it is dropped.
pub struct Lease {
    raw: NonNull<sys::pool_lease>,
    pool: Pool,
}
owned!(Lease, pool_lease, pool_release);

impl Lease {
    pub fn len(&self) -> usize {
        unsafe { sys::pool_lease_device_count(self.as_ptr()) as usize }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn device(&self, index: usize) -> Result<Device> {
        self.pool.device(|to| unsafe { sys::pool_lease_device(self.as_ptr(), index as u32, to) })
    }

    pub fn info(&self) -> Result<sys::pool_lease_info> {
        let mut info = sys::pool_lease_info::default();
        check(unsafe { sys::pool_lease_get_info(self.as_ptr(), &mut info) })?;
        Ok(info)
    }

    /// What it uses of its index-th device.
    pub fn usage(&self, index: usize) -> Result<sys::pool_lease_usage> {
        let mut usage = sys::pool_lease_usage::default();
        check(unsafe { sys::pool_lease_get_usage(self.as_ptr(), index as u32, &mut usage) })?;
        Ok(usage)
    }
}

impl Pool {
    /// Waits for a lease.
    pub fn acquire(&self, request: &Request) -> Result<Lease> {
        let label = c_string(&request.label)?;
        let raw = made(|to| unsafe { sys::pool_acquire(self.as_ptr(), &request.raw(&label), to) })?;
        Ok(Lease { raw, pool: self.clone() })
    }

    /// The same without a thread that waits. Dropping the future withdraws the request.
    pub fn acquire_async(&self, request: &Request) -> Result<LeaseFuture> {
        let label = c_string(&request.label)?;
        let shared = Arc::new(Shared {
            cancel: Cancel::new()?,
            slot: Mutex::new(Box::default()),
            state: Mutex::new(State { decision: None, is_decided: false, waker: None }),
            decided: Condvar::new(),
        });
        let mut raw = request.raw(&label);
        raw.cancel = shared.cancel.as_ptr();
        // The box stays where it is; only the library uses it until the hook has run.
        raw.error = &mut **shared.slot.lock().unwrap();
        let user = Arc::into_raw(shared.clone());
        let mut ticket = null_mut();
        let status = unsafe { sys::pool_acquire_async(self.as_ptr(), &raw, Some(decided), user as *mut c_void, &mut ticket) };
        if let Err(error) = check(status) {
            drop(unsafe { Arc::from_raw(user) }); // the hook is not called
            return Err(error);
        }
        Ok(LeaseFuture { shared, pool: self.clone() })
    }
}

struct State {
    decision: Option<std::result::Result<Taken, Error>>,
    is_decided: bool,
    waker: Option<Waker>,
}

/// A lease that nobody has received yet.
struct Taken(*mut sys::pool_lease);
unsafe impl Send for Taken {}

impl Drop for Taken {
    fn drop(&mut self) {
        unsafe {
            let _ = sys::pool_release(&mut self.0);
        }
    }
}

struct Shared {
    cancel: Cancel,
    slot: Mutex<Box<sys::pool_error_slot>>,
    state: Mutex<State>,
    decided: Condvar,
}

/// On a thread of the library, possibly before pool_acquire_async has returned. It holds no pool: the last reference to
/// one must not be dropped here.
unsafe extern "C" fn decided(user: *mut c_void, mut ticket: *mut sys::pool_ticket) {
    let shared = Arc::from_raw(user as *const Shared);
    let mut lease = null_mut();
    let status = sys::pool_ticket_take(ticket, &mut lease);
    let decision = if status == sys::POOL_OK { Ok(Taken(lease)) } else { Err(Error::of(&shared.slot.lock().unwrap())) };
    let _ = sys::pool_ticket_destroy(&mut ticket);
    let waker = {
        let mut state = shared.state.lock().unwrap();
        state.decision = Some(decision);
        state.is_decided = true;
        state.waker.take()
    };
    shared.decided.notify_all();
    if let Some(waker) = waker {
        let _ = guarded(|| waker.wake());
    }
}

/// A lease that is granted later.
pub struct LeaseFuture {
    shared: Arc<Shared>,
    pool: Pool,
}

impl LeaseFuture {
    /// Withdraws the request: the future is then POOL_ERR_CANCELLED, unless it was granted before.
    pub fn cancel(&self) {
        self.shared.cancel.request();
    }

    pub fn is_ready(&self) -> bool {
        self.shared.state.lock().unwrap().is_decided
    }

    /// Blocks until it is decided.
    pub fn wait(self) -> Result<Lease> {
        let mut state = self.shared.state.lock().unwrap();
        loop {
            if let Some(decision) = state.decision.take() {
                return self.received(decision);
            }
            state = self.shared.decided.wait(state).unwrap();
        }
    }

    fn received(&self, decision: std::result::Result<Taken, Error>) -> Result<Lease> {
        let mut taken = decision?;
        let raw = NonNull::new(std::mem::replace(&mut taken.0, null_mut()));
        let raw = raw.ok_or_else(|| Error::refused("the library has written no lease"))?;
        Ok(Lease { raw, pool: self.pool.clone() })
    }
}

impl Future for LeaseFuture {
    type Output = Result<Lease>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<Lease>> {
        let mut state = self.shared.state.lock().unwrap();
        match state.decision.take() {
            Some(decision) => Poll::Ready(self.received(decision)),
            None => {
                state.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for LeaseFuture {
    /// The hook has run when this returns, so the pool may be dropped. A request is withdrawn within moments.
    fn drop(&mut self) {
        self.shared.cancel.request();
        let mut state = self.shared.state.lock().unwrap();
        while !state.is_decided {
            state = self.shared.decided.wait(state).unwrap();
        }
    }
}
