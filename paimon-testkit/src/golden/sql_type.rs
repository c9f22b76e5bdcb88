//! Types of output columns, in the reference's SQL form.

use paimon_meta::{DataField, DataType, Error, FieldId, Result, TypeKind, parse_type};

/// The type of a text such as ``MAP<STRING NOT NULL, ROW<`t` STRING, `w` DATE>>``. Fields of rows get their position as
/// id, for the text has none.
///
/// # Errors
/// `InvalidInput` that quotes the text.
pub fn parse_sql_type(text: &str) -> Result<DataType> {
    let mut parser = Parser { rest: text };
    parser
        .data_type()
        .filter(|_| parser.rest.is_empty())
        .ok_or_else(|| Error::invalid_input(format!("no type: {text:?}")))
}

struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    fn data_type(&mut self) -> Option<DataType> {
        let kind = if self.accept("ARRAY<") {
            TypeKind::Array(self.last_argument()?)
        } else if self.accept("MULTISET<") {
            TypeKind::Multiset(self.last_argument()?)
        } else if self.accept("MAP<") {
            let key = Box::new(self.data_type()?);
            self.expect(", ")?;
            TypeKind::Map(key, self.last_argument()?)
        } else if self.accept("ROW<") {
            TypeKind::Row(self.fields()?)
        } else {
            return self.scalar();
        };
        Some(DataType {
            kind,
            nullable: !self.accept(" NOT NULL"),
        })
    }

    fn last_argument(&mut self) -> Option<Box<DataType>> {
        let argument = self.data_type()?;
        self.expect(">")?;
        Some(Box::new(argument))
    }

    /// Each in back quotes, then its type.
    fn fields(&mut self) -> Option<Vec<DataField>> {
        let mut fields = Vec::new();
        loop {
            self.expect("`")?;
            let (name, rest) = self.rest.split_once("` ")?;
            self.rest = rest;
            fields.push(DataField {
                id: FieldId(i32::try_from(fields.len()).ok()?),
                name: name.to_owned(),
                data_type: self.data_type()?,
                description: None,
                default_value: None,
            });
            if self.accept(">") {
                return Some(fields);
            }
            self.expect(", ")?;
        }
    }

    /// Up to the comma or bracket that is not in parentheses.
    fn scalar(&mut self) -> Option<DataType> {
        let mut depth = 0;
        let end = self.rest.find(|mark| match mark {
            '(' => {
                depth += 1;
                false
            }
            ')' => {
                depth -= 1;
                false
            }
            _ => depth == 0 && matches!(mark, ',' | '>'),
        });
        let (scalar, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        parse_type(scalar).ok()
    }

    fn accept(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, text: &str) -> Option<()> {
        self.accept(text).then_some(())
    }
}
