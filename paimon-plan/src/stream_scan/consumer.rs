//! The file of a consumer.

use paimon_meta::Consumer;

/// The file's content, as the reference writes it.
pub(super) fn to_json(consumer: Consumer) -> String {
    format!("{{\n  \"nextSnapshot\" : {}\n}}", consumer.next_snapshot)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consumer_file_reads_back() {
        let consumer = Consumer { next_snapshot: 7 };
        let read = Consumer::from_json(to_json(consumer).as_bytes()).unwrap();
        assert_eq!(read, consumer);
    }
}
