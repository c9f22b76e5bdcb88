use crate::command::{golden, run};

fn count(arguments: &[&str]) -> String {
    run(&[&["count"], arguments].concat()).ok()
}

#[test]
fn metadata_counts_where_no_key_is_in_two_files() {
    assert_eq!(
        count(&[&golden("lab_r_disjoint"), "--verbose"]),
        "200\n\
         \x20 200 from metadata, 0 from reading\n\
         \x20 split 0     bucket-0             200 rows   200 from metadata, 0 from reading\n"
    );
}

#[test]
fn keys_are_read_where_files_overlap() {
    assert_eq!(
        count(&[&golden("lab_r_overlap")]),
        "150\n  0 from metadata, 150 from reading\n"
    );
}

#[test]
fn conditions_and_limits_count() {
    let table = golden("lab_r_overlap");
    assert!(count(&[&table, "--where", "v = 'a'"]).starts_with("50\n"));
    assert!(count(&[&table, "--limit", "7"]).starts_with("7\n"));
    assert!(count(&[&table, "--limit", "0"]).starts_with("0\n"));
    assert!(count(&[&table, "--where", "k > 1000"]).starts_with("0\n"));
}

#[test]
fn json_has_the_parts() {
    let text = count(&[&golden("lab_r_overlap"), "--format", "json", "--verbose"]);
    assert_eq!(
        text,
        "{\"rows\":150,\"from_metadata\":0,\"from_reading\":150,\"splits\":[\
         {\"bucket_path\":\"bucket-0\",\"rows\":150,\"from_metadata\":0,\"from_reading\":150}]}\n"
    );
}

#[test]
fn counting_agrees_with_scanning() {
    for case in [
        "lab_r_delete",
        "lab_r_compact",
        "lab_dv_off",
        "merge_dedup_lookup_levels",
        "merge_dedup_thin_mode_mix",
        "merge_snap_tie_kind_writers",
        "merge_dedup_partition_in_key",
    ] {
        let table = golden(case);
        let rows = run(&["scan", &table]).ok().lines().count();
        let counted = count(&[&table]);
        assert_eq!(counted.lines().next().unwrap(), rows.to_string(), "{case}");
    }
}

#[test]
fn vectors_take_their_rows_off_what_metadata_counts() {
    // RP-180, RP-430
    let table = golden("plan_dv_partitions_buckets");
    assert_eq!(count(&[&table]), "80\n  80 from metadata, 0 from reading\n");
    let one = count(&[&table, "--where", "p = 1"]);
    assert_eq!(one, "40\n  40 from metadata, 0 from reading\n");
}

#[test]
fn groups_of_partition_columns_come_from_metadata_and_others_from_reading() {
    let table = golden("plan_dv_partitions_buckets");
    let by_partition = count(&[&table, "--by", "p"]);
    assert_eq!(
        by_partition,
        "80\n  80 from metadata, 0 from reading\n  \
         by p: a group is a partition or several, known without reading\n  \
         p = 2      39 rows   39 from metadata, 0 from reading\n  \
         p = 1      40 rows   40 from metadata, 0 from reading\n  \
         p = 3        1 row   1 from metadata, 0 from reading\n"
    );
    let both = count(&[
        &table, "--by", "v,p", "--where", "p = 2", "--format", "json",
    ]);
    assert_eq!(
        both,
        "{\"rows\":39,\"from_metadata\":0,\"from_reading\":39,\"groups\":[\
         {\"by\":{\"v\":\"a2\",\"p\":2},\"rows\":38,\"from_metadata\":0,\"from_reading\":38},\
         {\"by\":{\"v\":\"u\",\"p\":2},\"rows\":1,\"from_metadata\":0,\"from_reading\":1}]}\n"
    );
}

#[test]
fn groups_and_a_limit_do_not_go_together() {
    let table = golden("lab_r_one");
    let outcome = run(&["count", &table, "--by", "v", "--limit", "1"]);
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
}

#[test]
fn rows_with_their_kinds_are_counted_as_they_are_shown() {
    // RP-262, RP-431: vectors, hidden and merged levels, retracts that are kept; with a condition and a limit, in parts.
    let cases = [
        "plan_dv_update_and_delete",
        "plan_dv_partitions_buckets",
        "plan_dv_level0_hidden",
        "plan_v21_dv_merge_on_read",
        "merge_snap_dv_mor",
        "lab_r_delete",
    ];
    let restrictions: [&[&str]; 4] = [
        &[],
        &["--limit", "3"],
        &["--where", "k < 7"],
        &["--where", "k < 7", "--limit", "2"],
    ];
    let mut kept = 0;
    for (case, restriction) in cases
        .iter()
        .flat_map(|case| restrictions.map(|some| (case, some)))
    {
        let table = golden(case);
        let lines = |command, more: &[&str]| {
            let arguments = [&[command, table.as_str()], restriction, more].concat();
            let text = run(&arguments).ok();
            text.lines().map(str::to_owned).collect::<Vec<_>>()
        };
        let plain = lines("scan", &["--format", "csv", "-j", "1"]);
        for kinds in ["--rowkind", "--keep-deletes"] {
            let shown = lines("scan", &[kinds, "--format", "csv", "-j", "1"]);
            let rows = shown.len() - 1;
            assert_eq!(
                lines("count", &[kinds])[0],
                rows.to_string(),
                "{case} {restriction:?} {kinds}"
            );
            assert_eq!(
                lines("scan", &[kinds, "--format", "json", "-j", "8"]).len(),
                rows
            );
            if kinds == "--rowkind" {
                let adds = shown[1..].iter().map(|row| row.split_once(',').unwrap());
                let (kinds, rows): (Vec<_>, Vec<_>) = adds.unzip();
                assert!(
                    kinds.iter().all(|kind| matches!(*kind, "+I" | "+U")),
                    "{case}: {kinds:?}"
                );
                assert_eq!(rows, plain[1..], "{case} {restriction:?}");
            }
            kept += usize::from(rows >= plain.len());
        }
    }
    assert!(kept > 0, "no row that deletes");
}

#[test]
fn kinds_are_no_column_to_group_by() {
    let table = golden("plan_dv_update_and_delete");
    let (code, message) = run(&["count", &table, "--by", "rowkind", "--rowkind"]).failed();
    assert_eq!(code, 1, "{message}");
    assert!(message.contains("no column \"rowkind\""), "{message}");
}
