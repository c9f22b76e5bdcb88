//! Random histories, layouts and queries for `proptest`. All are made of small numbers, so that a failing one shrinks to a
//! history that a person can read, and prints as JSON.

mod build;
mod engines;
mod functions;
mod query;
mod table;
mod values;

use paimon_meta::MergeEngine;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::history::History;
use crate::writer::{Layout, WriterVersion};

pub use query::{QuerySeed, query_seeds};

use build::{OpSeed, RowSeed, build};
use engines::EngineSeed;
use table::SchemaSeed;

/// What may happen in a history, beside writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryShape {
    /// The merge engine of tables with a primary key; without, any of them.
    pub merge_engine: Option<MergeEngine>,
    /// Compactions.
    pub compactions: bool,
    /// Columns that are added, dropped, renamed and moved.
    pub evolution: bool,
    /// Options that change which rows there are, of old files too: `ignore-delete`.
    pub option_changes: bool,
    /// Overwrites, truncation, tags, rollbacks, expiry.
    pub versions: bool,
    /// Columns that order versions of a key.
    pub sequence_fields: bool,
    /// Tables whose compactions look up older rows: with deletion vectors, or `force-lookup`.
    pub deletion_vectors: bool,
    /// Tables without a primary key.
    pub append: bool,
}

impl HistoryShape {
    /// Everything.
    pub const ALL: Self = Self {
        merge_engine: None,
        compactions: true,
        evolution: true,
        option_changes: true,
        versions: true,
        sequence_fields: true,
        deletion_vectors: true,
        append: true,
    };
}

/// Histories of 1 to 12 steps over 1 to 3 key columns and 1 to 8 others.
pub fn histories(shape: HistoryShape) -> impl Strategy<Value = History> {
    let steps = prop_oneof![3 => vec(op_seeds(), 1..=5), 2 => vec(op_seeds(), 4..=12)];
    (schema_seeds(shape), steps).prop_map(move |(schema, steps)| build(&schema, &steps, shape))
}

fn schema_seeds(shape: HistoryShape) -> impl Strategy<Value = SchemaSeed> {
    let flags = (
        prop::bool::weighted(0.2),
        prop::bool::weighted(0.25),
        prop::bool::weighted(0.1),
        prop::bool::weighted(0.15),
        prop::bool::weighted(0.1),
        prop::bool::weighted(0.06),
    );
    let sizes = (vec(any::<u8>(), 1..=3), vec(any::<u8>(), 1..=8));
    let options = (1..=3_i32, any::<u16>(), engine_seeds(shape.merge_engine));
    (sizes, flags, options).prop_map(|((keys, values), flags, (buckets, options, engine))| {
        let (partitioned, sequence_field, append, deletion_vectors, ignore_delete, row_kind) =
            flags;
        SchemaSeed {
            keys,
            values,
            partitioned,
            sequence_field,
            append,
            deletion_vectors,
            ignore_delete,
            row_kind_field: row_kind,
            // Most tables have one bucket, in which keys meet.
            buckets: if buckets == 3 { 2 } else { 1 },
            options,
            engine,
        }
    })
}

fn engine_seeds(engine: Option<MergeEngine>) -> impl Strategy<Value = EngineSeed> {
    let engines = match engine {
        Some(engine) => vec![engine],
        None => vec![
            MergeEngine::Deduplicate,
            MergeEngine::PartialUpdate,
            MergeEngine::Aggregation,
            MergeEngine::FirstRow,
        ],
    };
    let engines = prop::sample::select(engines);
    (engines, any::<u8>(), vec(any::<u8>(), 8)).prop_map(|(engine, mode, functions)| EngineSeed {
        engine,
        mode,
        functions,
    })
}

fn op_seeds() -> impl Strategy<Value = OpSeed> {
    prop_oneof![
        10 => (vec(batch(), 1..=4), any::<bool>()).prop_map(|(batches, compacted)| OpSeed::Write { batches, compacted }),
        3 => any::<u8>().prop_map(OpSeed::Compact),
        1 => (any::<u8>(), any::<u8>()).prop_map(|(what, which)| OpSeed::Alter { what, which }),
        1 => batch().prop_map(OpSeed::Overwrite),
        1 => (any::<u8>(), any::<u8>()).prop_map(|(what, which)| OpSeed::Version { what, which }),
    ]
}

/// Rows around one key, or anywhere.
fn batch() -> impl Strategy<Value = Vec<RowSeed>> {
    let near = (0..30_u8, vec((0..8_u8, row()), 1..=12));
    let near = near.prop_map(|(base, rows)| {
        let rows = rows.into_iter();
        rows.map(|(key, row)| RowSeed {
            key: base + key,
            ..row
        })
        .collect()
    });
    let far = vec((0..40_u8, row()), 1..=20);
    let far = far.prop_map(|rows| {
        let rows = rows.into_iter();
        rows.map(|(key, row)| RowSeed { key, ..row }).collect()
    });
    prop_oneof![near, far]
}

fn row() -> impl Strategy<Value = RowSeed> {
    (0..10_u8, vec(0..12_u8, 4)).prop_map(|(kind, values)| RowSeed {
        kind,
        key: 0,
        values,
    })
}

/// Layouts whose seams small histories cross: row groups of 5 rows, pages of 2, files of 10.
pub fn layouts() -> impl Strategy<Value = Layout> {
    let versions = prop_oneof![
        Just(WriterVersion::V0_8),
        Just(WriterVersion::V1_0),
        Just(WriterVersion::V1_4),
        Just(WriterVersion::V2_1),
    ];
    let sizes = (
        prop_oneof![Just(5_usize), Just(3), Just(1000)],
        prop_oneof![Just(2_usize), Just(1000)],
        prop_oneof![2 => Just(usize::MAX), 1 => Just(10_usize), 1 => Just(4)],
        prop_oneof![Just(2_usize), Just(1000)],
    );
    (
        sizes,
        versions,
        prop::bool::weighted(0.8),
        any::<bool>(),
        any::<u8>(),
    )
        .prop_map(|(sizes, version, delete_row_counts, dictionary, seed)| {
            let (row_group_rows, page_rows, file_rows, manifest_entries) = sizes;
            Layout {
                row_group_rows,
                page_rows,
                file_rows,
                manifest_entries,
                version,
                delete_row_counts,
                dictionary,
                seed: seed.into(),
                ..Layout::default()
            }
        })
}
