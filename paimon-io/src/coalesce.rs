//! Which requests bring a set of byte ranges.
//!
//! ```text
//! asked     ▕██▏ ▕███▏▕█▏        gap        ▕█▏      ▕██████████████████████▏
//! requests  ▕█████████▏                     ▕█▏      ▕██████████▏▕██████████▏
//!            close together: one request               longer than a request: cut, asked for in parallel
//! ```

use std::ops::Range;

use bytes::{Bytes, BytesMut};

/// How ranged reads become requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coalesce {
    /// Ranges of one object whose gap is smaller than this are asked for in one request. 1 MiB by default: a store far
    /// away brings as much in the time of one more round trip.
    pub gap_bytes: u64,
    /// The same for local files, where a request costs little: 64 KiB by default.
    pub local_gap_bytes: u64,
    /// Ranges are joined up to a request of this size, and longer ranges of remote objects are cut into such requests,
    /// which run in parallel. 8 MiB by default.
    pub request_bytes: u64,
}

impl Default for Coalesce {
    fn default() -> Self {
        Self {
            gap_bytes: 1 << 20,
            local_gap_bytes: 64 << 10,
            request_bytes: 8 << 20,
        }
    }
}

/// The rules for one object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) gap_bytes: u64,
    pub(crate) request_bytes: u64,
    /// Whether a longer range is cut.
    pub(crate) cut: bool,
}

impl Coalesce {
    pub(crate) fn rules(&self, local: bool) -> Rules {
        let gap_bytes = if local {
            self.local_gap_bytes
        } else {
            self.gap_bytes
        };
        Rules {
            gap_bytes,
            request_bytes: self.request_bytes.max(1),
            cut: !local,
        }
    }
}

/// The requests for `ranges`, none of which is empty: ascending, disjoint, and together they cover each range without
/// a hole inside it.
pub(crate) fn requests(ranges: &[Range<u64>], rules: Rules) -> Vec<Range<u64>> {
    let mut sorted = ranges.to_vec();
    sorted.sort_unstable_by_key(|range| (range.start, range.end));
    let mut covers: Vec<Range<u64>> = Vec::new();
    for range in sorted {
        match covers.last_mut() {
            Some(last) if joins(last, &range, rules) => last.end = last.end.max(range.end),
            _ => covers.push(range),
        }
    }
    if !rules.cut {
        return covers;
    }
    covers
        .into_iter()
        .flat_map(|cover| cut(cover, rules.request_bytes))
        .collect()
}

/// Overlapping ranges always join, for requests are disjoint.
fn joins(last: &Range<u64>, next: &Range<u64>, rules: Rules) -> bool {
    next.start < last.end
        || (next.start - last.end < rules.gap_bytes
            && next.end.max(last.end) - last.start <= rules.request_bytes)
}

/// Equal pieces of at most `limit` bytes.
fn cut(range: Range<u64>, limit: u64) -> impl Iterator<Item = Range<u64>> {
    let length = range.end - range.start;
    let pieces = length.div_ceil(limit).max(1);
    let step = length.div_ceil(pieces);
    (0..pieces)
        .map(move |piece| {
            let start = range.start + piece * step;
            start..(start + step).min(range.end)
        })
        .filter(|piece| piece.start < piece.end)
}

/// The bytes of `range` out of the answers to [`requests`]. `None` if they do not hold it, which the caller's contract
/// with the store excludes. A copy only where the range was cut.
pub(crate) fn assemble(
    range: &Range<u64>,
    requests: &[Range<u64>],
    answers: &[Bytes],
) -> Option<Bytes> {
    if range.is_empty() {
        return Some(Bytes::new());
    }
    let first = requests.partition_point(|request| request.end <= range.start);
    let mut pieces = requests
        .iter()
        .zip(answers)
        .skip(first)
        .take_while(|(request, _)| request.start < range.end);
    let slice = |(request, answer): (&Range<u64>, &Bytes)| {
        let start = usize::try_from(range.start.max(request.start) - request.start).ok()?;
        let end = usize::try_from(range.end.min(request.end) - request.start).ok()?;
        (end <= answer.len()).then(|| answer.slice(start..end))
    };
    let head = slice(pieces.next()?)?;
    let length = usize::try_from(range.end - range.start).ok()?;
    if head.len() == length {
        return Some(head);
    }
    let mut whole = BytesMut::with_capacity(length);
    whole.extend_from_slice(&head);
    for piece in pieces {
        whole.extend_from_slice(&slice(piece)?);
    }
    (whole.len() == length).then(|| whole.freeze())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const REMOTE: Rules = Rules {
        gap_bytes: 10,
        request_bytes: 100,
        cut: true,
    };

    #[test]
    fn close_ranges_join_and_far_ones_do_not() {
        assert_eq!(requests(&[0..5, 14..20, 30..31], REMOTE), [0..20, 30..31]);
        assert_eq!(requests(&[30..31, 0..5], REMOTE), [0..5, 30..31]);
        assert_eq!(requests(&[], REMOTE), Vec::<Range<u64>>::new());
    }

    #[test]
    fn joined_request_stays_below_the_limit() {
        assert_eq!(
            requests(&[0..60, 60..120, 120..130], REMOTE),
            [0..60, 60..130]
        );
    }

    #[test]
    fn long_range_is_cut_into_equal_requests_unless_local() {
        assert_eq!(requests(&[0..250], REMOTE), [0..84, 84..168, 168..250]);
        assert_eq!(
            requests(
                &[0..250],
                Rules {
                    cut: false,
                    ..REMOTE
                }
            ),
            [0..250]
        );
    }

    #[test]
    fn slice_of_one_request_is_no_copy() {
        let answer = Bytes::from((0..50).collect::<Vec<u8>>());
        let bytes = assemble(&(10..20), &[0..50], std::slice::from_ref(&answer)).unwrap();
        assert_eq!(bytes.as_ptr(), answer[10..].as_ptr());
    }

    #[test]
    fn short_answer_gives_nothing() {
        assert_eq!(
            assemble(&(0..9), &[0..10], &[Bytes::from_static(b"12345")]),
            None
        );
        assert_eq!(assemble(&(0..9), &[], &[]), None);
    }

    proptest! {
        #[test]
        fn every_asked_range_comes_back_whole(
            asked in prop::collection::vec((0u64..900, 1u64..200), 0..12),
            gap_bytes in 0u64..80,
            request_bytes in 1u64..300,
            cut in any::<bool>(),
        ) {
            let object: Vec<u8> = (0..=u8::MAX).cycle().take(1200).collect();
            let ranges: Vec<Range<u64>> = asked.into_iter().map(|(start, length)| start..start + length).collect();
            let rules = Rules { gap_bytes, request_bytes, cut };
            let requests = requests(&ranges, rules);
            for pair in requests.windows(2) {
                prop_assert!(pair[0].end <= pair[1].start);
            }
            for request in &requests {
                prop_assert!(request.start < request.end);
                prop_assert!(!cut || request.end - request.start <= request_bytes);
            }
            let index = |offset: u64| usize::try_from(offset).unwrap();
            let at = |range: &Range<u64>| &object[index(range.start)..index(range.end)];
            let answers: Vec<Bytes> = requests.iter().map(|request| Bytes::copy_from_slice(at(request))).collect();
            for range in &ranges {
                let bytes = assemble(range, &requests, &answers);
                prop_assert_eq!(bytes.as_deref(), Some(at(range)));
            }
        }
    }
}
