//! JSON as the reference's writer (Jackson) spells it.

use std::io::{self, Write};

use paimon_meta::{Error, Result};
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::{CharEscape, CompactFormatter, Formatter};

/// On one line, without spaces.
///
/// # Errors
/// `Internal` if the value has no JSON form.
pub(super) fn flat_json(value: &impl Serialize) -> Result<String> {
    json(value, Flat)
}

/// Indented by two spaces, with spaces around colons; an empty object is `{ }`.
///
/// # Errors
/// As [`flat_json`].
pub(super) fn pretty_json(value: &impl Serialize) -> Result<String> {
    json(value, Pretty::default())
}

fn json(value: &impl Serialize, formatter: impl Formatter) -> Result<String> {
    let mut text = Vec::new();
    value
        .serialize(&mut Serializer::with_formatter(&mut text, formatter))
        .map_err(|error| Error::internal("no JSON form").with_source(error))?;
    String::from_utf8(text).map_err(|error| Error::internal("no JSON form").with_source(error))
}

struct Flat;

impl Formatter for Flat {
    fn write_char_escape<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        escape: CharEscape,
    ) -> io::Result<()> {
        write_escape(writer, escape)
    }
}

/// Objects of objects and single values; statistics have nothing else.
#[derive(Default)]
struct Pretty {
    depth: usize,
    has_members: bool,
}

impl Pretty {
    fn new_line<W: ?Sized + Write>(&self, writer: &mut W) -> io::Result<()> {
        write!(writer, "\n{:width$}", "", width = 2 * self.depth)
    }
}

impl Formatter for Pretty {
    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        (self.depth, self.has_members) = (self.depth + 1, false);
        writer.write_all(b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth = self.depth.saturating_sub(1);
        if std::mem::replace(&mut self.has_members, true) {
            self.new_line(writer)?;
        } else {
            writer.write_all(b" ")?;
        }
        writer.write_all(b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.has_members = true;
        writer.write_all(if first { b"" } else { b"," })?;
        self.new_line(writer)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b" : ")
    }

    fn write_char_escape<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        escape: CharEscape,
    ) -> io::Result<()> {
        write_escape(writer, escape)
    }
}

/// Control characters have upper-case digits.
fn write_escape<W: ?Sized + Write>(writer: &mut W, escape: CharEscape) -> io::Result<()> {
    match escape {
        CharEscape::AsciiControl(byte) => write!(writer, "\\u{byte:04X}"),
        other => CompactFormatter.write_char_escape(writer, other),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn json_is_spelled_as_the_reference_spells_it() {
        let inner = BTreeMap::from([("a\u{1f}\"", "é"), ("b", "\n")]);
        let nested = BTreeMap::from([("n", inner), ("o", BTreeMap::new())]);
        assert_eq!(
            flat_json(&nested).unwrap(),
            r#"{"n":{"a\u001F\"":"é","b":"\n"},"o":{}}"#
        );
        assert_eq!(
            pretty_json(&nested).unwrap(),
            "{\n  \"n\" : {\n    \"a\\u001F\\\"\" : \"é\",\n    \"b\" : \"\\n\"\n  },\n  \"o\" : { }\n}"
        );
        assert_eq!(pretty_json(&BTreeMap::<&str, i32>::new()).unwrap(), "{ }");
    }
}
