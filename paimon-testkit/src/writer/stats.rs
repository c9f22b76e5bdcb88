//! Statistics of columns, as the reference collects them (TF section 4.6).

use paimon_meta::{
    DataField, DataType, Datum, Error, Options, Result, SimpleStats, TypeKind, encode_row,
};

use super::layout::WriterVersion;
use crate::cell::Cell;
use crate::oracle::order;

/// What is collected of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StatsMode {
    None,
    Counts,
    Truncate(usize),
    Full,
}

/// The statistics of the value columns and, where they are stored densely and are not those of all, their names.
pub(super) type ValueStats = (SimpleStats, Option<Vec<String>>);

impl StatsMode {
    /// Mode of key columns and system columns.
    pub(super) const SYSTEM: Self = Self::Truncate(128);

    fn parse(text: &str) -> Result<Self> {
        let wrong = || Error::invalid_input(format!("no stats mode: {text:?}"));
        let lower = text.to_ascii_lowercase();
        Ok(match lower.as_str() {
            "none" => Self::None,
            "counts" => Self::Counts,
            "full" => Self::Full,
            other => {
                let length = other
                    .strip_prefix("truncate(")
                    .and_then(|rest| rest.strip_suffix(')'))
                    .ok_or_else(wrong)?;
                Self::Truncate(length.trim().parse().map_err(|_| wrong())?)
            }
        })
    }

    fn of(field: &DataField, options: &Options) -> Result<Self> {
        let own = options.get(&format!("fields.{}.stats-mode", field.name));
        let text = own.or_else(|| options.get("metadata.stats-mode"));
        text.map_or(Ok(Self::Truncate(16)), Self::parse)
    }
}

/// Statistics of no column. The reference insists on the list of null counts.
pub(super) fn no_stats() -> SimpleStats {
    SimpleStats {
        null_counts: Some(Vec::new()),
        ..SimpleStats::default()
    }
}

/// Statistics of the value columns.
pub(super) fn value_stats(
    fields: &[DataField],
    columns: &[Vec<Cell>],
    options: &Options,
    version: WriterVersion,
) -> Result<ValueStats> {
    let dense =
        version >= WriterVersion::V1_0 && options.boolean("metadata.stats-dense-store", true)?;
    let mut kept = Vec::new();
    for (field, cells) in fields.iter().zip(columns) {
        let mode = StatsMode::of(field, options)?;
        if mode != StatsMode::None || !dense {
            kept.push((field, cells.as_slice(), mode));
        }
    }
    let names = (dense && kept.len() < fields.len())
        .then(|| kept.iter().map(|(field, ..)| field.name.clone()).collect());
    let columns = kept
        .iter()
        .map(|(field, cells, mode)| (&field.data_type, *cells, *mode));
    Ok((stats(columns, version)?, names))
}

/// Statistics of columns.
pub(super) fn stats<'a>(
    columns: impl Iterator<Item = (&'a DataType, &'a [Cell], StatsMode)>,
    version: WriterVersion,
) -> Result<SimpleStats> {
    let (mut types, mut min, mut max, mut nulls) = (vec![], vec![], vec![], vec![]);
    for (data_type, cells, mode) in columns {
        let (low, high) = bounds(cells, data_type, mode, version);
        let counted = mode != StatsMode::None && data_type.kind.is_scalar();
        let null = cells.iter().filter(|cell| **cell == Cell::Null).count();
        types.push(data_type);
        min.push(low);
        max.push(high);
        nulls.push(counted.then(|| i64::try_from(null).unwrap_or(i64::MAX)));
    }
    Ok(SimpleStats {
        min_values: encode_row(&types, &min)?,
        max_values: encode_row(&types, &max)?,
        null_counts: Some(nulls),
    })
}

/// Smallest and largest value, shortened; null where there are none.
fn bounds(
    cells: &[Cell],
    data_type: &DataType,
    mode: StatsMode,
    version: WriterVersion,
) -> (Option<Datum>, Option<Datum>) {
    let length = match mode {
        StatsMode::None | StatsMode::Counts => return (None, None),
        StatsMode::Truncate(length) => length,
        StatsMode::Full => usize::MAX,
    };
    match data_type.kind {
        TypeKind::Timestamp(7..) | TypeKind::LocalZonedTimestamp(7..) => return (None, None),
        TypeKind::Binary(_) | TypeKind::VarBinary(_) if version < WriterVersion::V2_1 => {
            return (None, None);
        }
        _ => {}
    }
    let values = || cells.iter().filter_map(Cell::datum);
    let min = values().min_by(|a, b| order(Some(a), Some(b)));
    let max = values().max_by(|a, b| order(Some(a), Some(b)));
    match (min, max.and_then(|max| shortened_up(max, length))) {
        (Some(min), Some(max)) => (Some(shortened(min, length)), Some(max)),
        _ => (None, None),
    }
}

/// The first characters or bytes.
fn shortened(value: &Datum, length: usize) -> Datum {
    match value {
        Datum::String(text) => Datum::String(text.chars().take(length).collect()),
        Datum::Binary(bytes) => Datum::Binary(bytes.iter().take(length).copied().collect()),
        other => other.clone(),
    }
}

/// The first characters or bytes, made larger than all that begin with them; `None` if there is no such value.
fn shortened_up(value: &Datum, length: usize) -> Option<Datum> {
    match value {
        Datum::String(text) if text.chars().nth(length).is_some() => {
            let mut chars: Vec<char> = text.chars().take(length).collect();
            while let Some(last) = chars.pop() {
                if let Some(next) = char::from_u32(u32::from(last) + 1) {
                    chars.push(next);
                    return Some(Datum::String(chars.into_iter().collect()));
                }
            }
            None
        }
        Datum::Binary(bytes) if bytes.len() > length => {
            let mut bytes: Vec<u8> = bytes.iter().take(length).copied().collect();
            while let Some(last) = bytes.pop() {
                if let Some(next) = last.checked_add(1) {
                    bytes.push(next);
                    return Some(Datum::Binary(bytes));
                }
            }
            None
        }
        other => Some(other.clone()),
    }
}
