import type { EntryDetail } from '../../contract.ts';
import { bytes, exact, plural } from '../formats.ts';
import { conversationAddress, ticketAddress } from '../platform/addresses.ts';
import { Card } from '../ui/card.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Fact } from '../ui/fact.tsx';

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
