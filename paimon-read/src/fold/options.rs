//! What the options of a table say of merging versions. Facts: merge-engines sections 2.2, 2.3 and 3.1.

use paimon_meta::{DataField, Error, FieldId, Frame, Options, ResolvedTable, Result, TableSchema};

/// Sequence columns and the columns that they protect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SequenceGroup {
    /// Columns that say which version is newer, compared in this order.
    pub(crate) sequence: Vec<FieldId>,
    /// Columns that follow them.
    pub(crate) protected: Vec<FieldId>,
    /// A delete that is newer removes the row (ME-070).
    pub(crate) removes: bool,
}

impl SequenceGroup {
    pub(crate) fn has(&self, id: FieldId) -> bool {
        self.sequence.contains(&id) || self.protected.contains(&id)
    }
}

/// The options of merge engine `partial-update`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PartialUpdateOptions {
    /// Retracts do not take part, but for the base that a first one gives (ME-048).
    pub(crate) ignore_delete: bool,
    /// A delete removes the row (ME-050).
    pub(crate) remove_on_delete: bool,
    /// Sequence groups.
    pub(crate) groups: Vec<SequenceGroup>,
}

impl PartialUpdateOptions {
    /// Reads and checks them.
    ///
    /// # Errors
    /// `InvalidInput` that names the option, for what the reference does not take either; also for sequence columns that
    /// two groups share or protect, of which the reference finds some (ME section 3.1).
    pub(crate) fn of(table: &ResolvedTable) -> Result<Self> {
        let options = &table.options;
        let read = Self {
            ignore_delete: options.value(&Options::IGNORE_DELETE)?,
            remove_on_delete: options.value(&Options::PARTIAL_UPDATE_REMOVE_RECORD_ON_DELETE)?,
            groups: sequence_groups(table)?,
        };
        read.check_removal()?;
        for field in &table.schema.fields {
            read.check_function(field, table)?;
        }
        Ok(read)
    }

    /// Whether a retract among several versions is an error (ME-046).
    pub(crate) fn refuses_retracts(&self) -> bool {
        !self.ignore_delete && !self.remove_on_delete && self.groups.is_empty()
    }

    /// ME-055, ME-084
    fn check_removal(&self) -> Result<()> {
        let on_delete = Options::PARTIAL_UPDATE_REMOVE_RECORD_ON_DELETE.key;
        let on_group = Options::PARTIAL_UPDATE_REMOVE_RECORD_ON_SEQUENCE_GROUP.key;
        let removes = self.groups.iter().any(|group| group.removes);
        let conflict = match (self.ignore_delete, self.remove_on_delete) {
            (true, true) => Some((on_delete, Options::IGNORE_DELETE.key)),
            (true, false) if removes => Some((on_group, Options::IGNORE_DELETE.key)),
            (false, true) if !self.groups.is_empty() => Some((on_delete, "sequence groups")),
            _ => None,
        };
        match conflict {
            None => Ok(()),
            Some((option, other)) => {
                let message = format!("{option} and {other} exclude each other");
                Err(Error::invalid_input(message).at(Frame::Option(option.to_owned())))
            }
        }
    }

    /// ME-080
    fn check_function(&self, field: &DataField, table: &ResolvedTable) -> Result<()> {
        let grouped = self.groups.iter().any(|group| group.has(field.id));
        if grouped || table.schema.primary_keys.contains(&field.name) {
            return Ok(());
        }
        match function_name(&table.options, field) {
            None | Some("last_non_null_value") => Ok(()),
            Some(function) => {
                let message = format!(
                    "aggregate function {function} of partial-update needs a sequence group, found \
                     none that protects the column"
                );
                Err(Error::invalid_input(message).at(Frame::Column(field.name.clone())))
            }
        }
    }
}

/// That no column which options of columns name had another name in the schema of the read: options are those of today,
/// and under time travel the schema is not (RP-013), so what they say of the column would be lost.
///
/// # Errors
/// `InvalidInput` that names the option.
pub(crate) fn check_renames(table: &ResolvedTable) -> Result<()> {
    let (schema, Some((_, newest))) = (&table.schema, table.schemas.last_key_value()) else {
        return Ok(());
    };
    for key in table.options.0.keys() {
        let columns = key.strip_prefix("fields.");
        let Some((columns, _)) = columns.and_then(|columns| columns.rsplit_once('.')) else {
            continue;
        };
        let missing = columns
            .split(',')
            .filter(|name| schema.field(name).is_err());
        for name in missing {
            let renamed = newest.field(name).ok();
            if let Some(old) = renamed.and_then(|field| schema.field_by_id(field.id)) {
                let message = format!("column '{name}' was called '{}' then", old.name);
                return Err(Error::invalid_input(message).at(Frame::Option(key.clone())));
            }
        }
    }
    Ok(())
}

/// The aggregate function that the options name for a column.
pub(crate) fn function_name<'a>(options: &'a Options, field: &DataField) -> Option<&'a str> {
    let own = options.get(&format!("fields.{}.aggregate-function", field.name));
    own.or_else(|| options.get(Options::FIELDS_DEFAULT_AGGREGATE_FUNCTION.key))
}

const PREFIX: &str = "fields";
const SUFFIX: &str = "sequence-group";

fn sequence_groups(table: &ResolvedTable) -> Result<Vec<SequenceGroup>> {
    let (options, schema) = (&table.options, &table.schema);
    let mut groups: Vec<SequenceGroup> = Vec::new();
    for (key, protected) in &options.0 {
        if !key.starts_with(PREFIX) || !key.ends_with(SUFFIX) {
            continue;
        }
        let frame = || Frame::Option(key.clone());
        let group = group_of(key, protected, schema).map_err(|error| error.at(frame()))?;
        let twice = group.columns().find(|id| {
            let own = group.columns().filter(|other| other == id).count();
            own > 1 || groups.iter().any(|known| known.has(*id))
        });
        if let Some(id) = twice {
            let name = schema.field_by_id(id).map_or("", |field| &field.name);
            let message = format!("column {name} is in sequence groups twice");
            return Err(Error::invalid_input(message).at(frame()));
        }
        groups.push(group);
    }
    let option = &Options::PARTIAL_UPDATE_REMOVE_RECORD_ON_SEQUENCE_GROUP;
    for name in options.value(option)? {
        // ME-085
        let id = schema.fields.iter().find(|field| field.name == name);
        let group = id.and_then(|field| {
            groups
                .iter_mut()
                .find(|group| group.sequence.contains(&field.id))
        });
        match group {
            Some(group) => group.removes = true,
            None => {
                let message = format!("{name} is no sequence column of a sequence group");
                return Err(Error::invalid_input(message).at(Frame::Option(option.key.to_owned())));
            }
        }
    }
    Ok(groups)
}

impl SequenceGroup {
    fn columns(&self) -> impl Iterator<Item = FieldId> + '_ {
        self.sequence.iter().chain(&self.protected).copied()
    }
}

fn group_of(key: &str, protected: &str, schema: &TableSchema) -> Result<SequenceGroup> {
    let sequence = key
        .strip_prefix(PREFIX)
        .and_then(|rest| rest.strip_prefix('.'))
        .and_then(|rest| rest.strip_suffix(SUFFIX))
        .and_then(|rest| rest.strip_suffix('.'));
    let Some(sequence) = sequence else {
        let message = "expected fields.<columns>.sequence-group";
        return Err(Error::invalid_input(message));
    };
    Ok(SequenceGroup {
        sequence: columns(sequence, schema)?,
        protected: columns(protected, schema)?,
        removes: false,
    })
}

/// Names with commas, not trimmed (ME-076); empty names at the end do not count.
fn columns(names: &str, schema: &TableSchema) -> Result<Vec<FieldId>> {
    let names = names.trim_end_matches(',').split(',');
    let field = |name: &str| {
        let field = schema.fields.iter().find(|field| field.name == name);
        let Some(field) = field else {
            let message = format!("the table has no column '{name}'");
            return Err(Error::invalid_input(message));
        };
        // ME-075
        if schema.primary_keys.contains(&field.name) {
            let message = format!("column {name} is part of the primary key");
            return Err(Error::invalid_input(message));
        }
        Ok(field.id)
    };
    names.map(field).collect()
}
