//! Where a table is, for readers that want a warehouse, a database and a table.

use std::error::Error;

/// What the object server takes for credentials: it looks at none.
pub const ACCESS_KEY: &str = "peers";
/// The other half.
pub const SECRET_KEY: &str = "peers";
/// Some region.
pub const REGION: &str = "us-east-1";

/// `[http://HOST:PORT|]WAREHOUSE/DATABASE.db/TABLE`, taken apart.
pub struct Place<'a> {
    /// The object server, if the warehouse is on one.
    pub endpoint: Option<&'a str>,
    /// The warehouse.
    pub warehouse: &'a str,
    /// The database, without `.db`.
    pub database: &'a str,
    /// The table.
    pub table: &'a str,
    /// Warehouse, database and table in one.
    pub path: &'a str,
}

/// Takes a location apart.
pub fn place(location: &str) -> Result<Place<'_>, Box<dyn Error>> {
    let (endpoint, path) = match location.split_once('|') {
        Some((endpoint, path)) => (Some(endpoint), path),
        None => (None, location),
    };
    let wrong = || format!("not a table of a warehouse: {location}");
    let (rest, table) = path.rsplit_once('/').ok_or_else(wrong)?;
    let (warehouse, database) = rest.rsplit_once('/').ok_or_else(wrong)?;
    Ok(Place {
        endpoint,
        warehouse,
        database: database.strip_suffix(".db").ok_or_else(wrong)?,
        table,
        path,
    })
}
