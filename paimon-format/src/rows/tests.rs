use std::collections::BTreeSet;

use arrow_buffer::BooleanBuffer;
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

use super::{RowCursor, RowRanges};

const ROWS: u64 = 120;

type Naive = BTreeSet<u64>;

/// Sets of many short ranges as well as of few long ones.
fn sets() -> impl Strategy<Value = Naive> {
    prop_oneof![
        btree_set(0..ROWS, 0..60),
        vec((0..ROWS, 0..30u64), 0..5).prop_map(|ranges| ranges
            .into_iter()
            .flat_map(|(start, length)| start..(start + length).min(ROWS))
            .collect()),
    ]
}

fn rows(naive: &Naive) -> RowRanges {
    RowRanges::from_positions(naive.iter().copied())
}

/// Compares with the naive set and checks the invariant: sorted, not empty, not touching.
fn assert_same(rows: &RowRanges, naive: &Naive) {
    assert_eq!(
        rows.positions().collect::<Vec<_>>(),
        naive.iter().copied().collect::<Vec<_>>()
    );
    assert!(
        rows.ranges().iter().all(|range| range.start < range.end),
        "{rows:?}"
    );
    assert!(
        rows.ranges()
            .windows(2)
            .all(|pair| pair[0].end < pair[1].start),
        "{rows:?}"
    );
    assert_eq!(rows.row_count(), naive.len() as u64);
    assert_eq!(rows.is_empty(), naive.is_empty());
}

proptest! {
    #[test]
    fn set_operations_agree_with_a_naive_set(a in sets(), b in sets()) {
        assert_same(&rows(&a).intersect(&rows(&b)), &(&a & &b));
        assert_same(&rows(&a).union(&rows(&b)), &(&a | &b));
        assert_same(&rows(&a).subtract(&rows(&b)), &(&a - &b));
        assert_same(&rows(&a).subtract_positions(b.iter().copied()), &(&a - &b));
    }

    #[test]
    fn windows_and_membership_agree_with_a_naive_set(a in sets(), start in 0..ROWS, length in 0..ROWS) {
        let window = start..start + length;
        prop_assert_eq!(rows(&a).intersects(window.clone()), a.range(window.clone()).next().is_some());
        prop_assert_eq!(rows(&a).intersects(window.clone()), a.range(window.clone()).next().is_some());
        assert_same(&rows(&a).clip(window.clone()), &a.range(window).copied().collect());
        for row in 0..ROWS {
            prop_assert_eq!(rows(&a).contains(row), a.contains(&row));
        }
    }

    #[test]
    fn bits_with_an_offset_are_positions(bits in vec(any::<bool>(), 0..200), skip in 0..20usize, first_row in 0..1000u64) {
        let skip = skip.min(bits.len());
        let buffer = BooleanBuffer::from(bits.as_slice()).slice(skip, bits.len() - skip);
        let expected = bits[skip..].iter().zip(first_row..).filter(|(set, _)| **set).map(|(_, row)| row).collect();
        assert_same(&RowRanges::from_bits(&buffer, first_row), &expected);
    }

    #[test]
    fn shifts_cut_off_what_leaves_the_positions(a in sets(), offset in 0..200u64) {
        assert_same(&rows(&a).shifted_up(offset), &a.iter().map(|row| row + offset).collect());
        assert_same(&rows(&a).shifted_down(offset), &a.iter().filter_map(|row| row.checked_sub(offset)).collect());
    }

    #[test]
    fn coarsening_fills_only_gaps_below_the_limit(a in sets(), gap in 0..20u64) {
        let coarse = rows(&a).coarsened(gap);
        prop_assert_eq!(rows(&a).subtract(&coarse), RowRanges::none());
        prop_assert_eq!(coarse.span(), rows(&a).span());
        prop_assert!(coarse.ranges().windows(2).all(|pair| pair[1].start - pair[0].end >= gap));
        let added = coarse.subtract(&rows(&a));
        prop_assert!(added.ranges().iter().all(|range| range.end - range.start < gap));
    }

    #[test]
    fn cursor_hands_out_every_row_once(a in sets(), steps in vec(0..40u8, 0..20)) {
        let mut cursor = RowCursor::new(rows(&a));
        let mut expected = a.iter().copied();
        for step in steps {
            let piece: Naive = expected.by_ref().take(step.into()).collect();
            assert_same(&cursor.take(step.into()), &piece);
        }
        prop_assert_eq!(cursor.remaining(), expected.count() as u64);
    }

    #[test]
    fn json_round_trip_keeps_the_set(a in sets()) {
        let json = serde_json::to_string(&rows(&a)).unwrap();
        prop_assert_eq!(serde_json::from_str::<RowRanges>(&json).unwrap(), rows(&a));
    }
}

#[test]
fn disordered_wire_form_is_put_in_order() {
    let rows: RowRanges =
        serde_json::from_str(r#"[{"start":5,"end":9},{"start":0,"end":6},{"start":3,"end":3}]"#)
            .unwrap();
    assert_eq!(rows, RowRanges::from_range(0..9));
}

#[test]
fn pushed_range_is_clipped_to_what_is_new() {
    let mut rows = RowRanges::from_range(0..4);
    rows.push(2..6);
    rows.push(6..6);
    rows.push(1..3);
    assert_eq!(rows, RowRanges::from_range(0..6));
}

#[test]
fn far_end_of_the_positions_does_not_overflow() {
    let rows = RowRanges::from_positions([u64::MAX - 1, u64::MAX]);
    assert_eq!(rows, RowRanges::from_range(u64::MAX - 1..u64::MAX));
    assert_eq!(rows.shifted_up(9), RowRanges::none());
}
