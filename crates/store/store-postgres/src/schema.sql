-- What a store keeps in its schema, and the functions that do a whole step in one round trip.
-- Run once, in an empty schema that search_path names. No comment may contain a semicolon.

CREATE TABLE meta (
    version int4 NOT NULL,
    identity bytea NOT NULL,
    -- First half of the advisory locks by which systems show that they live.
    class int4 NOT NULL
);

CREATE TABLE sets (
    id int4 PRIMARY KEY,
    name text NOT NULL UNIQUE,
    drawn int8 NOT NULL DEFAULT 0,
    locking int2 NOT NULL,
    interval_bytes int4,
    pool text,
    key_label text,
    plain bool,
    free_percent int2 NOT NULL,
    prefix_bytes int4 NOT NULL,
    -- Generation of the key that turns keys into tokens, where it does.
    tokens int4
);
CREATE SEQUENCE set_ids AS int4;
-- Moves whenever a set comes or goes, so that systems notice.
CREATE SEQUENCE set_changes;

-- The key is the number of the set, big endian, and the key in it.
CREATE TABLE entries (
    k bytea PRIMARY KEY,
    v bytea NOT NULL,
    stamp int8 NOT NULL
);
-- Sealed bytes cannot be compressed.
ALTER TABLE entries ALTER COLUMN v SET STORAGE EXTERNAL;

-- One row for each connection that commits: the number of its last commit.
CREATE TABLE lanes (
    lane int8 PRIMARY KEY,
    system int4 NOT NULL,
    number int8 NOT NULL,
    fenced bool NOT NULL DEFAULT false,
    since timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);
CREATE SEQUENCE lane_ids;
CREATE SEQUENCE system_ids AS int4;
CREATE SEQUENCE tickets;

-- Lost with a crash of the engine, as everything is that they stand for.
CREATE UNLOGGED TABLE alive (system int4 PRIMARY KEY, name text NOT NULL, since timestamptz NOT NULL);
CREATE UNLOGGED TABLE held (
    name bytea, system int4, unit int8, mode int2 NOT NULL,
    PRIMARY KEY (name, system, unit)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
CREATE INDEX held_by ON held (system, unit);
CREATE UNLOGGED TABLE waiting (
    system int4, unit int8, name bytea NOT NULL, mode int2 NOT NULL, ticket int8 NOT NULL,
    chosen int4 NOT NULL, victim bool NOT NULL,
    PRIMARY KEY (system, unit)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
CREATE INDEX waiting_for ON waiting (name);

-- Whether two modes, 0 to 5 for IS, IX, S, SIX, U, X, exclude each other.
CREATE FUNCTION hf_excludes(a int2, b int2) RETURNS bool LANGUAGE sql IMMUTABLE AS $$
    SELECT ((ARRAY[32, 60, 42, 62, 58, 63])[a + 1] >> b) & 1 = 1
$$;

-- Ends a system that no longer lives: nothing of it commits after this, and its names are free.
CREATE FUNCTION hf_purge(p_system int4) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    -- Waits for the commits that are under way.
    UPDATE lanes SET fenced = true, since = now() WHERE system = p_system AND NOT fenced;
    DELETE FROM alive WHERE system = p_system;
    DELETE FROM held WHERE system = p_system;
    DELETE FROM waiting WHERE system = p_system;
END
$$;

-- Ends every system whose sign of life is gone. Answers how many there were.
CREATE FUNCTION hf_purge_dead() RETURNS int4 LANGUAGE plpgsql AS $$
DECLARE
    s int4;
    c int4 := (SELECT class FROM meta);
    n int4 := 0;
BEGIN
    FOR s IN SELECT system FROM lanes WHERE NOT fenced UNION SELECT system FROM alive
             UNION SELECT system FROM held UNION SELECT system FROM waiting LOOP
        IF pg_try_advisory_xact_lock(c, s) THEN
            PERFORM hf_purge(s);
            n := n + 1;
        END IF;
    END LOOP;
    DELETE FROM lanes WHERE fenced AND since < now() - interval '7 days';
    RETURN n;
END
$$;

-- Whom a request waits for: holders in a mode that excludes it, and who asked before it did.
CREATE FUNCTION hf_blockers(p_name bytea, p_system int4, p_unit int8, p_mode int2, p_ticket int8)
RETURNS TABLE (system int4, unit int8) LANGUAGE sql STABLE AS $$
    SELECT h.system, h.unit FROM held h
    WHERE h.name = p_name AND (h.system, h.unit) <> (p_system, p_unit)
        AND hf_excludes(p_mode, h.mode)
    UNION ALL
    SELECT w.system, w.unit FROM waiting w
    WHERE w.name = p_name AND w.ticket < p_ticket AND (w.system, w.unit) <> (p_system, p_unit)
        AND hf_excludes(p_mode, w.mode)
        AND NOT EXISTS (SELECT 1 FROM held h
            WHERE h.name = p_name AND h.system = p_system AND h.unit = p_unit)
$$;

-- Asks for a name: 0 it is held now, 1 it is not to be had yet, 2 the asker ends a deadlock,
-- 3 the asker's system was ended. With p_wait the asker stands in the queue from now on.
CREATE FUNCTION hf_lock(p_name bytea, p_system int4, p_unit int8, p_mode int2, p_wait bool,
    p_chosen int4) RETURNS int4 LANGUAGE plpgsql AS $$
DECLARE
    blocked bool;
    mine waiting%ROWTYPE;
    s int4;
    c int4;
    queued bool := false;
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    PERFORM pg_advisory_xact_lock(hashtextextended(encode(p_name, 'hex'), (SELECT class FROM meta)));
    IF NOT EXISTS (SELECT 1 FROM alive WHERE system = p_system) THEN
        RETURN 3;
    END IF;
    LOOP
        SELECT * INTO mine FROM waiting WHERE system = p_system AND unit = p_unit;
        queued := FOUND;
        IF queued AND mine.victim THEN
            DELETE FROM waiting WHERE system = p_system AND unit = p_unit;
            RETURN 2;
        END IF;
        IF queued AND mine.name <> p_name THEN
            DELETE FROM waiting WHERE system = p_system AND unit = p_unit;
            queued := false;
        END IF;
        blocked := false;
        c := NULL;
        FOR s IN SELECT b.system FROM hf_blockers(p_name, p_system, p_unit, p_mode,
            CASE WHEN queued THEN mine.ticket ELSE 9223372036854775807 END) b LOOP
            blocked := true;
            IF s <> p_system THEN
                c := (SELECT class FROM meta);
                IF pg_try_advisory_xact_lock(c, s) THEN
                    PERFORM hf_purge(s);
                    c := -1;
                    EXIT;
                END IF;
                c := NULL;
            END IF;
        END LOOP;
        EXIT WHEN c IS NULL;
    END LOOP;
    IF NOT blocked THEN
        INSERT INTO held VALUES (p_name, p_system, p_unit, p_mode)
            ON CONFLICT (name, system, unit) DO UPDATE SET mode = EXCLUDED.mode;
        IF queued THEN
            DELETE FROM waiting WHERE system = p_system AND unit = p_unit;
        END IF;
        RETURN 0;
    END IF;
    IF NOT p_wait THEN
        RETURN 1;
    END IF;
    -- One at a time looks for circles, so that one circle has one victim.
    PERFORM pg_advisory_xact_lock(hashtextextended('deadlock', (SELECT class FROM meta)));
    INSERT INTO waiting VALUES (p_system, p_unit, p_name, p_mode, nextval('tickets'), p_chosen,
        false)
        ON CONFLICT (system, unit) DO UPDATE SET mode = EXCLUDED.mode;
    RETURN hf_circle(p_system, p_unit, p_chosen);
END
$$;

-- Looks for a circle through one who waits: 1 there is none or another one ends it, 2 he does.
CREATE FUNCTION hf_circle(p_system int4, p_unit int8, p_chosen int4) RETURNS int4
LANGUAGE plpgsql AS $$
DECLARE
    other waiting%ROWTYPE;
    before_me bool;
BEGIN
    WITH RECURSIVE reach(system, unit) AS (
        SELECT b.system, b.unit FROM waiting w
            CROSS JOIN LATERAL hf_blockers(w.name, w.system, w.unit, w.mode, w.ticket) b
            WHERE w.system = p_system AND w.unit = p_unit
        UNION
        SELECT b.system, b.unit FROM reach r
            JOIN waiting w ON w.system = r.system AND w.unit = r.unit AND NOT w.victim
            CROSS JOIN LATERAL hf_blockers(w.name, w.system, w.unit, w.mode, w.ticket) b
    )
    SELECT EXISTS (SELECT 1 FROM reach WHERE system = p_system AND unit = p_unit) INTO before_me;
    IF NOT before_me THEN
        RETURN 1;
    END IF;
    IF p_chosen >= 2 THEN
        -- Whoever has been chosen twice is spared if one before him in the circle has not.
        WITH RECURSIVE reach(system, unit) AS (
            SELECT b.system, b.unit FROM waiting w
                CROSS JOIN LATERAL hf_blockers(w.name, w.system, w.unit, w.mode, w.ticket) b
                WHERE w.system = p_system AND w.unit = p_unit
            UNION
            SELECT b.system, b.unit FROM reach r
                JOIN waiting w ON w.system = r.system AND w.unit = r.unit AND NOT w.victim
                CROSS JOIN LATERAL hf_blockers(w.name, w.system, w.unit, w.mode, w.ticket) b
        )
        SELECT w.* INTO other FROM waiting w JOIN reach r ON w.system = r.system AND w.unit = r.unit
            WHERE w.chosen < 2 AND NOT w.victim AND (w.system, w.unit) <> (p_system, p_unit)
            AND EXISTS (SELECT 1 FROM hf_blockers(w.name, w.system, w.unit, w.mode, w.ticket) b
                WHERE b.system = p_system AND b.unit = p_unit)
            ORDER BY w.chosen LIMIT 1;
        IF FOUND THEN
            UPDATE waiting SET victim = true WHERE system = other.system AND unit = other.unit;
            RETURN 1;
        END IF;
    END IF;
    DELETE FROM waiting WHERE system = p_system AND unit = p_unit;
    RETURN 2;
END
$$;

-- Gives one name back, or leaves the queue. Answers whether it was held.
CREATE FUNCTION hf_unlock(p_name bytea, p_system int4, p_unit int8) RETURNS bool
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    DELETE FROM waiting WHERE system = p_system AND unit = p_unit;
    DELETE FROM held WHERE name = p_name AND system = p_system AND unit = p_unit;
    RETURN FOUND;
END
$$;

-- Gives everything back, unless a commit is named that did not happen. Answers how many names
-- were held.
CREATE FUNCTION hf_release(p_system int4, p_unit int8, p_lane int8, p_number int8) RETURNS int8
LANGUAGE plpgsql AS $$
DECLARE
    n int8;
BEGIN
    IF p_lane <> 0 AND NOT EXISTS (SELECT 1 FROM lanes WHERE lane = p_lane AND number = p_number) THEN
        RETURN -1;
    END IF;
    PERFORM set_config('synchronous_commit', 'off', true);
    DELETE FROM waiting WHERE system = p_system AND unit = p_unit;
    DELETE FROM held WHERE system = p_system AND unit = p_unit;
    GET DIAGNOSTICS n = ROW_COUNT;
    RETURN n;
END
$$;

-- The first entry of a range that can be locked at once, and is locked now.
CREATE FUNCTION hf_claim(p_from bytea, p_to bytea, p_not bytea[], p_system int4, p_unit int8)
RETURNS TABLE (k bytea, v bytea, stamp int8) LANGUAGE plpgsql AS $$
DECLARE
    candidate bytea;
BEGIN
    FOR candidate IN SELECT e.k FROM entries e WHERE e.k >= p_from AND e.k < p_to ORDER BY e.k LOOP
        CONTINUE WHEN candidate = ANY (p_not);
        IF hf_lock('\x01'::bytea || candidate, p_system, p_unit, 5::int2, false, 0) = 0 THEN
            -- Whoever held it may have deleted it before this lock was granted.
            RETURN QUERY SELECT e.k, e.v, e.stamp FROM entries e WHERE e.k = candidate;
            IF FOUND THEN
                RETURN;
            END IF;
            DELETE FROM held h WHERE h.name = '\x01'::bytea || candidate
                AND h.system = p_system AND h.unit = p_unit;
        END IF;
    END LOOP;
END
$$;

-- Fails with HF003 unless every range still holds what was read of it: so many entries, with
-- stamps of this sum. A stamp is never given twice, so nothing else has the same sum by accident.
CREATE FUNCTION hf_check(p_from bytea[], p_to bytea[], p_count int8[], p_sum text[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    changed bytea;
BEGIN
    SELECT r.f INTO changed FROM unnest(p_from, p_to, p_count, p_sum) AS r(f, t, c, s),
        LATERAL (SELECT count(*) AS c, coalesce(sum(e.stamp), 0) AS s FROM entries e
            WHERE e.k >= r.f AND e.k < r.t) AS now
        WHERE now.c <> r.c OR now.s <> r.s::numeric LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'what was read from % on has changed', changed USING ERRCODE = 'HF003';
    END IF;
END
$$;

-- Everything of a commit but its COMMIT. HF001: the system was ended. HF002: a set is gone.
CREATE FUNCTION hf_commit(p_lane int8, p_number int8, p_system int4, p_sets int4[], p_stamp int8,
    p_from bytea[], p_to bytea[], p_count int8[], p_sum text[],
    p_put bytea[], p_values bytea[], p_deleted bytea[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    gone int4;
BEGIN
    IF p_lane <> 0 THEN
        UPDATE lanes SET number = p_number WHERE lane = p_lane AND NOT fenced;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'lane % was fenced', p_lane USING ERRCODE = 'HF001';
        END IF;
        IF NOT EXISTS (SELECT 1 FROM alive WHERE system = p_system) THEN
            RAISE EXCEPTION 'system % was ended', p_system USING ERRCODE = 'HF001';
        END IF;
        FOREACH gone IN ARRAY p_sets LOOP
            IF NOT EXISTS (SELECT 1 FROM sets WHERE id = gone) THEN
                RAISE EXCEPTION '%', gone USING ERRCODE = 'HF002';
            END IF;
        END LOOP;
    END IF;
    IF array_length(p_from, 1) > 0 THEN
        PERFORM hf_check(p_from, p_to, p_count, p_sum);
    END IF;
    IF array_length(p_put, 1) > 0 THEN
        INSERT INTO entries SELECT r.k, r.v, p_stamp FROM unnest(p_put, p_values) AS r(k, v)
            ON CONFLICT (k) DO UPDATE SET v = EXCLUDED.v, stamp = EXCLUDED.stamp;
    END IF;
    IF array_length(p_deleted, 1) > 0 THEN
        DELETE FROM entries WHERE k = ANY (p_deleted);
    END IF;
END
$$;
