//! The tree of types in the footer.

use paimon_meta::{DataField, DataType, Error, MAX_LENGTH, Result, TypeKind};

use super::proto::Message;

const STRUCT: u64 = 12;

/// Writes a struct of these fields into a footer: types in the order of their columns.
pub(super) fn write<'a>(
    fields: impl Iterator<Item = &'a DataField>,
    footer: &mut Message,
) -> Result<()> {
    let mut types = Types(Vec::new());
    let children = fields.map(|field| (field.name.as_str(), &field.data_type));
    types.node(STRUCT, Message::default(), children)?;
    types.0.iter().for_each(|of| footer.bytes(4, &of.0));
    Ok(())
}

/// The types so far; the number of a column is its place.
struct Types(Vec<Message>);

impl Types {
    fn node<'a>(
        &mut self,
        kind: u64,
        more: Message,
        children: impl Iterator<Item = (&'a str, &'a DataType)>,
    ) -> Result<()> {
        let place = self.0.len();
        self.0.push(Message::default());
        let mut message = Message::default();
        message.number(1, kind);
        for (name, child) in children {
            message.number(2, self.0.len() as u64);
            if kind == STRUCT {
                message.bytes(3, name.as_bytes());
            }
            self.add(child)?;
        }
        message.0.extend(more.0);
        self.0.splice(place..=place, [message]);
        Ok(())
    }

    fn add(&mut self, data_type: &DataType) -> Result<()> {
        let count = TypeKind::Int.not_null();
        let mut more = Message::default();
        match &data_type.kind {
            TypeKind::Array(element) => self.node(10, more, [("", element.as_ref())].into_iter()),
            TypeKind::Map(key, value) => {
                let entry = [("", key.as_ref()), ("", value.as_ref())];
                self.node(11, more, entry.into_iter())
            }
            TypeKind::Multiset(element) => {
                let entry = [("", element.as_ref()), ("", &count)];
                self.node(11, more, entry.into_iter())
            }
            TypeKind::Row(fields) => {
                let children = fields
                    .iter()
                    .map(|field| (field.name.as_str(), &field.data_type));
                self.node(STRUCT, more, children)
            }
            kind => {
                match kind {
                    TypeKind::Char(length) => more.number(4, u64::from(*length)),
                    TypeKind::VarChar(length) if *length < MAX_LENGTH => {
                        more.number(4, u64::from(*length));
                    }
                    TypeKind::Decimal { precision, scale } => {
                        more.number(5, u64::from(*precision));
                        more.number(6, u64::from(*scale));
                    }
                    _ => {}
                }
                self.node(scalar(data_type)?, more, std::iter::empty())
            }
        }
    }
}

/// The number of a scalar type in the format.
fn scalar(data_type: &DataType) -> Result<u64> {
    Ok(match &data_type.kind {
        TypeKind::Boolean => 0,
        TypeKind::TinyInt => 1,
        TypeKind::SmallInt => 2,
        // TF-086
        TypeKind::Int | TypeKind::Time(_) => 3,
        TypeKind::BigInt => 4,
        TypeKind::Float => 5,
        TypeKind::Double => 6,
        TypeKind::VarChar(length) if *length == MAX_LENGTH => 7,
        TypeKind::Binary(_) | TypeKind::VarBinary(_) => 8,
        TypeKind::Timestamp(_) => 9,
        TypeKind::Decimal { .. } => 14,
        TypeKind::Date => 15,
        TypeKind::VarChar(_) => 16,
        TypeKind::Char(_) => 17,
        TypeKind::LocalZonedTimestamp(_) => 18,
        _ => return Err(Error::unsupported(format!("{data_type} in ORC files"))),
    })
}
