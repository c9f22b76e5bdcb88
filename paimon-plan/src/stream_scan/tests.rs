use paimon_meta::ErrorKind;

use super::*;
use crate::resolve::{ResolveRequest, Table};
use crate::testing::{ROOT, resources, run};

const SCHEMA: (&str, &str) = (
    "schema/schema-0",
    r#"{"version":3,"id":0,"fields":[{"id":0,"name":"k","type":"INT NOT NULL"}],"highestFieldId":0,
    "partitionKeys":[],"primaryKeys":["k"],"options":{"bucket":"1"}}"#,
);

/// A snapshot of a compaction, which no stream looks into.
fn compaction(id: i64, watermark: i64) -> (String, String) {
    let text = format!(
        r#"{{"version":3,"id":{id},"schemaId":0,"baseManifestList":"b","deltaManifestList":"d","commitUser":"u",
        "commitIdentifier":1,"commitKind":"COMPACT","timeMillis":{},"watermark":{watermark}}}"#,
        id * 1000
    );
    (format!("snapshot/snapshot-{id}"), text)
}

fn stream(ids: &[i64], options: &[(&str, &str)]) -> Result<StreamScan> {
    stream_with(ids, options, &[])
}

fn stream_with(ids: &[i64], options: &[(&str, &str)], more: &[(&str, &str)]) -> Result<StreamScan> {
    let snapshots: Vec<_> = ids.iter().map(|id| compaction(*id, *id)).collect();
    let files = snapshots
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()));
    let files = files.chain([SCHEMA]).chain(more.iter().copied());
    let resources = resources(files.map(|(name, text)| (name, text.to_owned())));
    let options = options
        .iter()
        .map(|(key, value)| ((*key).to_owned(), Some((*value).to_owned())));
    let request = ResolveRequest {
        options: options.collect(),
        stream: true,
        ..ResolveRequest::default()
    };
    let table = run(Table::resolve(&resources, ROOT, &request))?;
    StreamScan::new(resources, table, ScanRequest::default())
}

fn from_snapshot(id: &str) -> [(&str, &str); 2] {
    [("scan.mode", "from-snapshot"), ("scan.snapshot-id", id)]
}

/// Steps once, and says where the stream is.
fn step(scan: &mut StreamScan) -> Result<(StreamStep, Option<i64>)> {
    let step = run(scan.next_step())?;
    Ok((step, scan.position().next_snapshot))
}

#[test]
fn streams_begin_where_the_start_up_mode_says() {
    // RP-020, RP-151
    let cases: [(&[(&str, &str)], i64); 7] = [
        (&[("scan.mode", "latest")], 5),
        (&from_snapshot("3"), 5),
        (&from_snapshot("1"), 5),
        (&from_snapshot("9"), 9),
        (&[("scan.version", "2")], 5),
        (&[("scan.timestamp-millis", "4001")], 5),
        (&[("scan.timestamp-millis", "1")], 5),
    ];
    for (options, next) in cases {
        let mut scan = stream(&[2, 3, 4], options).unwrap();
        assert_eq!(
            step(&mut scan).unwrap(),
            (StreamStep::NotYet, Some(next)),
            "{options:?}"
        );
    }
}

#[test]
fn a_table_without_snapshots_is_waited_for() {
    // RP-026
    for (options, next) in [
        (vec![], None),
        (vec![("scan.mode", "latest")], Some(1)),
        (from_snapshot("1").to_vec(), None),
    ] {
        let mut scan = stream(&[], &options).unwrap();
        assert_eq!(step(&mut scan).unwrap(), (StreamStep::NotYet, next));
    }
}

#[test]
fn an_expired_snapshot_says_how_far_the_stream_is_behind() {
    let behind = StreamPosition {
        next_snapshot: Some(2),
        begun: true,
        ..StreamPosition::default()
    };
    let scan = stream(&[5, 6, 7], &[]).unwrap();
    let error = step(&mut scan.restored(behind.clone())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(
        error.message(),
        "snapshot 2 has expired: the stream is 6 snapshots behind, the table has snapshots 5 to 7"
    );
    let gap = stream(&[1, 3], &[]).unwrap().restored(behind.clone());
    let error = step(&mut { gap }).unwrap_err();
    assert_eq!(
        error.message(),
        "snapshot 2 does not exist, the table has snapshots 1, 3"
    );
    let ahead = StreamPosition {
        next_snapshot: Some(9),
        ..behind
    };
    let error = step(&mut stream(&[1], &[]).unwrap().restored(ahead)).unwrap_err();
    assert!(
        error
            .message()
            .ends_with("was the table rolled back or made anew?"),
        "{error}"
    );
}

#[test]
fn a_bounded_stream_ends_behind_its_watermark() {
    let mut options = from_snapshot("1").to_vec();
    options.push(("scan.bounded.watermark", "2"));
    let mut scan = stream(&[1, 2, 3, 4], &options).unwrap();
    assert_eq!(run(scan.next_step()).unwrap(), StreamStep::Ended);
    let position = scan.position().clone();
    let mut scan = stream(&[1, 2, 3, 4], &options).unwrap().restored(position);
    assert_eq!(run(scan.next_step()).unwrap(), StreamStep::Ended);
}

#[test]
fn a_consumer_goes_on_where_it_was_and_writes_only_on_request() {
    let options = [("consumer-id", "c"), ("scan.mode", "latest")];
    let file = ("consumer/consumer-c", r#"{"nextSnapshot": 2}"#);
    let mut scan = stream_with(&[1, 2, 3], &options, &[file]).unwrap();
    assert_eq!(step(&mut scan).unwrap(), (StreamStep::NotYet, Some(4)));
    assert!(scan.position().begun);
    let read = |scan: &StreamScan| {
        let content = scan.resources.get(&format!("{ROOT}/consumer/consumer-c"));
        Consumer::from_json(&run(content).unwrap())
            .unwrap()
            .next_snapshot
    };
    assert_eq!(read(&scan), 2);
    run(scan.store_consumer()).unwrap();
    assert_eq!(read(&scan), 4);
    let ignored = [options[0], options[1], ("consumer.ignore-progress", "true")];
    let mut scan = stream_with(&[1], &ignored, &[file]).unwrap();
    step(&mut scan).unwrap();
    assert!(!scan.position().begun);
    let nameless = stream(&[1], &[]).unwrap();
    let error = run(nameless.store_consumer()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
}

#[test]
fn options_that_no_stream_can_have_are_refused() {
    // RP-151
    let cases = [
        vec![("incremental-between", "1,2")],
        vec![("scan.mode", "latest-delta")],
        vec![("scan.tag-name", "t")],
        vec![
            ("streaming-read-overwrite", "true"),
            ("changelog-producer", "lookup"),
        ],
    ];
    for options in cases {
        let error = stream(&[1], &options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{options:?}");
    }
}

#[test]
fn the_top_level_of_a_table_with_a_key_is_no_stream() {
    // RP-652
    let scan = stream(&[1], &[]).unwrap();
    let table = scan.table().as_ref().clone();
    let request = ScanRequest {
        read_optimized: true,
        ..ScanRequest::default()
    };
    let error = StreamScan::new(scan.resources.clone(), table, request).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
}
