//! Tasks at once, their items in order.
//!
//! ```text
//! threads   task 3 ─▶ ▒▒▒▒   task 4 ─▶ ▒▒   task 5 ─▶ ▒▒▒        each takes the next task when it is done
//! lanes     ▒▒▒▒▒▒▒▒▒▒ 3 ─▶ front, taken first; behind it lanes fill up to a budget of bytes and then wait
//! ```
//!
//! The task at the front never waits for the budget once its lane is empty, so there is always progress.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use paimon_meta::{Error, Result};

use crate::failure::Failure;

/// Bytes of items that wait for the tasks before them.
const BUDGET: usize = 256 << 20;

/// Runs `produce` for every task on `jobs` threads, and hands what it pushes to `consume` on this one: task by task, each
/// in its own order. `consume` may break off, and then nothing more is begun.
///
/// # Errors
/// The first error in this order; what comes after it is dropped.
pub(crate) fn in_order<T: Send>(
    tasks: usize,
    jobs: NonZeroUsize,
    produce: impl Fn(usize, &Lane<'_, T>) -> Result<()> + Sync,
    mut consume: impl FnMut(T) -> Result<ControlFlow<()>, Failure>,
) -> Result<(), Failure> {
    let shared = Shared::new(tasks);
    std::thread::scope(|scope| {
        for _ in 0..jobs.get().min(tasks) {
            scope.spawn(|| work(&shared, &produce));
        }
        let _stop_at_the_end = Stop(&shared);
        while let Some(item) = shared.next()? {
            if consume(item)?.is_break() {
                break;
            }
        }
        Ok(())
    })
}

fn work<T>(shared: &Shared<T>, produce: &impl Fn(usize, &Lane<'_, T>) -> Result<()>) {
    while let Some(task) = shared.take() {
        let lane = Lane { shared, task };
        // Stays if the thread unwinds.
        let mut outcome = Ended {
            lane: &lane,
            result: Some(Err(Error::internal("a reading thread stopped"))),
        };
        outcome.result = Some(produce(task, &lane));
    }
}

/// Where the items of one task go.
#[derive(Debug)]
pub(crate) struct Lane<'a, T> {
    shared: &'a Shared<T>,
    task: usize,
}

impl<T> Lane<'_, T> {
    /// Adds an item of about so many bytes, once there is room. Breaks if nobody wants more.
    pub(crate) fn push(&self, item: T, bytes: usize) -> ControlFlow<()> {
        let mut state = self.shared.lock();
        loop {
            if state.stopped {
                return ControlFlow::Break(());
            }
            let has_room = state.waiting_bytes.saturating_add(bytes) <= BUDGET;
            let at_front = state.front == self.task;
            let index = self.task - state.front;
            let Some(queue) = state.lanes.get_mut(index) else {
                return ControlFlow::Break(());
            };
            if has_room || (at_front && queue.items.is_empty()) {
                queue.items.push_back((item, bytes));
                state.waiting_bytes += bytes;
                self.shared.changed.notify_all();
                return ControlFlow::Continue(());
            }
            state = self.shared.wait(state);
        }
    }
}

/// Tells the end of a task, however it comes.
struct Ended<'a, 'b, T> {
    lane: &'a Lane<'b, T>,
    result: Option<Result<()>>,
}

impl<T> Drop for Ended<'_, '_, T> {
    fn drop(&mut self) {
        let mut state = self.lane.shared.lock();
        let index = self.lane.task.checked_sub(state.front);
        if let Some(queue) = index.and_then(|index| state.lanes.get_mut(index)) {
            queue.ended = self.result.take();
        }
        self.lane.shared.changed.notify_all();
    }
}

/// Stops all threads when the consumer leaves, however it does.
struct Stop<'a, T>(&'a Shared<T>);

impl<T> Drop for Stop<'_, T> {
    fn drop(&mut self) {
        self.0.lock().stopped = true;
        self.0.changed.notify_all();
    }
}

#[derive(Debug)]
struct Shared<T> {
    tasks: usize,
    state: Mutex<State<T>>,
    changed: Condvar,
}

#[derive(Debug)]
struct State<T> {
    /// Tasks that were begun.
    begun: usize,
    /// The task whose items are taken.
    front: usize,
    /// One for each begun task from the front on.
    lanes: VecDeque<Queue<T>>,
    waiting_bytes: usize,
    stopped: bool,
}

#[derive(Debug)]
struct Queue<T> {
    items: VecDeque<(T, usize)>,
    ended: Option<Result<()>>,
}

impl<T> Shared<T> {
    fn new(tasks: usize) -> Self {
        Self {
            tasks,
            state: Mutex::new(State {
                begun: 0,
                front: 0,
                lanes: VecDeque::new(),
                waiting_bytes: 0,
                stopped: false,
            }),
            changed: Condvar::new(),
        }
    }

    /// The state is whole at every unlock, also where a thread unwinds.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State<T>>) -> MutexGuard<'a, State<T>> {
        self.changed
            .wait(state)
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The next task to begin.
    fn take(&self) -> Option<usize> {
        let mut state = self.lock();
        if state.stopped || state.begun == self.tasks {
            return None;
        }
        state.lanes.push_back(Queue {
            items: VecDeque::new(),
            ended: None,
        });
        state.begun += 1;
        Some(state.begun - 1)
    }

    /// The next item in order.
    fn next(&self) -> Result<Option<T>> {
        let mut state = self.lock();
        loop {
            if state.front == self.tasks {
                return Ok(None);
            }
            let queue = state.lanes.front_mut();
            if let Some(queue) = queue {
                if let Some((item, bytes)) = queue.items.pop_front() {
                    state.waiting_bytes -= bytes;
                    self.changed.notify_all();
                    return Ok(Some(item));
                }
                if let Some(result) = queue.ended.take() {
                    result?;
                    state.lanes.pop_front();
                    state.front += 1;
                    self.changed.notify_all();
                    continue;
                }
            }
            state = self.wait(state);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn jobs(number: usize) -> NonZeroUsize {
        NonZeroUsize::new(number).unwrap()
    }

    fn numbers(task: usize, lane: &Lane<'_, (usize, usize)>, bytes: usize) -> Result<()> {
        for item in 0..task % 5 {
            if lane.push((task, item), bytes).is_break() {
                break;
            }
        }
        Ok(())
    }

    #[test]
    fn items_come_in_order_whatever_the_threads_and_the_budget() {
        let expected: Vec<_> = (0..50)
            .flat_map(|task| (0..task % 5).map(move |item| (task, item)))
            .collect();
        for (threads, bytes) in [(1, 1), (3, 1), (8, BUDGET / 3), (4, BUDGET * 2)] {
            let mut found = Vec::new();
            let all = in_order(
                50,
                jobs(threads),
                |task, lane| numbers(task, lane, bytes),
                |item| {
                    found.push(item);
                    Ok(ControlFlow::Continue(()))
                },
            );
            assert!(all.is_ok());
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn the_first_error_in_order_is_the_one() {
        let mut found = Vec::new();
        let failed = in_order(
            10,
            jobs(4),
            |task, lane| {
                let _wanted = lane.push(task, 1);
                match task {
                    3 | 5 => Err(Error::corrupt(task.to_string())),
                    _ => Ok(()),
                }
            },
            |item| {
                found.push(item);
                Ok(ControlFlow::Continue(()))
            },
        );
        assert_eq!(found, [0, 1, 2, 3]);
        assert!(matches!(failed, Err(Failure::Read(error)) if error.message() == "3"));
    }

    #[test]
    fn breaking_off_begins_no_more_tasks() {
        let begun = AtomicUsize::new(0);
        let all = in_order(
            1_000_000,
            jobs(2),
            |task, lane| {
                begun.fetch_add(1, Ordering::Relaxed);
                let _wanted = lane.push(task, BUDGET);
                Ok(())
            },
            |_| Ok(ControlFlow::Break(())),
        );
        assert!(all.is_ok());
        assert!(begun.load(Ordering::Relaxed) < 10);
    }

    #[test]
    fn a_thread_that_panics_is_an_error_and_not_a_wait_for_ever() {
        let outcome = std::panic::catch_unwind(|| {
            in_order(
                3,
                jobs(2),
                |task, lane: &Lane<'_, ()>| {
                    assert_ne!(task, 1, "expected by the test");
                    let _wanted = lane.push((), 1);
                    Ok(())
                },
                |()| Ok(ControlFlow::Continue(())),
            )
        });
        // The scope passes the panic on once all threads have ended.
        assert!(outcome.is_err());
    }

    #[test]
    fn no_task_is_no_item() {
        let all = in_order(
            0,
            jobs(2),
            |_, _: &Lane<'_, ()>| Ok(()),
            |()| Err(io_failure()),
        );
        assert!(all.is_ok());
    }

    fn io_failure() -> Failure {
        Failure::from(std::io::Error::other("not reached"))
    }
}
