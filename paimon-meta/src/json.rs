//! Metadata files in JSON, with errors that name the member.

use std::collections::BTreeMap;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::error::{Error, Frame, Result};

/// A model from the bytes of its file.
///
/// # Errors
/// `Corrupt`, with the member of the outermost object as frame where one is at fault.
pub(crate) fn from_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    serde_json::from_slice(bytes).map_err(|error| {
        let text = error.to_string();
        if !error.is_data() {
            return Error::corrupt(format!("not JSON: {text}"));
        }
        // The position is said by the frame.
        let message = text
            .rsplit_once(" at line ")
            .map_or(text.as_str(), |(message, _)| message);
        let named = ["missing field `", "duplicate field `"]
            .iter()
            .find_map(|start| message.strip_prefix(start));
        let named = named
            .and_then(|rest| rest.strip_suffix('`'))
            .map(str::to_owned);
        match named.or_else(|| member_before(bytes, error.line(), error.column())) {
            Some(member) => Error::corrupt(message).at(Frame::Field(member)),
            None => Error::corrupt(message),
        }
    })
}

/// A model as the text of its file, indented.
///
/// # Errors
/// `Internal` if the model has no JSON form.
pub(crate) fn to_json<T: Serialize>(model: &T) -> Result<String> {
    serde_json::to_string_pretty(model)
        .map_err(|error| Error::internal("no JSON form").with_source(error))
}

/// An object of texts; numbers and booleans become text as the reference does it, nulls count as absent.
pub(crate) fn texts<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, String>, D::Error> {
    let members = BTreeMap::<String, Value>::deserialize(deserializer)?;
    let texts = members.into_iter().filter_map(|(name, value)| match value {
        Value::Null => None,
        Value::String(text) => Some(Ok((name, text))),
        Value::Number(_) | Value::Bool(_) => Some(Ok((name, value.to_string()))),
        _ => Some(Err(D::Error::custom(format!(
            "value of {name:?} is {value}, expected a text"
        )))),
    });
    texts.collect()
}

/// As [`texts`], for a member that may be missing.
pub(crate) fn optional_texts<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<BTreeMap<String, String>>, D::Error> {
    #[derive(Deserialize)]
    #[serde(transparent)]
    struct Texts(#[serde(deserialize_with = "texts")] BTreeMap<String, String>);
    Ok(Option::<Texts>::deserialize(deserializer)?.map(|texts| texts.0))
}

/// The members of an object in the order of the file.
pub(crate) mod members {
    use std::collections::HashMap;
    use std::fmt;
    use std::marker::PhantomData;

    use serde::de::{MapAccess, Visitor};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<T: Serialize, S: Serializer>(
        members: &[(String, T)],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_map(members.iter().map(|(name, value)| (name, value)))
    }

    pub(crate) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<(String, T)>, D::Error> {
        deserializer.deserialize_map(Members(PhantomData))
    }

    struct Members<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Members<T> {
        type Value = Vec<(String, T)>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut members = Vec::<(String, T)>::new();
            let mut places = HashMap::new();
            while let Some((name, value)) = map.next_entry::<String, T>()? {
                // As in Java's maps, the last value of a name counts, at its first place.
                let place = *places.entry(name.clone()).or_insert(members.len());
                match members.get_mut(place) {
                    Some(known) => known.1 = value,
                    None => members.push((name, value)),
                }
            }
            Ok(members)
        }
    }
}

/// The last member name of the outermost object that begins before a position, counted from 1.
fn member_before(bytes: &[u8], line: usize, column: usize) -> Option<String> {
    let before = bytes
        .split_inclusive(|byte| *byte == b'\n')
        .take(line.checked_sub(1)?)
        .map(<[u8]>::len)
        .sum::<usize>();
    let (mut depth, mut text_start, mut text, mut member) = (0usize, None, None, None);
    let mut escaped = false;
    for (index, byte) in bytes.iter().enumerate().take(before + column) {
        match (text_start, byte) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), b'\\') => escaped = true,
            (Some(start), b'"') => (text, text_start) = (bytes.get(start..index), None),
            (None, b'"') => text_start = Some(index + 1),
            (None, b'{' | b'[') => depth += 1,
            (None, b'}' | b']') => depth = depth.saturating_sub(1),
            (None, b':') if depth == 1 => member = text,
            _ => {}
        }
    }
    member.map(|name| String::from_utf8_lossy(name).into_owned())
}
