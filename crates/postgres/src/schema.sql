-- Version 1. Every table has the tenant first, so that a row of one tenant can neither be seen by another nor collide with one of it.
CREATE SCHEMA IF NOT EXISTS adage;

CREATE FUNCTION adage.tenant() RETURNS text LANGUAGE sql STABLE
    AS $$ SELECT coalesce(current_setting('adage.tenant', true), '') $$;

CREATE TABLE adage.version (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    version integer NOT NULL
);

CREATE TABLE adage.playbooks (
    tenant text NOT NULL DEFAULT adage.tenant(),
    id bigint GENERATED ALWAYS AS IDENTITY,
    name text NOT NULL,
    -- The number of commits, and of the last event that one of them folded in.
    generation bigint NOT NULL DEFAULT 0,
    folded bigint NOT NULL DEFAULT 0,
    -- Rows that were removed are known since this generation.
    oldest bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, id),
    UNIQUE (tenant, name)
);

-- The lists of a playbook: 0 lessons, 1 waiting, 2 removals, 3 everything else. A row that was removed has no value.
CREATE TABLE adage.rows (
    tenant text NOT NULL DEFAULT adage.tenant(),
    playbook bigint NOT NULL,
    list smallint NOT NULL,
    key text COLLATE "C" NOT NULL,
    value jsonb,
    generation bigint NOT NULL,
    PRIMARY KEY (tenant, playbook, list, key),
    FOREIGN KEY (tenant, playbook) REFERENCES adage.playbooks ON DELETE CASCADE
);
CREATE INDEX rows_by_generation ON adage.rows (tenant, playbook, generation);

CREATE TABLE adage.history (
    tenant text NOT NULL DEFAULT adage.tenant(),
    playbook bigint NOT NULL,
    number bigint GENERATED ALWAYS AS IDENTITY,
    line text NOT NULL,
    PRIMARY KEY (tenant, playbook, number),
    FOREIGN KEY (tenant, playbook) REFERENCES adage.playbooks ON DELETE CASCADE
);

CREATE TABLE adage.commits (
    tenant text NOT NULL DEFAULT adage.tenant(),
    playbook bigint NOT NULL,
    id uuid NOT NULL,
    generation bigint NOT NULL,
    at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, playbook, id),
    FOREIGN KEY (tenant, playbook) REFERENCES adage.playbooks ON DELETE CASCADE
);

-- Retrievals and feedback. The commit that folds an event in gives it its number.
CREATE TABLE adage.usage (
    tenant text NOT NULL DEFAULT adage.tenant(),
    playbook bigint NOT NULL,
    key text COLLATE "C" NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    event jsonb NOT NULL,
    is_feedback boolean NOT NULL,
    number bigint,
    line text,
    at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, playbook, key),
    FOREIGN KEY (tenant, playbook) REFERENCES adage.playbooks ON DELETE CASCADE
);
CREATE INDEX usage_unfolded ON adage.usage (tenant, playbook, id) WHERE number IS NULL;
CREATE INDEX usage_by_number ON adage.usage (tenant, playbook, number) WHERE number IS NOT NULL;
CREATE INDEX usage_feedback ON adage.usage (tenant, playbook, id) WHERE is_feedback;

CREATE TABLE adage.vectors (
    tenant text NOT NULL DEFAULT adage.tenant(),
    playbook bigint NOT NULL,
    model text COLLATE "C" NOT NULL,
    text text COLLATE "C" NOT NULL,
    number bigint GENERATED ALWAYS AS IDENTITY,
    components real[] NOT NULL,
    PRIMARY KEY (tenant, playbook, model, text),
    FOREIGN KEY (tenant, playbook) REFERENCES adage.playbooks ON DELETE CASCADE
);
CREATE INDEX vectors_by_number ON adage.vectors (tenant, playbook, model, number);

CREATE TABLE adage.records (
    tenant text NOT NULL DEFAULT adage.tenant(),
    playbook bigint NOT NULL,
    name text COLLATE "C" NOT NULL,
    value jsonb,
    PRIMARY KEY (tenant, playbook, name),
    FOREIGN KEY (tenant, playbook) REFERENCES adage.playbooks ON DELETE CASCADE
);

DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['playbooks', 'rows', 'history', 'commits', 'usage', 'vectors', 'records'] LOOP
        EXECUTE format('ALTER TABLE adage.%I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE adage.%I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY tenant ON adage.%I USING (tenant = adage.tenant()) WITH CHECK (tenant = adage.tenant())', name);
    END LOOP;
END $$;

-- For people: the lessons in use, and what a person removed.
CREATE VIEW adage.lessons WITH (security_invoker = true) AS
    SELECT r.tenant, p.name AS playbook, r.key AS id, r.value->>'trigger' AS trigger, r.value->>'correct_pattern' AS correct_pattern, r.value
    FROM adage.rows r JOIN adage.playbooks p ON p.tenant = r.tenant AND p.id = r.playbook
    WHERE r.list = 0 AND r.value IS NOT NULL;
CREATE VIEW adage.removals WITH (security_invoker = true) AS
    SELECT r.tenant, p.name AS playbook, r.value->>'id' AS id, r.value->>'at' AS at, r.value
    FROM adage.rows r JOIN adage.playbooks p ON p.tenant = r.tenant AND p.id = r.playbook
    WHERE r.list = 2 AND r.value IS NOT NULL;

CREATE FUNCTION adage.save_vectors(own bigint, own_model text, texts text[], dimension integer, components real[]) RETURNS void
LANGUAGE sql AS $$
    INSERT INTO adage.vectors (playbook, model, text, components)
    SELECT own, own_model, texts[n], components[(n - 1) * dimension + 1 : n * dimension]
    FROM generate_series(1, cardinality(texts)) AS n
    ON CONFLICT (tenant, playbook, model, text) DO NOTHING
$$;

-- A commit, if nothing was committed since the state that it was decided on. True if it has taken effect, now or before.
CREATE FUNCTION adage.commit(
    own bigint, own_id uuid, known bigint, next bigint, own_rows jsonb, lines text[], replaces boolean, folds bigint[],
    model text, texts text[], dimension integer, components real[], kept text[], has_lock boolean
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    present adage.playbooks;
BEGIN
    -- Whoever holds the lock decides meanwhile, and is not overtaken.
    IF NOT has_lock THEN
        PERFORM pg_advisory_xact_lock(hashtextextended('adage ' || own || ' commit', 0));
    END IF;
    SELECT * INTO present FROM adage.playbooks p WHERE p.tenant = adage.tenant() AND p.id = own FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the playbook was deleted' USING ERRCODE = 'no_data_found';
    END IF;
    IF EXISTS (SELECT FROM adage.commits c WHERE c.tenant = adage.tenant() AND c.playbook = own AND c.id = own_id) THEN
        RETURN true;
    END IF;
    IF present.generation <> known THEN
        RETURN false;
    END IF;
    INSERT INTO adage.rows AS r (playbook, list, key, value, generation)
        SELECT own, (row->>0)::smallint, row->>1, nullif(row->2, 'null'::jsonb), next FROM jsonb_array_elements(own_rows) AS row
        ON CONFLICT (tenant, playbook, list, key) DO UPDATE SET value = excluded.value, generation = excluded.generation;
    IF replaces THEN
        DELETE FROM adage.history h WHERE h.tenant = adage.tenant() AND h.playbook = own;
    END IF;
    INSERT INTO adage.history (playbook, line) SELECT own, line FROM unnest(lines) WITH ORDINALITY AS l (line, n) ORDER BY n;
    UPDATE adage.usage u SET number = present.folded + f.n
        FROM unnest(folds) WITH ORDINALITY AS f (id, n) WHERE u.tenant = adage.tenant() AND u.playbook = own AND u.id = f.id;
    IF kept IS NOT NULL THEN
        DELETE FROM adage.vectors v WHERE v.tenant = adage.tenant() AND v.playbook = own AND v.text <> ALL (kept);
    END IF;
    IF cardinality(texts) > 0 THEN
        PERFORM adage.save_vectors(own, model, texts, dimension, components);
    END IF;
    INSERT INTO adage.commits (playbook, id, generation) VALUES (own, own_id, next);
    UPDATE adage.playbooks p SET generation = next, folded = present.folded + cardinality(folds)
        WHERE p.tenant = adage.tenant() AND p.id = own;
    IF next % 64 = 0 THEN
        PERFORM adage.tidy(own, next);
    END IF;
    RETURN true;
END $$;

-- Removes what nobody asks for any more: ids of commits after a day, events after 8 days, removed rows after 1,024 commits.
CREATE FUNCTION adage.tidy(own bigint, present bigint) RETURNS void LANGUAGE sql AS $$
    DELETE FROM adage.commits c WHERE c.tenant = adage.tenant() AND c.playbook = own AND c.at < now() - interval '1 day';
    DELETE FROM adage.usage u WHERE u.tenant = adage.tenant() AND u.playbook = own AND u.number IS NOT NULL
        AND u.at < now() - CASE WHEN u.line IS NULL THEN interval '8 days' ELSE interval '1 year' END;
    DELETE FROM adage.rows r WHERE r.tenant = adage.tenant() AND r.playbook = own AND r.value IS NULL AND r.generation < present - 1024;
    UPDATE adage.playbooks p SET oldest = greatest(p.oldest, present - 1024) WHERE p.tenant = adage.tenant() AND p.id = own;
$$;

-- Feedback, if no other was appended after the last known one. The lock makes the ids of feedback follow the order of its commits.
CREATE FUNCTION adage.append_feedback(own bigint, own_key text, own_event jsonb, own_line text, known bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('adage feedback', own));
    IF EXISTS (SELECT FROM adage.usage u WHERE u.tenant = adage.tenant() AND u.playbook = own AND u.key = own_key) THEN
        RETURN true;
    END IF;
    IF EXISTS (SELECT FROM adage.usage u WHERE u.tenant = adage.tenant() AND u.playbook = own AND u.is_feedback AND u.id > known) THEN
        RETURN false;
    END IF;
    INSERT INTO adage.usage (playbook, key, event, is_feedback, line) VALUES (own, own_key, own_event, true, own_line);
    RETURN true;
END $$;
