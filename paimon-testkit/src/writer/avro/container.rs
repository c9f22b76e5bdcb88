//! Avro object container files with the same bytes for the same content.

use apache_avro::types::Value;
use apache_avro::{Codec, Schema, Writer, ZstandardSettings};
use paimon_meta::{Error, Result};

/// A kind of Avro file: its schema, as model and as it stands in the header.
#[derive(Debug)]
pub(super) struct Container {
    schema: Schema,
    text: String,
}

impl Container {
    pub(super) fn new(fields: &str) -> Result<Self> {
        let text = format!(
            r#"{{"type":"record","name":"record","namespace":"org.apache.paimon.avro.generated","fields":{fields}}}"#
        );
        let schema = Schema::parse_str(&text).map_err(avro_error)?;
        Ok(Self { schema, text })
    }

    /// A file of these values. The library's own header has its members in no order, so that it is put in anew.
    pub(super) fn file(
        &self,
        values: impl Iterator<Item = Value>,
        marker: [u8; 16],
    ) -> Result<Vec<u8>> {
        let mut writer = Writer::builder()
            .schema(&self.schema)
            .writer(Vec::new())
            .codec(Codec::Zstandard(ZstandardSettings::default()))
            .marker(marker)
            .build();
        for value in values {
            writer.append(value).map_err(avro_error)?;
        }
        let bytes = writer.into_inner().map_err(avro_error)?;
        let at = bytes
            .windows(marker.len())
            .position(|window| window == marker);
        let blocks = at.and_then(|at| bytes.get(at..)).unwrap_or(&marker);
        let mut file = MAGIC.to_vec();
        put_length(&mut file, 2);
        for text in ["avro.schema", &self.text, "avro.codec", "zstandard"] {
            put_length(&mut file, text.len());
            file.extend_from_slice(text.as_bytes());
        }
        put_length(&mut file, 0);
        file.extend_from_slice(blocks);
        Ok(file)
    }
}

/// The first bytes of an Avro file.
const MAGIC: &[u8] = b"Obj\x01";

/// A length as Avro writes longs: its double, seven bits a byte, the lowest first.
fn put_length(bytes: &mut Vec<u8>, length: usize) {
    let mut rest = length * 2;
    loop {
        let [low, ..] = rest.to_le_bytes();
        rest >>= 7;
        if rest == 0 {
            bytes.push(low & 0x7f);
            return;
        }
        bytes.push(low | 0x80);
    }
}

fn avro_error(error: apache_avro::Error) -> Error {
    Error::internal("cannot write an Avro file").with_source(error)
}
