//! Tags: snapshots under a name. Facts: table-format section 3, TF-012.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};

use crate::calendar::{Clock, days_of};
use crate::error::Result;
use crate::json;
use crate::snapshot::Snapshot;

/// One tag file: a snapshot that stays readable after its own file is gone, and until when it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tag {
    /// The tagged snapshot.
    pub snapshot: Snapshot,
    /// Wall clock of the writer as milliseconds, as if it were UTC; only there with a retention.
    pub create_time_millis: Option<i64>,
    /// How long the tag is kept after its creation.
    pub time_retained: Option<Duration>,
}

/// The members that a tag has beside those of its snapshot.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TagMembers {
    #[serde(default, deserialize_with = "create_time")]
    tag_create_time: Option<i64>,
    #[serde(default, deserialize_with = "time_retained")]
    tag_time_retained: Option<Duration>,
}

impl Tag {
    /// A tag from its file.
    ///
    /// # Errors
    /// `Corrupt`, naming the member at fault.
    pub fn from_json(bytes: &[u8]) -> Result<Self> {
        let snapshot = Snapshot::from_json(bytes)?;
        let members: TagMembers = json::from_json(bytes)?;
        Ok(Self {
            snapshot,
            create_time_millis: members.tag_create_time,
            time_retained: members.tag_time_retained,
        })
    }
}

/// `[year, month, day, hour, minute, second, nanoseconds]`, zeros at the end may be left out.
fn create_time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    let Some(parts) = Option::<Vec<i64>>::deserialize(deserializer)? else {
        return Ok(None);
    };
    let millis = || {
        let [year, month, day, rest @ ..] = parts.as_slice() else {
            return None;
        };
        let part = |index: usize, end: i64| {
            let value = rest.get(index).copied().unwrap_or_default();
            (0..end).contains(&value).then_some(value)
        };
        let clock = Clock {
            days: days_of(*year, *month, *day)?,
            hour: part(0, 24)?,
            minute: part(1, 60)?,
            second: part(2, 60)?,
            nanos: part(3, 1_000_000_000)?,
        };
        clock
            .millis_and_nanos()
            .filter(|_| rest.len() <= 4)
            .map(|(millis, _)| millis)
    };
    millis().map(Some).ok_or_else(|| {
        serde::de::Error::custom(format!(
            "time is {parts:?}, expected year, month, day, hour, minute, second, nanoseconds"
        ))
    })
}

/// Seconds with a fraction.
fn time_retained<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    Option::<f64>::deserialize(deserializer)?
        .map(|seconds| Duration::try_from_secs_f64(seconds).map_err(serde::de::Error::custom))
        .transpose()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{ErrorKind, Frame};

    fn tag(members: &str) -> Result<Tag> {
        Tag::from_json(
            format!(
                r#"{{"version":3,"id":7,"schemaId":1,"baseManifestList":"b","deltaManifestList":"d","commitUser":"u",
                "commitIdentifier":5,"commitKind":"APPEND","timeMillis":9{members}}}"#
            )
            .as_bytes(),
        )
    }

    #[test]
    fn tag_without_retention_is_its_snapshot() {
        let tag = tag("").unwrap();
        assert_eq!(
            (tag.snapshot.id, tag.create_time_millis, tag.time_retained),
            (7, None, None)
        );
    }

    #[test]
    fn create_time_is_a_number_array() {
        // TF-012
        let full =
            tag(r#","tagCreateTime":[2024,1,2,3,4,5,678901234],"tagTimeRetained":5.500000000"#)
                .unwrap();
        assert_eq!(full.create_time_millis, Some(1_704_164_645_678));
        assert_eq!(full.time_retained, Some(Duration::from_millis(5500)));
        let short = tag(r#","tagCreateTime":[1970,1,1,0,1],"tagTimeRetained":86400"#).unwrap();
        assert_eq!(short.create_time_millis, Some(60_000));
    }

    #[test]
    fn bad_members_are_named() {
        let cases = [
            (r#","tagCreateTime":[2024,2,30]"#, "tagCreateTime"),
            (r#","tagCreateTime":[2024,2]"#, "tagCreateTime"),
            (r#","tagCreateTime":[2024,1,1,24]"#, "tagCreateTime"),
            (r#","tagTimeRetained":-1"#, "tagTimeRetained"),
            (r#","schemaId":"x""#, "schemaId"),
        ];
        for (members, name) in cases {
            let error = tag(members).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt);
            assert_eq!(
                error.frames().collect::<Vec<_>>(),
                [&Frame::Field(name.into())],
                "{error}"
            );
        }
    }
}
