-- What version 2 has beside version 1. Run in a new store, and once in an older one.

-- Holds the names of keys that follow one whose name is held: of those as long as it, among so many
-- entries, the first so many that nobody else has or waits for. Answers which. Gives back others
-- before. A name of a key is the key behind a zero.
CREATE OR REPLACE FUNCTION hf_ahead(p_system int4, p_unit int8, p_mode int2, p_first bytea,
    p_to bytea, p_entries int8, p_most int8, p_left bytea[]) RETURNS bytea[] LANGUAGE plpgsql AS $$
DECLARE
    c int4 := (SELECT class FROM meta);
    wanted bytea[];
    free bytea[];
    got bytea[];
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    IF array_length(p_left, 1) > 0 THEN
        DELETE FROM held WHERE name = ANY (p_left) AND system = p_system AND unit = p_unit;
    END IF;
    IF NOT EXISTS (SELECT 1 FROM held WHERE name = '\x00'::bytea || p_first
        AND system = p_system AND unit = p_unit) THEN
        RETURN '{}';
    END IF;
    wanted := ARRAY(SELECT '\x00'::bytea || r.k FROM (SELECT e.k FROM entries e
        WHERE e.k > p_first AND e.k < p_to ORDER BY e.k LIMIT p_entries) r
        WHERE octet_length(r.k) = octet_length(p_first) ORDER BY r.k LIMIT p_most);
    -- Never waits here, so that this closes no circle. The names' own locks come before the look at
    -- who has them: each statement sees what was committed when it begins.
    free := ARRAY(SELECT w.name FROM unnest(wanted) AS w(name)
        WHERE pg_try_advisory_xact_lock(hashtextextended(encode(w.name, 'hex'), c)));
    WITH added AS (
        INSERT INTO held SELECT f.name, p_system, p_unit, p_mode FROM unnest(free) AS f(name)
        WHERE NOT EXISTS (SELECT 1 FROM waiting w WHERE w.name = f.name)
            AND NOT EXISTS (SELECT 1 FROM held h WHERE h.name = f.name
                AND (hf_excludes(p_mode, h.mode) OR (h.system = p_system AND h.unit = p_unit)))
        ON CONFLICT (name, system, unit) DO NOTHING RETURNING name
    ) SELECT coalesce(array_agg(a.name), '{}') FROM added a INTO got;
    RETURN got;
END
$$;
