import type { BlobName, ShopId, VisitorId } from '../../domain/ids.ts';
import { toUpload, type UploadRow } from '../chat-rows.ts';
import type { UploadRecord } from '../chat-store.ts';
import { type Dialect, type Operation, rowsOf } from './operation.ts';

/** The uploads of visitors. `ChatStore` documents the methods. */
export const uploadOperations = ({ tables: { uploads }, listed }: Dialect) => {
  const select = `SELECT id, name, type, size, blob, checksum FROM ${uploads}`;
  const own = 'shop = $1 AND visitor = $2';

  return {
    *unusedUploads(
      shopId: ShopId,
      visitorId: VisitorId,
      ids: readonly string[],
    ): Operation<UploadRecord[]> {
      const rows = yield* rowsOf<UploadRow>(
        `${select} WHERE ${own} AND id IN ${listed('$3')} AND entry IS NULL`,
        ...[shopId, visitorId, ids],
      );
      return [...new Set(ids)].flatMap((id) => rows.filter((row) => row.id === id).map(toUpload));
    },

    *upload(shopId: ShopId, visitorId: VisitorId, id: string): Operation<UploadRecord | undefined> {
      const sql = `${select} WHERE ${own} AND id = $3`;
      const [row] = yield* rowsOf<UploadRow>(sql, shopId, visitorId, id);
      return row && toUpload(row);
    },

    *removeUpload(
      shopId: ShopId,
      visitorId: VisitorId,
      id: string,
    ): Operation<BlobName | undefined> {
      const [row] = yield* rowsOf<{ blob: BlobName }>(
        `DELETE FROM ${uploads} WHERE ${own} AND id = $3 AND entry IS NULL RETURNING blob`,
        ...[shopId, visitorId, id],
      );
      return row?.blob;
    },

    *countUnusedUploads(shopId: ShopId, visitorId: VisitorId): Operation<number> {
      const [row] = yield* rowsOf<{ n: number }>(
        `SELECT count(*) AS n FROM ${uploads} WHERE ${own} AND entry IS NULL`,
        ...[shopId, visitorId],
      );
      return row?.n ?? 0;
    },
  };
};
