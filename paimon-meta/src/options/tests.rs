use std::time::Duration;

use super::*;
use crate::error::ErrorKind;
use crate::schema::TableSchema;

fn options(entries: &[(&str, &str)]) -> Options {
    Options(
        entries
            .iter()
            .map(|(key, text)| ((*key).to_owned(), (*text).to_owned()))
            .collect(),
    )
}

fn schema(primary_key: bool) -> TableSchema {
    let keys = if primary_key { r#"["k"]"# } else { "[]" };
    let text = format!(
        r#"{{"version":3,"id":0,"fields":[{{"id":0,"name":"k","type":"INT"}}],"highestFieldId":0,
        "partitionKeys":[],"primaryKeys":{keys},"options":{{}}}}"#
    );
    TableSchema::from_json(text.as_bytes()).unwrap()
}

#[test]
fn defaults_are_those_of_the_format() {
    let none = Options::default();
    assert_eq!(none.value(&Options::BUCKET).unwrap(), -1);
    assert_eq!(
        none.value(&Options::MERGE_ENGINE).unwrap(),
        MergeEngine::Deduplicate
    );
    assert_eq!(
        none.value(&Options::CHANGELOG_PRODUCER).unwrap(),
        ChangelogProducer::None
    );
    assert_eq!(
        none.value(&Options::SOURCE_SPLIT_TARGET_SIZE).unwrap(),
        MemorySize(134_217_728)
    );
    assert_eq!(
        none.value(&Options::SOURCE_SPLIT_OPEN_FILE_COST).unwrap(),
        MemorySize(4_194_304)
    );
    assert_eq!(none.value(&Options::READ_BATCH_SIZE).unwrap(), 1024);
    assert!(none.value(&Options::FILE_INDEX_READ_ENABLED).unwrap());
    assert_eq!(none.value(&Options::SCAN_TAG_NAME).unwrap(), None);
    assert_eq!(none.num_levels().unwrap(), 6);
    assert!(!none.needs_lookup().unwrap());
    assert!(none.sequence_field().is_empty());
}

#[test]
fn sizes_are_powers_of_1024() {
    let size = |text| MemorySize::from_option(Some(text)).map(|size| size.0);
    let cases = [
        ("7", 7),
        ("7b", 7),
        ("7 bytes", 7),
        ("4kb", 4096),
        ("4mb", 4 << 20),
        (" 4 MB ", 4 << 20),
        ("2g", 2 << 30),
        ("1 tebibytes", 1 << 40),
    ];
    for (text, bytes) in cases {
        assert_eq!(size(text), Some(bytes), "{text}");
    }
    for text in [
        "",
        "mb",
        "-1",
        "1.5mb",
        "1 xb",
        "9999999999 tb",
        "9223372036854775808",
    ] {
        assert_eq!(size(text), None, "{text}");
    }
}

#[test]
fn durations_have_units() {
    let duration = |text| Duration::from_option(Some(text));
    assert_eq!(duration("10 s"), Some(Duration::from_secs(10)));
    assert_eq!(duration("500"), Some(Duration::from_millis(500)));
    assert_eq!(duration("2DAYS"), Some(Duration::from_secs(172_800)));
    assert_eq!(duration("3min"), Some(Duration::from_secs(180)));
    assert_eq!(duration("7 µs"), Some(Duration::from_micros(7)));
    assert_eq!(duration("1 fortnight"), None);
    assert_eq!(duration("9223372036854775807 d"), None);
}

#[test]
fn enums_are_named_in_any_case_and_unknown_names_are_refused() {
    let engine = |text| options(&[("merge-engine", text)]).value(&Options::MERGE_ENGINE);
    assert_eq!(
        engine("Partial-Update").unwrap(),
        MergeEngine::PartialUpdate
    );
    let error = engine("latest").unwrap_err();
    assert_eq!(
        error.to_string(),
        "invalid input: option merge-engine is \"latest\", expected deduplicate, partial-update, aggregation or \
         first-row [option merge-engine]"
    );
    let order = options(&[
        ("sequence.field.sort-order", "descending"),
        ("sequence.field", " a , b,"),
    ]);
    assert_eq!(
        order.value(&Options::SEQUENCE_FIELD_SORT_ORDER).unwrap(),
        SortOrder::Descending
    );
    assert_eq!(order.sequence_field(), ["a", "b"]); // TF-030
    assert!(options(&[("a", "TRUE")]).boolean("a", false).unwrap());
    assert_eq!(
        options(&[("a", "yes")])
            .boolean("a", false)
            .unwrap_err()
            .kind(),
        ErrorKind::InvalidInput
    );
    assert_eq!(options(&[("a", " -7 ")]).integer("a").unwrap(), Some(-7));
    assert_eq!(
        options(&[("read.batch-size", "0")])
            .value(&Options::READ_BATCH_SIZE)
            .unwrap_err()
            .kind(),
        ErrorKind::InvalidInput
    );
}

#[test]
fn ignore_delete_has_three_older_keys() {
    // TF-031
    for key in [
        "ignore-delete",
        "first-row.ignore-delete",
        "deduplicate.ignore-delete",
        "partial-update.ignore-delete",
    ] {
        assert!(
            options(&[(key, "true")])
                .value(&Options::IGNORE_DELETE)
                .unwrap(),
            "{key}"
        );
        let both = options(&[(key, "true"), ("ignore-delete", "false")]);
        assert!(!both.value(&Options::IGNORE_DELETE).unwrap(), "{key}");
        let error = options(&[(key, "x")])
            .value(&Options::IGNORE_DELETE)
            .unwrap_err();
        assert_eq!(
            error.frames().collect::<Vec<_>>(),
            [&Frame::Option(key.to_owned())]
        );
    }
}

#[test]
fn options_laid_over_replace_and_remove() {
    // RP-012
    let over = [
        ("a".to_owned(), None),
        ("b".to_owned(), Some("2".to_owned())),
        ("c".to_owned(), Some("3".to_owned())),
    ];
    let laid = options(&[("a", "1"), ("b", "1"), ("d", "1")]).overlaid(&over.into());
    assert_eq!(laid, options(&[("b", "2"), ("c", "3"), ("d", "1")]));
}

#[test]
fn startup_mode_is_derived() {
    // RP-020
    let cases: [(&[(&str, &str)], _); 10] = [
        (&[], StartupMode::LatestFull),
        (&[("scan.mode", "full")], StartupMode::LatestFull),
        (&[("log.scan", "latest")], StartupMode::Latest),
        (
            &[("scan.snapshot-id", "1"), ("scan.timestamp", "2024")],
            StartupMode::FromTimestamp,
        ),
        (
            &[("scan.timestamp-millis", "1")],
            StartupMode::FromTimestamp,
        ),
        (
            &[("scan.version", "1"), ("incremental-between", "1,2")],
            StartupMode::FromSnapshot,
        ),
        (
            &[
                ("scan.file-creation-time-millis", "1"),
                ("scan.creation-time-millis", "1"),
            ],
            StartupMode::FromFileCreationTime,
        ),
        (
            &[("scan.creation-time-millis", "1")],
            StartupMode::FromCreationTimestamp,
        ),
        (
            &[("incremental-to-auto-tag", "t")],
            StartupMode::Incremental,
        ),
        (
            &[("scan.mode", "from-snapshot-full"), ("scan.timestamp", "x")],
            StartupMode::FromSnapshotFull,
        ),
    ];
    for (entries, mode) in cases {
        assert_eq!(
            options(entries).startup_mode().unwrap(),
            mode,
            "{entries:?}"
        );
    }
}

#[test]
fn lookup_has_four_causes() {
    // RP-007
    let causes = [
        ("merge-engine", "first-row"),
        ("changelog-producer", "lookup"),
        ("deletion-vectors.enabled", "true"),
        ("force-lookup", "true"),
    ];
    for cause in causes {
        assert!(options(&[cause]).needs_lookup().unwrap(), "{cause:?}");
    }
}

#[test]
fn features_that_change_rows_are_refused_by_name() {
    // TF-100
    let refused = |entry: (&str, &str), primary_key| {
        unsupported_feature(&options(&[entry]), &schema(primary_key))
    };
    let cases = [
        ("type", "Format-Table", "format-table"),
        ("data-evolution.enabled", "true", "data-evolution.enabled"),
        ("chain-table.enabled", "true", "chain-table.enabled"),
        ("scan.primary-branch", "b", "scan.primary-branch"),
        ("query-auth.enabled", "true", "query-auth.enabled"),
        ("pk-clustering-override", "true", "pk-clustering-override"),
        ("postpone.merge-on-read", "true", "postpone.merge-on-read"),
    ];
    for (key, text, feature) in cases {
        let error = refused((key, text), true).unwrap_err();
        assert_eq!(
            (error.kind(), error.feature()),
            (ErrorKind::Unsupported, Some(feature))
        );
        assert_eq!(
            error.frames().collect::<Vec<_>>(),
            [&Frame::Option(key.to_owned())]
        );
    }
    assert!(refused(("pk-clustering-override", "true"), false).is_ok());
    for entry in [
        ("type", "materialized-table"),
        ("type", "TABLE"),
        ("chain-table.enabled", "false"),
        ("any", "thing"),
    ] {
        assert!(refused(entry, true).is_ok(), "{entry:?}");
    }
}

#[test]
fn values_that_mean_nothing_are_invalid() {
    let entries = [
        ("type", "view"),
        ("merge-engine", "x"),
        ("changelog-producer", "x"),
        ("sequence.field.sort-order", "x"),
        ("bucket", "x"),
        ("bucket-function.type", "x"),
        ("scan.mode", "x"),
        ("incremental-between-scan-mode", "x"),
        ("query-auth.enabled", "x"),
    ];
    for (key, text) in entries {
        let error = unsupported_feature(&options(&[(key, text)]), &schema(false)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{key}");
        assert_eq!(
            error.frames().collect::<Vec<_>>(),
            [&Frame::Option(key.to_owned())]
        );
    }
}
