"""DuckDB over the data files of bucket 0, as one reads them without a Paimon reader: the newest version of each key.

A line `CASE THREADS LOCATION` in, a line `ROWS SUM SECONDS` out, `SUM` that of the column `i1`. Needs the packages
`duckdb` and `pyarrow`.
"""

import glob
import sys
import time

import duckdb
import pyarrow.compute
import pyarrow.parquet


def query(case, location):
    files = f"{location}/bucket-0/*.parquet"
    names = pyarrow.parquet.read_schema(glob.glob(files)[0]).names
    keys = ", ".join(name for name in names if name.startswith("_KEY_"))
    columns = ", ".join(name for name in names if not name.startswith("_"))
    columns = {"one-column": "i1", "count": "count(*)"}.get(case, columns)
    newest = (
        f"SELECT * FROM read_parquet('{files}') "
        f"QUALIFY row_number() OVER (PARTITION BY {keys} ORDER BY _SEQUENCE_NUMBER DESC) = 1"
    )
    where = "_VALUE_KIND IN (0, 2)" + (" AND i1 < 10" if case == "filter" else "")
    return f"SELECT {columns} FROM ({newest}) WHERE {where}"


def read(case, threads, location):
    connection = duckdb.connect()
    connection.execute(f"SET threads = {threads}")
    connection.execute("SET preserve_insertion_order = false")
    connection.execute("SET enable_progress_bar = false")
    result = connection.sql(query(case, location))
    if case == "count":
        return result.fetchall()[0][0], 0
    rows, total = 0, 0
    for batch in result.to_arrow_reader(8192):
        rows += batch.num_rows
        total += pyarrow.compute.sum(batch.column("i1")).as_py() or 0
    return rows, total


for line in sys.stdin:
    request = line.rstrip("\n").split(" ", 2)
    begin = time.perf_counter()
    rows, total = read(*request)
    print(rows, total, time.perf_counter() - begin, flush=True)
