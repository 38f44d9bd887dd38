import type { RequestClient } from 'twilio';
import type { ReconciledAccount } from '../../reconciliation/accounts.ts';
import type { ApiRequests } from './api-requests.ts';
import {
  type ListedMedium,
  listedMedium,
  type ListedMessage,
  listedMessage,
} from './listed-message.ts';
import type { Span } from '../../reconciliation/spans.ts';

/** The most that Twilio gives in one page. */
const PAGE_SIZE = 1000;
/** Twilio allows ten media on a message. */
const MAX_MEDIA = 10;

/** What reconciliation asks of Twilio's REST API. Every method throws {ApiFailed}. */
export interface MessageLists {
  /** How far this machine's clock was ahead of Twilio's at most. */
  readonly clockAheadMs: number;
  /** Pages of the account's messages of a span, to one address if it is given. */
  pages(to: string | undefined, span: Span): AsyncIterable<readonly ListedMessage[]>;
  media(messageSid: string): Promise<readonly ListedMedium[]>;
}

/** The REST client of `twilio`. Loaded here and now: its root takes a good part of a second. */
export async function connectMessageLists(
  { accountSid, credentials }: ReconciledAccount,
  requests: ApiRequests,
): Promise<MessageLists> {
  const { default: twilio } = await import('twilio');
  // The client calls nothing else of it (BaseTwilio.request, Version.request).
  const httpClient = {
    request: requests.get.bind(requests),
  } as unknown as RequestClient;
  const { username, password } = credentials;
  // TWILIO_EDGE and TWILIO_REGION in the environment change a host that `requests` does not read.
  const client = twilio(username, password, { accountSid, httpClient });
  const { messages } = client.api.v2010.accounts(accountSid);
  return {
    get clockAheadMs() {
      return requests.clockAheadMs;
    },
    async *pages(to, span) {
      // The two may overlap by a second at the edges: what is known is not accepted twice.
      let page: MessagePage | undefined = await messages.page({
        pageSize: PAGE_SIZE,
        ...(to !== undefined && { to }),
        dateSentAfter: new Date(span.from),
        ...(span.to !== undefined && { dateSentBefore: new Date(span.to + 1000) }),
      });
      while (page !== undefined) {
        // Annotated: the type of a page is that of its own next page.
        const { instances }: MessagePage = page;
        yield instances.map((instance) => listedMessage.parse(instance));
        page = await page.nextPage();
      }
    },
    async media(messageSid) {
      const { instances } = await messages(messageSid).media.page({ pageSize: MAX_MEDIA });
      return instances.map((instance) => listedMedium.parse(instance));
    },
  };
}

/** The package does not export the type of its pages. */
interface MessagePage {
  readonly instances: readonly unknown[];
  nextPage(): Promise<MessagePage> | undefined;
}
