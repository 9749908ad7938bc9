// SPDX-License-Identifier: Apache-2.0
//! A call on a thread of its own, as a future.
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread::JoinHandle;

type Outcome<T> = std::thread::Result<T>;

struct State<T> {
    outcome: Option<Outcome<T>>,
    waker: Option<Waker>,
}

/// What `run` returns.
pub struct Task<T> {
    state: Arc<Mutex<State<T>>>,
    thread: Option<JoinHandle<()>>,
}

/// Runs a call that blocks on a thread of its own: `run(move || msm(&curve, &points, &scalars, &mut Exec::on(&device)))`. To
/// cancel it give the call a `Cancel`. A panic of the call is resumed where the result is received.
pub fn run<T: Send + 'static>(call: impl FnOnce() -> T + Send + 'static) -> Task<T> {
    let state = Arc::new(Mutex::new(State { outcome: None, waker: None }));
    let shared = state.clone();
    let thread = std::thread::spawn(move || {
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(call));
        let waker = {
            let mut state = shared.lock().unwrap();
            state.outcome = Some(outcome);
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    });
    Task { state, thread: Some(thread) }
}

fn received<T>(outcome: Outcome<T>) -> T {
    outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

impl<T> Task<T> {
    /// Blocks until the call has returned.
    pub fn wait(mut self) -> T {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        let outcome = self.state.lock().unwrap().outcome.take();
        received(outcome.expect("a task is received once"))
    }
}

impl<T> Unpin for Task<T> {}

impl<T> Future for Task<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let mut state = self.state.lock().unwrap();
        match state.outcome.take() {
            Some(outcome) => {
                drop(state);
                Poll::Ready(received(outcome))
            }
            None => {
                state.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}
