use sqlx::{ConnectOptions as _, Connection as _, Row as _};
use std::time::Instant;
#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let p = dir.path().join("a.db");
    let c = rusqlite::Connection::open(&p)?;
    c.pragma_update(None, "journal_mode", "wal")?;
    c.pragma_update(None, "synchronous", "off")?;
    c.execute_batch("CREATE TABLE e (s BLOB, n INTEGER, a BLOB, b TEXT, c TEXT, d TEXT, e TEXT, f TEXT, g TEXT, h INTEGER, i TEXT, j INTEGER, k INTEGER, l BLOB, m BLOB, PRIMARY KEY (s,n))")?;
    c.execute_batch("BEGIN")?;
    let ins = "INSERT INTO e VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";
    {
        let mut st = c.prepare(ins)?;
        for n in 0..1000i64 {
            st.execute(rusqlite::params![
                [1u8; 16],
                n,
                [2u8; 16],
                "agent.message",
                "agent",
                "x".repeat(220),
                "{}",
                None::<String>,
                None::<String>,
                1i64,
                "token:01900000-0000-7000-8000-000000000000",
                1i64,
                1i64,
                [3u8; 32],
                [4u8; 32]
            ])?;
        }
    }
    c.execute_batch("COMMIT")?;
    let mut x = sqlx::sqlite::SqliteConnectOptions::new()
        .filename(&p)
        .synchronous(sqlx::sqlite::SqliteSynchronous::Off)
        .disable_statement_logging()
        .connect()
        .await?;
    let q = "SELECT a,s,n,b,c,d,e,f,g,h,i,j,k,l,m FROM e WHERE s=? AND n>=? AND n<? ORDER BY n LIMIT 1001";
    type R = (
        Vec<u8>,
        Vec<u8>,
        i64,
        String,
        String,
        String,
        String,
        Option<String>,
        Option<String>,
        Option<i64>,
        String,
        i64,
        i64,
        Vec<u8>,
        Vec<u8>,
    );
    for round in 0..3 {
        for rows in [1i64, 1000] {
            let n = if rows == 1 { 5000 } else { 100 };
            let t = Instant::now();
            for _ in 0..n {
                let v: Vec<R> = sqlx::query_as(q).bind(vec![1u8; 16]).bind(0i64).bind(rows).fetch_all(&mut x).await?;
                assert_eq!(v.len() as i64, rows);
            }
            let a = t.elapsed().as_secs_f64() * 1e6 / n as f64;
            let t = Instant::now();
            for _ in 0..n {
                let mut st = c.prepare_cached(q)?;
                let v: Vec<R> = st
                    .query_map(rusqlite::params![[1u8; 16], 0i64, rows], |r| {
                        Ok((
                            r.get(0)?,
                            r.get(1)?,
                            r.get(2)?,
                            r.get(3)?,
                            r.get(4)?,
                            r.get(5)?,
                            r.get(6)?,
                            r.get(7)?,
                            r.get(8)?,
                            r.get(9)?,
                            r.get(10)?,
                            r.get(11)?,
                            r.get(12)?,
                            r.get(13)?,
                            r.get(14)?,
                        ))
                    })?
                    .collect::<Result<_, _>>()?;
                assert_eq!(v.len() as i64, rows);
            }
            let b = t.elapsed().as_secs_f64() * 1e6 / n as f64;
            println!("round {round}: {rows} rows: sqlx {a:.1} us, rusqlite {b:.1} us");
        }
        // one row update in an open transaction
        sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut x).await?;
        let t = Instant::now();
        for i in 0..5000i64 {
            sqlx::query("UPDATE e SET h=? WHERE s=? AND n=?")
                .bind(i)
                .bind(vec![1u8; 16])
                .bind(i % 1000)
                .execute(&mut x)
                .await?;
        }
        let a = t.elapsed().as_secs_f64() * 1e6 / 5000.0;
        let t = Instant::now();
        for _ in 0..5000 {
            sqlx::raw_sql("SAVEPOINT a; RELEASE a").execute(&mut x).await?;
        }
        let s2 = t.elapsed().as_secs_f64() * 1e6 / 5000.0;
        let t = Instant::now();
        for _ in 0..5000 {
            sqlx::raw_sql("SAVEPOINT a").execute(&mut x).await?;
            sqlx::raw_sql("RELEASE a").execute(&mut x).await?;
        }
        let s3 = t.elapsed().as_secs_f64() * 1e6 / 5000.0;
        sqlx::raw_sql("COMMIT").execute(&mut x).await?;
        c.execute_batch("BEGIN IMMEDIATE")?;
        let t = Instant::now();
        for i in 0..5000i64 {
            c.prepare_cached("UPDATE e SET h=? WHERE s=? AND n=?")?.execute(rusqlite::params![
                i,
                [1u8; 16],
                i % 1000
            ])?;
        }
        let b = t.elapsed().as_secs_f64() * 1e6 / 5000.0;
        let t = Instant::now();
        for _ in 0..5000 {
            c.prepare_cached("SAVEPOINT a")?.execute([])?;
            c.prepare_cached("RELEASE a")?.execute([])?;
        }
        let r3 = t.elapsed().as_secs_f64() * 1e6 / 5000.0;
        c.execute_batch("COMMIT")?;
        println!(
            "   update: sqlx {a:.1} us, rusqlite {b:.1} us; savepoint+release: sqlx one text {s2:.1}, two {s3:.1}, rusqlite {r3:.1}"
        );
    }
    // multi-row insert
    let many = format!("INSERT INTO e VALUES {}", vec!["(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"; 64].join(","));
    let mut n0 = 10_000i64;
    for _ in 0..3 {
        sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut x).await?;
        let t = Instant::now();
        for _ in 0..100 {
            let mut qq = sqlx::query(sqlx::AssertSqlSafe(many.as_str()));
            for _ in 0..64 {
                n0 += 1;
                qq = qq
                    .bind(vec![1u8; 16])
                    .bind(n0)
                    .bind(vec![2u8; 16])
                    .bind("agent.message")
                    .bind("agent")
                    .bind("x".repeat(220))
                    .bind("{}")
                    .bind(None::<String>)
                    .bind(None::<String>)
                    .bind(1i64)
                    .bind("token:01900000-0000-7000-8000-000000000000")
                    .bind(1i64)
                    .bind(1i64)
                    .bind(vec![3u8; 32])
                    .bind(vec![4u8; 32]);
            }
            qq.execute(&mut x).await?;
        }
        let a = t.elapsed().as_secs_f64() * 1e6 / 6400.0;
        sqlx::raw_sql("COMMIT").execute(&mut x).await?;
        c.execute_batch("BEGIN IMMEDIATE")?;
        let t = Instant::now();
        for _ in 0..6400 {
            n0 += 1;
            c.prepare_cached(ins)?.execute(rusqlite::params![
                [1u8; 16],
                n0,
                [2u8; 16],
                "agent.message",
                "agent",
                "x".repeat(220),
                "{}",
                None::<String>,
                None::<String>,
                1i64,
                "token:01900000-0000-7000-8000-000000000000",
                1i64,
                1i64,
                [3u8; 32],
                [4u8; 32]
            ])?;
        }
        let b = t.elapsed().as_secs_f64() * 1e6 / 6400.0;
        c.execute_batch("COMMIT")?;
        println!("insert per row: sqlx 64 rows a statement {a:.2} us, rusqlite a row a statement {b:.2} us");
    }
    let _: i64 = sqlx::query("SELECT 1").fetch_one(&mut x).await?.get(0);
    x.close().await?;
    Ok(())
}
