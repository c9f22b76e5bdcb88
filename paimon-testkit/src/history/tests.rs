use super::*;
use crate::golden::GoldenCase;

#[test]
fn golden_definitions_are_histories_and_print_as_they_are_read() {
    let mut read = 0;
    for case in GoldenCase::load_all().unwrap() {
        let text = case.definition.to_string();
        // Steps that damage or pass by the writer are no part of the model, tables by SQL have no steps.
        let Ok(history) = History::from_json(text.as_bytes()) else {
            continue;
        };
        read += 1;
        let printed = history.to_string();
        let again = History::from_json(printed.as_bytes()).unwrap();
        assert_eq!(again, history, "{}: {printed}", case.case);
    }
    assert!(read >= 170, "{read} definitions are histories");
}

#[test]
fn every_step_keeps_its_json() {
    let steps = [
        r#"{"write":[]}"#,
        r#"{"files":[[["+I",1,"a"]],[["-D",1,null,0]]],"bucket":3}"#,
        r#"{"write":[["+U",1]],"compact":"full","only_bucket":1,"overwrite":{"p":"1"}}"#,
        r#"{"options":{"write-only":"false"},"compact":{"up_to":3}}"#,
        r#"{"compact":"level0","user":"u","commit_identifier":7,"watermark":9}"#,
        r#"{"range":{"from":1,"to":9,"step":2,"kind":"-D","values":[{"n":[1,0]},{"s":"p","pad":3},null]}}"#,
        r#"{"parallel":[[["+I",1]],[["+I",1]]]}"#,
        r#"{"alter":[["add","a.b","INT","after x"],["add","r",{"fields":[{"name":"x","type":"INT"}],"type":"ROW"},"first"]]}"#,
        r#"{"alter":[["drop","a"],["rename","b","c"],["type","c","BIGINT"],["nullability","c",true]]}"#,
        r#"{"alter":[["move_first","a"],["move_after","a","b"],["default","a","1"],["set","o","v"],["unset","o"]]}"#,
        r#"{"branch":"b","tag":"t","snapshot":3}"#,
        r#"{"delete_tag":"t"}"#,
        r#"{"create_branch":"b","from_tag":"t"}"#,
        r#"{"fast_forward":"b"}"#,
        r#"{"rollback":1}"#,
        r#"{"rollback":"t"}"#,
        r#"{"expire_retain":1}"#,
        r#"{"truncate":true}"#,
        r#"{"drop_partitions":[{"p":"1"}]}"#,
        r#"{"compact_manifests":true}"#,
    ];
    for text in steps {
        let step: Step = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&step).unwrap(), text);
    }
}

#[test]
fn unknown_steps_and_rows_without_kind_are_errors() {
    for text in [
        r#"{"columns":[["k","INT"]],"steps":[{"explode":1}]}"#,
        r#"{"columns":[["k","INT"]],"steps":[{"branch":"b"}]}"#,
        r#"{"columns":[["k","INT"]],"steps":[{"write":[[1]]}]}"#,
        r#"{"columns":[["k","INT"]],"steps":[{"alter":[["shrink","k"]]}]}"#,
        r#"{"columns":[["k"]],"steps":[]}"#,
    ] {
        assert!(History::from_json(text.as_bytes()).is_err(), "{text}");
    }
}

#[test]
fn range_rows_are_those_of_the_reference() {
    // The golden table plan_filter_single_in_1000 and others are made of such ranges.
    let range: RangeRows = serde_json::from_str(
        r#"{"from":1,"to":7,"step":3,"values":[{"n":[2,1,5]},{"s":"x","mod":2},{"s":"p","pad":4},{"c":true,"null_every":4},{"hash":0},5]}"#,
    )
    .unwrap();
    let rows: Vec<String> = range
        .rows()
        .iter()
        .map(|row| serde_json::to_string(row).unwrap())
        .collect();
    assert_eq!(
        rows,
        [
            r#"["+I",3,"x1","p0001",true,"ca009717f87d8879",5]"#,
            r#"["+I",4,"x0","p0004",null,"97bcd714b71ff9f7",5]"#,
            r#"["+I",0,"x1","p0007",true,"6328ff6ba7dc5b6b",5]"#,
        ]
    );
}
