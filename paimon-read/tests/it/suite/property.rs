//! Random runs, read with random requests and tiny windows, against a map that knows only the rules.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use paimon_meta::{
    CompareOp, DataFileMeta, Datum, Predicate, RowKind, StringLayout, TablePredicate,
};
use paimon_read::{ReadRequest, RowKinds};
use proptest::prelude::*;

use super::table::{Layout, Record, TestTable, kind_text, value_text};

/// Columns of the key, each with a form of its own in the merge.
#[derive(Clone, Copy, Debug)]
enum Keys {
    Int,
    Text,
    TwoInts,
    IntAndText,
}

/// How the sequence numbers of the runs relate.
#[derive(Clone, Copy, Debug)]
enum Sequences {
    /// The metas decide.
    Disjoint,
    /// Ranges overlap, numbers are unique.
    Interleaved,
    /// Three numbers in all: ties.
    Few,
}

#[derive(Clone, Debug)]
struct Version {
    kind: RowKind,
    /// Small numbers, from which the values are made; 0 is null.
    s: u8,
    t: u8,
    v: u8,
}

/// A run: versions by key, cut into files of at most so many rows.
#[derive(Clone, Debug)]
struct Run {
    versions: BTreeMap<u8, Version>,
    file_rows: usize,
    thin: bool,
}

#[derive(Clone, Debug)]
struct Case {
    keys: Keys,
    sequences: Sequences,
    runs: Vec<Run>,
    sequence_fields: &'static str,
    descending: bool,
    ignore_delete: bool,
    lookup: bool,
    known_deletes: bool,
}

#[derive(Clone, Debug)]
enum Condition {
    Compare(usize, u8, u8),
    In(usize, Vec<u8>),
    IsNull(usize, bool),
    All(Vec<Condition>),
    Any(Vec<Condition>),
}

#[derive(Clone, Debug)]
struct Ask {
    batch_size: usize,
    window_bytes: usize,
    projection: Option<Vec<usize>>,
    condition: Option<Condition>,
    keep: bool,
    strings: StringLayout,
}

fn version() -> impl Strategy<Value = Version> {
    let kinds = prop_oneof![
        4 => Just(RowKind::Insert),
        2 => Just(RowKind::UpdateAfter),
        1 => Just(RowKind::UpdateBefore),
        2 => Just(RowKind::Delete),
    ];
    (kinds, 0u8..4, 0u8..4, 0u8..5).prop_map(|(kind, s, t, v)| Version { kind, s, t, v })
}

fn run() -> impl Strategy<Value = Run> {
    let versions = (0u8..25, 1u8..30).prop_flat_map(|(from, width)| {
        prop::collection::btree_map(from..from + width, version(), 1..25)
    });
    (versions, 3usize..30, any::<bool>()).prop_map(|(versions, file_rows, thin)| Run {
        versions,
        file_rows,
        thin,
    })
}

fn case() -> impl Strategy<Value = Case> {
    let keys = prop_oneof![
        Just(Keys::Int),
        Just(Keys::Text),
        Just(Keys::TwoInts),
        Just(Keys::IntAndText)
    ];
    let sequences = prop_oneof![
        Just(Sequences::Disjoint),
        Just(Sequences::Interleaved),
        Just(Sequences::Few)
    ];
    let fields = prop_oneof![3 => Just(""), 1 => Just("s"), 1 => Just("t,s")];
    let runs = prop_oneof![
        4 => prop::collection::vec(run(), 1..5),
        // More heads than are compared one by one.
        1 => prop::collection::vec(run(), 9..13),
    ];
    (
        (keys, sequences, runs, fields),
        (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()),
    )
        .prop_map(
            |(
                (keys, sequences, runs, sequence_fields),
                (descending, ignore_delete, lookup, known_deletes),
            )| Case {
                keys,
                sequences,
                runs,
                sequence_fields,
                descending,
                ignore_delete,
                lookup,
                known_deletes,
            },
        )
}

fn condition() -> impl Strategy<Value = Condition> {
    let leaf = prop_oneof![
        3 => (0usize..5, 0u8..6, 0u8..30).prop_map(|(c, op, n)| Condition::Compare(c, op, n)),
        1 => (0usize..5, prop::collection::vec(0u8..30, 0..4)).prop_map(|(c, n)| Condition::In(c, n)),
        1 => (0usize..5, any::<bool>()).prop_map(|(c, negated)| Condition::IsNull(c, negated)),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(Condition::All),
            prop::collection::vec(inner, 1..4).prop_map(Condition::Any),
        ]
    })
}

fn ask() -> impl Strategy<Value = Ask> {
    (
        prop_oneof![Just(1usize), Just(3), Just(7), Just(1000)],
        prop_oneof![Just(0usize), Just(300), Just(1 << 20)],
        prop::option::of(prop::collection::vec(0usize..5, 0..6)),
        prop::option::of(condition()),
        any::<bool>(),
        prop_oneof![
            Just(StringLayout::View),
            Just(StringLayout::Offset32),
            Just(StringLayout::Offset64)
        ],
    )
        .prop_map(
            |(batch_size, window_bytes, projection, condition, keep, strings)| Ask {
                batch_size,
                window_bytes,
                projection,
                condition,
                keep,
                strings,
            },
        )
}

/// Text that is null for 0, and longer than a view for even numbers.
fn text(number: u8) -> Option<Datum> {
    let text = match number {
        0 => return None,
        n if n.is_multiple_of(2) => format!("{n}-is-longer-than-a-view"),
        n => n.to_string(),
    };
    Some(Datum::String(text))
}

/// Key columns in the order of the numbers.
fn key(keys: Keys, number: u8) -> Vec<Option<Datum>> {
    let int = |number: u8| Some(Datum::Int(i32::from(number) - 10));
    let text = |number: u8| {
        let tail = if number.is_multiple_of(2) {
            ""
        } else {
            "-longer-than-a-view"
        };
        Some(Datum::String(format!("k{number:02}{tail}")))
    };
    match keys {
        Keys::Int => vec![int(number)],
        Keys::Text => vec![text(number)],
        Keys::TwoInts => vec![int(number / 5), int(number % 5)],
        Keys::IntAndText => vec![int(number / 5), text(number % 5)],
    }
}

impl Case {
    fn table(&self) -> TestTable {
        let (int, text) = ("INT NOT NULL", "STRING NOT NULL");
        let (a, b) = match self.keys {
            Keys::Int => (int, None),
            Keys::Text => (text, None),
            Keys::TwoInts => (int, Some(int)),
            Keys::IntAndText => (int, Some(text)),
        };
        let mut columns = vec![("v", "STRING"), ("a", a), ("s", "INT")];
        columns.extend(b.map(|b| ("b", b)));
        columns.push(("t", "STRING"));
        let keys: &[&str] = if b.is_some() { &["a", "b"] } else { &["a"] };
        let mut table = TestTable::new(&columns, keys);
        if !self.sequence_fields.is_empty() {
            table = table.option("sequence.field", self.sequence_fields);
        }
        if self.descending {
            table = table.option("sequence.field.sort-order", "descending");
        }
        if self.ignore_delete {
            table = table.option("ignore-delete", "true");
        }
        if self.lookup {
            table = table.option("changelog-producer", "lookup");
        }
        table
    }

    /// The values of a version in the order of the columns.
    fn values(&self, number: u8, version: &Version) -> Vec<Option<Datum>> {
        let mut key = key(self.keys, number).into_iter();
        let s = (version.s > 0).then(|| Datum::Int(i32::from(version.s)));
        let mut values = vec![text(version.v), key.next().flatten(), s];
        values.extend(key);
        values.push(text(version.t));
        values
    }

    /// Writes the runs; the oracle gets each file with its rows.
    fn write(&self, table: &mut TestTable) -> Vec<(DataFileMeta, Vec<(u8, Record)>)> {
        let mut files = Vec::new();
        for (number, run) in self.runs.iter().enumerate() {
            // Level 0 may have several runs, each other level one.
            table.level = if number.is_multiple_of(2) {
                0
            } else {
                i32::try_from(number).unwrap()
            };
            table.layout = Layout {
                thin: run.thin,
                ..Layout::small()
            };
            let records: Vec<(u8, Record)> = run
                .versions
                .iter()
                .enumerate()
                .map(|(at, (key, version))| {
                    let sequence = match self.sequences {
                        Sequences::Disjoint => number * 100 + at,
                        Sequences::Interleaved => at * self.runs.len() + number,
                        Sequences::Few => (at + number) % 3,
                    };
                    let record = Record {
                        kind: version.kind,
                        sequence: i64::try_from(sequence).unwrap(),
                        values: self.values(*key, version),
                    };
                    (*key, record)
                })
                .collect();
            for (part, records) in records.chunks(run.file_rows).enumerate() {
                let rows: Vec<Record> = records.iter().map(|(_, record)| record.clone()).collect();
                let mut file = table.write_records(&format!("f{number}-{part}"), &rows);
                if !self.known_deletes {
                    file.delete_row_count = None;
                }
                files.push((file, records.to_vec()));
            }
        }
        files
    }

    /// The result of each key, by the rules of `deduplicate` (merge-engines sections 1 and 2.1).
    fn merge(&self, files: &[(DataFileMeta, Vec<(u8, Record)>)]) -> BTreeMap<u8, Record> {
        let mut versions: BTreeMap<u8, Vec<(&DataFileMeta, &Record)>> = BTreeMap::new();
        for (file, records) in files {
            for (key, record) in records {
                versions.entry(*key).or_default().push((file, record));
            }
        }
        let mut result = BTreeMap::new();
        for (key, mut versions) in versions {
            if versions.len() > 1 {
                let levels = versions.iter().map(|(file, _)| file.level);
                let smallest = levels.filter(|level| *level > 0).min();
                versions.retain(|(file, record)| {
                    let counts = !self.lookup || file.level == 0 || Some(file.level) == smallest;
                    counts && (!self.ignore_delete || record.kind.is_add())
                });
            }
            let newest = versions.into_iter().max_by(|a, b| self.order(*a, *b));
            if let Some((_, record)) = newest {
                result.insert(key, record.clone());
            }
        }
        result
    }

    fn order(
        &self,
        (file_a, a): (&DataFileMeta, &Record),
        (file_b, b): (&DataFileMeta, &Record),
    ) -> Ordering {
        let mut order = Ordering::Equal;
        for field in self.sequence_fields.split(',') {
            // The columns of `sequence.field` in the schema.
            let place = match field {
                "s" => 2,
                "t" => a.values.len() - 1,
                _ => continue,
            };
            order = order.then_with(|| match (&a.values[place], &b.values[place]) {
                (Some(a), Some(b)) if self.descending => b.compare(a).unwrap(),
                (Some(a), Some(b)) => a.compare(b).unwrap(),
                (a, b) => a.is_some().cmp(&b.is_some()),
            });
        }
        order
            .then(a.sequence.cmp(&b.sequence))
            .then(a.kind.is_add().cmp(&b.kind.is_add()))
            .then_with(|| {
                (file_a.max_sequence_number, &file_a.file_name)
                    .cmp(&(file_b.max_sequence_number, &file_b.file_name))
            })
    }

    /// A value of a column that occurs, or nearly.
    fn literal(&self, table: &TestTable, column: usize, number: u8) -> Datum {
        let number = 1 + number % 29;
        match (table.table.schema.fields[column].name.as_str(), self.keys) {
            ("s", _) => Datum::Int(i32::from(number % 5)),
            ("a", keys) => key(keys, number).remove(0).unwrap(),
            ("b", keys) => key(keys, number).remove(1).unwrap(),
            _ => text(1 + number % 4).unwrap(),
        }
    }

    fn predicate(&self, table: &TestTable, condition: &Condition) -> TablePredicate {
        let field = |column: &usize| {
            let fields = &table.table.schema.fields;
            let column = column % fields.len();
            let field = &fields[column];
            (column, field.id, field.data_type.clone())
        };
        let parts = |parts: &[Condition]| {
            let parts = parts.iter().map(|part| self.predicate(table, part));
            parts.collect::<Vec<_>>()
        };
        match condition {
            Condition::Compare(column, op, number) => {
                let (column, id, data_type) = field(column);
                let ops = [
                    CompareOp::Eq,
                    CompareOp::NotEq,
                    CompareOp::Lt,
                    CompareOp::LtEq,
                    CompareOp::Gt,
                    CompareOp::GtEq,
                ];
                let literal = self.literal(table, column, *number);
                Predicate::compare(id, data_type, ops[usize::from(*op)], literal)
            }
            Condition::In(column, numbers) => {
                let (column, id, data_type) = field(column);
                let literals = numbers
                    .iter()
                    .map(|n| Some(self.literal(table, column, *n)));
                Predicate::is_in(id, data_type, literals)
            }
            Condition::IsNull(column, negated) => {
                let (_, id, data_type) = field(column);
                if *negated {
                    Predicate::is_not_null(id, data_type)
                } else {
                    Predicate::is_null(id, data_type)
                }
            }
            Condition::All(conditions) => Predicate::and(parts(conditions)),
            Condition::Any(conditions) => Predicate::or(parts(conditions)),
        }
    }
}

/// The rows that a request gives out of the results.
pub(super) fn expected(
    table: &TestTable,
    rows: impl IntoIterator<Item = Record>,
    request: &ReadRequest,
) -> Vec<String> {
    let fields = &table.table.schema.fields;
    let place = |id| fields.iter().position(|field| field.id == id).unwrap();
    let columns: Vec<usize> = match &request.projection {
        None => (0..fields.len()).collect(),
        Some(ids) => ids.iter().map(|id| place(*id)).collect(),
    };
    let keep = request.row_kinds == RowKinds::Keep;
    let mut lines = Vec::new();
    for record in rows {
        let passes = request.predicate.as_ref().is_none_or(|predicate| {
            predicate.evaluate_row(&mut |id| record.values[place(*id)].clone()) == Some(true)
        });
        if !passes || (!keep && !record.kind.is_add()) {
            continue;
        }
        let mut words: Vec<String> = Vec::new();
        words.extend(keep.then(|| kind_text(record.kind).to_owned()));
        words.extend(
            columns.iter().map(|column| {
                value_text(record.values[*column].as_ref(), &fields[*column].data_type)
            }),
        );
        lines.push(words.join(" "));
    }
    lines
}

fn request(case: &Case, table: &TestTable, ask: &Ask) -> ReadRequest {
    let fields = &table.table.schema.fields;
    let id = |column: &usize| fields[column % fields.len()].id;
    ReadRequest {
        projection: ask
            .projection
            .as_ref()
            .map(|columns| columns.iter().map(id).collect()),
        predicate: ask
            .condition
            .as_ref()
            .map(|condition| case.predicate(table, condition)),
        batch_size: ask.batch_size,
        window_bytes: ask.window_bytes,
        strings: ask.strings,
        row_kinds: if ask.keep {
            RowKinds::Keep
        } else {
            RowKinds::Drop
        },
        ..ReadRequest::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn merge_gives_the_rows_of_the_rules_in_key_order(case in case(), asks in prop::collection::vec(ask(), 1..4)) {
        let mut table = case.table();
        let files = case.write(&mut table);
        let merged = case.merge(&files);
        let split = table.split(files.into_iter().map(|(file, _)| file).collect());
        for ask in asks {
            let request = request(&case, &table, &ask);
            let expected = expected(&table, merged.values().cloned(), &request);
            let rows = table.rows(split.clone(), request).unwrap();
            prop_assert_eq!(rows, expected, "{:?}", ask);
        }
    }

    #[test]
    fn raw_read_gives_the_rows_of_the_files_that_match(case in case(), asks in prop::collection::vec(ask(), 1..4)) {
        let mut table = case.table();
        table.table.schema.primary_keys.clear();
        table.table.schemas.insert(0, table.table.schema.clone());
        let files = case.write(&mut table);
        let rows: Vec<Record> = files
            .iter()
            .flat_map(|(_, records)| records.iter().map(|(_, record)| record.clone()))
            // The kind is no column of an append table: every row is an insert (RP-218).
            .map(|record| Record { kind: RowKind::Insert, ..record })
            .collect();
        let split = table.split(files.into_iter().map(|(file, _)| file).collect());
        for ask in asks {
            let request = request(&case, &table, &ask);
            let expected = expected(&table, rows.clone(), &request);
            let rows = table.rows(split.clone(), request).unwrap();
            prop_assert_eq!(rows, expected, "{:?}", ask);
        }
    }
}
