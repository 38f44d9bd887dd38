import { useState } from 'preact/hooks';
import type { EntryReading } from '../../contract.ts';
import { api } from '../api.ts';
import { bytes, plural } from '../formats.ts';
import { useLoad } from '../loading.ts';
import { Button } from '../ui/button.tsx';
import { NotLoaded } from '../ui/page-parts.tsx';

/** Why the agent gets what it gets of an email; read anew when it is opened. */
export function ReadingSection({ id }: { readonly id: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <section aria-label="How it is read">
      <h3>How it is read</h3>
      {isOpen ? (
        <Reading {...{ id }} />
      ) : (
        <Button size="small" onClick={() => setOpen(true)}>
          Explain
        </Button>
      )}
    </section>
  );
}

function Reading({ id }: { readonly id: string }) {
  const { data, failure, reload } = useLoad((signal) => api.reading(id, signal), [id]);
  if (data === undefined) return <NotLoaded {...{ failure }} onRetry={reload} lines={4} />;
  return (
    <dl class="resource-facts">
      {facts(data).map(([name, value], index) => (
        <div key={index}>
          <dt>{name}</dt>
          <dd>
            <bdi>{value}</bdi>
          </dd>
        </div>
      ))}
    </dl>
  );
}

const DECISIONS = { deliver: 'delivered', held: 'held', suppressed: 'suppressed' } as const;

/** Findings that the lines above say. */
const SAID = ['body', 'attachments', 'trimmedLines'];

type Fact = readonly [name: string, value: string];

function facts({ decision, sender, parts, body, quotes, findings }: EntryReading): Fact[] {
  const reason = decision.reason === undefined ? '' : `: ${decision.reason}`;
  return [
    ['Decision', `${DECISIONS[decision.kind]}${reason}`],
    ['Sender', `${sender.address ?? 'unknown'}: ${sender.words}`],
    [
      'Checks',
      sender.checks === undefined ? 'not checked' : sender.verified ? 'verified' : 'not verified',
    ],
    ['Content', body.words],
    ['Quotes', quotes.cut.length === 0 ? `kept: ${quotes.words}` : quotes.words],
    ...quotes.cut.map(({ lines, words, at }): Fact => [
      'Cut',
      `${plural(lines, 'line')}: ${words} (${at})`,
    ]),
    ...quotes.stayed.map(({ lines, words, at }): Fact => [
      'Stayed',
      `${plural(lines, 'line')}: ${words} (${at})`,
    ]),
    ...parts.map((part): Fact => [`Part ${part.number}`, described(part)]),
    ...Object.entries(findings)
      .filter(([name]) => !SAID.includes(name))
      .map(([name, value]): Fact => [name, String(value)]),
  ];
}

function described({ type, charset, name, bytes: size, words }: EntryReading['parts'][number]) {
  const about = [type, charset, name, size === undefined ? undefined : bytes(size)];
  return `${about.filter((each) => each !== undefined).join(', ')}: ${words}`;
}
