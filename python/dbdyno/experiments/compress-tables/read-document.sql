-- What became of an order: two steps of its document, and the note.
\set document random(1, 1400 * :scale)
SELECT document #> '{steps,3}', document #> '{steps,40,state}', note FROM order_documents WHERE document_id = :document;
