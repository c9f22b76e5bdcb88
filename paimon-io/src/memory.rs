//! Memory that a read asks for before it takes it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use paimon_meta::{Error, ErrorKind, Result};

/// A budget that can refuse. Implemented by engines that account for memory; [`MemoryPool`] is the one at hand.
///
/// Contract: what `try_take` granted is given back by exactly as many bytes of `give_back`; both may be called from any
/// thread and neither blocks.
pub trait MemoryBudget: fmt::Debug + Send + Sync {
    /// Takes `bytes` out of the budget.
    ///
    /// # Errors
    /// [`ErrorKind::ResourcesExhausted`] if the budget does not have them; nothing is taken then.
    fn try_take(&self, bytes: u64) -> Result<()>;

    /// Gives back bytes that were taken.
    fn give_back(&self, bytes: u64);
}

/// Bytes held out of a budget, given back on drop.
#[derive(Debug)]
pub struct Reservation {
    budget: Arc<dyn MemoryBudget>,
    bytes: u64,
}

impl Reservation {
    /// Reserves `bytes`.
    ///
    /// # Errors
    /// As [`MemoryBudget::try_take`].
    pub fn try_new(budget: &Arc<dyn MemoryBudget>, bytes: u64) -> Result<Self> {
        budget.try_take(bytes)?;
        Ok(Self {
            budget: Arc::clone(budget),
            bytes,
        })
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Holds `bytes` instead: takes more or gives back.
    ///
    /// # Errors
    /// As [`MemoryBudget::try_take`]; the reservation is unchanged then. Shrinking never fails.
    pub fn resize(&mut self, bytes: u64) -> Result<()> {
        if bytes > self.bytes {
            self.budget.try_take(bytes - self.bytes)?;
        } else {
            self.budget.give_back(self.bytes - bytes);
        }
        self.bytes = bytes;
        Ok(())
    }

    /// Holds `bytes` more.
    ///
    /// # Errors
    /// As [`Reservation::resize`].
    pub fn grow(&mut self, bytes: u64) -> Result<()> {
        self.resize(self.bytes.saturating_add(bytes))
    }

    /// Gives back `bytes`, or all that is held if that is less.
    pub fn shrink(&mut self, bytes: u64) {
        let given = bytes.min(self.bytes);
        self.budget.give_back(given);
        self.bytes -= given;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes);
    }
}

/// A budget with a limit, which also knows how much was taken at most.
#[derive(Debug)]
pub struct MemoryPool {
    limit: u64,
    used: AtomicU64,
    peak: AtomicU64,
}

impl MemoryPool {
    /// A pool of `limit` bytes.
    pub fn bounded(limit: u64) -> Self {
        Self {
            limit,
            used: AtomicU64::new(0),
            peak: AtomicU64::new(0),
        }
    }

    /// A pool that never refuses.
    pub fn unbounded() -> Self {
        Self::bounded(u64::MAX)
    }

    /// Bytes taken now.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// The most bytes that were taken at one time.
    pub fn peak(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }
}

impl MemoryBudget for MemoryPool {
    fn try_take(&self, bytes: u64) -> Result<()> {
        let within = |used: u64| used.checked_add(bytes).filter(|sum| *sum <= self.limit);
        match self
            .used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, within)
        {
            Ok(used) => {
                self.peak
                    .fetch_max(used.saturating_add(bytes), Ordering::Relaxed);
                Ok(())
            }
            Err(used) => Err(Error::new(
                ErrorKind::ResourcesExhausted,
                format!(
                    "memory budget of {} bytes has {used} in use and cannot give {bytes} more",
                    self.limit
                ),
            )),
        }
    }

    fn give_back(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(limit: u64) -> (Arc<MemoryPool>, Arc<dyn MemoryBudget>) {
        let pool = Arc::new(MemoryPool::bounded(limit));
        let budget: Arc<dyn MemoryBudget> = Arc::<MemoryPool>::clone(&pool);
        (pool, budget)
    }

    #[test]
    fn refusal_takes_nothing_and_names_the_amounts() {
        let (pool, budget) = pool(100);
        let held = Reservation::try_new(&budget, 70).unwrap();
        let error = Reservation::try_new(&budget, 31).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ResourcesExhausted);
        assert_eq!(
            error.message(),
            "memory budget of 100 bytes has 70 in use and cannot give 31 more"
        );
        assert_eq!(pool.used(), held.bytes());
        drop(held);
        assert_eq!((pool.used(), pool.peak()), (0, 70));
    }

    #[test]
    fn reservation_grows_shrinks_and_gives_back_on_drop() {
        let (pool, budget) = pool(100);
        let mut held = Reservation::try_new(&budget, 10).unwrap();
        held.grow(80).unwrap();
        assert!(held.grow(11).is_err());
        assert_eq!(held.bytes(), 90);
        held.shrink(50);
        assert_eq!(pool.used(), 40);
        held.shrink(1000);
        assert_eq!((held.bytes(), pool.used()), (0, 0));
        held.resize(5).unwrap();
        drop(held);
        assert_eq!((pool.used(), pool.peak()), (0, 90));
    }

    #[test]
    fn sum_past_the_counter_is_refused() {
        let budget: Arc<dyn MemoryBudget> = Arc::new(MemoryPool::unbounded());
        let _held = Reservation::try_new(&budget, u64::MAX).unwrap();
        assert!(Reservation::try_new(&budget, 1).is_err());
    }
}
