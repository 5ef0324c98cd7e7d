-- The wide columns: beside the descriptions of products (order-entry has them, 1 to 6 kB each) a document and a note for
-- every tenth order, of about 10 kB and 1 kB. Keys and words repeat, as they do in an application's documents; references
-- do not: compressed, a document is still above the 2 kB from which PostgreSQL stores a value out of line.
CREATE TABLE order_documents (
    document_id bigint PRIMARY KEY,
    order_id    bigint NOT NULL,
    document    jsonb NOT NULL,
    note        text NOT NULL
);

INSERT INTO order_documents
SELECT d, d * 10, jsonb_build_object('version', 1, 'order', d * 10, 'steps', steps), note
FROM generate_series(1, 1400 * current_setting('dbdyno.scale')::int) AS d
CROSS JOIN LATERAL (
    SELECT jsonb_agg(jsonb_build_object('step', s, 'reference', md5(format('%s/%s', d, s)),
                                        'state', (ARRAY['received', 'checked', 'packed', 'sent'])[1 + (d + s) % 4],
                                        'handled_by', format('clerk %s', (d * 31 + s * 17) % 1000),
                                        'remark', 'nothing to remark')) AS steps
    FROM generate_series(1, 60) AS s
) AS documents
CROSS JOIN LATERAL (
    SELECT string_agg((ARRAY['parcel', 'customer', 'asked', 'for', 'delivery', 'before', 'noon', 'second', 'attempt',
                             'neighbour', 'paid', 'by', 'card', 'fragile', 'call', 'first'])[1 + (d * 7 + w * w) % 16],
                      ' ') AS note
    FROM generate_series(1, 150) AS w
) AS notes;

-- Stores every wide value again, as its column now says, in the order and as compactly as it was loaded.
-- ALTER TABLE changes what is stored from then on. VACUUM FULL, UPDATE ... SET note = note and INSERT ... SELECT take
-- over what is stored as it is; only a value that was computed is compressed anew.
CREATE PROCEDURE store_again() LANGUAGE plpgsql AS $$
BEGIN
    CREATE TEMP TABLE kept_documents ON COMMIT DROP AS TABLE order_documents;
    TRUNCATE order_documents;
    INSERT INTO order_documents
    SELECT document_id, order_id, document || '{}', note || '' FROM kept_documents ORDER BY document_id;

    CREATE TEMP TABLE kept_descriptions ON COMMIT DROP AS TABLE product_descriptions;
    TRUNCATE product_descriptions;
    INSERT INTO product_descriptions
    SELECT product_id, language, summary, description || '' FROM kept_descriptions ORDER BY product_id, language;
END $$;
