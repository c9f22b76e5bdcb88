//! `LIKE` over columns of text.

use arrow_array::cast::AsArray;
use arrow_array::{Array, StringArrayType};
use arrow_buffer::BooleanBuffer;
use arrow_schema::DataType as ArrowType;
use paimon_meta::{Error, LikePattern, LikeToken, Result};

/// Where the text matches; what null slots say does not count.
pub(super) fn matches(pattern: &LikePattern, array: &dyn Array) -> Result<BooleanBuffer> {
    match array.data_type() {
        ArrowType::Utf8View => Ok(match_texts(pattern, array.as_string_view())),
        ArrowType::Utf8 => Ok(match_texts(pattern, array.as_string::<i32>())),
        ArrowType::LargeUtf8 => Ok(match_texts(pattern, array.as_string::<i64>())),
        other => Err(Error::internal(format!(
            "LIKE expected text, found {other}"
        ))),
    }
}

/// The common patterns are told apart once, not for every text.
fn match_texts<'a>(pattern: &LikePattern, array: impl StringArrayType<'a>) -> BooleanBuffer {
    use LikeToken::{AnyMany, Literal};
    match pattern.0.as_slice() {
        [AnyMany] => BooleanBuffer::new_set(array.len()),
        [Literal(prefix), AnyMany] => each(array, |text| text.starts_with(prefix.as_str())),
        [AnyMany, Literal(suffix)] => each(array, |text| text.ends_with(suffix.as_str())),
        [AnyMany, Literal(part), AnyMany] => each(array, |text| text.contains(part.as_str())),
        _ => each(array, |text| pattern.matches(text)),
    }
}

fn each<'a>(array: impl StringArrayType<'a>, test: impl Fn(&str) -> bool) -> BooleanBuffer {
    BooleanBuffer::collect_bool(array.len(), |index| test(array.value(index)))
}
