/**
 * All uses of smtp-server beyond its documented interface, and why. The version is pinned;
 * test/channels/email/library-shape.test.ts fails if one of these members changes.
 *
 * | member | why |
 * | --- | --- |
 * | `SMTPServer.connect`, `connections`, `_onError` | create sessions of our own class |
 * | `SMTPServer._pendingSockets` | sockets before their PROXY header, to close them at the end |
 * | `SMTPServer.updateSecureContext` | a renewed certificate without a restart |
 * | `SMTPConnection.init`, `_setListeners`, `connectionReady`, `_ready` | a greeting without the library's delay of 100 ms, limits on connections, early talkers |
 * | `_onCommand`, `_unrecognizedCommands`, `_whenWritable` | limits on errors and junk commands |
 * | `_parseAddressCommand`, `handler_MAIL`, `handler_RCPT` | unknown parameters (555), SMTPUTF8 (553) |
 * | `send`, `_getEnhancedStatusCode` | our own enhanced status codes; the replies of one turn in one packet |
 * | `upgrade`, `_upgrading` | held replies are written before TLS takes the socket |
 * | `close`, `_onClose`, `_closing`, `_closed`, `_socket` | to end a session, and to know that it has ended |
 * | `_createParser`, `_parser`, `_server` | the parser below instead of the library's |
 * | `SMTPStream._feedDataStream`, `startDataMode`, `_endDataMode`, `_countDataBytes`, `_dataStream`, `dataBytes` | a faster search for the end of DATA |
 * | `SMTPStream._remainder`, `oncommand` | a client that talks before the greeting; commands |
 */
export { SMTPConnection, type SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js';
export { SMTPStream } from 'smtp-server/lib/smtp-stream.js';
