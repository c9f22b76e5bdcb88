//! What the caches hold: a map of slots, and the order of their last use.

use std::any::{Any, TypeId};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::{BoxFuture, Shared, WeakShared};
use paimon_meta::Result;

/// A load that several callers wait for.
pub(super) type Flight<V> = Shared<BoxFuture<'static, Result<V>>>;
type WeakFlight<V> = WeakShared<BoxFuture<'static, Result<V>>>;

type Key = (TypeId, Arc<str>);
type Erased = Arc<dyn Any + Send + Sync>;

/// Values of all types under one budget. The lock is never held while a load is polled or a value dropped.
pub(super) struct Store {
    budget: u64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    slots: HashMap<Key, Slot>,
    /// Ready keys by the time of their last use, oldest first.
    uses: BTreeMap<u64, Key>,
    /// Counts uses and flights, and so names both.
    time: u64,
    bytes: u64,
}

enum Slot {
    Ready {
        value: Erased,
        bytes: u64,
        used: u64,
    },
    /// The flight is held weakly, so that it ends when no caller wants it.
    Loading { flight: Erased, number: u64 },
}

/// What a key had.
pub(super) enum Lookup<V> {
    Ready(V),
    Joined(Flight<V>),
    Started(Flight<V>),
}

impl Store {
    pub(super) fn new(budget: u64) -> Self {
        Self {
            budget,
            state: Mutex::default(),
        }
    }

    /// The value of a key, the flight that loads it, or a new flight made by `start`.
    pub(super) fn lookup<V: Clone + Send + Sync + 'static>(
        self: &Arc<Self>,
        key: Arc<str>,
        start: impl FnOnce(Ticket) -> Flight<V>,
    ) -> Lookup<V> {
        let key = (TypeId::of::<V>(), key);
        let mut state = self.lock();
        state.time += 1;
        let now = state.time;
        let State { slots, uses, .. } = &mut *state;
        match slots.get_mut(&key) {
            Some(Slot::Ready { value, used, .. }) => {
                if let Some(value) = value.downcast_ref::<V>() {
                    uses.remove(used);
                    *used = now;
                    uses.insert(now, key);
                    return Lookup::Ready(value.clone());
                }
            }
            Some(Slot::Loading { flight, .. }) => {
                if let Some(flight) = flight
                    .downcast_ref::<WeakFlight<V>>()
                    .and_then(WeakFlight::upgrade)
                {
                    return Lookup::Joined(flight);
                }
            }
            None => {}
        }
        let flight = start(Ticket {
            store: Arc::clone(self),
            key: key.clone(),
            number: now,
        });
        if let Some(weak) = flight.downgrade() {
            slots.insert(
                key,
                Slot::Loading {
                    flight: Arc::new(weak),
                    number: now,
                },
            );
        }
        Lookup::Started(flight)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that may panic runs between changes that belong together.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn is_loading(&self, key: &Key, flight: u64) -> bool {
        matches!(self.slots.get(key), Some(Slot::Loading { number, .. }) if *number == flight)
    }

    /// Puts a value in and gives out what had to leave for it.
    fn insert(&mut self, key: Key, value: Erased, bytes: u64, budget: u64) -> Vec<Slot> {
        self.time += 1;
        let mut gone = Vec::new();
        while self.bytes > budget - bytes
            && let Some((_, oldest)) = self.uses.pop_first()
        {
            if let Some(slot) = self.slots.remove(&oldest) {
                if let Slot::Ready { bytes, .. } = &slot {
                    self.bytes -= bytes;
                }
                gone.push(slot);
            }
        }
        self.bytes += bytes;
        self.uses.insert(self.time, key.clone());
        gone.extend(self.slots.insert(
            key,
            Slot::Ready {
                value,
                bytes,
                used: self.time,
            },
        ));
        gone
    }
}

/// The right of a flight to fill its slot. Dropped without a value, it frees the slot.
pub(super) struct Ticket {
    store: Arc<Store>,
    key: Key,
    number: u64,
}

impl Ticket {
    /// Keeps the value if it fits in the budget at all.
    pub(super) fn keep<V: Clone + Send + Sync + 'static>(&self, value: &V, bytes: u64) {
        if bytes > self.store.budget {
            return;
        }
        let value: Erased = Arc::new(value.clone());
        let mut state = self.store.lock();
        if state.is_loading(&self.key, self.number) {
            let gone = state.insert(self.key.clone(), value, bytes, self.store.budget);
            drop(state);
            drop(gone);
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut state = self.store.lock();
        if state.is_loading(&self.key, self.number) {
            let gone = state.slots.remove(&self.key);
            drop(state);
            drop(gone);
        }
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("Caches")
            .field("budget_bytes", &self.budget)
            .field("used_bytes", &state.bytes)
            .field("values", &state.uses.len())
            .finish()
    }
}
