//! Texts as integers, for keys that are merged together: what they have in common at their start is left out, and the rest
//! often fits.

/// Bytes that an integer holds beside their number.
const MOST_BYTES: usize = 15;

/// Integers in the order of the texts, equal where these are. `None` if one is too long behind what all have in common.
///
/// Each list ascends.
pub(super) fn integers(lists: &[&[&[u8]]]) -> Option<Vec<Vec<u128>>> {
    let least = lists.iter().filter_map(|list| list.first()).min()?;
    let largest = lists.iter().filter_map(|list| list.last()).max()?;
    let pairs = least.iter().zip(largest.iter());
    let shared = pairs.take_while(|(a, b)| a == b).count();
    let of_list = |list: &&[&[u8]]| list.iter().map(|text| integer(text, shared)).collect();
    lists.iter().map(of_list).collect()
}

/// The bytes after so many, the first one highest, then their number.
#[inline]
fn integer(text: &[u8], shared: usize) -> Option<u128> {
    let own = text.get(shared..)?;
    if own.len() > MOST_BYTES {
        return None;
    }
    let bytes = match text.last_chunk() {
        Some(last) => {
            let others = u32::try_from(size_of::<u128>() - own.len()).ok()?;
            let bytes = u128::from_be_bytes(*last).checked_shl(others * u8::BITS);
            bytes.unwrap_or(0)
        }
        None => {
            let mut bytes = [0; size_of::<u128>()];
            bytes.get_mut(..own.len())?.copy_from_slice(own);
            u128::from_be_bytes(bytes)
        }
    };
    Some(bytes | own.len() as u128)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts() -> impl Strategy<Value = Vec<Vec<u8>>> {
        let byte = prop_oneof![Just(0u8), Just(1), Just(255), any::<u8>()];
        let text = (0usize..4, prop::collection::vec(byte, 0..20));
        let text =
            text.prop_map(|(long, end)| [&b"in common with the others"[..long * 8], &end].concat());
        prop::collection::vec(text, 1..20)
    }

    proptest! {
        #[test]
        fn integers_have_the_order_of_the_texts(mut texts in texts(), cut in 0usize..20) {
            texts.sort();
            let all: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
            let cut = cut.min(all.len());
            if let Some(found) = integers(&[&all[..cut], &all[cut..]]) {
                let found = found.concat();
                for (index, a) in all.iter().enumerate() {
                    for (other, b) in all.iter().enumerate() {
                        prop_assert_eq!(found[index].cmp(&found[other]), a.cmp(b), "{:?} {:?}", a, b);
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_in_common_does_not_count() {
        let long = "x".repeat(100);
        let texts = ["", "\0", "a", "ab", "abcdefghijklmno"].map(|end| format!("{long}{end}"));
        let keys: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
        let found = integers(&[&keys]).unwrap().concat();
        assert!(found.is_sorted_by(|a, b| a < b), "{found:x?}");
        let more = format!("{long}b23456789abcdefg");
        assert_eq!(integers(&[&keys, &[more.as_bytes()]]), None);
        assert_eq!(integers(&[&[], &[b"one"]]).unwrap(), [vec![], vec![0]]);
    }
}
