/**
 * The local platform's choices where the API document is silent: the limits here, the behaviour in
 * the table below. The reference page shows the table; `node scripts/decisions.mjs` copies it to
 * docs/local-platform.md.
 */
export const LIMITS = {
  pageDefault: 50,
  pageMax: 200,
  messagesPageMaxBytes: 2 * 1024 * 1024,
  headersMaxBytes: 64 * 1024,
  jsonMaxBytes: 2 * 1024 * 1024,
  uploadMaxBytes: 100 * 1024 * 1024,
  signedUrlLifetimeMs: 60 * 60 * 1000,
  rangeMaxMs: 30 * 24 * 60 * 60 * 1000,
  referencesMax: 100,
  attachmentsMax: 100,
  participantsMax: 100,
  /** Above these rates a person gets no automatic answers: they are probably a program. */
  answersPer10Min: 10,
  chatAnswersPer10Min: 20,
  answersPerDay: 100,
  /** Of a shop, unless configured otherwise; fewer when a language model gives them. */
  answersPerHour: 600,
  modelAnswersPerHour: 200,
  /** How often in a row the same text is answered by email and SMS. */
  agentRepeatsMax: 3,
  /** How long a message waits while the agent is unavailable, before it is handed to a person. */
  agentGiveUpAfterMs: 15 * 60 * 1000,
} as const;

/** An open point, and the local platform's choice. Code is in backticks. */
type OpenPoint = readonly [open: string, here: string];

const mebibytes = (bytes: number) => `${bytes / 1024 / 1024} MiB`;

export const OPEN_POINTS: readonly OpenPoint[] = [
  ['success codes', '201 created, 200 read, 200 with the existing message on a dedup match'],
  ['dedup key of messages (§4.7)', "(shop, `remote_id`) among customers' messages"],
  [
    'dedup of metrics (§4.1)',
    '(shop, `metric_name`, `deduping_key`); a repeat answers 200 and stores nothing, unless it is for another contact: then the activity is stored without the metric and answered with 201',
  ],
  ['answer to a new message', 'the Message (§2.2)'],
  [
    'errors (§7)',
    '`{error: {code, message, fields}}`; `fields` maps the path of each wrong field to what was expected',
  ],
  [
    'error codes',
    '400 invalid request, 401 missing or unknown key, 403 key of another shop, 404 not found, 405 method not allowed, 413 too large, 415 unsupported media type, 429 too many requests, 503 the store cannot write',
  ],
  ['a path without its trailing slash', '404; the message gives the path with the slash'],
  ['unknown fields and query parameters', 'ignored'],
  ['an empty or repeated query parameter', '400'],
  ['uuids', 'accepted in any case, returned in lower case'],
  [
    'a JSON body',
    'UTF-8 only, also written `utf8`: 415 for another charset, 400 for invalid UTF-8. A lone surrogate in a string becomes one U+FFFD',
  ],
  [`headers and query of more than ${LIMITS.headersMaxBytes / 1024} KiB`, '431'],
  [
    '`limit`',
    `default ${LIMITS.pageDefault}; a value above ${LIMITS.pageMax}, of any size, is reduced to ${LIMITS.pageMax}, a value below 1 is answered with 400. A page of messages has at most ${mebibytes(LIMITS.messagesPageMaxBytes)} of \`content\` and \`text\`, but at least one message; \`next\` continues after it`,
  ],
  [
    'order of lists',
    'newest first, by arrival; rows that are added during paging come before the first page',
  ],
  [
    '`cursor`',
    'valid for one list of one shop; 400 for any other. Encrypted: rows are numbered across shops',
  ],
  ['several filters', 'combined with AND'],
  ['`conversation.type` without `conversation.id`', 'required: 400'],
  ['`conversation.type` beside `conversation.id`', 'ignored: the conversation keeps its channel'],
  ['unknown `conversation.id`', '404'],
  ['unknown id in `attachments`', `400; at most ${LIMITS.attachmentsMax} ids are allowed`],
  [
    'which contact',
    'found by email (in any case), then by phone if that contact has no other email; else the contact of the given conversation, unless it has another email or phone; else a new contact. By SMS the number takes precedence, and the email finds only a contact without another number. In web chat, where visitors enter both themselves, the phone is used only without an email',
  ],
  [
    'phone numbers',
    'stored and looked up in E.164; short codes and numbers without a country code are kept as they are',
  ],
  [
    'the contact of a text from WhatsApp',
    'that of its conversation if the gateway knows its person: contacts of other names of the person, and the one with the number, are joined into the oldest, with their tickets, and it gets the number',
  ],
  ['a number with two forms (Brazil, Argentina, Mexico)', 'finds the same contact in either form'],
  [
    'missing fields of a known contact',
    'filled in from the request, never overwritten; an email or phone of another contact is not moved. A display name that contains another address is dropped, and a name that nobody confirms gives way to a confirmed one',
  ],
  [
    'email threading (§4.7 rule 3)',
    'In-Reply-To, then References from last to first, are compared with the `remote_id` of messages and replies in email conversations of the shop, with or without angle brackets; an element of `references` may have several ids',
  ],
  [
    'who may join an email thread',
    'addresses that have written in it, or are in `cc` or `bcc` of its first email or of an email that refers to a reply of the agent. A sender can be forged, but only a recipient of the reply knows its id. Anyone else who quotes a message-id gets a new conversation: message-ids are not secret, and the agent could reveal what others wrote',
  ],
  ['an empty `remote_id`', 'treated as absent: such messages are never duplicates'],
  ['a repeated message', 'answered with the stored message; the repeated request changes nothing'],
  ['`created_at` of a message', '`message.timestamp` when given, else the time of arrival'],
  [
    'date-times',
    'ISO 8601, in the years 0001 to 9999 in UTC; else 400. Without seconds: the full minute; without an offset: UTC',
  ],
  [
    '`null` in `contact.name`, `message.attachments`, `message.email`',
    '400: the fields are optional but not nullable (§4.7)',
  ],
  [
    'email addresses',
    'a single address without white space and, outside quotes, without `,` `;` `:` `<` `>` `(` `)` or a second `@`',
  ],
  [
    '`attachments` of a message',
    'stored in their order without duplicates. A Message has no field for attachments, and no links are added to `content`; a client that needs them keeps the media records',
  ],
  [
    '`conversation.agent_contact`',
    'each shop has one agent for all addresses and numbers. Stored with each message, because the reply is sent from it. For email it must be an email address; a number is stored in E.164',
  ],
  [
    '`conversation.user_id`, `topic_id`, `intent_id`',
    'stored with the conversation without a check; later values fill in missing ones. `user_id` is a field of the Conversation; the others are not returned',
  ],
  ["a conversation's `title`", 'the subject of its first email; absent without one'],
  [
    'ticket',
    'one per conversation. New at first; Open when the customer writes again, even after Completed or Archived; WaitingContact once the agent has answered all messages, or a person has answered; WaitingUser after an escalation, and with each message of the customer while people have the conversation; Completed by a person',
  ],
  [
    "a ticket's `number`, `name`, `summary`",
    'a counter per shop from 1; the subject or else the first non-empty line, at most 120 characters; what the language model wrote when it handed over to a person, else absent',
  ],
  [
    '`last_message_at`, `last_message_content`',
    "the message's `created_at`, which never decreases and is never in the future; the message's beginning, at most 200 characters",
  ],
  [
    'conversation status',
    'new at first; open when the customer writes again, which also clears a `soft` or `hard` resolution; pending once the agent has answered all messages',
  ],
  [
    '`resolution`',
    '`escalated` when the customer asked for a person or the agent had no sure answer, also to a file without a text; `human` once a person has taken or answered the ticket. People then have the conversation: the agent no longer answers, and each message of the customer sets the ticket to WaitingUser, until a person hands it back. `hard` when a person has completed it: the next message is for the agent again',
  ],
  [
    'an agent whose endpoint is unavailable',
    `the message is retried, also across restarts, for ${LIMITS.agentGiveUpAfterMs / 60_000} minutes unless configured otherwise. Then a person takes over: the ticket is WaitingUser, the resolution \`escalated\`, and a reply tells the customer`,
  ],
  [
    'messages that the agent does not answer',
    `messages without a text and a file; messages from the shop's own, no-reply and mailer addresses; automatic replies and bounces, recognized by their subject; texts that only ask for no more messages (WaitingUser); by email and SMS the same text for the ${LIMITS.agentRepeatsMax + 1}th time in a row; messages above a limit: of a person ${LIMITS.answersPer10Min} replies in 10 minutes (${LIMITS.chatAnswersPer10Min} in web chat) or ${LIMITS.answersPerDay} in a day, of a shop ${LIMITS.answersPerHour} in an hour unless configured otherwise (${LIMITS.modelAnswersPerHour} by a language model), and less for persons whom nothing confirms (docs/agent.md). The ticket stays New or Open; for the last two reasons it is WaitingUser, because a customer may wait`,
  ],
  ['a shop without an agent', 'its tickets stay New or Open until a person handles them'],
  [
    'people',
    'answer on the console of the gateway, since the API has no operation for it. `assignee_id` and `user_id` are the stable id of a person; a reopened ticket has no assignee. Their notes are Messages of type Internal, which neither the customer, the agent nor the socket of web chat gets. So is what somebody of the shop writes in the WhatsApp app, without `user_id`: the agent is then silent in the conversation for an hour unless configured otherwise (WaitingUser)',
  ],
  ['`role`', '`customer` or `agent`; a reply or note by a person is also `agent`, with `user_id`'],
  [
    '`status` of a message (§3)',
    "customers' messages are DELIVERED. A reply is PENDING until it is sent, DELIVERED once the relay or provider has accepted it or it is on disk, and FAILED when it was refused permanently, could not be sent for two days, came back, or was reported as undelivered. `updated_at` is the time of the change",
  ],
  ['a FAILED reply', 'its ticket is WaitingUser, because a person has to contact the customer'],
  [
    '`conversation.id` with a contact without an address on its channel',
    'accepted; the reply has no recipient and is FAILED',
  ],
  [
    'a reply that could not be sent',
    'retried after 1, 5, 15, 30, 60, 120 and then every 240 minutes, also across restarts: after 4xx or no connection (email), after 429, 5xx or no connection (SMS), and after errors that an operator can fix, such as a wrong password. A 5xx to the sender, recipient or message, an invalid number, and an opt-out are permanent',
  ],
  [
    'how an email reply is sent (§4.7 rule 4)',
    "through the configured relay, or else as an .eml file: from the address that the customer wrote to, to the address that they wrote from only (not to `cc`), with `In-Reply-To`, `References`, text, HTML if it is Markdown, and `Auto-Submitted: auto-replied` unless a person wrote it. Its Message-ID is the reply's `remote_id`, the same at each attempt",
  ],
  [
    'how an SMS reply is sent',
    "through the shop's account at its provider if configured, or else as a line of `sms.log`: from the number that the customer wrote to, to the number that they wrote from, over WhatsApp or RCS if the customer used it, and then never by SMS. WhatsApp replies more than 24 hours after the customer's last message use the configured template, or are FAILED. Customers who have opted out get no reply. A reply has at most 5 parts of 1600 characters (Telnyx: 1530, or 670 beyond GSM 03.38; WhatsApp Cloud API: 4096), each cut at the end of a sentence. The provider's id is the reply's `remote_id`. Replies of a conversation are sent in order",
  ],
  [
    'the WebSocket of web chat (§1: no protocol is shown)',
    '`/v2026-04/web-chat/socket.io`, socket.io 4, with `auth: {apiKey, shopId}` or the headers of the API; a refusal is a `connect_error` whose `data` is the error of the API. `join` `{conversation_id, after}` is acknowledged with `{messages, complete}`: the messages after the message `after`, oldest first, 50 at a time; if not `complete`, join again after the last one. Once joined, the client receives each stored message as `message`, and as `message_updated` when its status changes, both with the Message (§2.2). `leave` `{conversation_id}` ends that. Only conversations of type web_chat; at most 200 per socket, and 1000 sockets per shop',
  ],
  [
    'upload size',
    `${mebibytes(LIMITS.uploadMaxBytes)}; a JSON body ${mebibytes(LIMITS.jsonMaxBytes)}`,
  ],
  ['a second part named `file`', '400: an upload has one file'],
  [
    '`type` of a file',
    'detected from its content; the declared type when the content has no signature',
  ],
  [
    '`url` of a file',
    'private: signed, valid for one hour; public: valid without a limit. Supports GET, HEAD and a single `Range`: 206, or 416 beyond the end',
  ],
  [
    'an event contact without email, phone and remote_id',
    'a new contact: there is nothing to find it by',
  ],
  ['`cc` and `bcc` without an `email`', 'accepted, and take no part'],
  ['`created_at__range` (§8)', '`relative:-<n><s|m|h|d|w>,` or two date-times, both inclusive'],
  ['rate limit', 'none unless `localPlatform.requestsPerSecond` is set; per shop'],
];
