use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use paimon_meta::{MAX_LENGTH, TypeKind};
use parquet::basic::SortOrder;
use parquet::data_type::{ByteArray, Int96};
use parquet::file::metadata::{ColumnChunkMetaData, FileMetaData, RowGroupMetaData};
use parquet::file::statistics::ValueStatistics;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::SchemaDescriptor;

use super::*;
use crate::reader::GroupLayout;

const TYPE_DEFINED: ColumnOrder = ColumnOrder::TYPE_DEFINED_ORDER(SortOrder::SIGNED);
const RUST: &str = "parquet-rs version 59.3.2";

/// Bounds out of a footer of one row group of ten rows, whose column `c` has these statistics.
fn bounds(
    declaration: &str,
    statistics: Statistics,
    order: Option<ColumnOrder>,
    created_by: &str,
    kind: TypeKind,
) -> Option<Bounds> {
    let message = format!("message m {{ optional {declaration}; }}");
    let root = Arc::new(parse_message_type(&message).unwrap());
    let schema = Arc::new(SchemaDescriptor::new(root));
    let chunk = ColumnChunkMetaData::builder(schema.column(0))
        .set_statistics(statistics)
        .build();
    let group = RowGroupMetaData::builder(Arc::clone(&schema)).set_num_rows(10);
    let group = group.add_column_metadata(chunk.unwrap()).build().unwrap();
    let created_by = Some(created_by.to_owned());
    let file = FileMetaData::new(
        1,
        10,
        created_by,
        None,
        schema,
        order.map(|order| vec![order]),
    );
    let schema = FileSchema::new(ParquetMetaData::new(file, vec![group])).unwrap();
    let groups = vec![GroupLayout {
        first_row: 0,
        row_count: 10,
        compressed_bytes: 1,
    }];
    let layout = Layout {
        row_count: 10,
        groups,
        ..Layout::default()
    };
    of_groups(
        &schema,
        &layout,
        &FileColumn {
            name: "c".to_owned(),
            data_type: kind.nullable(),
        },
    )
}

fn text_statistics(min: &str, max: &str, deprecated: bool) -> ValueStatistics<ByteArray> {
    ValueStatistics::new(
        Some(min.into()),
        Some(max.into()),
        None,
        Some(0),
        deprecated,
    )
}

const TEXT: TypeKind = TypeKind::VarChar(MAX_LENGTH);

#[test]
fn old_fields_are_not_used_for_text_but_for_integers() {
    let text = |deprecated, order| {
        let statistics = Statistics::ByteArray(text_statistics("a", "b", deprecated));
        bounds("binary c (STRING)", statistics, order, RUST, TEXT)
    };
    assert_eq!(
        text(false, Some(TYPE_DEFINED))
            .unwrap()
            .min
            .as_string_view()
            .value(0),
        "a"
    );
    assert!(
        text(true, Some(TYPE_DEFINED)).unwrap().min.is_null(0),
        "old order is signed"
    );
    assert!(text(false, None).is_none(), "order is not said");
    assert!(text(false, Some(ColumnOrder::UNKNOWN)).is_none());

    let number = Statistics::int32(Some(-3), Some(4), None, Some(2), true);
    let number = bounds("int32 c", number, None, RUST, TypeKind::BigInt).unwrap();
    assert_eq!(number.min.as_primitive::<Int64Type>().value(0), -3);
    assert_eq!(number.null_counts.value(0), 2);
    assert!(number.exact);
}

#[test]
fn old_fields_of_unsigned_numbers_are_not_used() {
    let unsigned = |deprecated| {
        let statistics = Statistics::int32(Some(1), Some(-1), None, None, deprecated);
        bounds(
            "int32 c (INTEGER(32,false))",
            statistics,
            Some(TYPE_DEFINED),
            RUST,
            TypeKind::BigInt,
        )
        .unwrap()
    };
    assert_eq!(
        unsigned(false).max.as_primitive::<Int64Type>().value(0),
        4_294_967_295
    );
    assert!(unsigned(true).max.is_null(0));
    assert!(unsigned(true).null_counts.is_null(0));
}

#[test]
fn int96_has_no_bounds() {
    let statistics = Statistics::int96(Some(Int96::new()), Some(Int96::new()), None, None, false);
    assert!(
        bounds(
            "int96 c",
            statistics,
            Some(TYPE_DEFINED),
            RUST,
            TypeKind::Timestamp(9)
        )
        .is_none()
    );
}

#[test]
fn text_is_exact_only_if_the_writer_says_so() {
    let exact = |min, max| {
        let statistics = text_statistics("a", "b", false)
            .with_min_is_exact(min)
            .with_max_is_exact(max);
        let statistics = Statistics::ByteArray(statistics);
        bounds(
            "binary c (STRING)",
            statistics,
            Some(TYPE_DEFINED),
            RUST,
            TEXT,
        )
        .unwrap()
        .exact
    };
    assert!(exact(true, true));
    assert!(!exact(true, false));
    assert!(!exact(false, true));
}

#[test]
fn floats_of_writers_that_skip_nan_have_no_upper_bound() {
    let double = |min, max, created_by| {
        let statistics = Statistics::double(Some(min), Some(max), None, None, false);
        let bounds = bounds("double c", statistics, None, created_by, TypeKind::Double).unwrap();
        assert!(!bounds.exact);
        let value = |array: &arrow_array::ArrayRef| {
            array
                .is_valid(0)
                .then(|| array.as_primitive::<Float64Type>().value(0).to_bits())
        };
        (value(&bounds.min), value(&bounds.max))
    };
    let bits = |value: f64| Some(value.to_bits());
    for skips in [
        RUST,
        "parquet-cpp-arrow version 20.0.0",
        "parquet-mr version 1.8.3 (build x)",
        "",
    ] {
        assert_eq!(double(1.0, 2.0, skips), (bits(1.0), bits(f64::NAN)));
        assert_eq!(double(f64::NAN, 2.0, skips), (None, None));
        assert_eq!(double(1.0, f64::NAN, skips), (None, None));
    }
    let java = "parquet-mr version 1.15.2 (build 859eac165b0)";
    assert_eq!(double(1.0, 2.0, java), (bits(1.0), bits(2.0)));
    assert_eq!(double(1.0, f64::NAN, java), (bits(1.0), bits(f64::NAN)));
}

/// A zero may stand for both zeros.
#[test]
fn bounds_of_zero_hold_for_both_zeros() {
    let statistics = Statistics::float(Some(0.0), Some(-0.0), None, None, false);
    let java = "parquet-mr version 1.15.2";
    let bounds = bounds("float c", statistics, None, java, TypeKind::Double).unwrap();
    assert!(
        bounds
            .min
            .as_primitive::<Float64Type>()
            .value(0)
            .is_sign_negative()
    );
    assert!(
        bounds
            .max
            .as_primitive::<Float64Type>()
            .value(0)
            .is_sign_positive()
    );
}

#[test]
fn bound_that_the_asked_type_cannot_hold_is_no_bound() {
    let statistics = Statistics::int64(Some(0), Some(1 << 40), None, None, false);
    assert!(bounds("int64 c", statistics, None, RUST, TypeKind::Int).is_none());
    let statistics = Statistics::int64(Some(0), Some(1 << 20), None, None, false);
    let narrow = bounds("int64 c", statistics, None, RUST, TypeKind::Int).unwrap();
    assert_eq!(narrow.max.as_primitive::<Int32Type>().value(0), 1 << 20);
}

#[test]
fn column_of_another_type_has_no_bounds() {
    let statistics = Statistics::int64(Some(0), Some(1), None, None, false);
    assert!(bounds("int64 c", statistics, None, RUST, TEXT).is_none());
}

#[test]
fn text_cut_inside_a_character_is_no_bound() {
    let cut = ValueStatistics::new(Some("ä".into()), Some(vec![0xC3].into()), None, None, false);
    let bounds = bounds(
        "binary c (STRING)",
        Statistics::ByteArray(cut),
        Some(TYPE_DEFINED),
        RUST,
        TEXT,
    );
    let bounds = bounds.unwrap();
    assert!(bounds.min.is_valid(0) && bounds.max.is_null(0));
}
