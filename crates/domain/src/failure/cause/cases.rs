//! Messages as tools, HTTP clients, databases, model services, compilers and shells write them.

/// The messages of each cause: those of one line are one cause, those of two lines are two.
pub(super) const CAUSES: &[&[&str]] = &[
    // HTTP clients and services.
    &[
        "401 Unauthorized: token expired for zendesk tenant 48213",
        "401 Unauthorized: token expired for zendesk tenant 7",
        "401 Unauthorized: token expired for zendesk tenant 48 213",
    ],
    &["403 Forbidden: token expired for zendesk tenant 48213"],
    &[
        "POST https://api.stripe.com/v1/refunds failed with status 429: Too many requests (request id req_8fJ2kQ1bZ0xYp3)",
        "POST https://api.stripe.example/v1/refunds?idempotency=99 failed with status 429: Too many requests (request id req_0aB9cD8eF7gH6i)",
    ],
    &[
        "POST https://api.stripe.com/v1/refunds failed with status 500: Too many requests (request id req_8fJ2kQ1bZ0xYp3)",
    ],
    &[
        "POST https://api.stripe.com/v1/charges failed with status 429: Too many requests (request id req_8fJ2kQ1bZ0xYp3)",
    ],
    &["connect ECONNREFUSED 127.0.0.1:5432", "connect ECONNREFUSED 10.2.0.17:6432", "connect ECONNREFUSED ::1:5432"],
    &["connect ETIMEDOUT 127.0.0.1:5432"],
    &["getaddrinfo ENOTFOUND api.northwind.example", "getaddrinfo ENOTFOUND db.internal"],
    &["getaddrinfo EAI_AGAIN api.northwind.example"],
    &[
        "HTTPSConnectionPool(host='api.example.com', port=443): Read timed out. (read timeout=30)",
        "HTTPSConnectionPool(host='files.example.org', port=8443): Read timed out. (read timeout=5.5)",
    ],
    &["HTTP/1.1 502 Bad Gateway", "HTTP/2 502 Bad Gateway"],
    &["HTTP/1.1 503 Service Unavailable"],
    &["Request failed with status code 404", "Request failed with status code 404 "],
    &["Request failed with status code 410"],
    &[
        "error sending request for url (https://hooks.example.com/T024/B7/x9Kq2LmN8p)",
        "error sending request for url (https://hooks.example.com/T991/B12/aa81bb02cc)",
    ],
    &[
        "Client.Timeout exceeded while awaiting headers after 15s",
        "Client.Timeout exceeded while awaiting headers after 1m30s",
    ],
    &["net/http: TLS handshake timeout"],
    &["<html><body><h1>502 Bad Gateway</h1></body></html>"],
    // Model services.
    &[
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_011CSHoEeqs5C35K2UUqR7Fy"}"#,
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_022DTIpFfrt6D46L3VVrS8Gz"}"#,
    ],
    &[
        r#"{"type":"error","error":{"type":"rate_limit_error","message":"Overloaded"},"request_id":"req_011CSHoEeqs5C35K2UUqR7Fy"}"#,
    ],
    &[
        "Rate limit reached for gpt-4o in organization org-a1B2c3D4e5 on tokens per min (TPM): Limit 30000, Used 29500, Requested 1204. Please try again in 1.408s.",
        "Rate limit reached for gpt-4o in organization org-Zz9Yy8Xx7W on tokens per min (TPM): Limit 90,000, Used 88,100, Requested 12. Please try again in 20ms.",
    ],
    &[
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 131072 tokens.",
        "This model's maximum context length is 8,192 tokens. However, your messages resulted in 9,001 tokens.",
    ],
    &["prompt is too long: 212331 tokens > 200000 maximum", "prompt is too long: 200001 tokens > 200000 maximum"],
    &[
        "The model `gpt-9` does not exist or you do not have access to it.",
        "The model `claude-x` does not exist or you do not have access to it.",
    ],
    &["Stream ended before message_stop after 1,204 events", "Stream ended before message_stop after 3 events"],
    // Databases.
    &[
        "duplicate key value violates unique constraint \"users_email_key\"",
        "duplicate key value violates unique constraint \"orders_pk\"",
    ],
    &[
        "deadlock detected: Process 4121 waits for ShareLock on transaction 88121; blocked by process 4122.",
        "deadlock detected: Process 9 waits for ShareLock on transaction 1; blocked by process 10.",
    ],
    &["could not serialize access due to concurrent update (SQLSTATE 40001)"],
    &["could not serialize access due to concurrent update (SQLSTATE 40P01)"],
    &[
        "ERROR 1045 (28000): Access denied for user 'ann'@'10.0.0.4'",
        "ERROR 1045 (28000): Access denied for user 'bob'@'localhost'",
    ],
    &["ERROR 1049 (28000): Access denied for user 'ann'@'10.0.0.4'"],
    &["ORA-00942: table or view does not exist"],
    &["ORA-01017: table or view does not exist"],
    &["database is locked (5)", "database is locked (517)"],
    &[
        "connection to server at \"db-3.internal\" (10.4.4.9), port 5432 failed: FATAL: too many connections",
        "connection to server at \"db-11.internal\" (10.4.4.12), port 6432 failed: FATAL: too many connections",
    ],
    &[
        "E11000 duplicate key error collection: shop.orders index: _id_ dup key: { _id: ObjectId('507f1f77bcf86cd799439011') }",
        "E11000 duplicate key error collection: shop.orders index: _id_ dup key: { _id: ObjectId('65a1b2c3d4e5f60718293a4b') }",
    ],
    // Compilers and tools of programmers.
    &[
        "error[E0382]: borrow of moved value: `scope` --> crates/ledger/src/failure/list.rs:41:22",
        "error[E0382]: borrow of moved value: `tx` --> src/main.rs:7:1",
    ],
    &["error[E0499]: borrow of moved value: `scope` --> crates/ledger/src/failure/list.rs:41:22"],
    &[
        "src/app.ts(12,5): error TS2345: Argument of type 'string' is not assignable to parameter of type 'number'.",
        "src/pages/home.ts(120,33): error TS2345: Argument of type 'null' is not assignable to parameter of type 'Date'.",
    ],
    &["src/app.ts(12,5): error TS2339: Argument of type 'string' is not assignable to parameter of type 'number'."],
    &["ModuleNotFoundError: No module named 'requests'", "ModuleNotFoundError: No module named 'numpy'"],
    &[
        "Traceback (most recent call last): File \"/srv/agents/scout/main.py\", line 41, in <module> KeyError: 'customer_id'",
        "Traceback (most recent call last): File \"/home/ann/x.py\", line 7, in <module> KeyError: 'id'",
    ],
    &[
        "Traceback (most recent call last): File \"/srv/agents/scout/main.py\", line 41, in <module> ValueError: 'customer_id'",
    ],
    &[
        "thread 'main' panicked at src/main.rs:10:5: index out of bounds: the len is 3 but the index is 7",
        "thread 'worker-4' panicked at crates/x/src/lib.rs:99:17: index out of bounds: the len is 12 but the index is 12",
    ],
    &["npm ERR! 404 Not Found - GET https://registry.npmjs.org/left-padd - Not found"],
    &[
        "FAILED tests/test_api.py::test_refund - assert 500 == 200",
        "FAILED tests/test_api.py::test_refund - assert 503 == 201",
    ],
    &["fatal: couldn't find remote ref refs/heads/fix-123", "fatal: couldn't find remote ref refs/heads/fix-9"],
    &["Merge conflict in src/store/mod.rs", "Merge conflict in README.md"],
    // Shells and machines.
    &["bash: line 3: jq: command not found", "bash: line 17: jq: command not found"],
    &["bash: line 3: yq: command not found"],
    &["cat: /tmp/job-8812/out.json: No such file or directory", "cat: ./out.json: No such file or directory"],
    &["cat: /tmp/job-8812/out.json: Permission denied"],
    &["exited with exit code 1", "exited with exit code 1\n"],
    &["exited with exit code 137"],
    &["No space left on device: 0 bytes free of 512GB", "No space left on device: 12 KiB free of 64GiB"],
    &[
        "Killed process 4411 (node) total-vm:1988212kB, anon-rss:512004kB",
        "Killed process 9 (node) total-vm:2000kB, anon-rss:1kB",
    ],
    &["[Errno 111] Connection refused"],
    &["[Errno 104] Connection reset by peer"],
    &[
        "ssh: connect to host build-7.internal port 22: Connection timed out",
        "ssh: connect to host 192.168.1.4 port 2222: Connection timed out",
    ],
    &["\u{1b}[31merror\u{1b}[0m: lockfile is out of date", "error: lockfile is out of date"],
    // Tools of agents.
    &["Order 3fa85f64-5717-4562-b3fc-2c963f66afa6 was not found", "Order 01HZX3Q4M8V6S2T9K7B5N1D0RA was not found"],
    &["Order 99 was not found", "Order 100,321 was not found"],
    &["Customer 99 was not found"],
    &["Refund of €1,290.00 exceeds the limit of €500", "Refund of €12 exceeds the limit of €50.50"],
    &[
        "Mail to kim3@northwind.example bounced on 2026-11-27T22:10:03Z",
        "Mail to ann@example.org bounced on 2026-11-28 06:02:59.120",
    ],
    &["Certificate expired on Fri, 28 Nov 2026 22:10:00 GMT", "Certificate expired on Sat, 1 Aug 2026 06:02:00 GMT"],
    &[
        "Tool run_sql timed out after 30 seconds",
        "Tool run_sql timed out after 1.5s",
        "Tool run_sql timed out after 250 ms",
    ],
    &["Tool search_repo timed out after 30 seconds"],
    &["the last of 3 attempts was lost", "the last of 20 attempts was lost"],
    &["Upload of report-2026-11.pdf (4.2 MB) was refused", "Upload of summary.pdf (812 kB) was refused"],
    &["Unexpected token '<', \"<!DOCTYPE \"... is not valid JSON"],
    // Other languages and directions.
    &["Die Datei /var/log/a.log wurde nicht gefunden", "Die Datei /srv/b.log wurde nicht gefunden"],
    &["Zeitüberschreitung nach 30 s", "Zeitüberschreitung nach 4 s"],
    &["リクエスト 4821 がタイムアウトしました", "リクエスト 7 がタイムアウトしました"],
    &["فشل الطلب ٤٢ بعد ٣ محاولات", "فشل الطلب ٧ بعد ٢١ محاولات"],
    &["🚒 pod api-7f9c6d5b8-x2x4z restarted", "🚒 pod api-6c8d7e9f1-q9w8e restarted"],
    &[""],
];
