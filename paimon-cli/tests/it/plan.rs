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
