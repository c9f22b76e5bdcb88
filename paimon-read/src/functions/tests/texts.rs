//! `listagg`.

use arrow_array::cast::AsArray;
use arrow_array::{Array, LargeStringArray, StringArray, StringViewArray};

use super::*;

/// What is left of one group of texts.
fn joined(options: &[(&str, &str)], versions: &[(Step, Option<&str>)]) -> Result<Option<String>> {
    let (steps, texts): (Vec<_>, Vec<_>) = versions.iter().copied().unzip();
    let texts: ArrayRef = Arc::new(StringViewArray::from(texts));
    let merged = merge("listagg", "STRING", options, &texts, &[&steps])?;
    Ok(merged
        .as_string_view()
        .iter()
        .next()
        .unwrap()
        .map(str::to_owned))
}

fn added(options: &[(&str, &str)], texts: &[&str]) -> String {
    let versions: Vec<_> = texts.iter().map(|text| (Add, Some(*text))).collect();
    joined(options, &versions).unwrap().unwrap()
}

const DISTINCT: (&str, &str) = ("distinct", "true");

#[test]
fn texts_are_joined_by_the_delimiter() {
    // ME-113
    assert_eq!(added(&[], &["user1", "user2"]), "user1,user2");
    assert_eq!(
        added(&[("list-agg-delimiter", "; ")], &["a", "b", "c"]),
        "a; b; c"
    );
    assert_eq!(added(&[("list-agg-delimiter", "")], &["a", "b"]), "ab");
}

#[test]
fn blank_texts_are_passed_over() {
    // ME-113, ME-116
    for blank in ["", " ", "\t\n\u{1c}", "\u{3000}\u{2006}\u{205f}"] {
        assert_eq!(added(&[], &[blank, "x"]), "x");
        assert_eq!(added(&[], &["x", blank, "y"]), "x,y");
        assert_eq!(
            joined(&[], &[(Add, Some(blank)), (Add, Some(blank))]).unwrap(),
            None
        );
    }
    for no_blank in ["\u{85}", "\u{a0}", "\u{2007}", "\u{202f}", " a "] {
        assert_eq!(added(&[], &["x", no_blank]), format!("x,{no_blank}"));
    }
}

#[test]
fn distinct_compares_whole_parts() {
    // ME-114
    assert_eq!(
        added(&[DISTINCT], &["abc,def,asd", "ab,xy"]),
        "abc,def,asd,ab,xy"
    );
    let semicolon = ("list-agg-delimiter", ";");
    let merged = added(&[DISTINCT, semicolon], &["k1=v1;k2=v2", "k1=v1;k3=v3"]);
    assert_eq!(merged, "k1=v1;k2=v2;k3=v3");
    // What is accumulated stays as it is, blank parts of what comes are dropped.
    assert_eq!(added(&[DISTINCT], &["a,a", "b,,b, ,a"]), "a,a,b");
    assert_eq!(added(&[DISTINCT], &["a,a"]), "a,a");
    assert_eq!(added(&[DISTINCT], &["a", "a"]), "a");
}

#[test]
fn empty_delimiter_splits_at_spaces_and_joins_with_nothing() {
    // ME section 4.4
    let none = ("list-agg-delimiter", "");
    assert_eq!(added(&[DISTINCT, none], &["a b", "b c", "bc"]), "a bc");
    assert_eq!(added(&[DISTINCT, none], &["a b", "b c", "b"]), "a bcb");
}

#[test]
fn older_text_is_put_in_front() {
    // ME section 3.7, example 13
    let versions = [(Add, Some("x")), (AddReversed, Some("y")), (Add, Some("w"))];
    assert_eq!(joined(&[], &versions).unwrap().unwrap(), "y,x,w");
    let nulls = [(Add, None), (AddReversed, Some("y")), (AddReversed, None)];
    assert_eq!(joined(&[], &nulls).unwrap().unwrap(), "y");
    assert_eq!(joined(&[], &[(Add, None), (Add, None)]).unwrap(), None);
}

#[test]
fn retraction_of_texts_is_refused() {
    // ME-135
    assert!(joined(&[], &[(Add, Some("x")), (Retract, None)]).is_err());
}

type Layout = fn([Option<&str>; 4]) -> ArrayRef;

#[test]
fn every_layout_of_text_keeps_its_layout() {
    let texts = [
        Some("a"),
        Some("a text of more than twelve bytes"),
        None,
        None,
    ];
    let groups: &[&[Step]] = &[&[Add, Add], &[Add], &[Replace]];
    let wanted = [Some("a,a text of more than twelve bytes"), None, None];
    let layouts: [Layout; 3] = [
        |texts| Arc::new(StringArray::from(texts.to_vec())),
        |texts| Arc::new(LargeStringArray::from(texts.to_vec())),
        |texts| Arc::new(StringViewArray::from(texts.to_vec())),
    ];
    for layout in layouts {
        let found = merge("listagg", "STRING", &[], &layout(texts), groups).unwrap();
        let [a, b, c] = wanted;
        assert_eq!(&found, &layout([a, b, c, None]).slice(0, 3));
    }
}

#[test]
fn text_of_a_length_is_refused() {
    // ME-115
    for kind in ["VARCHAR(10)", "CHAR(3)", "INT", "BYTES"] {
        assert!(function("listagg", kind, &[]).is_err(), "{kind}");
    }
    assert!(function("listagg", "STRING NOT NULL", &[]).is_ok());
}
