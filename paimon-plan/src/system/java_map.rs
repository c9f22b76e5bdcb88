//! The order of Java's `HashMap`, in which the reference lists the options of a schema.

/// Names that were put into a map in this order, in the order in which the map gives them.
pub(super) fn map_order(mut names: Vec<String>) -> Vec<String> {
    let mut places = 16_usize;
    while names.len() > places / 4 * 3 {
        places *= 2;
    }
    // Names at one place stay in the order in which they came, also when the map grew in between.
    names.sort_by_key(|name| place(name, places));
    names
}

/// Where a name is among a power of two of places.
fn place(name: &str, places: usize) -> usize {
    let hash = name.encode_utf16().fold(0_u32, |hash, unit| {
        hash.wrapping_mul(31).wrapping_add(unit.into())
    });
    (hash ^ (hash >> 16)) as usize & (places - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ordered(names: &[&str]) -> Vec<String> {
        map_order(names.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn options_are_in_the_order_of_a_hash_map() {
        // RP-659: as version 1.4.2 lists them.
        assert_eq!(
            ordered(&["bucket", "bucket-key", "partition.legacy-name"]),
            ["bucket", "partition.legacy-name", "bucket-key"]
        );
        assert_eq!(
            ordered(&[
                "bucket",
                "write-only",
                "zz",
                "aa",
                "snapshot.num-retained.min"
            ]),
            [
                "bucket",
                "zz",
                "aa",
                "write-only",
                "snapshot.num-retained.min"
            ]
        );
    }

    #[test]
    fn no_name_is_lost_when_the_map_grows() {
        let names: Vec<String> = (0..100).map(|number| format!("option-{number}")).collect();
        let mut found = map_order(names.clone());
        found.sort_unstable();
        let mut expected = names;
        expected.sort_unstable();
        assert_eq!(found, expected);
        assert_eq!(ordered(&[]), [""; 0]);
    }
}
