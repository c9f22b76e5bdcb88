//! Requests that take a while, without a clock and without a runtime.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

/// How long a request waits before it is passed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Latency {
    /// Not at all.
    #[default]
    None,
    /// It is pending for that many polls, each of which wakes its task at once.
    Polls(u32),
    /// Until the test lets it go, see [`FaultyStore::release`](crate::FaultyStore::release).
    Held,
}

/// Where requests wait.
#[derive(Debug, Default)]
pub(super) struct Gate(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    latency: Latency,
    next: u64,
    /// Held requests by their number, oldest first.
    held: BTreeMap<u64, Option<Waker>>,
}

/// A held request; dropping it gives its place up.
struct Held {
    number: u64,
    gate: Arc<Gate>,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.gate.lock().held.remove(&self.number);
    }
}

impl Gate {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // The state is whole even if a test failed while it held the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What requests that begin from now on wait for.
    pub(super) fn set(&self, latency: Latency) {
        self.lock().latency = latency;
    }

    /// How many requests are held.
    pub(super) fn held(&self) -> usize {
        self.lock().held.len()
    }

    /// Lets the oldest held requests go; returns how many there were.
    pub(super) fn release(&self, count: usize) -> usize {
        let mut waiting = self.lock();
        let mut released = Vec::new();
        while released.len() < count
            && let Some((_, waker)) = waiting.held.pop_first()
        {
            released.push(waker);
        }
        drop(waiting);
        let count = released.len();
        released.into_iter().flatten().for_each(Waker::wake);
        count
    }

    /// Waits as long as a request has to that begins now.
    pub(super) async fn pass(self: Arc<Self>) {
        let latency = self.lock().latency;
        match latency {
            Latency::None => {}
            Latency::Polls(polls) => pending(polls).await,
            Latency::Held => self.hold().await,
        }
    }

    async fn hold(self: Arc<Self>) {
        let number = {
            let mut waiting = self.lock();
            waiting.next += 1;
            let number = waiting.next;
            waiting.held.insert(number, None);
            number
        };
        let held = Held { number, gate: self };
        poll_fn(|context| match held.gate.lock().held.get_mut(&number) {
            None => Poll::Ready(()),
            Some(waker) => {
                *waker = Some(context.waker().clone());
                Poll::Pending
            }
        })
        .await;
    }
}

async fn pending(mut polls: u32) {
    poll_fn(move |context| {
        if polls == 0 {
            return Poll::Ready(());
        }
        polls -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
