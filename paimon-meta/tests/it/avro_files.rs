//! Avro files for tests: of any schema and codec, and by hand where no library would write them.

use apache_avro::types::Value;
use apache_avro::{Codec, Reader, Schema, Writer};
use serde_json::Value as Json;

/// The schema of a manifest of the newest version (section 4.3).
pub(crate) fn manifest_schema() -> Json {
    serde_json::from_str(include_str!("manifest_schema.json")).unwrap()
}

/// A file of `values`, with about `block_bytes` bytes a block. Values are fitted to the schema: a map is a record, a
/// missing field has its default, an array of numbers is bytes.
pub(crate) fn write(schema: &Json, values: &[Json], codec: Codec, block_bytes: usize) -> Vec<u8> {
    let values: Vec<_> = values.iter().cloned().map(Value::from).collect();
    write_values(schema, &values, codec, block_bytes)
}

fn write_values(schema: &Json, values: &[Value], codec: Codec, block_bytes: usize) -> Vec<u8> {
    let schema = Schema::parse(schema).unwrap();
    let writer = Writer::builder().schema(&schema).writer(Vec::new());
    let mut writer = writer.codec(codec).block_size(block_bytes).build();
    for value in values {
        writer
            .append(value.clone().resolve(&schema).unwrap())
            .unwrap();
    }
    writer.into_inner().unwrap()
}

/// The same file with another codec.
pub(crate) fn recompress(file: &[u8], codec: Codec) -> Vec<u8> {
    let reader = Reader::new(file).unwrap();
    let schema = serde_json::to_value(reader.writer_schema()).unwrap();
    let values: Vec<_> = reader.map(Result::unwrap).collect();
    write_values(&schema, &values, codec, 64_000)
}

/// A long as Avro writes it.
pub(crate) fn long(value: i64) -> Vec<u8> {
    let mut rest = ((value << 1) ^ (value >> 63)).cast_unsigned();
    let mut bytes = Vec::new();
    while rest >= 0x80 {
        bytes.push(rest.to_le_bytes()[0] | 0x80);
        rest >>= 7;
    }
    bytes.push(rest.to_le_bytes()[0]);
    bytes
}

fn length(bytes: &[u8]) -> Vec<u8> {
    long(i64::try_from(bytes.len()).unwrap())
}

/// The marker between the blocks of [`container`].
pub(crate) const SYNC: [u8; 16] = [7; 16];

/// A file by hand: a schema, a codec, and blocks of a count and bytes.
pub(crate) fn container(schema: &str, codec: &str, blocks: &[(i64, &[u8])]) -> Vec<u8> {
    let mut file = b"Obj\x01".to_vec();
    file.extend(long(2));
    for text in ["avro.schema", schema, "avro.codec", codec] {
        file.extend(length(text.as_bytes()));
        file.extend(text.as_bytes());
    }
    file.extend(long(0));
    file.extend(SYNC);
    for (count, block) in blocks {
        file.extend(long(*count));
        file.extend(length(block));
        file.extend(*block);
        file.extend(SYNC);
    }
    file
}
