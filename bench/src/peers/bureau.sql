-- The bureau's tables and transactions as PostgreSQL has them: a row for each segment with the
-- segment's fields and fill, a procedure for each transaction that makes the same gets and changes.
-- Gets within a parent that follow one another are one statement with a limit.
CREATE TABLE item (no bigint PRIMARY KEY, name text NOT NULL, price bigint NOT NULL,
    on_hand bigint NOT NULL, ordered bigint NOT NULL, moves bigint NOT NULL, last bigint NOT NULL,
    filler text NOT NULL) WITH (fillfactor = 70);
CREATE TABLE bin (item bigint, no bigint, quantity bigint NOT NULL, place text NOT NULL,
    PRIMARY KEY (item, no)) WITH (fillfactor = 70);
CREATE TABLE movement (item bigint, day bigint, ref bigint, quantity bigint NOT NULL,
    origin text NOT NULL, filler text NOT NULL, PRIMARY KEY (item, day, ref));
CREATE TABLE request (item bigint, ref bigint, day bigint NOT NULL, quantity bigint NOT NULL,
    PRIMARY KEY (item, ref));
CREATE TABLE supplier (no bigint PRIMARY KEY, name text NOT NULL, city text NOT NULL);
CREATE TABLE offer (supplier bigint, item bigint, price bigint NOT NULL,
    PRIMARY KEY (supplier, item));
CREATE TABLE hotel (no bigint PRIMARY KEY, name text NOT NULL, city text NOT NULL,
    rooms bigint NOT NULL);
CREATE TABLE rate (hotel bigint, kind bigint, price bigint NOT NULL, PRIMARY KEY (hotel, kind));
CREATE TABLE night (hotel bigint, day bigint, free bigint NOT NULL, taken bigint NOT NULL,
    PRIMARY KEY (hotel, day)) WITH (fillfactor = 70);
CREATE TABLE guest (no bigint PRIMARY KEY, name text NOT NULL, stays bigint NOT NULL,
    spent bigint NOT NULL) WITH (fillfactor = 70);
CREATE TABLE stay (guest bigint, date bigint, ref bigint, hotel bigint NOT NULL,
    day bigint NOT NULL, nights bigint NOT NULL, price bigint NOT NULL,
    PRIMARY KEY (guest, date, ref));
CREATE TABLE wish (guest bigint, ref bigint, hotel bigint NOT NULL, PRIMARY KEY (guest, ref));
CREATE TABLE district (no bigint PRIMARY KEY, name text NOT NULL, orders bigint NOT NULL,
    turnover bigint NOT NULL) WITH (fillfactor = 70);
CREATE TABLE task (district bigint, ref bigint, lines bigint NOT NULL, PRIMARY KEY (district, ref));
CREATE TABLE orders (district bigint, date bigint, ref bigint, lines bigint NOT NULL,
    total bigint NOT NULL, filler text NOT NULL, PRIMARY KEY (district, date, ref));
CREATE TABLE line (district bigint, date bigint, ref bigint, no bigint, item bigint NOT NULL,
    quantity bigint NOT NULL, price bigint NOT NULL, PRIMARY KEY (district, date, ref, no));

INSERT INTO item SELECT i, 'ITEM NUMBER ' || i, 100 + i, 1000000, 0, 0, 19960331, repeat(' ', 20)
    FROM generate_series(1, _ITEMS_) AS i;
INSERT INTO bin SELECT i, b, 333333, 'AISLE ' || b
    FROM generate_series(1, _ITEMS_) AS i, generate_series(1, 3) AS b;
INSERT INTO request SELECT i, 0, 19960331, 0 FROM generate_series(1, _ITEMS_) AS i;
INSERT INTO supplier SELECT i, 'SUPPLIER ' || i, 'ROTTERDAM'
    FROM generate_series(1, _SUPPLIERS_) AS i;
INSERT INTO offer SELECT i, o, 1000 + i - o
    FROM generate_series(1, _SUPPLIERS_) AS i, generate_series(1, 6) AS o;
INSERT INTO hotel SELECT i, 'HOTEL ' || i, 'WHITBY', 250 FROM generate_series(1, _HOTELS_) AS i;
INSERT INTO rate SELECT i, r, 8000 + i - r
    FROM generate_series(1, _HOTELS_) AS i, generate_series(1, 2) AS r;
INSERT INTO night SELECT i, n, 250, 0
    FROM generate_series(1, _HOTELS_) AS i, generate_series(1, 120) AS n;
INSERT INTO guest SELECT i, 'GUEST ' || i, 0, 0 FROM generate_series(1, _GUESTS_) AS i;
INSERT INTO wish SELECT i, 0, 1 FROM generate_series(1, _GUESTS_) AS i;
INSERT INTO district SELECT i, 'DISTRICT ' || i, 0, 0 FROM generate_series(1, _DISTRICTS_) AS i;
INSERT INTO task SELECT i, 0, 0 FROM generate_series(1, _DISTRICTS_) AS i;

CREATE FUNCTION invt(ref_ bigint, item_ bigint, supplier_ bigint, quantity_ bigint)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    one record; best bigint; oldest bigint; on_hand_ bigint := 0;
BEGIN
    PERFORM 1 FROM movement WHERE item = item_ AND day = 19960401 AND ref = ref_;
    IF FOUND THEN RETURN 0; END IF;
    SELECT * INTO STRICT one FROM supplier WHERE no = supplier_;
    FOR one IN SELECT price FROM offer WHERE supplier = supplier_ ORDER BY item LIMIT 4 LOOP
        best := least(best, one.price);
    END LOOP;
    FOR n_ IN item_ .. item_ + 2 LOOP
        SELECT * INTO STRICT one FROM item WHERE no = n_ FOR UPDATE;
        on_hand_ := on_hand_ + one.on_hand;
        UPDATE item SET on_hand = on_hand + quantity_, moves = moves + 1, last = 19960401
            WHERE no = n_;
        SELECT * INTO STRICT one FROM bin WHERE item = n_ AND no = 1 FOR UPDATE;
        UPDATE bin SET quantity = quantity + quantity_ WHERE item = n_ AND no = 1;
    END LOOP;
    INSERT INTO movement VALUES (item_, 19960401, ref_, quantity_, 'INVT', repeat(' ', 23));
    INSERT INTO request VALUES (item_, ref_, 19960401, quantity_);
    SELECT ref INTO STRICT oldest FROM request WHERE item = item_ ORDER BY ref LIMIT 1 FOR UPDATE;
    DELETE FROM request WHERE item = item_ AND ref = oldest;
    SELECT * INTO STRICT one FROM item WHERE no = item_ + 3;
    SELECT * INTO STRICT one FROM bin WHERE item = item_ + 3 ORDER BY no LIMIT 1;
    RETURN on_hand_;
END $$;

CREATE FUNCTION hotl(ref_ bigint, guest_ bigint, hotel_ bigint, day_ bigint)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    one record; best bigint := 0; oldest bigint; free_ bigint := 0;
BEGIN
    PERFORM 1 FROM stay WHERE guest = guest_ AND date = 19960401 AND ref = ref_;
    IF FOUND THEN RETURN 0; END IF;
    SELECT * INTO STRICT one FROM hotel WHERE no = hotel_;
    FOR one IN SELECT price FROM rate WHERE hotel = hotel_ ORDER BY kind LIMIT 2 LOOP
        best := greatest(best, one.price);
    END LOOP;
    SELECT * INTO STRICT one FROM guest WHERE no = guest_ FOR UPDATE;
    UPDATE guest SET stays = stays + 1, spent = spent + 4 * best WHERE no = guest_;
    FOR n_ IN day_ .. day_ + 3 LOOP
        SELECT * INTO STRICT one FROM night WHERE hotel = hotel_ AND day = n_ FOR UPDATE;
        UPDATE night SET free = free - 1, taken = taken + 1 WHERE hotel = hotel_ AND day = n_;
    END LOOP;
    INSERT INTO stay VALUES (guest_, 19960401, ref_, hotel_, day_, 4, 4 * best);
    INSERT INTO wish VALUES (guest_, ref_, hotel_);
    SELECT ref INTO STRICT oldest FROM wish WHERE guest = guest_ ORDER BY ref LIMIT 1 FOR UPDATE;
    DELETE FROM wish WHERE guest = guest_ AND ref = oldest;
    SELECT * INTO STRICT one FROM hotel WHERE no = hotel_ + 1;
    FOR one IN SELECT free FROM night WHERE hotel = hotel_ + 1 ORDER BY day LIMIT 5 LOOP
        free_ := free_ + one.free;
    END LOOP;
    RETURN best;
END $$;

CREATE FUNCTION whse(ref_ bigint, district_ bigint, item_ bigint, quantity_ bigint)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    one record; oldest bigint; total_ bigint := 0; prices bigint[] := '{}';
BEGIN
    PERFORM 1 FROM orders WHERE district = district_ AND date = 19960401 AND ref = ref_;
    IF FOUND THEN RETURN 0; END IF;
    SELECT * INTO STRICT one FROM district WHERE no = district_ FOR UPDATE;
    FOR n_ IN item_ .. item_ + 3 LOOP
        SELECT * INTO STRICT one FROM item WHERE no = n_ FOR UPDATE;
        prices := prices || quantity_ * one.price;
        total_ := total_ + quantity_ * one.price;
        UPDATE item SET on_hand = on_hand - quantity_, ordered = ordered + quantity_,
            last = 19960401 WHERE no = n_;
    END LOOP;
    UPDATE district SET orders = orders + 1, turnover = turnover + total_ WHERE no = district_;
    INSERT INTO orders VALUES (district_, 19960401, ref_, 4, total_, repeat(' ', 30));
    FOR n_ IN 1 .. 4 LOOP
        INSERT INTO line VALUES (district_, 19960401, ref_, n_, item_ + n_ - 1, quantity_,
            prices[n_]);
    END LOOP;
    INSERT INTO task VALUES (district_, ref_, 4);
    SELECT ref INTO STRICT oldest FROM task WHERE district = district_ ORDER BY ref LIMIT 1
        FOR UPDATE;
    DELETE FROM task WHERE district = district_ AND ref = oldest;
    SELECT * INTO STRICT one FROM orders
        WHERE district = district_ AND date = 19960401 AND ref = ref_;
    FOR one IN SELECT price FROM line WHERE district = district_ AND date = 19960401
        AND ref = ref_ ORDER BY no LIMIT 4 LOOP
        total_ := total_ - one.price;
    END LOOP;
    RETURN total_;
END $$;
