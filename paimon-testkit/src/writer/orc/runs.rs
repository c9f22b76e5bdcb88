//! Runs of bits, bytes and integers.

/// Values of a run of integers at most.
const MOST_INTEGERS: usize = 512;

/// Bytes of a run at most.
const MOST_BYTES: usize = 128;

/// Widths of packed integers, with their codes.
const WIDTHS: [(u32, u8); 11] = [
    (1, 0),
    (2, 1),
    (4, 3),
    (8, 7),
    (16, 15),
    (24, 23),
    (32, 27),
    (40, 28),
    (48, 29),
    (56, 30),
    (64, 31),
];

/// Bits, eight in a byte, the first one highest.
pub(super) fn bits(bits: &[bool]) -> Vec<u8> {
    bytes(&packed(bits))
}

/// Bytes, those that are all equal once.
pub(super) fn bytes(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for run in bytes.chunks(MOST_BYTES) {
        let length = u8::try_from(run.len()).unwrap_or_default();
        match run {
            [first, _, _, ..] if is_one_value(run) => out.extend([length - 3, *first]),
            _ => {
                out.push(length.wrapping_neg());
                out.extend_from_slice(run);
            }
        }
    }
    out
}

/// Integers of version 2: short repeats, else packed as they are.
pub(super) fn integers(values: &[u64]) -> Vec<u8> {
    let mut out = Vec::new();
    for run in values.chunks(MOST_INTEGERS) {
        match run {
            [first, _, _, ..] if run.len() <= 10 && is_one_value(run) => {
                let width = (64 - first.leading_zeros()).div_ceil(8).max(1) as usize;
                let [head, ..] = (((width - 1) << 3) | (run.len() - 3)).to_le_bytes();
                out.push(head);
                out.extend(first.to_be_bytes().iter().skip(8 - width));
            }
            _ => direct(run, &mut out),
        }
    }
    out
}

fn direct(run: &[u64], out: &mut Vec<u8>) {
    let needed = run.iter().map(|value| 64 - value.leading_zeros()).max();
    let needed = needed.unwrap_or_default();
    let fits = WIDTHS.iter().find(|(width, _)| *width >= needed);
    let (width, code) = fits.copied().unwrap_or((64, 31));
    let [.., high, low] = (run.len() - 1).to_be_bytes();
    out.extend([0x40 | code << 1 | high, low]);
    let bits = run
        .iter()
        .flat_map(|value| (0..width).rev().map(move |bit| value >> bit & 1 == 1));
    out.extend(packed(&bits.collect::<Vec<_>>()));
}

fn packed(bits: &[bool]) -> Vec<u8> {
    let byte = |bits: &[bool]| {
        let set = bits.iter().enumerate().filter(|(_, bit)| **bit);
        set.fold(0, |byte, (at, _)| byte | 0x80 >> at)
    };
    bits.chunks(8).map(byte).collect()
}

fn is_one_value<T: PartialEq>(run: &[T]) -> bool {
    run.windows(2).all(|pair| pair.first() == pair.last())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the ORC specification.
    #[test]
    fn runs_are_those_of_the_specification() {
        assert_eq!(integers(&[10_000; 5]), [0x0a, 0x27, 0x10]);
        let direct = [0x5e, 0x03, 0x5c, 0xa1, 0xab, 0x1e, 0xde, 0xad, 0xbe, 0xef];
        assert_eq!(integers(&[23_713, 43_806, 57_005, 48_879]), direct);
        assert_eq!(bytes(&[0; 100]), [0x61, 0x00]);
        assert_eq!(bytes(&[0x44, 0x45]), [0xfe, 0x44, 0x45]);
        assert_eq!(
            bits(&[true, false, false, false, false, false, false, false]),
            [0xff, 0x80]
        );
    }
}
