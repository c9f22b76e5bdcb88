//! The tables of the lab: what is written, which reads are shown, and what the reference does with them.

/// A table of the lab.
pub(super) struct Table {
    /// Its name; the golden table of the reference is `lab_` and this.
    pub(super) name: &'static str,
    /// What was written, for a person.
    pub(super) about: &'static str,
    /// What was written.
    pub(super) history: &'static str,
    /// A read of an older snapshot that comes first, and what it shows.
    pub(super) earlier: Option<(i64, &'static str)>,
    /// More reads, below the one of the whole table.
    pub(super) more: &'static [More],
    /// Whether the reference answers `COUNT(*)` from metadata alone.
    pub(super) reference_counts: bool,
}

/// A read by other options or with a condition.
pub(super) struct More {
    /// What stands before it.
    pub(super) label: &'static str,
    pub(super) option: Option<(&'static str, &'static str)>,
    pub(super) condition: Option<&'static str>,
}

const TARGET_SIZE: &str = "source.split.target-size";

const fn target(label: &'static str, size: &'static str) -> More {
    More {
        label,
        option: Some((TARGET_SIZE, size)),
        condition: None,
    }
}

/// A history of `k BIGINT NOT NULL, v STRING` with the key `k` in one bucket.
macro_rules! history {
    ([$($option:literal),*], $steps:literal) => {
        concat!(
            r#"{"columns": [["k", "BIGINT NOT NULL"], ["v", "STRING"]], "primary_key": ["k"], "options": {"bucket": "1""#,
            $(", ", $option,)* "}, \"steps\": [", $steps, "]}"
        )
    };
}

pub(super) const TABLES: [Table; 8] = [
    Table {
        name: "r_one",
        about: "keys 1 to 100 as 'a', in one write",
        history: history!(
            [],
            r#"{"range": {"from": 1, "to": 100, "values": [{"n": [1, 0]}, "a"]}}"#
        ),
        earlier: None,
        more: &[],
        reference_counts: true,
    },
    Table {
        name: "r_disjoint",
        about: "keys 1 to 100 as 'a', then 101 to 200 as 'b'",
        history: history!(
            [],
            r#"{"range": {"from": 1, "to": 100, "values": [{"n": [1, 0]}, "a"]}},
               {"range": {"from": 101, "to": 200, "values": [{"n": [1, 0]}, "b"]}}"#
        ),
        earlier: None,
        more: &[
            target("target 4 mb", "4 mb"),
            target("target 4mb", "4mb"),
            target("target 8 mb", "8 mb"),
        ],
        reference_counts: false,
    },
    Table {
        name: "r_overlap",
        about: "keys 1 to 100 as 'a', then 51 to 150 as 'b'",
        history: history!(
            [],
            r#"{"range": {"from": 1, "to": 100, "values": [{"n": [1, 0]}, "a"]}},
               {"range": {"from": 51, "to": 150, "values": [{"n": [1, 0]}, "b"]}}"#
        ),
        earlier: None,
        more: &[More {
            label: "where",
            option: None,
            condition: Some("v = 'a' AND k BETWEEN 58 AND 62"),
        }],
        reference_counts: false,
    },
    Table {
        name: "r_compact",
        about: "r_overlap, fully compacted",
        history: history!(
            [],
            r#"{"range": {"from": 1, "to": 100, "values": [{"n": [1, 0]}, "a"]}},
               {"range": {"from": 51, "to": 150, "values": [{"n": [1, 0]}, "b"]}},
               {"compact": "full"}"#
        ),
        earlier: None,
        more: &[],
        reference_counts: true,
    },
    Table {
        name: "r_delete",
        about: "keys 1 to 100 as 'a', fully compacted, then a delete of k = 5",
        history: history!(
            [],
            r#"{"range": {"from": 1, "to": 100, "values": [{"n": [1, 0]}, "a"]}, "compact": "full"},
               {"write": [["-D", 5, "a"]]}"#
        ),
        earlier: None,
        more: &[],
        reference_counts: false,
    },
    Table {
        name: "dv_off",
        about: "keys 1 to 100 as 'a', an update of 51 to 60 to 'b', a delete of k = 5",
        history: history!(
            [],
            r#"{"range": {"from": 1, "to": 100, "values": [{"n": [1, 0]}, "a"]}},
               {"range": {"from": 51, "to": 60, "values": [{"n": [1, 0]}, "b"]}},
               {"write": [["-D", 5, "a"]]}"#
        ),
        earlier: None,
        more: &[],
        reference_counts: false,
    },
    Table {
        name: "dv_on",
        about: "the same with deletion vectors, level 0 compacted after each write",
        history: history!(
            [r#""deletion-vectors.enabled": "true""#],
            r#"{"range": {"from": 1, "to": 100, "values": [{"n": [1, 0]}, "a"]}, "compact": "level0"},
               {"range": {"from": 51, "to": 60, "values": [{"n": [1, 0]}, "b"]}, "compact": "level0"},
               {"write": [["-D", 5, "a"]], "compact": "level0"}"#
        ),
        earlier: None,
        more: &[],
        reference_counts: true,
    },
    Table {
        name: "dv_vis",
        about: "two rows with deletion vectors and no compaction by itself, then a full one",
        history: history!(
            [
                r#""write-only": "true""#,
                r#""deletion-vectors.enabled": "true""#
            ],
            r#"{"write": [["+I", 1, "x"], ["+I", 2, "y"]]}, {"compact": "full"}"#
        ),
        earlier: Some((1, "before the compaction")),
        more: &[],
        reference_counts: true,
    },
];
