import type { ChatStore } from '../chat-store.ts';
import type { Database } from './connection.ts';
import { jsonOf } from './rows.ts';
import { sqlFunction } from './schema.ts';
import { LOCK_OWNERS, OWNER } from './visitors.ts';

/** The lock lets no guest be merged, and no further upload be counted, between the look and the commit. */
const ADD_UPLOAD = sqlFunction(
  'add_upload',
  `(item json, unused_at_most int) RETURNS boolean LANGUAGE plpgsql AS $$
   DECLARE owner visitor;
   BEGIN
     PERFORM ${LOCK_OWNERS.name}(json_build_array(item));
     SELECT * INTO owner FROM ${OWNER.name}((item->>'shop')::uuid, item->>'visitor');
     IF NOT FOUND THEN
       RAISE foreign_key_violation USING MESSAGE = 'an upload of a visitor that does not exist';
     END IF;
     IF unused_at_most <= (SELECT count(*) FROM upload
       WHERE shop = owner.shop AND visitor = owner.id AND entry IS NULL) THEN
       RETURN false;
     END IF;
     IF NOT EXISTS (SELECT FROM blob WHERE blob.name = item->>'blob' AND chunks > 0) THEN
       RAISE foreign_key_violation USING MESSAGE = 'the blob of an upload is not in the database';
     END IF;
     INSERT INTO upload (id, shop, visitor, name, type, size, blob, checksum, at)
       SELECT id, owner.shop, owner.id, name, type, size, blob, checksum, at
       FROM json_to_record(item) AS given (
         id text, name text, type text, size bigint, blob text, checksum bigint, at bigint);
     RETURN true;
   END $$`,
);

/**
 * Gives all these uploads of a visitor to an entry and returns them as its line shows them; null when one
 * of them cannot be used, and then none is.
 */
export const USE_UPLOADS = sqlFunction(
  'use_uploads',
  `(in_shop uuid, in_visitor text, ids json, in_entry uuid) RETURNS json LANGUAGE plpgsql AS $$
   DECLARE files json;
   BEGIN
     WITH used AS (
       UPDATE upload SET entry = in_entry
       FROM json_array_elements_text(ids) WITH ORDINALITY AS named (id, place)
       WHERE upload.id = named.id AND shop = in_shop AND visitor = in_visitor AND entry IS NULL
       RETURNING place,
         json_build_object('id', upload.id, 'name', name, 'type', type, 'size', size) AS file
     )
     SELECT json_agg(file ORDER BY place) INTO files FROM used;
     IF json_array_length(files) = json_array_length(ids) THEN RETURN files; END IF;
     UPDATE upload SET entry = NULL WHERE entry = in_entry;
     RETURN NULL;
   END $$`,
);

/** Stores uploads of visitors. */
export const uploadTable = (database: Database): Pick<ChatStore, 'addUpload'> => ({
  addUpload: async ({ shopId, visitorId, ...stored }, unusedAtMost) => {
    const item = jsonOf({ ...stored, shop: shopId, visitor: visitorId });
    return (
      (await database.value(`SELECT ${ADD_UPLOAD.name}($1, $2)`, [item, unusedAtMost])) === true
    );
  },
});
