import type { Logger } from '../../observability/logger.ts';
import type { MediaFolder } from '../media-folder.ts';
import type { Store } from '../store/store.ts';

/** What the routes work with. */
export interface RouteContext {
  readonly store: Store;
  readonly media: MediaFolder;
  readonly logger: Logger;
  readonly now: () => number;
  /** `http://host:port`, for links in answers. */
  readonly baseUrl: () => string;
  /** Whether an agent will look at new messages. */
  readonly agentListens: (shop: string) => boolean;
  /** Called once a customer's message is on disk. */
  readonly onMessage: (conversationId: string) => void;
}
