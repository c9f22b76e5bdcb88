//! The schema in the header of a file, as far as the bytes of values go.

use std::collections::HashMap;

use paimon_meta::{Error, Result};
use serde_json::Value;

use super::cursor::Cursor;

/// Depth of types in a schema, references resolved.
const MAX_DEPTH: usize = 64;
/// Types in a schema, references resolved: a record that is named over and over may not blow the schema up.
const MAX_TYPES: usize = 100_000;

/// A type, as far as its bytes and their meaning go.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Type {
    Null,
    Boolean,
    Int(Meaning),
    Long(Meaning),
    Float,
    Double,
    Bytes(Meaning),
    Text,
    Fixed(usize, Meaning),
    Array(Box<Type>),
    /// Keys are text.
    Map(Box<Type>),
    Record(Vec<Field>),
    Union(Vec<Type>),
}

/// What a number or bytes stand for (the logical type); those that are not listed mean nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Plain,
    /// Unscaled value with so many digits after the point.
    Decimal(i32),
    /// Zoned and local ones alike (TF-081): which is which is said by the table.
    Millis,
    Micros,
    Nanos,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) data_type: Type,
}

impl Type {
    /// The type of the records in a file.
    ///
    /// # Errors
    /// `Corrupt` if it is no schema.
    pub(super) fn parse(json: &[u8]) -> Result<Self> {
        let json: Value = serde_json::from_slice(json)
            .map_err(|error| Error::corrupt("avro schema is not JSON").with_source(error))?;
        Parser::default().parse(&json, "", 0)
    }

    /// The fewest bytes of a value.
    pub(super) fn least_bytes(&self) -> usize {
        match self {
            Self::Null => 0,
            Self::Float => 4,
            Self::Double => 8,
            Self::Fixed(size, _) => *size,
            Self::Record(fields) => fields.iter().fold(0, |sum: usize, field| {
                sum.saturating_add(field.data_type.least_bytes())
            }),
            _ => 1,
        }
    }

    /// Steps over a value.
    ///
    /// # Errors
    /// `Corrupt` if the value is not whole.
    pub(super) fn skip(&self, cursor: &mut Cursor<'_>) -> Result<()> {
        match self {
            Self::Null => {}
            Self::Boolean => {
                cursor.take(1)?;
            }
            Self::Int(_) | Self::Long(_) => {
                cursor.long()?;
            }
            Self::Float => {
                cursor.take(4)?;
            }
            Self::Double => {
                cursor.take(8)?;
            }
            Self::Bytes(_) | Self::Text => {
                cursor.bytes()?;
            }
            Self::Fixed(size, _) => {
                cursor.take(*size)?;
            }
            Self::Array(item) => skip_items(cursor, item, false)?,
            Self::Map(value) => skip_items(cursor, value, true)?,
            Self::Record(fields) => {
                for field in fields {
                    field.data_type.skip(cursor)?;
                }
            }
            Self::Union(branches) => branch(branches, cursor)?.skip(cursor)?,
        }
        Ok(())
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Int(_) => "int",
            Self::Long(_) => "long",
            Self::Float => "float",
            Self::Double => "double",
            Self::Bytes(_) => "bytes",
            Self::Text => "string",
            Self::Fixed(..) => "fixed",
            Self::Array(_) => "array",
            Self::Map(_) => "map",
            Self::Record(_) => "record",
            Self::Union(_) => "union",
        }
    }
}

fn skip_items(cursor: &mut Cursor<'_>, item: &Type, keyed: bool) -> Result<()> {
    let least = item.least_bytes() + usize::from(keyed);
    loop {
        let count = cursor.long()?;
        if count == 0 {
            return Ok(());
        }
        if count < 0 {
            let bytes = cursor.long()?;
            let bytes = usize::try_from(bytes)
                .map_err(|_| Error::corrupt(format!("block of {bytes} bytes")))?;
            cursor.take(bytes)?;
        } else if least > 0 {
            for _ in 0..count {
                if keyed {
                    cursor.bytes()?;
                }
                item.skip(cursor)?;
            }
        }
    }
}

/// The branch of a union that the next value has.
#[inline]
pub(super) fn branch<'a>(branches: &'a [Type], cursor: &mut Cursor<'_>) -> Result<&'a Type> {
    let index = cursor.long()?;
    usize::try_from(index)
        .ok()
        .and_then(|index| branches.get(index))
        .ok_or_else(|| Error::corrupt(format!("branch {index} of a union of {}", branches.len())))
}

#[derive(Default)]
struct Parser {
    /// By full name.
    named: HashMap<String, Type>,
    types: usize,
}

impl Parser {
    fn parse(&mut self, json: &Value, namespace: &str, depth: usize) -> Result<Type> {
        self.types += 1;
        if depth > MAX_DEPTH || self.types > MAX_TYPES {
            return Err(Error::corrupt("avro schema is too deep or too large"));
        }
        match json {
            Value::String(name) => self.by_name(name, namespace),
            Value::Array(branches) => {
                let branches = branches
                    .iter()
                    .map(|branch| self.parse(branch, namespace, depth + 1));
                Ok(Type::Union(branches.collect::<Result<_>>()?))
            }
            Value::Object(_) => self.complex(json, namespace, depth),
            _ => Err(bad(json)),
        }
    }

    fn by_name(&mut self, name: &str, namespace: &str) -> Result<Type> {
        if let Some(primitive) = primitive(name, Meaning::Plain) {
            return Ok(primitive);
        }
        let full = full_name(name, namespace);
        let known = self.named.get(&full).or_else(|| self.named.get(name));
        let known =
            known.ok_or_else(|| Error::corrupt(format!("avro type {name} is not known")))?;
        self.types += size(known);
        Ok(known.clone())
    }

    fn complex(&mut self, json: &Value, namespace: &str, depth: usize) -> Result<Type> {
        let kind = json.get("type").ok_or_else(|| bad(json))?;
        let Value::String(kind) = kind else {
            return self.parse(kind, namespace, depth + 1);
        };
        let member = |name: &str| json.get(name).ok_or_else(|| bad(json));
        match kind.as_str() {
            "array" => {
                let items = self.parse(member("items")?, namespace, depth + 1)?;
                Ok(Type::Array(Box::new(items)))
            }
            "map" => {
                let values = self.parse(member("values")?, namespace, depth + 1)?;
                Ok(Type::Map(Box::new(values)))
            }
            "record" | "error" | "fixed" | "enum" => self.named(json, kind, namespace, depth),
            kind => match primitive(kind, meaning(json)) {
                Some(primitive) => Ok(primitive),
                None => self.by_name(kind, namespace),
            },
        }
    }

    fn named(&mut self, json: &Value, kind: &str, namespace: &str, depth: usize) -> Result<Type> {
        let text = |name: &str| json.get(name).and_then(Value::as_str);
        let name = text("name").ok_or_else(|| bad(json))?;
        let full = full_name(name, text("namespace").unwrap_or(namespace));
        let inner = full.rsplit_once('.').map_or("", |(namespace, _)| namespace);
        let data_type = match kind {
            "fixed" => {
                let size = json.get("size").and_then(Value::as_u64);
                let size = size.and_then(|size| usize::try_from(size).ok());
                Type::Fixed(size.ok_or_else(|| bad(json))?, meaning(json))
            }
            "enum" => Type::Int(Meaning::Plain),
            _ => {
                let fields = json.get("fields").and_then(Value::as_array);
                let fields = fields.ok_or_else(|| bad(json))?.iter().map(|field| {
                    let name = field.get("name").and_then(Value::as_str);
                    let data_type = field.get("type").ok_or_else(|| bad(field))?;
                    Ok(Field {
                        name: name.ok_or_else(|| bad(field))?.to_owned(),
                        data_type: self.parse(data_type, inner, depth + 1)?,
                    })
                });
                Type::Record(fields.collect::<Result<_>>()?)
            }
        };
        self.named.insert(full, data_type.clone());
        Ok(data_type)
    }
}

fn primitive(name: &str, meaning: Meaning) -> Option<Type> {
    Some(match name {
        "null" => Type::Null,
        "boolean" => Type::Boolean,
        "int" => Type::Int(meaning),
        "long" => Type::Long(meaning),
        "float" => Type::Float,
        "double" => Type::Double,
        "bytes" => Type::Bytes(meaning),
        "string" => Type::Text,
        _ => return None,
    })
}

fn meaning(json: &Value) -> Meaning {
    let logical = json.get("logicalType").and_then(Value::as_str);
    match logical.unwrap_or_default() {
        "decimal" => {
            let scale = json.get("scale").and_then(Value::as_i64).unwrap_or(0);
            Meaning::Decimal(i32::try_from(scale).unwrap_or(i32::MAX))
        }
        "time-millis" | "timestamp-millis" | "local-timestamp-millis" => Meaning::Millis,
        "time-micros" | "timestamp-micros" | "local-timestamp-micros" => Meaning::Micros,
        "timestamp-nanos" | "local-timestamp-nanos" => Meaning::Nanos,
        _ => Meaning::Plain,
    }
}

fn full_name(name: &str, namespace: &str) -> String {
    if name.contains('.') || namespace.is_empty() {
        name.to_owned()
    } else {
        format!("{namespace}.{name}")
    }
}

fn size(data_type: &Type) -> usize {
    let inner: usize = match data_type {
        Type::Array(inner) | Type::Map(inner) => size(inner),
        Type::Record(fields) => fields.iter().map(|field| size(&field.data_type)).sum(),
        Type::Union(branches) => branches.iter().map(size).sum(),
        _ => 0,
    };
    inner + 1
}

fn bad(json: &Value) -> Error {
    let mut text = json.to_string();
    if let Some((cut, _)) = text.char_indices().nth(80) {
        text.truncate(cut);
    }
    Error::corrupt(format!("avro schema has {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_the_namespace_of_their_record() {
        let schema = br#"{"type": "record", "name": "r", "namespace": "a.b", "fields": [
            {"name": "x", "type": {"type": "record", "name": "s", "fields": [{"name": "y", "type": "int"}]}},
            {"name": "z", "type": ["null", "s"]}, {"name": "w", "type": "a.b.s"}]}"#;
        let Type::Record(fields) = Type::parse(schema).unwrap() else {
            panic!("no record")
        };
        let inner = &fields[0].data_type;
        assert_eq!(
            fields[1].data_type,
            Type::Union(vec![Type::Null, inner.clone()])
        );
        assert_eq!(&fields[2].data_type, inner);
    }

    #[test]
    fn what_is_no_schema_is_corrupt() {
        let deep = "[".repeat(100) + &"]".repeat(100);
        let wide = (0..20).fold(
            String::from(r#"{"name": "f", "type": "int"}"#),
            |inner, level| {
                let record =
                    format!(r#"{{"type": "record", "name": "r{level}", "fields": [{inner}]}}"#);
                format!(r#"{{"name": "a", "type": {record}}}, {{"name": "b", "type": "r{level}"}}"#)
            },
        );
        let wide = format!(r#"{{"type": "record", "name": "top", "fields": [{wide}]}}"#);
        for schema in [
            "",
            "7",
            r#""unknown""#,
            r#"{"type": "record"}"#,
            &deep,
            &wide,
        ] {
            assert!(Type::parse(schema.as_bytes()).is_err(), "{schema}");
        }
    }

    #[test]
    fn values_of_all_types_are_stepped_over() {
        let schema = br#"{"type": "record", "name": "r", "fields": [
            {"name": "a", "type": ["null", {"type": "array", "items": "null"}]},
            {"name": "m", "type": {"type": "map", "values": "double"}},
            {"name": "f", "type": {"type": "fixed", "name": "f", "size": 3}},
            {"name": "e", "type": {"type": "enum", "name": "e", "symbols": ["A"]}}]}"#;
        let schema = Type::parse(schema).unwrap();
        // A block of 2^40 nulls, a block of the map by its size, then one by one.
        let nulls = [2, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40, 0];
        let map = [
            &[1, 6, 1, 2, 3][..],
            &[2, 2, b'k', 0, 0, 0, 0, 0, 0, 0, 0, 0],
        ]
        .concat();
        let bytes = [&nulls[..], &map, b"abc", &[0], b"next"].concat();
        let mut cursor = Cursor::new(&bytes);
        schema.skip(&mut cursor).unwrap();
        assert_eq!(cursor.rest, b"next");
        for length in 0..bytes.len() - 4 {
            assert!(schema.skip(&mut Cursor::new(&bytes[..length])).is_err());
        }
    }
}
