//! A query's memory pool as the budget of its reads.

use std::sync::Arc;

use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use paimon_io::MemoryBudget;
use paimon_meta::{Error, ErrorKind, Result};

/// What one partition of a scan holds.
#[derive(Debug)]
pub(crate) struct PoolBudget(MemoryReservation);

impl PoolBudget {
    pub(crate) fn new(pool: &Arc<dyn MemoryPool>, partition: usize) -> Self {
        let consumer = MemoryConsumer::new(format!("PaimonScan[{partition}]"));
        Self(consumer.register(pool))
    }
}

impl MemoryBudget for PoolBudget {
    fn try_take(&self, bytes: u64) -> Result<()> {
        let exhausted = |message: String| Error::new(ErrorKind::ResourcesExhausted, message);
        let bytes = usize::try_from(bytes)
            .map_err(|_| exhausted(format!("{bytes} bytes are more than a process has")))?;
        let taken = self.0.try_grow(bytes);
        taken.map_err(|error| exhausted(error.strip_backtrace()))
    }

    fn give_back(&self, bytes: u64) {
        // Never more than was taken, so that it cannot fail.
        let _held = usize::try_from(bytes).map(|bytes| self.0.try_shrink(bytes));
    }
}
