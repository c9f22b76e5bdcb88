//! What a scan did, as metrics of a query.

use std::sync::Arc;
use std::time::Duration;

use datafusion::physical_plan::metrics::{Count, Metric, MetricValue, Time};
use paimon_io::{Counter, Metrics};

/// End of the names of counters of time.
const NANOS: &str = "_nanos";

/// One metric for each counter: files, row groups, rows decoded and lost, requests, bytes, time of each stage.
pub(crate) fn counters(metrics: &Metrics) -> impl Iterator<Item = Arc<Metric>> {
    let counts = Counter::ALL.map(|counter| (counter, metrics.get(counter)));
    let values =
        counts.into_iter().map(
            |(counter, amount)| match counter.name().strip_suffix(NANOS) {
                Some(stage) => {
                    let time = Time::new();
                    // Nothing measured stays nothing: time that is added counts at least a nanosecond.
                    if amount > 0 {
                        time.add_duration(Duration::from_nanos(amount));
                    }
                    MetricValue::Time {
                        name: format!("{stage}_time").into(),
                        time,
                    }
                }
                None => {
                    let count = Count::new();
                    count.add(usize::try_from(amount).unwrap_or(usize::MAX));
                    MetricValue::Count {
                        name: counter.name().into(),
                        count,
                    }
                }
            },
        );
    values.map(|value| Arc::new(Metric::new(value, None)))
}
