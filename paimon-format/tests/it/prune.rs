//! Bounds and pruning, against the rows themselves.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow_array::types::Int64Type;
use arrow_array::{
    Array, ArrayRef, Decimal128Array, Float32Array, Float64Array, Int32Array, Int64Array,
    PrimitiveArray, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use arrow_schema::{Field, Schema};
use paimon_format::{
    Bounds, DataFile, FileColumn, Grain, ParquetReader, Pruned, RowRanges, prune, prune_file,
    scan_file,
};
use paimon_meta::{
    CompareOp, DataType, Datum, FilePath, MAX_LENGTH, Predicate, TypeKind, datum_at,
};
use parquet::file::properties::WriterProperties;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::conformance::{column, scan};
use crate::memory::{now, open};
use crate::parquet::write_with;

/// A column of random values and its type in the table.
#[derive(Clone, Debug)]
struct Values {
    array: ArrayRef,
    data_type: DataType,
}

fn optional<T: std::fmt::Debug + Clone>(
    values: impl Strategy<Value = T>,
    rows: usize,
) -> impl Strategy<Value = Vec<Option<T>>> {
    prop_oneof![
        vec(prop::option::weighted(0.7, values), rows),
        Just(vec![None; rows]),
    ]
}

fn floats() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(0.0),
        Just(-0.0),
        Just(f64::NAN),
        Just(f64::NEG_INFINITY),
        -3.0..3.0
    ]
}

fn columns(rows: usize) -> impl Strategy<Value = Values> {
    let make = |array: ArrayRef, kind: TypeKind| Values {
        array,
        data_type: kind.nullable(),
    };
    prop_oneof![
        optional(any::<i32>(), rows)
            .prop_map(move |v| make(Arc::new(Int32Array::from(v)), TypeKind::Int)),
        optional(-50..50i64, rows).prop_map(move |mut v| {
            v.sort_unstable();
            make(Arc::new(Int64Array::from(v)), TypeKind::BigInt)
        }),
        optional(floats(), rows)
            .prop_map(move |v| make(Arc::new(Float64Array::from(v)), TypeKind::Double)),
        optional(floats(), rows).prop_map(move |v| {
            let narrow = |v: f64| v.to_string().parse::<f32>().unwrap();
            let v: Float32Array = v.into_iter().map(|v| v.map(narrow)).collect();
            make(Arc::new(v), TypeKind::Float)
        }),
        optional("[a-c\u{fffd}\u{10ffff}]{0,90}", rows).prop_map(move |mut v| {
            v.sort_unstable();
            make(
                Arc::new(StringArray::from(v)),
                TypeKind::VarChar(MAX_LENGTH),
            )
        }),
        optional(
            -9_000_000_000_000_000_000_000_000i128..9_000_000_000_000_000_000_000_000,
            rows
        )
        .prop_map(move |v| {
            let array = Decimal128Array::from(v)
                .with_precision_and_scale(30, 5)
                .unwrap();
            make(
                Arc::new(array),
                TypeKind::Decimal {
                    precision: 30,
                    scale: 5,
                },
            )
        }),
        optional(any::<i32>(), rows).prop_map(move |v| {
            let v: TimestampMicrosecondArray = v.into_iter().map(|v| v.map(i64::from)).collect();
            make(Arc::new(v), TypeKind::Timestamp(6))
        }),
    ]
}

#[derive(Clone, Debug)]
struct Sample {
    columns: Vec<Values>,
    group_rows: usize,
    page_rows: usize,
    /// Whether the file has Bloom filters.
    bloom: bool,
}

fn samples() -> impl Strategy<Value = Sample> {
    let sizes = (1..60usize, 1..70usize, 1..30usize, any::<bool>());
    sizes.prop_flat_map(|(rows, group_rows, page_rows, bloom)| {
        vec(columns(rows), 1..4).prop_map(move |columns| Sample {
            columns,
            group_rows,
            page_rows,
            bloom,
        })
    })
}

impl Sample {
    fn file(&self) -> Arc<dyn DataFile> {
        let fields = self.columns.iter().enumerate();
        let fields = fields.map(|(index, values)| {
            Field::new(format!("c{index}"), values.array.data_type().clone(), true)
        });
        let arrays = self
            .columns
            .iter()
            .map(|values| Arc::clone(&values.array))
            .collect();
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields.collect::<Vec<_>>())), arrays)
            .unwrap();
        let properties = WriterProperties::builder()
            .set_max_row_group_row_count(Some(self.group_rows))
            .set_data_page_row_count_limit(self.page_rows)
            .set_write_batch_size(1)
            .set_bloom_filter_enabled(self.bloom)
            .set_bloom_filter_max_ndv(1000);
        open(&ParquetReader, write_with(&batch, properties)).unwrap()
    }

    fn column(&self, index: usize) -> FileColumn {
        column(&format!("c{index}"), self.columns[index].data_type.clone())
    }

    fn value(&self, column: usize, row: usize) -> Option<Datum> {
        let values = &self.columns[column];
        datum_at(&values.array, row, &values.data_type).unwrap()
    }

    fn rows(&self) -> usize {
        self.columns[0].array.len()
    }
}

/// The bounds hold for each value of their range, nulls are counted right, and what is called exact occurs.
fn assert_bounds(sample: &Sample, index: usize, bounds: &Bounds) {
    let value = |array: &ArrayRef, range| datum_at(array, range, &bounds.data_type).unwrap();
    for (range, edge) in bounds.starts.windows(2).enumerate() {
        let rows = usize::try_from(edge[0]).unwrap()..usize::try_from(edge[1]).unwrap();
        let values: Vec<Option<Datum>> = rows.map(|row| sample.value(index, row)).collect();
        let nulls = values.iter().filter(|value| value.is_none()).count() as u64;
        assert!(bounds.null_counts.is_null(range) || bounds.null_counts.value(range) == nulls);
        let (min, max) = (value(&bounds.min, range), value(&bounds.max, range));
        for value in values.iter().flatten() {
            assert!(
                min.as_ref()
                    .is_none_or(|min| min.compare(value) != Some(Ordering::Greater)),
                "{min:?} > {value:?}"
            );
            assert!(
                max.as_ref()
                    .is_none_or(|max| max.compare(value) != Some(Ordering::Less)),
                "{max:?} < {value:?}"
            );
        }
        if bounds.exact {
            assert!(min.is_none() || values.contains(&min), "{min:?}");
            assert!(max.is_none() || values.contains(&max), "{max:?}");
        }
    }
}

fn ops() -> impl Strategy<Value = CompareOp> {
    use CompareOp::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    prop::sample::select(vec![Eq, NotEq, Lt, LtEq, Gt, GtEq])
}

/// A test of a column by one of its own values, or for null.
fn leaf(sample: &Sample, column: usize, row: usize, op: CompareOp) -> Predicate<FilePath> {
    let column = column % sample.columns.len();
    let path = FilePath(vec![format!("c{column}")]);
    let data_type = sample.columns[column].data_type.clone();
    match (sample.value(column, row % sample.rows()), op) {
        (Some(value), op) => Predicate::compare(path, data_type, op, value),
        (None, CompareOp::Eq | CompareOp::Lt | CompareOp::LtEq) => {
            Predicate::is_null(path, data_type)
        }
        (None, _) => Predicate::is_not_null(path, data_type),
    }
}

fn pruned(
    file: &Arc<dyn DataFile>,
    sample: &Sample,
    predicate: &Predicate<FilePath>,
    grain: Grain,
) -> RowRanges {
    let columns = |path: &FilePath| {
        let index: usize = path.0[0][1..].parse().unwrap();
        Some(sample.column(index))
    };
    now(prune(file, predicate, &columns, grain)).unwrap()
}

fn pruned_by_all(
    file: &Arc<dyn DataFile>,
    sample: &Sample,
    predicate: &Predicate<FilePath>,
) -> Pruned {
    let columns = |path: &FilePath| Some(sample.column(path.0[0][1..].parse().unwrap()));
    now(prune_file(file, predicate, &columns)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bounds_hold_for_every_value_of_their_range(sample in samples()) {
        let file = sample.file();
        for index in 0..sample.columns.len() {
            for grain in [Grain::Group, Grain::Page] {
                let bounds = now(file.bounds(&sample.column(index), grain)).unwrap().unwrap();
                prop_assert_eq!(bounds.starts.last(), Some(&file.layout().row_count));
                assert_bounds(&sample, index, &bounds);
            }
        }
    }

    #[test]
    fn pruning_keeps_every_match(
        sample in samples(),
        tests in vec((any::<usize>(), any::<usize>(), ops()), 1..4),
        all in any::<bool>(),
    ) {
        let file = sample.file();
        let leaves = tests.into_iter().map(|(column, row, op)| leaf(&sample, column, row, op));
        let predicate = if all { Predicate::and(leaves) } else { Predicate::or(leaves) };
        let matches = (0..sample.rows()).filter(|row| {
            let value = |path: &FilePath| sample.value(path.0[0][1..].parse().unwrap(), *row);
            predicate.evaluate_row(&mut { value }) == Some(true)
        });
        let matches = RowRanges::from_positions(matches.map(|row| row as u64));
        let by_group = pruned(&file, &sample, &predicate, Grain::Group);
        let by_page = pruned(&file, &sample, &predicate, Grain::Page);
        prop_assert_eq!(matches.subtract(&by_group), RowRanges::none());
        prop_assert_eq!(matches.subtract(&by_page), RowRanges::none());
        let by_all = pruned_by_all(&file, &sample, &predicate).rows;
        prop_assert_eq!(matches.subtract(&by_all), RowRanges::none());
        prop_assert_eq!(by_all.subtract(&by_group.intersect(&by_page)), RowRanges::none());
    }
}

fn sorted() -> Sample {
    let ids: Int64Array = (0..1000).collect();
    let late: PrimitiveArray<Int64Type> =
        (0..1000).map(|row| (row >= 500).then_some(row)).collect();
    let make = |array| Values {
        array: Arc::new(array),
        data_type: TypeKind::BigInt.nullable(),
    };
    Sample {
        columns: vec![make(ids), make(late)],
        group_rows: 300,
        page_rows: 50,
        bloom: false,
    }
}

#[test]
fn sorted_keys_prune_to_their_group_and_page() {
    let sample = sorted();
    let predicate = leaf(&sample, 0, 420, CompareOp::Eq);
    assert_eq!(
        pruned(&sample.file(), &sample, &predicate, Grain::Group),
        RowRanges::from_range(300..600)
    );
    assert_eq!(
        pruned(&sample.file(), &sample, &predicate, Grain::Page),
        RowRanges::from_range(400..450)
    );
}

#[test]
fn what_was_left_out_is_counted() {
    let sample = sorted();
    let predicate = leaf(&sample, 0, 420, CompareOp::Eq);
    let pruned = pruned_by_all(&sample.file(), &sample, &predicate);
    assert_eq!(pruned.rows, RowRanges::from_range(400..450));
    // Three of four row groups, and five of the six pages of the other one.
    assert_eq!((pruned.groups, pruned.pages), (3, 5));
}

#[test]
fn bloom_filters_rule_out_what_bounds_do_not() {
    // RP-258: even numbers, so that an odd one is inside of all bounds.
    let even: Int64Array = (0..1000).map(|row| (row * 7919 % 1000) * 2).collect();
    let sample = Sample {
        columns: vec![Values {
            array: Arc::new(even),
            data_type: TypeKind::BigInt.nullable(),
        }],
        group_rows: 250,
        page_rows: 50,
        bloom: true,
    };
    let file = sample.file();
    let path = FilePath(vec!["c0".to_owned()]);
    let equal = |values: &[i64]| {
        let values = values.iter().map(|value| Some(Datum::BigInt(*value)));
        Predicate::is_in(path.clone(), TypeKind::BigInt.nullable(), values)
    };
    let rows = |predicate: &Predicate<FilePath>| pruned_by_all(&file, &sample, predicate).rows;
    let odd: u64 = (0..50)
        .map(|n| rows(&equal(&[n * 40 + 1])).row_count())
        .sum();
    assert!(odd < 50 * 1000 / 10, "{odd} rows of odd numbers");
    let there = rows(&equal(&[1001, 14]));
    assert!(there.row_count() >= 50 && there.row_count() <= 500);
    // Without the row group of that value nothing is left of it.
    let both = Predicate::and([equal(&[14]), equal(&[401])]);
    assert!(rows(&both).row_count() <= 250);
    let not = equal(&[14]).negate();
    assert_eq!(rows(&not).row_count(), 1000);
}

#[test]
fn null_counts_prune() {
    let sample = sorted();
    let null = leaf(&sample, 1, 0, CompareOp::Eq);
    assert_eq!(
        pruned(&sample.file(), &sample, &null, Grain::Page),
        RowRanges::from_range(0..500)
    );
    let not_null = null.negate();
    assert_eq!(
        pruned(&sample.file(), &sample, &not_null, Grain::Page),
        RowRanges::from_range(500..1000)
    );
}

/// RP-256: a column that is not in the file is null in every row.
#[test]
fn absent_column_matches_only_null() {
    let sample = sorted();
    let path = FilePath(vec!["absent".to_owned()]);
    let absent = |_: &FilePath| Some(column("absent", TypeKind::Int.nullable()));
    let is = |predicate| now(prune(&sample.file(), &predicate, &absent, Grain::Group)).unwrap();
    assert_eq!(
        is(Predicate::is_null(path.clone(), TypeKind::Int.nullable())),
        RowRanges::from_range(0..1000)
    );
    assert_eq!(
        is(Predicate::eq(path, TypeKind::Int.nullable(), Datum::Int(1))),
        RowRanges::none()
    );
}

#[test]
fn unknown_column_rules_out_nothing() {
    let sample = sorted();
    let predicate = leaf(&sample, 0, 420, CompareOp::Eq);
    let rows = now(prune(&sample.file(), &predicate, &|_| None, Grain::Page)).unwrap();
    assert_eq!(rows, RowRanges::from_range(0..1000));
}

#[test]
fn futures_can_move_between_threads() {
    fn is_send<T: Send>(value: T) -> T {
        value
    }
    let sample = sorted();
    let file = sample.file();
    let predicate = leaf(&sample, 0, 420, CompareOp::Eq);
    let columns = |_: &FilePath| None;
    drop(is_send(prune(&file, &predicate, &columns, Grain::Page)));
    drop(is_send(scan_file(file, RowRanges::none(), scan(vec![], 1))));
}
