//! Cases measured in turn, beside the first one.

#![expect(
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "one place for each case, and results are printed"
)]

use std::fs;
use std::time::Instant;

use paimon_meta::Result;

use crate::reads::Case;

/// Rounds of the interleaved measurement.
const ROUNDS: usize = 9;

/// Runs all cases in turn and prints each one's times beside the first one's: wall clock, and time on the processor, which
/// other programs disturb less; of several threads the one that had most. And the most memory that was
/// resident in the first round, with what the cases before it left.
///
/// # Errors
/// Those of the cases.
pub fn ratios(name: &str, cases: &[Case]) -> Result<()> {
    let mut wall = vec![Vec::new(); cases.len()];
    let mut processor = vec![Vec::new(); cases.len()];
    let (mut rows, mut peak) = (vec![0; cases.len()], vec![0; cases.len()]);
    for round in 0..ROUNDS {
        for (index, case) in cases.iter().enumerate() {
            forget_peak();
            let begin = now();
            let done = (case.run)()?;
            wall[index].push(begin.elapsed().as_secs_f64());
            rows[index] = done.rows;
            processor[index].push(done.seconds);
            // Later rounds also hold what buffers of other cases kept.
            if round == 0 {
                peak[index] = peak_resident();
            }
        }
    }
    println!("{name}: seconds minimum (median), times plain decode; {ROUNDS} rounds in turn");
    let base = (low(&wall[0]), low(&processor[0]));
    for (index, case) in cases.iter().enumerate() {
        let (time, cpu) = (low(&wall[index]), low(&processor[index]));
        println!(
            "  {:36} {:>9} rows  wall {:.3} ({:.3}) {:.2}x ({:.2}x)  processor {:.3} ({:.3}) {:.2}x ({:.2}x)  {} MB",
            case.name,
            rows[index],
            time.0,
            time.1,
            time.0 / base.0.0,
            time.1 / base.0.1,
            cpu.0,
            cpu.1,
            cpu.0 / base.1.0,
            cpu.1 / base.1.1,
            peak[index] / 1024,
        );
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "a bench measures time")]
fn now() -> Instant {
    Instant::now()
}

/// Starts to count the most memory that is resident anew, where the system lets it.
fn forget_peak() {
    let _unless_refused = fs::write("/proc/self/clear_refs", "5");
}

/// The most memory that was resident, in KiB, where the system tells; else 0.
fn peak_resident() -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Minimum and median.
fn low(times: &[f64]) -> (f64, f64) {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    (times[0], times[times.len() / 2])
}
