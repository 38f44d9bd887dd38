/**
 * Everything that the API document leaves open, decided once.
 *
 * | open in the document | here |
 * | --- | --- |
 * | success codes | 201 created, 200 read, 200 with the existing message on a dedup match |
 * | dedup key of messages (§4.7) | (shop, `remote_id`) among customers' messages |
 * | dedup of metrics (§4.1) | (shop, `metric_name`, `deduping_key`); a repeat answers 200 and stores nothing |
 * | answer to a new message | the Message (§2.2) |
 * | errors (§7) | `{error: {code, message, fields}}`; `fields` maps a path to what is wrong with it |
 * | error codes | 400 invalid, 401 no or unknown key, 403 a key of another shop, 404 not found, 405 method, 413 too large, 415 media type, 429 too many requests, 503 the store cannot write |
 * | a path without its trailing slash | 404 |
 * | unknown fields and query parameters | ignored |
 * | `limit` | 50 when absent, 200 at most; a larger one is cut to 200, a smaller than 1 is 400 |
 * | order of lists | newest first, by arrival |
 * | `conversation.type` without `conversation.id` | required: 400 |
 * | `conversation.type` beside `conversation.id` | ignored: the conversation keeps its channel |
 * | unknown `conversation.id` | 404 |
 * | unknown id in `attachments` | 400 |
 * | which contact | email (any case), then phone; else, in a known conversation, its own contact unless that has another email or phone; else a new one |
 * | fields missing in a known contact | filled in from the request, never overwritten |
 * | email threading (§4.7 rule 3) | In-Reply-To, then References from the last to the first, against `remote_id` of messages of both sides |
 * | `created_at` of a message | `message.timestamp` when given, else the time of arrival |
 * | ticket | one per conversation; New, then Open when the customer writes again, WaitingContact once the agent has answered, WaitingUser when it was escalated |
 * | conversation status | new, open when the customer writes again, pending once the agent has answered |
 * | `resolution` | `escalated` when the customer asked for a person; the agent is silent from then on |
 * | `role` | `customer` or `agent` |
 * | upload size | 100 MiB; a JSON body 2 MiB |
 * | `type` of a file | sniffed; the declared one when the content has no signature |
 * | `url` of a file | private: signed, one hour; public: without an end |
 * | event contact | needs email, phone or remote_id to be found or created by |
 * | `created_at__range` (§8) | `relative:-<n><s\|m\|h\|d\|w>,` or two date-times, both inclusive |
 * | rate limit | none unless `requestsPerSecond` is set; counted per shop |
 */
export const DECISIONS = {
  pageDefault: 50,
  pageMax: 200,
  jsonMaxBytes: 2 * 1024 * 1024,
  uploadMaxBytes: 100 * 1024 * 1024,
  signedUrlLifetimeMs: 60 * 60 * 1000,
  rangeMaxMs: 30 * 24 * 60 * 60 * 1000,
  referencesMax: 100,
  attachmentsMax: 100,
  /** The agent falls silent in a conversation that goes faster: it is talking to a machine. */
  agentRepliesPer10Min: 10,
} as const;
