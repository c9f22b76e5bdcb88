//! Aggregate functions on single values, one after the other. Facts: merge-engines section 4.
//!
//! | file | functions |
//! |---|---|
//! | `choice` | those that choose one of the values |
//! | `number` | `sum`, `product` |
//! | `text` | `listagg` |
//! | `list` | `collect` |
//! | `map` | `merge_map`, `merge_map_with_keytime` |
//! | `nested` | `nested_update`, `nested_partial_update` |
//! | `bitmap` | `rbm32` |
//!
//! `rbm64`, `hll_sketch` and `theta_sketch` are refused by name.

mod bitmap;
mod choice;
mod list;
mod map;
mod nested;
mod number;
mod text;

use paimon_meta::{DataField, Error, Frame, MAX_LENGTH, Options, Result, TypeKind};

use crate::cell::Cell;
use choice::Choice;
use list::Collect;
use map::KeyTime;
use nested::{NestedPartialUpdate, NestedUpdate};
use number::Number;
use text::Listagg;

/// What a column of a key is after some of its versions.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Accumulated {
    pub(super) cell: Cell,
    /// Whether a function that looks for a first value has found it. Copying a row into the columns does not change it.
    found: bool,
}

impl Default for Accumulated {
    fn default() -> Self {
        Self {
            cell: Cell::Null,
            found: false,
        }
    }
}

/// The aggregate function of a column, with its options.
#[derive(Clone, Debug)]
pub(super) struct Function {
    name: String,
    column: String,
    ignores_retracts: bool,
    rule: Rule,
}

#[derive(Clone, Debug)]
enum Rule {
    Choice(Choice),
    Sum(Number),
    Product(Number),
    Listagg(Listagg),
    Collect(Collect),
    MergeMap,
    MergeMapWithKeyTime(KeyTime),
    NestedUpdate(NestedUpdate),
    NestedPartialUpdate(NestedPartialUpdate),
    Rbm32,
}

impl Function {
    /// The function that the options name for a column; `None` if they name none.
    ///
    /// # Errors
    /// As [`Self::named`].
    pub(super) fn of(field: &DataField, options: &Options) -> Result<Option<Self>> {
        let own = options.get(&format!("fields.{}.aggregate-function", field.name));
        let name = own.or_else(|| options.get(Options::FIELDS_DEFAULT_AGGREGATE_FUNCTION.key));
        name.map(|name| Self::named(name, field, options))
            .transpose()
    }

    /// The function of that name for a column.
    ///
    /// # Errors
    /// `Unsupported` for functions that the kit does not have; `InvalidInput` for a name that is none (ME-136), a type
    /// that the function does not take, and options that do not fit.
    pub(super) fn named(name: &str, field: &DataField, options: &Options) -> Result<Self> {
        let column = Column { field, options };
        let frame = || Frame::Column(field.name.clone());
        let ignores_retracts = column.flag("ignore-retract")?;
        if ignores_retracts && options.value(&Options::AGGREGATION_REMOVE_RECORD_ON_DELETE)? {
            // ME-092
            let message =
                "ignore-retract and aggregation.remove-record-on-delete exclude each other";
            return Err(Error::invalid_input(message).at(frame()));
        }
        Ok(Self {
            name: name.to_owned(),
            column: field.name.clone(),
            ignores_retracts,
            rule: Rule::named(name, column).map_err(|error| error.at(frame()))?,
        })
    }

    /// A version adds its value.
    ///
    /// # Errors
    /// `Corrupt` if the values do not go together.
    pub(super) fn add(&self, to: &mut Accumulated, input: &Cell) -> Result<()> {
        let old = std::mem::replace(&mut to.cell, Cell::Null);
        to.cell = self.aggregate(&mut to.found, old, input.clone())?;
        Ok(())
    }

    /// A version adds its value that is older than what is there already (ME 4.1, reversed).
    ///
    /// # Errors
    /// As [`Self::add`].
    pub(super) fn add_older(&self, to: &mut Accumulated, input: &Cell) -> Result<()> {
        let newer = std::mem::replace(&mut to.cell, Cell::Null);
        let turns = !matches!(self.rule, Rule::Collect(_)) || self.ignores_retracts;
        to.cell = if turns {
            self.aggregate(&mut to.found, input.clone(), newer)?
        } else {
            self.aggregate(&mut to.found, newer, input.clone())?
        };
        Ok(())
    }

    /// A version takes its value back.
    ///
    /// # Errors
    /// `Corrupt` if the function cannot take values back (ME-135), or not this one.
    pub(super) fn retract(&self, to: &mut Accumulated, input: &Cell) -> Result<()> {
        if self.ignores_retracts {
            return Ok(());
        }
        let old = std::mem::replace(&mut to.cell, Cell::Null);
        to.cell = self.taken_back(old, input.clone())?;
        Ok(())
    }

    fn aggregate(&self, found: &mut bool, old: Cell, input: Cell) -> Result<Cell> {
        match &self.rule {
            Rule::Choice(choice) => choice.add(found, old, input),
            Rule::Collect(collect) => collect.add(old, input),
            Rule::NestedUpdate(nested) => nested.add(old, input),
            Rule::NestedPartialUpdate(nested) => nested.add(old, input),
            rule => match (old, input) {
                (old, Cell::Null) => Ok(old),
                // What is blank is null to this function; it looks at both sides.
                (Cell::Null, input) if !matches!(rule, Rule::Listagg(_)) => Ok(input),
                (old, input) => rule.add_values(old, input),
            },
        }
        .map_err(|error| self.at(error))
    }

    fn taken_back(&self, old: Cell, input: Cell) -> Result<Cell> {
        match &self.rule {
            Rule::Choice(choice) => choice.retract(old, &input),
            Rule::Sum(number) => number.subtract(old, input),
            Rule::Product(number) => number.divide(old, input),
            Rule::Collect(_) => list::retract(old, input),
            Rule::MergeMap => map::retract(old, input),
            Rule::NestedUpdate(nested) => nested.retract(old, input),
            _ => Err(no_retraction()),
        }
        .map_err(|error| self.at(error))
    }

    fn at(&self, error: Error) -> Error {
        error
            .with_detail(format_args!("aggregate function {}", self.name))
            .at(Frame::Column(self.column.clone()))
    }
}

impl Rule {
    fn named(name: &str, column: Column<'_>) -> Result<Self> {
        let kind = &column.field.data_type.kind;
        if let Some(choice) = Choice::named(name) {
            column.takes(name, choice.takes(kind))?;
            return Ok(Self::Choice(choice));
        }
        Ok(match name {
            "sum" => Self::Sum(Number::of(name, column)?),
            "product" => Self::Product(Number::of(name, column)?),
            "listagg" => {
                // ME-115
                column.takes(name, *kind == TypeKind::VarChar(MAX_LENGTH))?;
                Self::Listagg(Listagg::of(column)?)
            }
            "collect" => Self::Collect(Collect::of(column)?),
            "merge_map" => {
                column.takes(name, matches!(kind, TypeKind::Map(..)))?;
                Self::MergeMap
            }
            "merge_map_with_keytime" => Self::MergeMapWithKeyTime(KeyTime::of(column)?),
            "nested_update" => Self::NestedUpdate(NestedUpdate::of(column)?),
            "nested_partial_update" => Self::NestedPartialUpdate(NestedPartialUpdate::of(column)?),
            "rbm32" => {
                // ME-134
                column.takes(name, matches!(kind, TypeKind::VarBinary(_)))?;
                Self::Rbm32
            }
            "rbm64" | "hll_sketch" | "theta_sketch" => {
                return Err(Error::unsupported(format!(
                    "aggregate function {name} in the test kit"
                )));
            }
            _ => {
                let message = format!("aggregate function {name} is not known");
                return Err(Error::invalid_input(message));
            }
        })
    }

    /// For functions that pass over nulls: neither value is one, but the older one of `listagg` may be.
    fn add_values(&self, old: Cell, input: Cell) -> Result<Cell> {
        match self {
            Self::Sum(number) => number.sum(&old, &input),
            Self::Product(number) => number.product(&old, &input),
            Self::Listagg(listagg) => listagg.add(old, input),
            Self::MergeMap => map::add(old, input),
            Self::MergeMapWithKeyTime(rule) => rule.add(old, input),
            Self::Rbm32 => bitmap::union(&old, &input),
            other => Err(Error::internal(format!("{other:?} looks at nulls itself"))),
        }
    }
}

/// A column and what the options say of it.
#[derive(Clone, Copy, Debug)]
struct Column<'a> {
    field: &'a DataField,
    options: &'a Options,
}

impl<'a> Column<'a> {
    fn key(self, option: &str) -> String {
        format!("fields.{}.{option}", self.field.name)
    }

    fn text(self, option: &str) -> Option<&'a str> {
        self.options.get(&self.key(option))
    }

    fn flag(self, option: &str) -> Result<bool> {
        self.options.boolean(&self.key(option), false)
    }

    /// Positions of the fields that an option names, trimmed.
    fn positions(self, option: &str, fields: &[DataField]) -> Result<Vec<usize>> {
        let text = self.text(option).unwrap_or_default().trim_end_matches(',');
        let names = text.split(',').map(str::trim).filter(|_| !text.is_empty());
        let position = |name: &str| {
            let position = fields.iter().position(|field| field.name == name);
            position.ok_or_else(|| {
                Error::invalid_input(format!("{option} names {name}, which is no field"))
            })
        };
        names.map(position).collect()
    }

    fn takes(self, name: &str, fits: bool) -> Result<()> {
        if fits {
            return Ok(());
        }
        let found = &self.field.data_type;
        Err(Error::invalid_input(format!(
            "aggregate function {name} does not take {found}"
        )))
    }
}

/// The function cannot take values back.
fn no_retraction() -> Error {
    Error::corrupt("retraction without support for it")
}

/// A value of another form than the type of its column has.
fn of_another_type(cell: &Cell) -> Error {
    Error::internal(format!("{cell:?} is no value of the column"))
}

#[cfg(test)]
mod tests;
