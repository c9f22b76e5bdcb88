//! From the files of a merge split to the passes of its sections. Facts: RP-301, RP-302, RP-320 to RP-323.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow_row::{RowConverter, SortField};
use arrow_schema::SortOptions;
use paimon_meta::{
    BinaryRow, DataField, DataFileMeta, DataType, Error, FieldId, Frame, MergeEngine, Options,
    Predicate, Result, SortOrder, StringLayout, TablePredicate,
};
use paimon_plan::{KeyRange, interval_partition};

use super::chunk::{KeyPlan, KeyWindows};
use super::key_pass::KeyPass;
use super::keys::KeyEncoder;
use super::needs::{FileNeeds, NeedRules, needs};
use super::picker::Rules;
use super::run::Run;
use super::run_files::run_files;
use crate::columns::{ColumnPlan, PartitionValues, Shape};
use crate::evolve::Wanted;
use crate::files::{FilePicks, FileRows};
use crate::fold::refuses_retracts;
use crate::opens::Opens;
use crate::parts::SpanOf;
use crate::request::RowKinds;
use crate::task::KeySpan;
use crate::window::PickSource;

/// A file with its decoded place in key order.
pub(super) struct KeyedFile {
    pub(super) meta: Arc<DataFileMeta>,
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

/// What is read of a section.
pub(super) struct SectionPlan {
    /// Columns of condition, values and output.
    pub(super) columns: Arc<ColumnPlan>,
    /// What decides between versions; `None` where every row is one of the result.
    pub(super) key_pass: Option<KeyColumns>,
}

/// What a key pass reads.
pub(super) struct KeyColumns {
    /// Key columns, then those of `sequence.field`.
    pub(super) decoded: Vec<Wanted>,
    /// What it reads of each file beside them, in the order of the runs.
    pub(super) needs: Vec<FileNeeds>,
}

/// What all sections of a split share.
pub(super) struct SplitMerge {
    opens: Opens,
    shape: Arc<Shape>,
    partition: PartitionValues,
    key_fields: Vec<DataField>,
    user_fields: Vec<DataField>,
    descending: bool,
    need_rules: NeedRules,
    rules: Rules,
    newest_decides: bool,
    /// Conditions on key columns alone, and the rest.
    key_predicate: Option<TablePredicate>,
    rest: Option<TablePredicate>,
    /// The range of keys that are read.
    span: SpanOf,
}

impl SplitMerge {
    pub(super) fn new(
        opens: Opens,
        shape: &Arc<Shape>,
        partition: PartitionValues,
        span: Option<&KeySpan>,
    ) -> Result<Self> {
        let table = Arc::clone(&opens.opener().context().table);
        let (options, schema) = (&table.options, &table.schema);
        let engine = options.value(&Options::MERGE_ENGINE)?;
        let row_kinds = opens.opener().context().request.row_kinds;
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
                keep_kinds: row_kinds != RowKinds::Drop,
                snapshot_ordering: options.value(&Options::SEQUENCE_SNAPSHOT_ORDERING)?,
            },
            rules: Rules {
                engine,
                ignore_delete: options.value(&Options::IGNORE_DELETE)?,
                lookup: engine != MergeEngine::FirstRow && options.needs_lookup()?,
                refuses_retracts: refuses_retracts(&table)?,
                keep_retracts: row_kinds == RowKinds::Keep,
            },
            newest_decides: false,
            key_predicate,
            rest,
            span: SpanOf::new(span, key_fields.clone())?,
            key_fields,
            opens,
        })
    }

    /// The same where a newest version that is whole is the row of its key, if `decides`.
    pub(super) fn newest_decides(self, decides: bool) -> Self {
        Self {
            newest_decides: decides,
            ..self
        }
    }

    fn key_types(&self) -> Vec<DataType> {
        self.key_fields
            .iter()
            .map(|field| field.data_type.clone())
            .collect()
    }

    /// Sections of runs, by the exact keys of the metas.
    ///
    /// # Errors
    /// `Corrupt` for keys that do not decode.
    pub(super) fn sections(
        &self,
        mut files: Vec<DataFileMeta>,
    ) -> Result<Vec<Vec<Vec<KeyedFile>>>> {
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
        // Both keys decode, so they compare.
        files.retain(|file| self.span.meets(file).unwrap_or(true));
        let files = files
            .into_iter()
            .map(|meta| KeyedFile {
                meta: Arc::new(meta),
            })
            .collect();
        let compare = |a: &BinaryRow, b: &BinaryRow| {
            a.as_ref()
                .compare(b.as_ref(), &types)
                .unwrap_or(Ordering::Equal)
        };
        Ok(interval_partition(files, compare))
    }

    /// Whether the rows of a section are the rows of its files, in order. Files of which only some keys are wanted are not
    /// among them: it takes a key pass to tell which rows have them.
    fn is_plain(&self, runs: &[Vec<KeyedFile>]) -> bool {
        let [run] = runs else { return false };
        let is_whole = |file: &KeyedFile| self.span.holds(&file.meta).unwrap_or(false);
        let has_no_deletes = |file: &KeyedFile| file.meta.is_known_without_deletes();
        !self.need_rules.keep_kinds && run.iter().all(is_whole) && run.iter().all(has_no_deletes)
    }

    /// The same with neighbours that are plain as one, so that their files are opened ahead of each other.
    pub(super) fn joined(&self, sections: Vec<Vec<Vec<KeyedFile>>>) -> Vec<Vec<Vec<KeyedFile>>> {
        let mut joined: Vec<Vec<Vec<KeyedFile>>> = Vec::with_capacity(sections.len());
        for mut section in sections {
            let last = joined.last_mut().filter(|last| self.is_plain(last));
            match (
                last.and_then(|last| last.first_mut()),
                section.as_mut_slice(),
            ) {
                (Some(before), [run]) if self.is_plain(std::slice::from_ref(run)) => {
                    before.append(run);
                }
                _ => joined.push(section),
            }
        }
        joined
    }

    /// What is read of a section, and why.
    ///
    /// # Errors
    /// Those of the columns and of [`needs`].
    pub(super) fn plan_section(&self, runs: &[Vec<KeyedFile>]) -> Result<SectionPlan> {
        if self.is_plain(runs) {
            return Ok(SectionPlan {
                columns: self.columns(&[], self.shape.predicate.clone())?,
                key_pass: None,
            });
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
        Ok(SectionPlan {
            columns: self.columns(&available, self.rest.clone())?,
            key_pass: Some(KeyColumns {
                decoded,
                needs: self.needs(runs)?,
            }),
        })
    }

    /// The picks of a section.
    ///
    /// # Errors
    /// As [`Self::plan_section`].
    pub(super) fn section(&self, runs: Vec<Vec<KeyedFile>>) -> Result<Box<dyn PickSource>> {
        let SectionPlan { columns, key_pass } = self.plan_section(&runs)?;
        let Some(KeyColumns { decoded, needs }) = key_pass else {
            let files = runs.into_iter().flatten().map(|file| FileRows {
                meta: file.meta,
                rows: None,
            });
            let files = files.collect();
            return Ok(Box::new(FilePicks::new(self.opens.clone(), columns, files)));
        };
        let (keys, user_fields) = self.split_decoded(&decoded);
        let encoder = KeyEncoder::new(&self.key_types())?;
        let ordered_key = encoder.own_values().filter(|_| columns.early_is_only(keys));
        let mut columns = Arc::unwrap_or_clone(columns);
        columns.ordered = ordered_key.is_some();
        let plan = KeyPlan {
            opens: self.opens.clone(),
            columns: Arc::new(columns),
            user_order: self.user_order(user_fields)?,
            decoded,
            key_columns: self.key_fields.len(),
            key_types: self.key_types(),
            may_match: self.keys_wanted()?,
            span: self.span_windows(&encoder)?,
            encoder,
            ordered_key,
            key_predicate: self.key_predicate.clone(),
            batch_size: self.shape.batch_size,
            newest_decides: self.newest_decides,
        };
        // Rows that no condition lets pass are not asked for.
        let runs = if plan.columns.nothing_passes {
            Vec::new()
        } else {
            run_files(runs, needs, &plan, &self.span)?
        };
        let runs = runs
            .into_iter()
            .map(|files| Run::new(&plan, files))
            .collect::<Result<_>>()?;
        Ok(Box::new(KeyPass::new(plan, self.rules, runs)))
    }

    fn span_windows(&self, encoder: &KeyEncoder) -> Result<KeyWindows> {
        let window = |key: Option<Vec<_>>| key.map(|key| encoder.encode_one(&key)).transpose();
        let [from, to] = self.span.bounds()?;
        Ok(KeyWindows {
            from: window(from)?,
            to: window(to)?,
        })
    }

    /// The key columns of what a key pass decodes, and those of `sequence.field`.
    pub(super) fn split_decoded<'a>(&self, decoded: &'a [Wanted]) -> (&'a [Wanted], &'a [Wanted]) {
        decoded
            .split_at_checked(self.key_fields.len())
            .unwrap_or((decoded, &[]))
    }

    /// What holds for every key that is wanted: the condition on keys, and the range of the part.
    ///
    /// # Errors
    /// `Corrupt` for bounds of a part that do not decode.
    pub(super) fn keys_wanted(&self) -> Result<Option<TablePredicate>> {
        let conditions = self.key_predicate.clone().into_iter();
        let conditions: Vec<_> = conditions.chain(self.span.condition()?).collect();
        Ok((!conditions.is_empty()).then(|| Predicate::and(conditions)))
    }

    /// The condition on key columns alone.
    pub(super) fn key_predicate(&self) -> Option<&TablePredicate> {
        self.key_predicate.as_ref()
    }

    fn columns(
        &self,
        decoded: &[Wanted],
        condition: Option<TablePredicate>,
    ) -> Result<Arc<ColumnPlan>> {
        let table = &self.opens.opener().context().table.schema;
        ColumnPlan::new(&self.shape, table, decoded, &self.partition, condition).map(Arc::new)
    }

    /// The needs of each file, in the order of the runs.
    fn needs(&self, runs: &[Vec<KeyedFile>]) -> Result<Vec<FileNeeds>> {
        let files: Vec<&DataFileMeta> = runs.iter().flatten().map(|file| &*file.meta).collect();
        let of_run: Vec<usize> = runs
            .iter()
            .enumerate()
            .flat_map(|(run, files)| std::iter::repeat_n(run, files.len()))
            .collect();
        needs(&files, &of_run, self.need_rules)
    }

    /// Null is smallest in both orders, so it always loses (RP-334).
    fn user_order(&self, fields: &[Wanted]) -> Result<Option<RowConverter>> {
        if fields.is_empty() {
            return Ok(None);
        }
        let options = SortOptions {
            descending: self.descending,
            nulls_first: true,
        };
        let fields = fields.iter().filter_map(|column| match column {
            Wanted::Field(field) => Some(field),
            Wanted::Sequence | Wanted::Kind => None,
        });
        let fields = fields.map(|field| {
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
pub(crate) fn divide(
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
