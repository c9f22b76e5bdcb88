//! A directory as an object store that answers slowly: as much of S3 as readers ask for.

use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use tiny_http::{Header, Method, Request, Response, Server};

/// Threads that answer: more than any reader has requests at a time.
const THREADS: usize = 256;
/// The bucket; it is the directory.
pub const BUCKET: &str = "peers";

/// A server on a free port.
pub struct SlowStore {
    /// `http://HOST:PORT`.
    pub endpoint: String,
    requests: Arc<AtomicU64>,
}

impl SlowStore {
    /// Serves a directory; each answer waits `delay` first.
    pub fn start(directory: &Path, delay: Duration) -> Result<Self, Box<dyn Error>> {
        let server = Server::http("127.0.0.1:0").map_err(|error| error.to_string())?;
        let endpoint = format!("http://{}", server.server_addr());
        let server = Arc::new(server);
        let requests = Arc::new(AtomicU64::new(0));
        for _ in 0..THREADS {
            let (server, requests) = (Arc::clone(&server), Arc::clone(&requests));
            let directory = directory.to_owned();
            thread::spawn(move || {
                while let Ok(request) = server.recv() {
                    requests.fetch_add(1, Ordering::Relaxed);
                    thread::sleep(delay);
                    // A reader that hung up is no fault of the server.
                    let _ = answer(&directory, request);
                }
            });
        }
        Ok(Self { endpoint, requests })
    }

    /// Requests since the last call.
    pub fn take_requests(&self) -> u64 {
        self.requests.swap(0, Ordering::Relaxed)
    }
}

fn answer(directory: &Path, request: Request) -> std::io::Result<()> {
    let url = request.url().to_owned();
    let (path, query) = url.split_once('?').unwrap_or((&url, ""));
    let path = decode(path);
    let key = path
        .strip_prefix('/')
        .and_then(|path| path.strip_prefix(BUCKET))
        .map_or("", |key| key.trim_start_matches('/'));
    match (request.method(), key) {
        (Method::Get, "") => request.respond(xml(list(directory, query)?)),
        (Method::Get | Method::Head, key) => object(&directory.join(key), request),
        _ => request.respond(Response::empty(405)),
    }
}

/// One object, or the part of it that the request's `Range` names.
fn object(path: &Path, request: Request) -> std::io::Result<()> {
    let Ok(mut file) = fs::File::open(path).and_then(|file| {
        let is_file = file.metadata()?.is_file();
        is_file
            .then_some(file)
            .ok_or_else(|| std::io::ErrorKind::NotFound.into())
    }) else {
        let missing = "<Error><Code>NoSuchKey</Code></Error>";
        return request.respond(xml(missing.to_owned()).with_status_code(404));
    };
    let size = file.metadata()?.len();
    let modified = file.metadata()?.modified()?;
    let headers = vec![
        header("Last-Modified", &httpdate::fmt_http_date(modified)),
        header("ETag", &format!("\"{size}\"")),
        header("Accept-Ranges", "bytes"),
    ];
    let range = request
        .headers()
        .iter()
        .find(|header| header.field.equiv("Range"))
        .and_then(|header| range(header.value.as_str(), size));
    let (begin, end, status) = match range {
        Some((begin, end)) => (begin, end, 206),
        None => (0, size, 200),
    };
    let length = end - begin;
    file.seek(SeekFrom::Start(begin))?;
    let body = file.take(if *request.method() == Method::Head {
        0
    } else {
        length
    });
    let mut response = Response::new(
        status.into(),
        headers,
        body,
        usize::try_from(length).ok(),
        None,
    )
    .with_chunked_threshold(usize::MAX);
    if status == 206 {
        let text = format!("bytes {begin}-{}/{size}", end - 1);
        response.add_header(header("Content-Range", &text));
    }
    request.respond(response)
}

/// `bytes=A-B`, `bytes=A-` and `bytes=-N` as a half-open range.
fn range(text: &str, size: u64) -> Option<(u64, u64)> {
    let (begin, end) = text.strip_prefix("bytes=")?.split_once('-')?;
    match (begin, end) {
        ("", last) => Some((size.saturating_sub(last.parse().ok()?), size)),
        (begin, "") => Some((begin.parse().ok()?, size)),
        (begin, end) => Some((
            begin.parse().ok()?,
            (end.parse::<u64>().ok()? + 1).min(size),
        )),
    }
    .filter(|(begin, end)| begin < end)
}

/// An answer to `ListObjectsV2`, all of it on one page.
fn list(directory: &Path, query: &str) -> std::io::Result<String> {
    let value = |name: &str| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let found = pairs.find(|(key, _)| *key == name);
        found.map(|(_, value)| decode(value)).unwrap_or_default()
    };
    let (prefix, flat) = (value("prefix"), value("delimiter").is_empty());
    let folder = prefix.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut keys = Vec::new();
    collect(directory, &directory.join(folder), flat, &mut keys)?;
    keys.retain(|(key, _)| key.starts_with(&prefix));
    keys.sort();
    let mut text = String::from("<ListBucketResult>");
    let _ = write!(text, "<Name>{BUCKET}</Name><Prefix>{prefix}</Prefix>");
    let _ = write!(
        text,
        "<KeyCount>{}</KeyCount><IsTruncated>false</IsTruncated>",
        keys.len()
    );
    for (key, size) in keys {
        let _ = match size {
            None => write!(
                text,
                "<CommonPrefixes><Prefix>{key}</Prefix></CommonPrefixes>"
            ),
            Some(size) => write!(
                text,
                "<Contents><Key>{key}</Key><LastModified>2020-01-01T00:00:00.000Z</LastModified>\
                 <ETag>\"{size}\"</ETag><Size>{size}</Size></Contents>"
            ),
        };
    }
    text.push_str("</ListBucketResult>");
    Ok(text)
}

/// Keys below a folder with their sizes; folders, where the listing is not flat, end in `/` and have none.
fn collect(
    root: &Path,
    folder: &Path,
    flat: bool,
    keys: &mut Vec<(String, Option<u64>)>,
) -> std::io::Result<()> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(());
    };
    for entry in entries {
        let path: PathBuf = entry?.path();
        let key = path
            .strip_prefix(root)
            .unwrap_or(&path)
            .display()
            .to_string();
        let metadata = fs::metadata(&path)?;
        match (metadata.is_dir(), flat) {
            (true, true) => collect(root, &path, flat, keys)?,
            (true, false) => keys.push((format!("{key}/"), None)),
            (false, _) => keys.push((key, Some(metadata.len()))),
        }
    }
    Ok(())
}

fn xml(text: String) -> Response<std::io::Cursor<Vec<u8>>> {
    Response::from_string(text).with_header(header("Content-Type", "application/xml"))
}

fn header(name: &str, value: &str) -> Header {
    Header::from_bytes(name, value).expect("a header of plain text")
}

/// `%41` is `A`; what is no such escape stays.
fn decode(text: &str) -> String {
    percent_encoding::percent_decode_str(&text.replace('+', " "))
        .decode_utf8_lossy()
        .into_owned()
}
