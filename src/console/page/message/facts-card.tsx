import type { EntryDetail } from '../../contract.ts';
import { bytes, count, exact } from '../formats.ts';
import { LinkedIdRow } from '../platform/facts.tsx';
import { Badge, Card, Fact, type Tone as BadgeTone } from '../ui/page-parts.tsx';
import { CopyButton, CopyFact } from '../ui/copy-button.tsx';
import { explanationOf } from '../messages/reasons.ts';
import type { IconName } from '../ui/icon.tsx';
import { attemptsOf, checkLines } from './message-words.ts';
import type { Tone } from './timeline.ts';

/** The message's times, size and ids, with links to the platform. */
export function DetailsCard({ entry }: { readonly entry: EntryDetail }) {
  const command = `sluice queue show ${entry.id}`;
  const { shop, conversationId, ticketId, platformMessageId: messageId, settledAt } = entry;
  return (
    <Card title="Details">
      <dl class="resource-facts">
        <Fact name="Shop">{shop}</Fact>
        <Fact name="Received">{exact(entry.receivedAt)}</Fact>
        {settledAt !== undefined && <Fact name="Settled">{exact(settledAt)}</Fact>}
        {entry.keptUntil !== undefined && (
          <Fact name="Original kept until">{exact(entry.keptUntil)}</Fact>
        )}
        <Fact name="Attempts">{count(attemptsOf(entry))}</Fact>
        <Fact name="Size">
          {bytes(entry.bytes)}
          {!entry.rawKept && ', original deleted'}
        </Fact>
        <CopyFact name="Id" text={entry.id} what="the id" />
        <CopyFact name="Remote id" text={entry.remoteId} what="the remote id" />
        <CopyFact name="Lane" text={entry.lane} what="the lane" />
        {messageId !== undefined && (
          <CopyFact name="Platform message" text={messageId} what="the platform message id" />
        )}
        <LinkedIdRow name="Conversation" view="conversations" id={conversationId} {...{ shop }} />
        <LinkedIdRow name="Ticket" view="tickets" id={ticketId} {...{ shop }} />
      </dl>
      <div class="command">
        <code>{command}</code>
        <CopyButton text={command} what="the command" />
      </div>
    </Card>
  );
}

const TONES: Readonly<Record<Tone, readonly [BadgeTone, IconName]>> = {
  good: ['ok', 'ok'],
  warning: ['warning', 'warning'],
  bad: ['danger', 'failed'],
  plain: ['neutral', 'skipped'],
};
const VERDICTS: Readonly<Record<string, string>> = {
  deliver: 'To be submitted',
  held: 'Held for a decision',
  suppressed: 'Not submitted',
};

/** The classification of the message and the authentication of its sender. */
export function AuthenticationCard({ entry }: { readonly entry: EntryDetail }) {
  const { authentication, classification, channel } = entry;
  return (
    <>
      {classification !== undefined && (
        <Card title="Classification">
          <p>
            <b>{VERDICTS[classification.verdict] ?? classification.verdict}</b>
          </p>
          <p class="muted">{explanationOf(classification)?.meaning ?? classification.reason}</p>
        </Card>
      )}
      {authentication !== undefined && (
        <Card title="Sender authentication">
          <table class="table checks">
            <tbody>
              {checkLines(authentication).map(({ name, result, meaning, tone }) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  <td>
                    <Badge tone={TONES[tone][0]} icon={TONES[tone][1]}>
                      {result}
                    </Badge>
                    <p class="muted">{meaning}</p>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Card>
      )}
      {authentication === undefined && channel === 'email' && entry.kind === 'message' && (
        <Card title="Sender authentication">
          <p class="muted">
            {attemptsOf(entry) === 0 && entry.state === 'queued'
              ? 'Checked at the first attempt.'
              : 'The sender was not checked.'}
          </p>
        </Card>
      )}
    </>
  );
}
