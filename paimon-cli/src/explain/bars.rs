//! Intervals of keys as bars of characters.

/// Columns of a bar.
pub(super) const WIDTH: usize = 30;

/// From a place among bounds to a column; the first is 0, the last [`WIDTH`] - 1.
fn column(place: usize, bounds: usize) -> usize {
    match bounds.checked_sub(1) {
        None | Some(0) => 0,
        Some(last) => (place.min(last) * (WIDTH - 1) + last / 2) / last,
    }
}

/// The columns of some intervals, those of a place each filled with `ink`.
pub(super) fn bar(
    intervals: impl IntoIterator<Item = (usize, usize)>,
    bounds: usize,
    ink: char,
) -> String {
    let mut columns = [' '; WIDTH];
    for (from, to) in intervals {
        let (start, end) = if bounds <= 1 {
            (0, WIDTH - 1)
        } else {
            (column(from, bounds), column(to, bounds))
        };
        for slot in columns.iter_mut().take(end + 1).skip(start) {
            *slot = ink;
        }
    }
    columns.iter().collect()
}

/// The bounds below the bars, as many as there is room for: the first and the last, then from the left.
pub(super) fn axis(bounds: &[String]) -> String {
    const LONGEST: usize = 10;
    let texts: Vec<String> = bounds
        .iter()
        .map(|text| crate::paper::clip(text, LONGEST))
        .collect();
    let mut line = vec![' '; WIDTH];
    let last = texts.len().saturating_sub(1);
    let end = WIDTH - texts.get(last).map_or(0, |text| text.chars().count());
    let mut free_from = 0;
    for (place, text) in texts.iter().enumerate() {
        let length = text.chars().count();
        let start = if place == last && place > 0 {
            end
        } else {
            column(place, texts.len())
        };
        let fits = place == 0
            || place == last && start >= free_from
            || start >= free_from && start + length < end;
        if fits {
            for (slot, char) in line.iter_mut().skip(start).zip(text.chars()) {
                *slot = char;
            }
            free_from = start + length + 1;
        }
    }
    line.into_iter().collect::<String>().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_reach_from_the_first_key_to_the_last() {
        assert_eq!(bar([(0, 3)], 4, '#'), "#".repeat(WIDTH));
        assert_eq!(bar([(0, 0)], 1, '#'), "#".repeat(WIDTH));
        assert_eq!(
            bar([(0, 1), (2, 3)], 4, '#'),
            format!("{}{}{}", "#".repeat(11), " ".repeat(8), "#".repeat(11))
        );
        assert_eq!(bar([], 4, '#'), " ".repeat(WIDTH));
    }

    #[test]
    fn the_axis_names_what_there_is_room_for() {
        let bounds = |texts: &[&str]| {
            texts
                .iter()
                .map(|text| (*text).to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            axis(&bounds(&["1", "51", "100", "150"])),
            "1         51       100     150"
        );
        assert_eq!(axis(&bounds(&["7"])), "7");
        assert_eq!(axis(&[]), "");
        let many: Vec<String> = (0..100).map(|number| number.to_string()).collect();
        let line = axis(&many);
        assert!(line.starts_with("0 ") && line.ends_with(" 99"), "{line}");
        assert_eq!(
            axis(&bounds(&["'a long text'", "'and another one'"])),
            "'a long t…          'and anot…"
        );
    }
}
