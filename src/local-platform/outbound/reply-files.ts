import express, { type RequestHandler } from 'express';
import { z } from 'zod';
import { ApiError } from '../api-error.ts';
import { headersOf, sendFile } from '../routes/media.ts';
import type { MediaFolder } from '../store/media.ts';
import type { MediaRow } from '../store/rows.ts';
import type { Store } from '../store/store.ts';
import { withoutEnd } from '../../runtime/without-end.ts';

/** A file of a reply, where the customer's program or a provider can fetch it. */
export interface PublicFile {
  readonly name: string;
  readonly type: string;
  /** In bytes. */
  readonly size: number;
  readonly url: string;
}

const PATH = '/reply-files';
const idSchema = z.guid().toLowerCase();

/**
 * The files of replies under the gateway's public URL, since the platform's own links lead to its
 * machine only. A link is a secret that only the customer has, and works as long as the file is
 * stored: the conversation still shows it after months, and an erasure ends it. Files of customers and
 * of notes have no such links.
 */
export class ReplyFiles {
  readonly #store: Store;
  readonly #media: MediaFolder;
  readonly #publicUrl: () => string;

  /** @param publicUrl the origin of the gateway's HTTP port, and its path if any */
  constructor(store: Store, media: MediaFolder, publicUrl: () => string) {
    this.#store = store;
    this.#media = media;
    this.#publicUrl = publicUrl;
  }

  /** Whether others than this machine's browsers can fetch them. */
  get areReachable(): boolean {
    return this.#publicUrl().startsWith('https:');
  }

  /** Those of a reply; none if it is another message. */
  of(shopId: string, messageId: string): PublicFile[] {
    const reply = this.#store.messages.byId(shopId.toLowerCase(), messageId);
    if (reply?.role !== 'agent' || reply.type !== 'External') return [];
    return this.#store.media.ofMessage(reply.id).map((row) => this.#shown(row));
  }

  #shown({ id, original_name: name, type, size }: MediaRow): PublicFile {
    const base = withoutEnd(this.#publicUrl(), /\//);
    return { name, type, size, url: `${base}${PATH}/${id}/${this.#media.replyKey(id)}` };
  }

  /** `GET /reply-files/:id/:key` */
  readonly handler: RequestHandler = (() => {
    const router = express.Router();
    router.get(`${PATH}/:id/:key`, async (request, response) => {
      const id = idSchema.safeParse(request.params.id).data;
      const row =
        id !== undefined && this.#media.isReplyKey(id, request.params.key)
          ? this.#store.media.byLink(id)
          : undefined;
      if (row === undefined || !this.#store.messages.isOfReply(row.id)) {
        response.status(404).type('text/plain').end('Not found\n');
        return;
      }
      // The chat widget draws pictures itself, on the pages of other origins.
      const headers = { ...headersOf(row), 'Access-Control-Allow-Origin': '*' };
      await sendFile(response, this.#media.path(row.id), headers).catch((error: unknown) => {
        if (!(error instanceof ApiError)) throw error;
        response.status(error.status).type('text/plain').end('Not found\n');
      });
    });
    return router;
  })();
}
