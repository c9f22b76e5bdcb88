//! The golden suite: every read of every case, by every route of the library. One test a case.

#[cfg(test)]
mod library;
#[cfg(test)]
mod sketches;
#[cfg(test)]
mod system;

#[cfg(test)]
fn main() {
    use libtest_mimic::{Arguments, Trial, run};
    use paimon_testkit::{GOLDEN_FOUND, GoldenCase, NotYet};

    let mut cases = GoldenCase::load_all().unwrap();
    cases.extend(GoldenCase::load_from(GOLDEN_FOUND.as_ref()).unwrap());
    let not_yet = std::sync::Arc::new(NotYet::load().unwrap());
    let unknown = not_yet.unknown(&cases);
    assert!(
        unknown.is_empty(),
        "not-yet.toml names reads that do not exist: {unknown:?}"
    );
    let trials = cases.into_iter().map(|case| {
        let not_yet = std::sync::Arc::clone(&not_yet);
        Trial::test(case.case.clone(), move || {
            library::check_case(&case, &not_yet, &library::ROUTES).map_err(Into::into)
        })
    });
    run(&Arguments::from_args(), trials.collect()).exit();
}

#[cfg(not(test))]
fn main() {}
