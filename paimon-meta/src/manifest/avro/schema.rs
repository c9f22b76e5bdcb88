//! Schemas of container files, as far as the bytes of values go.

use std::collections::HashMap;

use serde_json::Value;

use crate::error::{Error, Frame, Result, ResultExt};

/// Depth of types in a schema, references resolved. Manifests of the reference have 6.
const MAX_DEPTH: usize = 24;
/// Types in a schema, references resolved. Manifests of the reference have about 60.
const MAX_TYPES: usize = 4096;

/// A type, as far as its bytes go.
#[derive(Clone)]
pub(super) enum Type {
    Null,
    Boolean,
    Int,
    Long,
    /// A long of another unit than the milliseconds that metadata has.
    OtherLong,
    Float,
    Double,
    Bytes,
    Text,
    Fixed(u32),
    Array(Box<Type>),
    Map(Box<Type>),
    Record(Vec<(String, Type)>),
    Union(Vec<Type>),
}

impl Type {
    /// The type of the values in a file.
    pub(super) fn parse(json: &[u8]) -> Result<Self> {
        let json: Value = serde_json::from_slice(json)
            .map_err(|error| Error::corrupt("avro schema is not JSON").with_source(error))?;
        Parser::default().parse(&json, "", 0)
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Int => "int",
            Self::Long => "long",
            Self::OtherLong => "long of another unit than milliseconds",
            Self::Float => "float",
            Self::Double => "double",
            Self::Bytes => "bytes",
            Self::Text => "string",
            Self::Fixed(_) => "fixed",
            Self::Array(_) => "array",
            Self::Map(_) => "map",
            Self::Record(_) => "record",
            Self::Union(_) => "union",
        }
    }

    fn children(&self) -> Box<dyn Iterator<Item = &Self> + '_> {
        match self {
            Self::Array(item) | Self::Map(item) => Box::new(std::iter::once(&**item)),
            Self::Record(fields) => Box::new(fields.iter().map(|(_, field)| field)),
            Self::Union(branches) => Box::new(branches.iter()),
            _ => Box::new(std::iter::empty()),
        }
    }

    fn depth(&self) -> usize {
        1 + self.children().map(Self::depth).max().unwrap_or(0)
    }

    fn count(&self) -> usize {
        1 + self.children().map(Self::count).sum::<usize>()
    }

    /// What a value takes at least.
    pub(super) fn min_bytes(&self) -> u64 {
        match self {
            Self::Null => 0,
            Self::Float => 4,
            Self::Double => 8,
            Self::Fixed(size) => u64::from(*size),
            Self::Record(_) => self.children().map(Self::min_bytes).sum(),
            Self::Union(_) => 1 + self.children().map(Self::min_bytes).min().unwrap_or(0),
            _ => 1,
        }
    }
}

/// Reads types and remembers those with a name.
#[derive(Default)]
struct Parser {
    named: HashMap<String, Type>,
    types: usize,
}

impl Parser {
    fn parse(&mut self, json: &Value, namespace: &str, depth: usize) -> Result<Type> {
        self.types += 1;
        self.check_size(depth)?;
        match json {
            Value::String(name) => self.parse_name(name, namespace, depth),
            Value::Array(branches) => branches
                .iter()
                .map(|branch| self.parse(branch, namespace, depth + 1))
                .collect::<Result<_>>()
                .map(Type::Union),
            Value::Object(_) => self.parse_object(json, namespace, depth),
            other => Err(Error::corrupt(format!("avro type is {other}"))),
        }
    }

    /// Resolved references can make a small schema large.
    fn check_size(&self, depth: usize) -> Result<()> {
        if depth > MAX_DEPTH || self.types > MAX_TYPES {
            let expected = format!("expected {MAX_DEPTH} levels and {MAX_TYPES} types at most");
            return Err(Error::corrupt(format!(
                "avro schema is too large, {expected}"
            )));
        }
        Ok(())
    }

    fn parse_name(&mut self, name: &str, namespace: &str, depth: usize) -> Result<Type> {
        Ok(match name {
            "null" => Type::Null,
            "boolean" => Type::Boolean,
            "int" => Type::Int,
            "long" => Type::Long,
            "float" => Type::Float,
            "double" => Type::Double,
            "bytes" => Type::Bytes,
            "string" => Type::Text,
            _ => {
                let Some(known) = self.named.get(&full_name(name, namespace)).cloned() else {
                    return Err(Error::corrupt(format!(
                        "avro type {name} is not defined before"
                    )));
                };
                self.types += known.count();
                self.check_size(depth + known.depth())?;
                known
            }
        })
    }

    fn parse_object(&mut self, json: &Value, namespace: &str, depth: usize) -> Result<Type> {
        let kind = member(json, "type")?;
        match kind.as_str() {
            Some("array") => {
                let item = self.parse(member(json, "items")?, namespace, depth + 1)?;
                if item.min_bytes() == 0 {
                    return Err(Error::corrupt("avro array has items without bytes"));
                }
                Ok(Type::Array(Box::new(item)))
            }
            Some("map") => self
                .parse(member(json, "values")?, namespace, depth + 1)
                .map(|item| Type::Map(Box::new(item))),
            Some("record" | "error") => self.parse_record(json, namespace, depth),
            // The bytes of an enum are those of an int.
            Some("enum") => Ok(self.remember(json, namespace, Type::Int)),
            Some("fixed") => {
                let size = member(json, "size")?;
                let fixed = size.as_u64().and_then(|size| u32::try_from(size).ok());
                let fixed = fixed
                    .filter(|size| i32::try_from(*size).is_ok())
                    .ok_or_else(|| Error::corrupt(format!("size of an avro fixed is {size}")))?;
                Ok(self.remember(json, namespace, Type::Fixed(fixed)))
            }
            Some("long") if has_other_unit(json) => Ok(Type::OtherLong),
            _ => self.parse(kind, namespace, depth + 1),
        }
    }

    fn parse_record(&mut self, json: &Value, namespace: &str, depth: usize) -> Result<Type> {
        let (_, inner) = name_and_namespace(json, namespace);
        let Some(fields) = member(json, "fields")?.as_array() else {
            return Err(Error::corrupt("fields of an avro record are not an array"));
        };
        let fields = fields
            .iter()
            .map(|field| {
                let name = member(field, "name")?.as_str().unwrap_or_default();
                let parsed = self.parse(member(field, "type")?, &inner, depth + 1);
                Ok((
                    name.to_owned(),
                    parsed.at(|| Frame::Field(name.to_owned()))?,
                ))
            })
            .collect::<Result<_>>()?;
        Ok(self.remember(json, namespace, Type::Record(fields)))
    }

    fn remember(&mut self, json: &Value, namespace: &str, known: Type) -> Type {
        let (name, _) = name_and_namespace(json, namespace);
        self.named.insert(name, known.clone());
        known
    }
}

fn member<'a>(json: &'a Value, name: &str) -> Result<&'a Value> {
    json.get(name)
        .ok_or_else(|| Error::corrupt(format!("avro type without `{name}`: {json}")))
}

/// Microseconds or nanoseconds.
fn has_other_unit(json: &Value) -> bool {
    let logical = json
        .get("logicalType")
        .and_then(Value::as_str)
        .unwrap_or_default();
    logical.contains("timestamp-") && !logical.ends_with("-millis")
}

fn full_name(name: &str, namespace: &str) -> String {
    if name.contains('.') || namespace.is_empty() {
        name.to_owned()
    } else {
        format!("{namespace}.{name}")
    }
}

/// Full name of a named type, and the namespace inside it.
fn name_and_namespace(json: &Value, enclosing: &str) -> (String, String) {
    let name = json.get("name").and_then(Value::as_str).unwrap_or_default();
    let own = json
        .get("namespace")
        .and_then(Value::as_str)
        .unwrap_or(enclosing);
    let full = full_name(name, own);
    let inner = full
        .rsplit_once('.')
        .map_or("", |(namespace, _)| namespace)
        .to_owned();
    (full, inner)
}
