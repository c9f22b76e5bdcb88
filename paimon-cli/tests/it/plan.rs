use paimon_meta::{Split, split_from_java_object};
use serde_json::{Value, json};

use crate::command::{golden, run};

fn plan(arguments: &[&str]) -> Value {
    let text = run(&[&["plan"], arguments, &["--format", "json"]].concat()).ok();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_plan_says_why_and_who_reads() {
    let plan = plan(&[&golden("lab_r_overlap")]);
    assert_eq!(plan["snapshot"], 2);
    let split = &plan["splits"][0];
    assert_eq!(split["why"], "Overlap");
    assert_eq!(split["reader"], "merge");
    assert_eq!(split["sections"], json!([[[0], [1]]]));
    assert_eq!(split["exact_row_count"], Value::Null);
    assert_eq!(split["files"][1]["max_seq"], 199);
    assert_eq!(plan["pruning"]["manifests_read"], 2);
}

#[test]
fn conditions_say_what_they_prune() {
    let plan = plan(&[
        &golden("merge_dedup_partition_in_key"),
        "--where",
        "region = 'eu' AND \"v\" = 'a'",
    ]);
    let conditions = plan["conditions"].as_array().unwrap();
    assert_eq!(conditions[0]["condition"], "region = 'eu'");
    assert_eq!(conditions[0]["exact"], true);
    assert_eq!(conditions[0]["prunes"][0], "Partition");
    assert_eq!(conditions[1]["condition"], "v = 'a'");
    assert_eq!(conditions[1]["exact"], false);
}

#[test]
fn what_cannot_be_read_can_be_planned() {
    let table = golden("merge_agg_sum_types");
    let plan = plan(&[&table, "--option", "fields.a.aggregate-function=median"]);
    let split = &plan["splits"][0];
    assert_eq!(split["reader"], Value::Null);
    let reason = split["not_supported"].as_str().unwrap();
    assert!(reason.starts_with("aggregate function median"), "{reason}");
}

#[test]
fn parts_say_what_each_of_them_reads() {
    let overlap = plan(&[&golden("lab_r_overlap"), "--parts", "2"]);
    let parts = overlap["splits"][0]["parts"].as_array().unwrap();
    assert_eq!(parts[0]["keys"], json!({"from": null, "to": "75"}));
    assert_eq!(parts[1]["keys"], json!({"from": "75", "to": null}));
    assert_eq!(parts[0]["files"].as_array().unwrap().len(), 2);
    let one = plan(&[&golden("lab_r_one"), "--parts", "4"]);
    let parts = one["splits"][0]["parts"].as_array().unwrap();
    let rows: Vec<&Value> = parts.iter().map(|part| &part["rows"][0][0]).collect();
    assert_eq!(
        rows,
        [
            &json!([0, 25]),
            &json!([25, 50]),
            &json!([50, 75]),
            &json!([75, 100])
        ]
    );
}

#[test]
fn splits_in_the_form_of_java_are_those_of_the_plan() {
    // RP-115
    let table = golden("lab_r_disjoint");
    let lines = run(&["plan", &table, "--format", "java"]).ok();
    let bytes: Vec<u8> = (0..lines.trim_end().len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&lines[at..at + 2], 16).unwrap())
        .collect();
    let Split::Data(split) = split_from_java_object(&bytes).unwrap() else {
        panic!("{lines}");
    };
    assert!(split.bucket_path.ends_with("/table/bucket-0"), "{split:?}");
    let planned = plan(&[&table]);
    let names = planned["splits"][0]["files"].as_array().unwrap();
    let names: Vec<&str> = names
        .iter()
        .map(|file| file["name"].as_str().unwrap())
        .collect();
    let found: Vec<&str> = split
        .files
        .iter()
        .map(|file| file.file_name.as_str())
        .collect();
    assert_eq!(found, names);
    let incremental = [
        "plan",
        &golden("plan_stream_and_incremental_none"),
        "--stream",
        "--format",
        "java",
        "--option",
        "scan.mode=from-snapshot",
        "--option",
        "scan.snapshot-id=1",
    ];
    assert!(run(&incremental).ok().lines().count() > 1);
}
