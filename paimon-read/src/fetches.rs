//! Requests in flight beside the work that is being done.

use std::collections::HashMap;
use std::fmt;
use std::future::poll_fn;
use std::task::{Context, Poll, ready};

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use paimon_meta::{Error, Result};

/// Futures by number, polled together: whoever waits for one moves all of them, and [`Fetches::poke`] moves them without
/// waiting. So a request flies while earlier bytes are decoded, without a task of its own. Dropping it drops them all.
pub(crate) struct Fetches<T> {
    running: FuturesUnordered<BoxFuture<'static, (u64, Result<T>)>>,
    done: HashMap<u64, Result<T>>,
    next: u64,
}

impl<T> fmt::Debug for Fetches<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fetches")
            .field("running", &self.running.len())
            .field("done", &self.done.len())
            .finish()
    }
}

/// A future that was handed to [`Fetches`].
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ticket(u64);

impl<T: Send + 'static> Fetches<T> {
    pub(crate) fn new() -> Self {
        Self {
            running: FuturesUnordered::new(),
            done: HashMap::new(),
            next: 0,
        }
    }

    /// Takes a future in; it is polled first when somebody waits or pokes.
    pub(crate) fn start(&mut self, work: BoxFuture<'static, Result<T>>) -> Ticket {
        let number = self.next;
        self.next += 1;
        self.running
            .push(Box::pin(async move { (number, work.await) }));
        Ticket(number)
    }

    /// Waits for one.
    pub(crate) async fn wait(&mut self, ticket: &Ticket) -> Result<T> {
        poll_fn(|context| self.poll_wait(ticket, context)).await
    }

    /// As [`Self::wait`], polled by hand.
    pub(crate) fn poll_wait(
        &mut self,
        ticket: &Ticket,
        context: &mut Context<'_>,
    ) -> Poll<Result<T>> {
        loop {
            if let Some(result) = self.take_done(ticket) {
                return Poll::Ready(result);
            }
            match ready!(self.running.poll_next_unpin(context)) {
                Some((number, result)) => self.done.insert(number, result),
                None => return Poll::Ready(Err(Error::internal("a fetch was lost"))),
            };
        }
    }

    /// What came of one, if it is done.
    pub(crate) fn take_done(&mut self, ticket: &Ticket) -> Option<Result<T>> {
        self.done.remove(&ticket.0)
    }

    /// Polls what runs, once, without waiting.
    pub(crate) async fn poke(&mut self) {
        poll_fn(|context| {
            self.poll_all(context);
            Poll::Ready(())
        })
        .await;
    }

    /// As [`Self::poke`], polled by hand.
    pub(crate) fn poll_all(&mut self, context: &mut Context<'_>) {
        while let Poll::Ready(Some((number, result))) = self.running.poll_next_unpin(context) {
            self.done.insert(number, result);
        }
    }
}

/// Gives the executor a turn: one poll decodes at most one batch.
pub(crate) async fn yield_now() {
    let mut yielded = false;
    poll_fn(|context| {
        if yielded {
            return Poll::Ready(());
        }
        yielded = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
