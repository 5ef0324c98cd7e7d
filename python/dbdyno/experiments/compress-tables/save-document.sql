-- One step of a document changes, so all of it is stored again.
\set document random(1, 1400 * :scale)
\set step random(0, 59)
\set clerk random(0, 999)
UPDATE order_documents
SET document = jsonb_set(document, ARRAY['steps', :step::text, 'handled_by'], to_jsonb('clerk ' || :clerk::text))
WHERE document_id = :document;
