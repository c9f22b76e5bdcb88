//! From the files of a merge split to the passes of its sections. Facts: RP-301, RP-302, RP-320 to RP-323.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::sync::Arc;

use arrow_row::{RowConverter, SortField};
use arrow_schema::SortOptions;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use paimon_meta::{
    BinaryRow, DataField, DataFileMeta, DataSplit, DataType, Error, FieldId, Frame, Options,
    Predicate, Result, SortOrder, StringLayout, TablePredicate,
};
use paimon_plan::{KeyRange, interval_partition};

use super::chunk::{KeyPlan, RunFile};
use super::deduplicate::Rules;
use super::key_pass::KeyPass;
use super::keys::KeyEncoder;
use super::needs::{FileNeeds, NeedRules, needs};
use super::run::Run;
use crate::columns::{ColumnPlan, PartitionValues, Shape};
use crate::evolve::Wanted;
use crate::files::FilePicks;
use crate::open::FileOpener;
use crate::request::RowKinds;
use crate::window::{PickSource, Window};

/// A file with its decoded place in key order.
struct KeyedFile {
    meta: Arc<DataFileMeta>,
}

impl KeyRange for KeyedFile {
    type Key = BinaryRow;

    fn min_key(&self) -> &BinaryRow {
        &self.meta.min_key
    }

    fn max_key(&self) -> &BinaryRow {
        &self.meta.max_key
    }
}

/// What all sections of a split share.
struct SplitMerge {
    opener: FileOpener,
    shape: Arc<Shape>,
    partition: PartitionValues,
    key_fields: Vec<DataField>,
    user_fields: Vec<DataField>,
    descending: bool,
    need_rules: NeedRules,
    rules: Rules,
    /// Conditions on key columns alone, and the rest.
    key_predicate: Option<TablePredicate>,
    rest: Option<TablePredicate>,
}

/// The picks of a merge split: its sections one after the other, in key order.
///
/// # Errors
/// `Corrupt` for keys that do not decode, `InvalidInput` and `Unsupported` for options of the table.
pub(crate) fn merge_sections(
    opener: FileOpener,
    shape: &Arc<Shape>,
    split: DataSplit,
    partition: PartitionValues,
) -> Result<Box<dyn PickSource>> {
    let merge = SplitMerge::new(opener, shape, partition)?;
    let sections = merge.sections(split.files)?;
    let sections = sections
        .into_iter()
        .map(|section| merge.section(section))
        .collect::<Result<_>>()?;
    Ok(Box::new(Sections(sections)))
}

/// Sources one after the other.
struct Sections(VecDeque<Box<dyn PickSource>>);

impl PickSource for Sections {
    fn step<'a>(&'a mut self, window: &'a mut Window) -> BoxFuture<'a, Result<bool>> {
        async move {
            if let Some(section) = self.0.front_mut()
                && !section.step(window).await?
            {
                self.0.pop_front();
            }
            Ok(!self.0.is_empty())
        }
        .boxed()
    }
}

impl SplitMerge {
    fn new(opener: FileOpener, shape: &Arc<Shape>, partition: PartitionValues) -> Result<Self> {
        let table = Arc::clone(&opener.context().table);
        let (options, schema) = (&table.options, &table.schema);
        let keep_kinds = opener.context().request.row_kinds == RowKinds::Keep;
        let key_fields: Vec<DataField> = schema.key_fields()?.into_iter().cloned().collect();
        let user_fields = options
            .sequence_field()
            .into_iter()
            .map(|name| schema.field(&name).cloned());
        let is_key = |id: &FieldId| key_fields.iter().any(|field| field.id == *id);
        let (key_predicate, rest) = divide(shape.predicate.as_ref(), is_key);
        Ok(Self {
            shape: Arc::clone(shape),
            partition,
            user_fields: user_fields.collect::<Result<_>>()?,
            descending: options.value(&Options::SEQUENCE_FIELD_SORT_ORDER)?
                == SortOrder::Descending,
            need_rules: NeedRules {
                keep_kinds,
                snapshot_ordering: options.value(&Options::SEQUENCE_SNAPSHOT_ORDERING)?,
            },
            rules: Rules {
                ignore_delete: options.value(&Options::IGNORE_DELETE)?,
                lookup: options.needs_lookup()?,
                keep_retracts: keep_kinds,
            },
            key_predicate,
            rest,
            key_fields,
            opener,
        })
    }

    fn key_types(&self) -> Vec<DataType> {
        self.key_fields
            .iter()
            .map(|field| field.data_type.clone())
            .collect()
    }

    /// Sections of runs, by the exact keys of the metas.
    fn sections(&self, files: Vec<DataFileMeta>) -> Result<Vec<Vec<Vec<KeyedFile>>>> {
        let types = self.key_types();
        let types: Vec<&DataType> = types.iter().collect();
        for file in &files {
            for (field, key) in [("_MIN_KEY", &file.min_key), ("_MAX_KEY", &file.max_key)] {
                key.as_ref().datums(&types).map_err(|error| {
                    error
                        .at(Frame::Field(field.into()))
                        .at(Frame::File(file.file_name.clone()))
                })?;
            }
        }
        let files = files
            .into_iter()
            .map(|meta| KeyedFile {
                meta: Arc::new(meta),
            })
            .collect();
        // Both keys decode, so they compare.
        let compare = |a: &BinaryRow, b: &BinaryRow| {
            a.as_ref()
                .compare(b.as_ref(), &types)
                .unwrap_or(Ordering::Equal)
        };
        Ok(interval_partition(files, compare))
    }

    fn section(&self, runs: Vec<Vec<KeyedFile>>) -> Result<Box<dyn PickSource>> {
        if let [run] = runs.as_slice()
            && !self.need_rules.keep_kinds
            && run.iter().all(|file| file.meta.is_known_without_deletes())
        {
            let columns = self.columns(&[], self.shape.predicate.clone())?;
            let files = run.iter().map(|file| Arc::clone(&file.meta)).collect();
            return Ok(Box::new(FilePicks::new(
                self.opener.clone(),
                columns,
                files,
            )));
        }
        let several = runs.len() > 1;
        let user_fields = if several {
            self.user_fields.as_slice()
        } else {
            &[]
        };
        let decoded: Vec<Wanted> = self
            .key_fields
            .iter()
            .chain(user_fields)
            .cloned()
            .map(Wanted::Field)
            .collect();
        let mut available = decoded.clone();
        available.extend(self.need_rules.keep_kinds.then_some(Wanted::Kind));
        let plan = KeyPlan {
            opener: self.opener.clone(),
            columns: self.columns(&available, self.rest.clone())?,
            decoded,
            key_columns: self.key_fields.len(),
            key_types: self.key_types(),
            encoder: KeyEncoder::new(&self.key_types())?,
            user_order: self.user_order(user_fields)?,
            key_predicate: self.key_predicate.clone(),
            batch_size: self.shape.batch_size,
        };
        let runs = self.run_files(runs)?;
        let runs = runs
            .into_iter()
            .map(|files| Run::new(&plan, files))
            .collect::<Result<_>>()?;
        Ok(Box::new(KeyPass::new(plan, self.rules, runs)))
    }

    fn columns(
        &self,
        decoded: &[Wanted],
        condition: Option<TablePredicate>,
    ) -> Result<Arc<ColumnPlan>> {
        let table = &self.opener.context().table.schema;
        ColumnPlan::new(&self.shape, table, decoded, &self.partition, condition).map(Arc::new)
    }

    fn run_files(&self, runs: Vec<Vec<KeyedFile>>) -> Result<Vec<VecDeque<RunFile>>> {
        let files: Vec<&DataFileMeta> = runs.iter().flatten().map(|file| &*file.meta).collect();
        let of_run: Vec<usize> = runs
            .iter()
            .enumerate()
            .flat_map(|(run, files)| std::iter::repeat_n(run, files.len()))
            .collect();
        let mut needs = needs(&files, &of_run, self.need_rules)?.into_iter();
        let mut next = || {
            needs
                .next()
                .ok_or_else(|| Error::internal("needs of a file"))
        };
        let file = |file: KeyedFile, needs: FileNeeds| RunFile {
            meta: file.meta,
            needs,
        };
        runs.into_iter()
            .map(|run| {
                run.into_iter()
                    .map(|keyed| Ok(file(keyed, next()?)))
                    .collect::<Result<VecDeque<_>>>()
            })
            .collect()
    }

    /// Null is smallest in both orders, so it always loses (RP-334).
    fn user_order(&self, fields: &[DataField]) -> Result<Option<RowConverter>> {
        if fields.is_empty() {
            return Ok(None);
        }
        let options = SortOptions {
            descending: self.descending,
            nulls_first: true,
        };
        let fields = fields.iter().map(|field| {
            let arrow = field.data_type.to_arrow(StringLayout::View)?;
            Ok(SortField::new_with_options(arrow, options))
        });
        let fields = fields.collect::<Result<Vec<_>>>()?;
        let converter = RowConverter::new(fields)
            .map_err(|error| Error::unsupported("type of a sequence field").with_source(error))?;
        Ok(Some(converter))
    }
}

/// Divides a condition into conjuncts on key columns alone (RP-323) and the rest.
fn divide(
    predicate: Option<&TablePredicate>,
    is_key: impl Fn(&FieldId) -> bool,
) -> (Option<TablePredicate>, Option<TablePredicate>) {
    let conjuncts = predicate.map(Predicate::conjuncts).unwrap_or_default();
    let (keys, rest): (Vec<_>, Vec<_>) = conjuncts.into_iter().cloned().partition(|conjunct| {
        let columns = conjunct.columns();
        !columns.is_empty() && columns.into_iter().all(&is_key)
    });
    let all = |parts: Vec<TablePredicate>| (!parts.is_empty()).then(|| Predicate::and(parts));
    (all(keys), all(rest))
}
