/**
 * What an import of the package gives: the typed client of the platform's REST API (docs/client.md).
 * The gateway itself is the program `sluice`.
 */
export {
  type CreateMessageResult,
  PlatformClient,
  type PlatformClientOptions,
} from './platform-api/client.ts';
export { cursorOf } from './platform-api/addresses.ts';
export {
  MediaSourceError,
  PlatformError,
  type PlatformErrorCode,
  type Problem,
} from './platform-api/errors.ts';
export type { MediaFile } from './platform-api/media-upload.ts';
export {
  type Contact,
  type Conversation,
  type CreatedEvent,
  type CreatedMessage,
  items,
  type Message,
  type Page,
  type Ticket,
  type UploadedMedia,
} from './platform-api/resources.ts';
export type { RetryOptions } from './platform-api/retries.ts';
export type {
  CreateEventRequest,
  CreateMessageRequest,
  ListContactsQuery,
  ListMessagesQuery,
  ListTicketsQuery,
  MediaPermission,
  TicketFilters,
} from './platform-api/schemas.ts';
export { ConnectionPool, type RequestObserver } from './platform-api/transport.ts';
