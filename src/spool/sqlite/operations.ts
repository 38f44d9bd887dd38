import type { Clock } from '../../runtime/clock.ts';
import { AuditTable } from './audit-table.ts';
import { ChatTables } from './chat-tables.ts';
import { ConversationTable } from './conversation-table.ts';
import type { Db } from './database.ts';
import { EntryQueries } from './entry-queries.ts';
import { type BacklogLimits, EntryTable } from './entry-table.ts';
import { ErasedKeys } from './erased-keys.ts';
import { FreshEntries } from './fresh-entries.ts';
import { SenderRateTable } from './sender-rate-table.ts';
import { MarkTable } from './mark-table.ts';
import { OperatorMoves } from './operator-moves.ts';
import { OptOutTable } from './opt-out-table.ts';
import { RetentionTable } from './retention.ts';
import { ShopHealthTable } from './shop-health-table.ts';
import { SummaryTable } from './summary-table.ts';
import { VisitorIdentities } from './visitor-identities.ts';

const BACKLOG: BacklogLimits = { mostFresh: 200_000, filedAtOnce: 2000 };

/**
 * Everything that the database's thread can be asked, by name. Each is synchronous, runs inside
 * the transaction of its batch, and takes and returns only what can be cloned to another thread.
 */
export function createOperations(db: Db, clock: Clock, backlog = BACKLOG) {
  const fresh = new FreshEntries(db);
  const erased = new ErasedKeys(db);
  const entries = new EntryTable(db, clock, { fresh, erased }, backlog);
  const queries = new EntryQueries(db, fresh, erased);
  const conversations = new ConversationTable(db, clock, erased);
  const chat = new ChatTables(db, entries);
  const identities = new VisitorIdentities(db, chat);
  const optOuts = new OptOutTable(db, clock, erased);
  const senderRates = new SenderRateTable(db, clock);
  const marks = new MarkTable(db);
  const health = new ShopHealthTable(db);
  const moves = new OperatorMoves(db, clock, entries);
  const audit = new AuditTable(db, clock);
  const retention = new RetentionTable(db, clock);
  const summaries = new SummaryTable(db);
  const probe = db.prepare(
    `PRAGMA user_version = ${Number(db.pragma('user_version', { simple: true }))}`,
  );
  const operations = {
    accept: entries.accept.bind(entries),
    acceptFiled: entries.acceptFiled.bind(entries),
    fileSome: entries.fileSome.bind(entries),
    claim: entries.claim.bind(entries),
    renew: entries.renew.bind(entries),
    settle: entries.settle.bind(entries),
    saveMedia: entries.saveMedia.bind(entries),
    requeue: entries.requeue.bind(entries),
    discard: entries.discard.bind(entries),
    hasten: entries.hasten.bind(entries),
    releaseWaiting: entries.releaseWaiting.bind(entries),
    repair: entries.repair.bind(entries),

    saveShopHealth: health.save.bind(health),
    shopHealth: health.of.bind(health),
    requestProbe: health.requestProbe.bind(health),
    takeProbeRequests: health.takeProbeRequests.bind(health),

    get: queries.get.bind(queries),
    raw: queries.raw.bind(queries),
    list: queries.list.bind(queries),
    timeline: queries.timeline.bind(queries),
    backlogBytes: queries.backlogBytes.bind(queries),
    counts: queries.counts.bind(queries),
    knownEmailIds: queries.knownEmailIds.bind(queries),
    knownKeys: queries.knownKeys.bind(queries),
    laneOf: queries.laneOf.bind(queries),
    ownPlatformMessages: queries.ownPlatformMessages.bind(queries),

    conversation: conversations.get.bind(conversations),
    rememberConversation: conversations.remember.bind(conversations),
    forgetConversation: conversations.forget.bind(conversations),

    visitor: chat.visitor.bind(chat),
    visitorBySubject: chat.visitorBySubject.bind(chat),
    createVisitor: chat.createVisitor.bind(chat),
    updateVisitor: chat.updateVisitor.bind(chat),
    identifyVisitor: identities.identify.bind(identities),
    startConversation: chat.startConversation.bind(chat),
    acceptMessage: chat.acceptMessage.bind(chat),
    appendReply: chat.appendReply.bind(chat),
    markMessage: chat.markMessage.bind(chat),
    linesAfter: chat.linesAfter.bind(chat),
    linesBefore: chat.linesBefore.bind(chat),
    conversationsOf: chat.conversationsOf.bind(chat),
    addUpload: chat.addUpload.bind(chat),
    unusedUploads: chat.unusedUploads.bind(chat),
    upload: chat.upload.bind(chat),
    removeUpload: chat.removeUpload.bind(chat),
    countUnusedUploads: chat.countUnusedUploads.bind(chat),

    isOptedOut: optOuts.isOptedOut.bind(optOuts),
    optOut: optOuts.optOut.bind(optOuts),
    optIn: optOuts.optIn.bind(optOuts),

    countMessage: senderRates.count.bind(senderRates),
    sweepSenderRates: senderRates.sweep.bind(senderRates),

    mark: marks.get.bind(marks),
    setMark: marks.set.bind(marks),

    record: moves.record.bind(moves),
    restore: moves.restore.bind(moves),
    takeBack: moves.takeBack.bind(moves),
    audit: audit.add.bind(audit),
    auditLines: audit.lines.bind(audit),

    outdatedSummaries: summaries.outdated.bind(summaries),
    saveSummaries: summaries.save.bind(summaries),

    requeueAll: retention.requeueAll.bind(retention),
    namedBlobs: retention.namedBlobs.bind(retention),
    isNamed: retention.isNamed.bind(retention),
    sweep: retention.sweep.bind(retention),

    /** A write that changes nothing, committed and synced like any other. */
    probe: (): void => {
      probe.run();
    },
  };
  return { operations, fresh, erased };
}

export type Operations = ReturnType<typeof createOperations>['operations'];
export type OperationName = keyof Operations;
