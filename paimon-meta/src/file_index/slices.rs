//! Numbers of rows, stored bit by bit: slice `i` holds the rows whose number has bit `i` set.

use roaring::RoaringBitmap;

/// More slices than any number has bits.
pub(super) const MAX_SLICES: u32 = 64;

/// Rows by how their value stands to another one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Compared {
    /// Rows with a smaller value.
    pub(super) less: RoaringBitmap,
    /// Rows with that value.
    pub(super) equal: RoaringBitmap,
}

/// The numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Slices {
    /// Rows with a number.
    pub(super) present: RoaringBitmap,
    /// From the lowest bit.
    pub(super) slices: Vec<RoaringBitmap>,
}

impl Slices {
    /// How the numbers stand to one: bit by bit from the highest (O'Neil and Quass, 1997).
    pub(super) fn compare(&self, number: u64) -> Compared {
        let bits = self.slices.len().min(64);
        if bits < 64 && number >> bits != 0 {
            return Compared {
                less: self.present.clone(),
                equal: RoaringBitmap::new(),
            };
        }
        let mut less = RoaringBitmap::new();
        let mut equal = self.present.clone();
        for (bit, slice) in self.slices.iter().enumerate().take(bits).rev() {
            if number >> bit & 1 == 1 {
                less |= &equal - slice;
                equal &= slice;
            } else {
                equal -= slice;
            }
        }
        Compared { less, equal }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rows_are_compared_as_their_numbers_are(
            numbers in prop::collection::vec(prop::option::of(0_u64..40), 0..50),
            number in 0_u64..80,
        ) {
            let rows = |keep: &dyn Fn(u64) -> bool| -> RoaringBitmap {
                let kept = (0..).zip(&numbers).filter(|(_, n)| n.is_some_and(keep));
                kept.map(|(row, _)| row).collect()
            };
            let slices = Slices {
                present: rows(&|_| true),
                slices: (0..6).map(|bit| rows(&|n| n >> bit & 1 == 1)).collect(),
            };
            let expected = Compared {
                less: rows(&|n| n < number),
                equal: rows(&|n| n == number),
            };
            prop_assert_eq!(slices.compare(number), expected);
        }
    }
}
