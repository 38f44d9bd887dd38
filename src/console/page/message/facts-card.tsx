import type { EntryDetail } from '../../contract.ts';
import { bytes, exact, plural } from '../formats.ts';
import { conversationAddress, ticketAddress } from '../platform/addresses.ts';
import { Badge, Card, Fact, type Tone as BadgeTone } from '../ui/page-parts.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { explain } from '../messages/reasons.ts';
import type { IconName } from '../ui/icon.tsx';
import { checkWords } from './message-words.ts';
import type { Tone } from './timeline.ts';

/** Those that are counted for the next wait, or that the timeline has: a refusal is not counted. */
const attemptsOf = ({ attempts, timeline }: EntryDetail): number =>
  Math.max(attempts, ...timeline.map(({ attempt = 0 }) => attempt));

/** The ids by which other places know this message, and the way there. */
export function FactsCard({ entry }: { readonly entry: EntryDetail }) {
  const command = `sluice queue show ${entry.id}`;
  const { conversationId, ticketId, platformMessageId, settledAt } = entry;
  return (
    <Card title="Facts">
      <dl class="resource-facts">
        <Fact name="Shop">{entry.shop}</Fact>
        <Fact name="Received">{exact(entry.receivedAt)}</Fact>
        {settledAt !== undefined && <Fact name="Settled">{exact(settledAt)}</Fact>}
        <Fact name="Tries">{plural(attemptsOf(entry), 'attempt')}</Fact>
        <Fact name="Size">
          {bytes(entry.bytes)}
          {!entry.rawKept && ' (swept)'}
        </Fact>
        <IdFact name="Id" id={entry.id} what="the id" />
        <IdFact name="Remote id" id={entry.remoteId} what="the remote id" />
        <IdFact name="Lane" id={entry.lane} what="the lane" />
        {platformMessageId !== undefined && (
          <IdFact name="Message" id={platformMessageId} what="the platform’s id of the message" />
        )}
        {conversationId !== undefined && (
          <Fact name="Conversation">
            <a class="mono" href={conversationAddress(entry.shop, conversationId)}>
              {conversationId}
            </a>
          </Fact>
        )}
        {ticketId !== undefined && (
          <Fact name="Ticket">
            <a class="mono" href={ticketAddress(entry.shop, ticketId)}>
              {ticketId}
            </a>
          </Fact>
        )}
      </dl>
      <div class="command">
        <code>{command}</code>
        <CopyButton text={command} what="the command" />
      </div>
    </Card>
  );
}

const IdFact = (props: { readonly name: string; readonly id: string; readonly what: string }) => (
  <Fact name={props.name} class="id-copy">
    <bdi class="mono">{props.id}</bdi>
    <CopyButton text={props.id} what={props.what} />
  </Fact>
);

const TONES: Readonly<Record<Tone, readonly [BadgeTone, IconName]>> = {
  good: ['ok', 'ok'],
  warning: ['warning', 'warning'],
  bad: ['danger', 'failed'],
  plain: ['neutral', 'skipped'],
};
const VERDICTS: Readonly<Record<string, string>> = {
  deliver: 'To be submitted',
  held: 'A person decides',
  suppressed: 'Not submitted',
};

/** What was found out about the sender, and what the message was taken for. */
export function AuthenticationCard({ entry }: { readonly entry: EntryDetail }) {
  const { authentication, classification, channel } = entry;
  return (
    <>
      {classification !== undefined && (
        <Card title="Classification">
          <p>
            <b>{VERDICTS[classification.verdict] ?? classification.verdict}</b>
          </p>
          <p class="muted">{explain(classification.reason)?.meaning ?? classification.reason}</p>
        </Card>
      )}
      {authentication !== undefined && (
        <Card title="Sender authentication">
          <table class="table checks">
            <tbody>
              {checkWords(authentication).map(({ name, result, meaning, tone }) => (
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
            {entry.attempts === 0 && entry.state === 'queued'
              ? 'Checked with the first attempt.'
              : 'The sender was not checked.'}
          </p>
        </Card>
      )}
    </>
  );
}
