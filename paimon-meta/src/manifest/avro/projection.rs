//! What is wanted of a file, as schemas for the decoder.
//!
//! The decoder gets two, for the bytes as they are and for the wanted part of them. Both are free of what writers
//! differ in and decoding does not need: names of records and references to them, namespaces, defaults, logical types.

use serde_json::{Value, json};

use super::super::entries::{Field, Want};
use super::SYNC_BYTES;
use super::schema::Type;
use crate::error::{Error, Frame, Result, ResultExt};

/// The name of what a field must be in an Avro schema.
fn avro_name(want: Want) -> &'static str {
    match want {
        Want::Int => "int",
        Want::Long | Want::Millis => "long",
        Want::Bytes => "bytes",
        Want::Text => "string",
        Want::List(_) => "array",
        Want::Record(_) => "record",
    }
}

/// The two schemas for the decoder: records `{entries: array<entry>, end: fixed}`.
pub(super) struct Projection {
    pub(super) writer: String,
    pub(super) reader: String,
    /// What an entry takes at least.
    pub(super) min_entry_bytes: u64,
}

impl Projection {
    pub(super) fn new(writer_json: &[u8], wanted: &[Field], unwanted: &[&str]) -> Result<Self> {
        let entry = Type::parse(writer_json)?;
        let min_entry_bytes = entry.min_bytes();
        if min_entry_bytes == 0 {
            return Err(Error::corrupt("avro schema has entries without bytes"));
        }
        let mut printer = Printer {
            records: 0,
            unwanted,
        };
        let (writer, reader) = printer.wanted_entry(&entry, wanted)?;
        Ok(Self {
            writer: array_record(writer),
            reader: array_record(reader),
            min_entry_bytes,
        })
    }
}

fn array_record(entry: Value) -> String {
    json!({"type": "record", "name": "entries", "fields": [
        {"name": "entries", "type": {"type": "array", "items": entry}},
        {"name": "end", "type": {"type": "fixed", "name": "end", "size": SYNC_BYTES}},
    ]})
    .to_string()
}

/// Writes types for the decoder. Records get numbers for names.
struct Printer<'a> {
    records: usize,
    unwanted: &'a [&'a str],
}

impl Printer<'_> {
    fn record_name(&mut self) -> String {
        self.records += 1;
        format!("r{}", self.records)
    }

    /// An entry: a record, or a union of null with one.
    fn wanted_entry(&mut self, entry: &Type, wanted: &[Field]) -> Result<(Value, Value)> {
        self.nullable(entry, "record", |printer, entry| match entry {
            Type::Record(fields) => Some(printer.wanted_record(fields, wanted)),
            _ => None,
        })
    }

    /// A type as it is written and as it is wanted.
    fn wanted(&mut self, written: &Type, want: Want) -> Result<(Value, Value)> {
        self.nullable(written, avro_name(want), |printer, written| {
            match (written, want) {
                (Type::Int, Want::Int)
                | (Type::Long, Want::Long | Want::Millis)
                | (Type::Bytes, Want::Bytes)
                | (Type::Text, Want::Text) => {
                    Some(Ok((json!(avro_name(want)), json!(avro_name(want)))))
                }
                (Type::Int, Want::Long | Want::Millis) => Some(Ok((json!("int"), json!("long")))),
                (Type::Array(item), Want::List(want)) => {
                    Some(printer.wanted(item, *want).map(|(writer, reader)| {
                        let array = |items| json!({"type": "array", "items": items});
                        (array(writer), array(reader))
                    }))
                }
                (Type::Record(fields), Want::Record(wanted)) => {
                    Some(printer.wanted_record(fields, wanted))
                }
                _ => None,
            }
        })
    }

    /// Gives `print` the type itself or the type beside null; an error if it finds no way to print it.
    fn nullable(
        &mut self,
        written: &Type,
        expected: &str,
        print: impl FnOnce(&mut Self, &Type) -> Option<Result<(Value, Value)>>,
    ) -> Result<(Value, Value)> {
        let (inner, null_at) = match written {
            Type::Union(branches) => match branches.as_slice() {
                [Type::Null, inner] => (inner, Some(0)),
                [inner, Type::Null] => (inner, Some(1)),
                _ => (written, None),
            },
            _ => (written, None),
        };
        let Some(printed) = print(self, inner) else {
            let found = inner.name();
            return Err(Error::corrupt(format!(
                "avro type is {found}, expected {expected}"
            )));
        };
        let (writer, reader) = printed?;
        Ok(match null_at {
            Some(0) => (json!(["null", writer]), json!(["null", reader])),
            Some(_) => (json!([writer, "null"]), json!([reader, "null"])),
            None => (writer, reader),
        })
    }

    fn wanted_record(
        &mut self,
        fields: &[(String, Type)],
        wanted: &[Field],
    ) -> Result<(Value, Value)> {
        let record = self.record_name();
        let (mut writer, mut reader) = (Vec::new(), Vec::new());
        let mut found: Vec<&str> = Vec::new();
        for (index, (name, field)) in fields.iter().enumerate() {
            let want = wanted.iter().find(|(wanted, _)| wanted == name);
            match want {
                Some((name, want)) if !self.unwanted.contains(name) && !found.contains(name) => {
                    found.push(name);
                    let (written, read) = self
                        .wanted(field, *want)
                        .at(|| Frame::Field((*name).to_owned()))?;
                    writer.push(json!({"name": name, "type": written}));
                    reader.push(json!({"name": name, "type": read}));
                }
                _ => {
                    let skipped = self.skipped(field);
                    writer.push(json!({"name": format!("skipped{index}"), "type": skipped}));
                }
            }
        }
        let print = |fields| json!({"type": "record", "name": record, "fields": fields});
        Ok((print(writer), print(reader)))
    }

    fn skipped(&mut self, written: &Type) -> Value {
        match written {
            Type::OtherLong => json!("long"),
            Type::Fixed(size) => {
                json!({"type": "fixed", "name": self.record_name(), "size": size})
            }
            Type::Array(item) => json!({"type": "array", "items": self.skipped(item)}),
            Type::Map(item) => json!({"type": "map", "values": self.skipped(item)}),
            Type::Record(fields) => {
                let name = self.record_name();
                let fields: Vec<_> = fields
                    .iter()
                    .enumerate()
                    .map(|(index, (_, field))| {
                        json!({"name": format!("f{index}"), "type": self.skipped(field)})
                    })
                    .collect();
                json!({"type": "record", "name": name, "fields": fields})
            }
            Type::Union(branches) => branches
                .iter()
                .map(|branch| self.skipped(branch))
                .collect::<Vec<_>>()
                .into(),
            plain => json!(plain.name()),
        }
    }
}
