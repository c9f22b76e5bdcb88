//! Types from the text of schema JSON. Facts: table-format section 2.2.

use std::fmt;

use crate::error::{Error, Result};
use crate::types::{DataType, MAX_LENGTH, TypeKind};

/// Coordinate reference system where none is given.
const DEFAULT_CRS: &str = "OGC:CRS84";

/// The type of a text as schema JSON has it: any case, free white space, ` NOT NULL` for a type that is not nullable.
/// Arrays and multisets are written as suffix (`INT ARRAY`); maps, rows and `ARRAY<INT>` have no text form (TF-026),
/// they are objects in JSON.
///
/// ```
/// use paimon_meta::{TypeKind, parse_type};
/// let price = parse_type("decimal(10,2) not null")?;
/// assert_eq!(price, TypeKind::Decimal { precision: 10, scale: 2 }.not_null());
/// assert_eq!(price.to_string(), "DECIMAL(10, 2) NOT NULL");
/// # Ok::<(), paimon_meta::Error>(())
/// ```
///
/// # Errors
/// `InvalidInput` that quotes the text.
pub fn parse_type(text: &str) -> Result<DataType> {
    Parser { text, rest: text }.whole()
}

/// One piece of a type text.
#[derive(PartialEq)]
enum Token<'a> {
    Word(&'a str),
    Number(&'a str),
    /// Content of single quotes, doubled quotes undone.
    Quoted(String),
    Mark(char),
    End,
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(text) | Self::Number(text) => write!(f, "{text:?}"),
            Self::Quoted(text) => write!(f, "text {text:?}"),
            Self::Mark(mark) => write!(f, "{mark:?}"),
            Self::End => f.write_str("the end"),
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn whole(mut self) -> Result<DataType> {
        let mut data_type = self.scalar()?;
        let suffix: Option<fn(Box<DataType>) -> TypeKind> = if self.accept_word("ARRAY") {
            Some(TypeKind::Array)
        } else if self.accept_word("MULTISET") {
            Some(TypeKind::Multiset)
        } else {
            None
        };
        if let Some(suffix) = suffix {
            data_type = suffix(Box::new(data_type)).nullable();
            data_type.nullable = self.nullability()?;
        }
        match self.next() {
            Token::End => Ok(data_type),
            token => Err(self.error(&format!("{token} behind its end"))),
        }
    }

    /// A type without suffix, with its nullability.
    fn scalar(&mut self) -> Result<DataType> {
        let kind = match self.next() {
            Token::Word(word) => self.kind(&word.to_ascii_uppercase())?,
            token => return Err(self.error(&format!("{token} in place of a type name"))),
        };
        let nullable = self.nullability()?;
        Ok(DataType { kind, nullable })
    }

    fn kind(&mut self, name: &str) -> Result<TypeKind> {
        Ok(match name {
            "BOOLEAN" => TypeKind::Boolean,
            "TINYINT" => TypeKind::TinyInt,
            "SMALLINT" => TypeKind::SmallInt,
            "INT" | "INTEGER" => TypeKind::Int,
            "BIGINT" => TypeKind::BigInt,
            "FLOAT" => TypeKind::Float,
            "DOUBLE" => {
                self.accept_word("PRECISION");
                TypeKind::Double
            }
            "DATE" => TypeKind::Date,
            "VARIANT" => TypeKind::Variant,
            "BLOB" => TypeKind::Blob,
            "STRING" => TypeKind::VarChar(MAX_LENGTH),
            "BYTES" => TypeKind::VarBinary(MAX_LENGTH),
            // TF-025: one character or byte where no length is given.
            "CHAR" => TypeKind::Char(self.length()?),
            "VARCHAR" => TypeKind::VarChar(self.length()?),
            "BINARY" => TypeKind::Binary(self.length()?),
            "VARBINARY" => TypeKind::VarBinary(self.length()?),
            "DECIMAL" | "NUMERIC" | "DEC" => self.decimal()?,
            "TIME" => {
                let precision = self.precision(0)?;
                self.without_time_zone()?;
                TypeKind::Time(precision)
            }
            "TIMESTAMP" => self.timestamp()?,
            // TF-028: the short name of TIMESTAMP WITH LOCAL TIME ZONE.
            "TIMESTAMP_LTZ" => TypeKind::LocalZonedTimestamp(self.precision(6)?),
            "VECTOR" => self.vector()?,
            "GEOMETRY" => self.geometry()?,
            "GEOGRAPHY" => self.geography()?,
            _ => return Err(self.error(&format!("no type {name}"))),
        })
    }

    fn nullability(&mut self) -> Result<bool> {
        if self.accept_word("NOT") {
            self.expect_word("NULL")?;
            return Ok(false);
        }
        self.accept_word("NULL");
        Ok(true)
    }

    fn length(&mut self) -> Result<u32> {
        if !self.accept_mark('(') {
            return Ok(1);
        }
        let length = self.number(1, MAX_LENGTH)?;
        self.expect_mark(')')?;
        Ok(length)
    }

    fn precision(&mut self, default: u8) -> Result<u8> {
        if !self.accept_mark('(') {
            return Ok(default);
        }
        let precision = self.small_number(0, 9)?;
        self.expect_mark(')')?;
        Ok(precision)
    }

    fn decimal(&mut self) -> Result<TypeKind> {
        let (mut precision, mut scale) = (10, 0);
        if self.accept_mark('(') {
            precision = self.small_number(1, 38)?;
            if self.accept_mark(',') {
                scale = self.small_number(0, precision)?;
            }
            self.expect_mark(')')?;
        }
        Ok(TypeKind::Decimal { precision, scale })
    }

    fn timestamp(&mut self) -> Result<TypeKind> {
        let precision = self.precision(6)?;
        if self.accept_word("WITH") {
            for word in ["LOCAL", "TIME", "ZONE"] {
                self.expect_word(word)?;
            }
            return Ok(TypeKind::LocalZonedTimestamp(precision));
        }
        self.without_time_zone()?;
        Ok(TypeKind::Timestamp(precision))
    }

    fn without_time_zone(&mut self) -> Result<()> {
        if self.accept_word("WITHOUT") {
            self.expect_word("TIME")?;
            self.expect_word("ZONE")?;
        }
        Ok(())
    }

    fn vector(&mut self) -> Result<TypeKind> {
        self.expect_mark('<')?;
        // No recursion: the element must be a plain number or boolean, which the word after `<` decides.
        let mut ahead = Self { ..*self };
        if matches!(ahead.next(), Token::Word(word) if word.eq_ignore_ascii_case("VECTOR")) {
            return Err(self.error("a vector of vectors"));
        }
        let element = self.scalar()?;
        self.expect_mark(',')?;
        let length = self.number(1, MAX_LENGTH)?;
        self.expect_mark('>')?;
        vector_of(element, length)
    }

    fn geometry(&mut self) -> Result<TypeKind> {
        if !self.accept_mark('(') {
            return Ok(TypeKind::Geometry(DEFAULT_CRS.to_owned()));
        }
        let crs = self.name()?;
        self.expect_mark(')')?;
        Ok(TypeKind::Geometry(crs))
    }

    fn geography(&mut self) -> Result<TypeKind> {
        let (mut crs, mut algorithm) = (DEFAULT_CRS.to_owned(), "spherical".to_owned());
        if self.accept_mark('(') {
            crs = self.name()?;
            if self.accept_mark(',') {
                algorithm = self.name()?.to_ascii_lowercase();
            }
            self.expect_mark(')')?;
        }
        match algorithm.as_str() {
            "spherical" | "vincenty" | "thomas" | "andoyer" | "karney" => {
                Ok(TypeKind::Geography { crs, algorithm })
            }
            _ => Err(self.error(&format!("no edge algorithm {algorithm}"))),
        }
    }

    /// A name that is not empty, bare or in single quotes.
    fn name(&mut self) -> Result<String> {
        match self.next() {
            Token::Word(word) => Ok(word.to_owned()),
            Token::Quoted(name) if !name.is_empty() => Ok(name),
            token => Err(self.error(&format!("{token} in place of a name"))),
        }
    }

    fn small_number(&mut self, least: u8, most: u8) -> Result<u8> {
        let number = self.number(least.into(), most.into())?;
        u8::try_from(number).map_err(|_| self.error("number out of range"))
    }

    fn number(&mut self, least: u32, most: u32) -> Result<u32> {
        match self.next() {
            Token::Number(digits) => digits
                .parse()
                .ok()
                .filter(|number| (least..=most).contains(number))
                .ok_or_else(|| self.error(&format!("{digits}, expected {least} to {most}"))),
            token => Err(self.error(&format!("{token} in place of a number"))),
        }
    }

    fn accept_word(&mut self, expected: &str) -> bool {
        self.accept(
            |token| matches!(token, Token::Word(word) if word.eq_ignore_ascii_case(expected)),
        )
    }

    fn expect_word(&mut self, expected: &str) -> Result<()> {
        if self.accept_word(expected) {
            Ok(())
        } else {
            Err(self.error(&format!("no {expected} where one must be")))
        }
    }

    fn accept_mark(&mut self, expected: char) -> bool {
        self.accept(|token| *token == Token::Mark(expected))
    }

    fn expect_mark(&mut self, expected: char) -> Result<()> {
        if self.accept_mark(expected) {
            Ok(())
        } else {
            Err(self.error(&format!("no {expected} where one must be")))
        }
    }

    /// Takes the next token if it is the wanted one.
    fn accept(&mut self, wanted: impl Fn(&Token<'_>) -> bool) -> bool {
        let mut ahead = Self { ..*self };
        let found = wanted(&ahead.next());
        if found {
            self.rest = ahead.rest;
        }
        found
    }

    fn next(&mut self) -> Token<'a> {
        self.rest = self.rest.trim_start();
        let Some(first) = self.rest.chars().next() else {
            return Token::End;
        };
        match first {
            '<' | '>' | '(' | ')' | ',' | '.' | '`' => {
                self.take(first.len_utf8());
                Token::Mark(first)
            }
            '\'' => self.quoted(),
            '0'..='9' => Token::Number(self.take_until(|symbol| !symbol.is_ascii_digit())),
            _ => Token::Word(self.take_until(|symbol: char| {
                symbol.is_whitespace() || matches!(symbol, '<' | '>' | '(' | ')' | ',' | '.')
            })),
        }
    }

    fn quoted(&mut self) -> Token<'a> {
        let mut content = String::new();
        self.take(1);
        loop {
            content.push_str(self.take_until(|symbol| symbol == '\''));
            if self.take(1).is_empty() {
                return Token::Mark('\''); // the closing quote is missing
            }
            if !self.rest.starts_with('\'') {
                return Token::Quoted(content);
            }
            content.push_str(self.take(1));
        }
    }

    fn take_until(&mut self, stop: impl Fn(char) -> bool) -> &'a str {
        self.take(self.rest.find(stop).unwrap_or(self.rest.len()))
    }

    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    fn error(&self, problem: &str) -> Error {
        Error::invalid_input(format!("type {:?} has {problem}", self.text))
    }
}

/// A vector if its element and length allow one.
pub(super) fn vector_of(element: DataType, length: u32) -> Result<TypeKind> {
    let allowed = element.kind.integer_bits().is_some()
        || matches!(
            element.kind,
            TypeKind::Boolean | TypeKind::Float | TypeKind::Double
        );
    if allowed && (1..=MAX_LENGTH).contains(&length) {
        Ok(TypeKind::Vector {
            element: Box::new(element),
            length,
        })
    } else {
        Err(Error::invalid_input(format!(
            "no vector of {length} {element} values"
        )))
    }
}
