#!/usr/bin/env python3
"""Measures what the roll of sessions costs each creation.

Inserts sessions with and without the trigger that notes each new session in `session_unrolled`, in turns, and prints per
session: the processor time on SQLite, the time on PostgreSQL (the least of all rounds), and the bytes of the write-ahead
log. Nothing is synced, because other programs on the disk would decide the result; the roll adds no sync of its own. One
connection, the schema of `migrations/`. The events of a session, which a creation writes too, are left out, so the ratios
are upper bounds. The sweep that enters sessions in the roll afterwards is not measured.

    python3 crates/bench/reference/roll/measure.py sqlite FOLDER
    python3 crates/bench/reference/roll/measure.py postgres URL-OF-AN-EMPTY-DATABASE
"""

import pathlib
import sqlite3
import statistics
import subprocess
import sys
import time
import uuid

ROUNDS = 15
# Sessions of one transaction, and transactions of one measurement.
SHAPES = [(1, 200), (64, 40)]
MIGRATIONS = pathlib.Path(__file__).resolve().parents[4] / "migrations"
TRIGGER = "sessions_are_rolled"
COLUMNS = "tenant_id, id, session_type, status, agent_slug, title, metadata, created_by, attempts_max, head_digest, " \
    "created_at, updated_at, queued_at"


def values(blob):
    # In order of creation, as the ids of the product are.
    literal = blob(uuid.UUID(int=time.time_ns() << 64 | 1).bytes)
    return f"({blob(uuid.UUID(int=1).bytes)}, {literal}, 'agent', 'pending', 'tester', 'Measured', '{{}}', 'system', 3, " \
        f"{blob(bytes(32), True)}, 1, 1, 1)"


def transactions(blob, size, count):
    for _ in range(count):
        yield [f"INSERT INTO sessions ({COLUMNS}) VALUES {values(blob)};" for _ in range(size)]


class Sqlite:
    def __init__(self, folder):
        self.file = pathlib.Path(folder) / f"roll-{uuid.uuid4()}.sqlite3"
        self.db = sqlite3.connect(self.file, isolation_level=None)
        self.db.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; PRAGMA wal_autocheckpoint=0; PRAGMA foreign_keys=ON;")
        for file in sorted((MIGRATIONS / "sqlite").glob("*.sql")):
            self.db.executescript(file.read_text())
        self.create = self.db.execute("SELECT sql FROM sqlite_master WHERE name = ?", (TRIGGER,)).fetchone()[0]
        self.db.execute(f"INSERT INTO tenants (id, slug, name, created_at) VALUES ({self.blob(uuid.UUID(int=1).bytes)}, 'a', 'A', 1)")

    @staticmethod
    def blob(value, _digest=False):
        return f"x'{value.hex()}'"

    def trigger(self, enabled):
        self.db.execute(f"DROP TRIGGER IF EXISTS {TRIGGER}")
        if enabled:
            self.db.execute(self.create)

    def run(self, batches):
        self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        started = time.process_time()
        for batch in batches:
            self.db.execute("BEGIN IMMEDIATE")
            for statement in batch:
                self.db.execute(statement)
            self.db.execute("COMMIT")
        return time.process_time() - started, pathlib.Path(f"{self.file}-wal").stat().st_size


class Postgres:
    def __init__(self, url):
        self.url = url
        for file in sorted((MIGRATIONS / "postgres").glob("*.sql")):
            self.psql(file.read_text())
        self.psql(f"INSERT INTO tenants (id, slug, name, created_at) VALUES ({self.blob(uuid.UUID(int=1).bytes)}, 'a', 'A', 1);")

    @staticmethod
    def blob(value, digest=False):
        return f"'\\x{value.hex()}'" if digest else f"'{uuid.UUID(bytes=value)}'"

    def psql(self, script):
        done = subprocess.run(["psql", "-qAtX", "-v", "ON_ERROR_STOP=1", self.url], input=script, text=True, capture_output=True)
        if done.returncode:
            raise SystemExit(done.stderr)
        return done.stdout

    def trigger(self, enabled):
        self.psql(f"ALTER TABLE sessions {'ENABLE' if enabled else 'DISABLE'} TRIGGER {TRIGGER};")

    def run(self, batches):
        # The server's own clock around the statements: starting psql is not part of it.
        clock = "SELECT extract(epoch FROM clock_timestamp()), pg_current_wal_insert_lsn() - '0/0';\n"
        script = "SET synchronous_commit = off;\n" + clock + "".join("BEGIN;\n" + "\n".join(batch) + "\nCOMMIT;\n" for batch in batches) + clock
        first, last = (line.split("|") for line in self.psql(script).split())
        return float(last[0]) - float(first[0]), int(last[1]) - int(first[1])


def main():
    engine = {"sqlite": Sqlite, "postgres": Postgres}[sys.argv[1]](sys.argv[2])
    for size, count in SHAPES:
        times, logs = {True: [], False: []}, {True: [], False: []}
        for turn in range(2 * ROUNDS):
            enabled = turn % 2 == 0
            engine.trigger(enabled)
            batches = list(transactions(engine.blob, size, count))
            seconds, log = engine.run(batches)
            times[enabled].append(seconds / (size * count) * 1e6)
            logs[enabled].append(log / (size * count))
        with_roll, without = min(times[True]), min(times[False])
        with_log, without_log = statistics.median(logs[True]), statistics.median(logs[False])
        print(f"{sys.argv[1]}, {size} sessions a transaction: {with_roll:.1f} us with, {without:.1f} us without, "
              f"ratio {with_roll / without:.2f}; write-ahead log {with_log:.0f} B with, {without_log:.0f} B without, "
              f"ratio {with_log / without_log:.2f}")


main()
