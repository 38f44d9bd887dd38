import type { Timing } from './timing.ts';
import type { UploadRequest } from './upload-request.ts';

export interface ChatOptions {
  /** The gateway's public URL; its path, if it has one, is kept. */
  readonly gatewayUrl: string;
  /** The widget's. */
  readonly key: string;
  /** `localStorage`; undefined where a browser forbids it: then all is kept in memory. */
  readonly storage: Storage | undefined;
  /** Where `storage`, `online`, `pageshow` and the like are heard; the window. */
  readonly page: EventTarget | undefined;
  readonly upload?: UploadRequest;
  readonly fetch?: typeof fetch;
  readonly now?: () => number;
  readonly timing?: Partial<Timing>;
}
