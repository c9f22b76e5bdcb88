//! Ordered bin packing by weight (RP-140 to RP-144).

/// Packs items into bins in order: an item goes into the open bin unless that bin holds something and would weigh more
/// than `target`. So a bin over the target holds one item, and no bin is empty.
pub fn pack<T>(
    items: impl IntoIterator<Item = T>,
    target: u64,
    weight: impl Fn(&T) -> u64,
) -> Vec<Vec<T>> {
    let mut bins = Vec::new();
    let mut open = Vec::new();
    let mut filled = 0u64;
    for item in items {
        let item_weight = weight(&item);
        if filled.saturating_add(item_weight) > target && !open.is_empty() {
            bins.push(std::mem::take(&mut open));
            filled = 0;
        }
        filled = filled.saturating_add(item_weight);
        open.push(item);
    }
    if !open.is_empty() {
        bins.push(open);
    }
    bins
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::pack;

    fn bins(weights: &[u64], target: u64) -> Vec<Vec<u64>> {
        pack(weights.iter().copied(), target, |weight| *weight)
    }

    #[test]
    fn weight_equal_to_the_target_still_fits() {
        // RP-141
        assert_eq!(bins(&[4, 4, 1], 8), [vec![4, 4], vec![1]]);
    }

    #[test]
    fn item_over_the_target_gets_a_bin_of_its_own() {
        // RP-141, RP-564
        assert_eq!(bins(&[1, 300, 1], 128), [vec![1], vec![300], vec![1]]);
    }

    #[test]
    fn thirty_two_items_of_the_open_file_cost_fill_a_default_split() {
        // RP-142, RP-565
        let mib = 1 << 20;
        let lengths: Vec<usize> = bins(&[4 * mib; 33], 128 * mib)
            .iter()
            .map(Vec::len)
            .collect();
        assert_eq!(lengths, [32, 1]);
    }

    #[test]
    fn target_up_to_the_cost_gives_one_bin_per_item() {
        // RP-143
        assert_eq!(bins(&[4, 4, 4], 4).len(), 3);
        assert_eq!(bins(&[4, 4, 4], 0).len(), 3);
    }

    #[test]
    fn nothing_gives_no_bin() {
        // RP-144
        assert!(bins(&[], 8).is_empty());
    }

    #[test]
    fn weights_that_overflow_close_the_bin() {
        assert_eq!(bins(&[u64::MAX, u64::MAX], u64::MAX - 1).len(), 2);
    }

    proptest! {
        #[test]
        fn bins_keep_order_lose_nothing_and_are_full(weights in prop::collection::vec(0u64..12, 0..40), target in 0u64..20) {
            let bins = bins(&weights, target);
            prop_assert_eq!(bins.concat(), weights);
            for bin in &bins {
                prop_assert!(bin.len() == 1 || bin.iter().sum::<u64>() <= target);
            }
            // No bin could have taken the first item of the next one.
            for (bin, next) in bins.iter().zip(bins.iter().skip(1)) {
                prop_assert!(bin.iter().sum::<u64>() + next[0] > target);
            }
        }
    }
}
