//! The chain of providers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::RecordBatch;
use futures_util::stream;
use paimon_meta::{DataSplit, Error, ErrorKind, Result, Split};
use paimon_read::{
    BatchStream, Claim, ReadContext, ReadRequest, ReadTask, SplitReadProvider, TableReader,
    TaskOrdering, default_providers, read_task,
};
use paimon_testkit::CountingStore;

use super::table::{TestTable, over, rows};

/// What a provider of the test does with the tasks it is asked for.
#[derive(Clone, Copy, Debug)]
enum Answer {
    Leave,
    Refuse,
    /// Reads no rows.
    Empty,
    /// Hands the task on to the chain as one that need not be merged.
    HandOn,
}

/// Answers for tasks of bucket 7, leaves the others.
#[derive(Debug)]
struct Own {
    answer: Answer,
    asked: Arc<AtomicUsize>,
}

fn bucket(task: &ReadTask) -> i32 {
    match &task.split {
        Split::Data(split) => split.bucket,
        _ => -1,
    }
}

impl SplitReadProvider for Own {
    fn name(&self) -> &'static str {
        "own"
    }

    fn claim(&self, task: &ReadTask, _: &ReadContext) -> Claim {
        self.asked.fetch_add(1, Ordering::Relaxed);
        match self.answer {
            _ if bucket(task) != 7 => Claim::No,
            Answer::Leave => Claim::No,
            Answer::Refuse => Claim::Refuse(Error::unsupported("bucket seven")),
            Answer::Empty | Answer::HandOn => Claim::Read,
        }
    }

    fn read(&self, task: ReadTask, context: &Arc<ReadContext>) -> Result<BatchStream> {
        if let (Answer::HandOn, Split::Data(split)) = (self.answer, task.split.clone()) {
            let split = DataSplit { bucket: 0, ..split };
            return read_task(ReadTask::new(Split::Data(split)), context);
        }
        let reader = TableReader::from_context(context.as_ref().clone())?;
        let none = stream::empty::<Result<RecordBatch>>();
        Ok(BatchStream::new(reader.schema(), none))
    }
}

struct Chain {
    reader: TableReader,
    split: DataSplit,
    store: Arc<CountingStore>,
    asked: Arc<AtomicUsize>,
}

/// A table with a provider in front of those of the library, and a split of bucket 7 to read.
fn chain(answer: Answer) -> Chain {
    let table = TestTable::simple();
    let split = DataSplit {
        bucket: 7,
        ..table.split(vec![table.write("a", &["+I 0 1 x"])])
    };
    let store = table.counting();
    let asked = Arc::new(AtomicUsize::new(0));
    let own = Own {
        answer,
        asked: Arc::clone(&asked),
    };
    let mut providers = default_providers();
    providers.insert(0, Arc::new(own));
    let reader = TableReader::from_context(ReadContext {
        table: Arc::new(table.table),
        request: ReadRequest::default(),
        filter: None,
        resources: over(Arc::<CountingStore>::clone(&store)),
        providers,
    });
    Chain {
        reader: reader.unwrap(),
        split,
        store,
        asked,
    }
}

impl Chain {
    fn task(&self) -> ReadTask {
        ReadTask::new(Split::Data(self.split.clone()))
    }
}

#[test]
fn first_claim_wins() {
    // RP-200
    let chain = chain(Answer::Empty);
    assert_eq!(chain.reader.provider(&chain.task()).unwrap(), "own");
    assert_eq!(
        rows(&chain.reader, chain.split.clone()).unwrap(),
        [""; 0],
        "the provider in front reads no rows"
    );
    assert_eq!(chain.store.take(), []);
}

#[test]
fn task_that_is_left_falls_through_to_the_next_provider() {
    let chain = chain(Answer::Leave);
    assert_eq!(chain.reader.provider(&chain.task()).unwrap(), "merge");
    assert_eq!(rows(&chain.reader, chain.split.clone()).unwrap(), ["1 x"]);
    assert_eq!(
        chain.asked.load(Ordering::Relaxed),
        2,
        "asked by name and by read"
    );
}

#[test]
fn refusal_ends_the_search_before_any_request() {
    let chain = chain(Answer::Refuse);
    let error = chain.reader.read(chain.task()).unwrap_err();
    assert_eq!(error.feature(), Some("bucket seven"));
    assert_eq!(chain.store.take(), []);
}

#[test]
fn provider_can_hand_its_task_on_to_the_chain() {
    let chain = chain(Answer::HandOn);
    assert_eq!(chain.reader.provider(&chain.task()).unwrap(), "own");
    assert_eq!(rows(&chain.reader, chain.split.clone()).unwrap(), ["1 x"]);
}

#[test]
fn nothing_is_promised_of_the_order_of_another_provider() {
    let of = |answer| {
        let chain = chain(answer);
        chain.reader.ordering(&chain.task())
    };
    assert_eq!(of(Answer::Empty), TaskOrdering::Unordered);
    assert_eq!(of(Answer::Refuse), TaskOrdering::Unordered);
    assert_eq!(of(Answer::Leave), TaskOrdering::Key);
}

#[test]
fn task_that_nobody_claims_is_unsupported_before_any_request() {
    // RP-200
    let table = TestTable::simple();
    let store = table.counting();
    let reader = TableReader::from_context(ReadContext {
        table: Arc::new(table.table.clone()),
        request: ReadRequest::default(),
        filter: None,
        resources: over(Arc::<CountingStore>::clone(&store)),
        providers: Vec::new(),
    })
    .unwrap();
    let split = table.split(vec![table.write("a", &["+I 0 1 x"])]);
    let error = reader.read(ReadTask::new(Split::Data(split))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(error.feature(), Some("this kind of split"));
    assert_eq!(store.take(), []);
}

#[test]
fn slots_without_a_deletion_vector_are_none() {
    // RP-113: a slot a file, empty where nothing of it is deleted
    let table = TestTable::simple();
    let files = vec![
        table.write("a", &["+I 0 1 x"]),
        table.write("b", &["+I 1 1 y"]),
    ];
    for (files, raw_convertible) in [(files.clone(), false), (files[..1].to_vec(), true)] {
        let split = DataSplit {
            deletion_files: Some(vec![None; files.len()]),
            raw_convertible,
            ..table.split(files)
        };
        assert_eq!(table.rows(split, ReadRequest::default()).unwrap().len(), 1);
    }
}

/// The feature that a read lacks, which it must say without any request.
fn lacking(table: &TestTable, split: DataSplit) -> String {
    let store = table.counting();
    let resources = over(Arc::<CountingStore>::clone(&store));
    let reader = table.reader_with(ReadRequest::default(), resources);
    let error = reader.read(ReadTask::new(Split::Data(split))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    assert_eq!(store.take(), []);
    error.feature().unwrap().to_owned()
}

#[test]
fn what_is_not_built_is_named_before_any_request() {
    let table = TestTable::simple();
    let file = table.write("a", &["+I 0 1 x"]);
    for raw_convertible in [false, true] {
        let mut split = table.split(vec![file.clone()]);
        split.raw_convertible = raw_convertible;
        split.files[0].file_name = "a.csv".to_owned();
        assert_eq!(lacking(&table, split), "file format csv");
    }
}

#[test]
fn a_split_that_does_not_say_where_its_bucket_is_is_read() {
    // RP-115: splits of two states in the reference's form are such ones.
    let table = TestTable::simple();
    let files = vec![
        table.write("a", &["+I 1 1 x", "+I 2 2 x"]),
        table.write("b", &["+I 3 2 y"]),
    ];
    let mut split = table.split(files);
    let expected = table.rows(split.clone(), ReadRequest::default()).unwrap();
    split.bucket_path.clear();
    assert_eq!(table.rows(split, ReadRequest::default()).unwrap(), expected);
}
