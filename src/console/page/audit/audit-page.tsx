import { useEffect, useRef, useState } from 'preact/hooks';
import type { AuditLine } from '../../contract.ts';
import { dateTime, exact, shortId } from '../formats.ts';
import { usePages } from '../loading.ts';
import { boundsQuery, completeId, type TimeFilter } from '../messages/filters.ts';
import { TimeFields } from '../messages/time-fields.tsx';
import { now } from '../now.ts';
import { Button, ButtonLink } from '../ui/button.tsx';
import { SearchInput, Select } from '../ui/field.tsx';
import { Icon, type IconName } from '../ui/icon.tsx';
import { Empty, Failure, NotLoaded, PageTitle, TableCard } from '../ui/page-parts.tsx';
import { addressOf, api } from '../api.ts';
import './audit.css';

const COLUMNS = ['Time', 'Operator', 'Address', 'Action', 'Target', 'Outcome'];
const PAGE = 100;
const TYPED_MS = 250;

/** Operators' actions, the newest first. */
export function AuditPage() {
  const [text, setText] = useState('');
  const [action, setAction] = useState('');
  const [time, setTime] = useState<TimeFilter>({ kind: 'any' });
  const typed = useSettled(text.trim(), TYPED_MS);
  const filter = { text: typed, action, ...boundsQuery(time, now.peek()) };
  const pages = usePages(
    async (before: number | undefined, signal) => {
      const { lines, next } = await api.audit({ ...filter, before, limit: PAGE }, signal);
      return { items: lines, next };
    },
    [typed, action, time],
  );
  const { items: lines, hasMore, failure, loading, more, reload } = pages;
  const hasLines = lines !== undefined && lines.length > 0;
  const isFiltered = typed !== '' || action !== '' || time.kind !== 'any';
  return (
    <>
      <PageTitle title="Audit">
        <ButtonLink icon="download" href={addressOf.audit(filter)} download="sluice-audit.csv">
          Export CSV
        </ButtonLink>
        <Button icon="again" busy={loading && hasLines} onClick={reload}>
          Newest
        </Button>
      </PageTitle>
      <div class="filters">
        <SearchInput
          label="Search the audit log"
          placeholder="Operator, address, target or outcome"
          value={text}
          maxLength={200}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <div class="filter-fields">
          <Select
            label="Action"
            value={action}
            options={[
              { value: '', label: 'All actions' },
              ...Object.entries(WORDS).map(([value, [, label]]) => ({ value, label })),
            ]}
            onChoose={setAction}
          />
          <TimeFields time={time} onChoose={setTime} />
        </div>
      </div>
      {hasLines && (
        <TableCard class="audit" columns={COLUMNS}>
          {lines.map((line) => (
            <Line key={line.no} line={line} />
          ))}
        </TableCard>
      )}
      {lines === undefined && <NotLoaded {...{ failure }} onRetry={reload} lines={8} height={24} />}
      {lines !== undefined && failure !== undefined && (
        <Failure refusal={failure} onRetry={hasMore ? more : reload} />
      )}
      {lines?.length === 0 && (
        <Empty icon="audit" title={isFiltered ? 'No such actions' : 'No actions yet'}>
          {isFiltered
            ? 'No line of the audit log matches these filters.'
            : 'Sign-ins, retries, reloads and other actions of operators are listed here.'}
        </Empty>
      )}
      {hasLines && hasMore && failure === undefined && <More onSeen={more} />}
      {hasLines && !hasMore && <p class="audit-end muted">End of the audit log.</p>}
    </>
  );
}

/** The value once it has not changed for a while. */
function useSettled(value: string, afterMs: number): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), afterMs);
    return () => clearTimeout(timer);
  }, [value, afterMs]);
  return settled;
}

function Line({ line }: { readonly line: AuditLine }) {
  const [icon, words] = wordsOf(line.action);
  const isRefused = line.outcome !== 'ok' && line.outcome !== '';
  return (
    <tr>
      <td class="audit-when">
        <time dateTime={new Date(line.at).toISOString()} title={exact(line.at)}>
          {dateTime(line.at)}
        </time>
      </td>
      <th scope="row">{line.who}</th>
      <td class="audit-address muted">{line.address ?? '–'}</td>
      <td>
        <span class={`audit-what${line.action === 'login_failed' ? ' danger' : ''}`}>
          <Icon name={icon} />
          {words}
        </span>
      </td>
      <td class="audit-target break">
        {completeId(line.target) !== undefined ? (
          <a class="mono" href={`/messages/${line.target}`} title={line.target}>
            {shortId(line.target)}
          </a>
        ) : (
          line.target
        )}
      </td>
      <td class={isRefused ? undefined : 'muted'}>{line.outcome}</td>
    </tr>
  );
}

/** Loads the next page when it is scrolled into view, or by its button. */
function More({ onSeen }: { readonly onSeen: () => void }) {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = ref.current;
    if (element === null) return undefined;
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting) onSeen();
      },
      { rootMargin: '600px' },
    );
    observer.observe(element);
    return () => observer.disconnect();
  });
  return (
    <div ref={ref} class="audit-end">
      <Button onClick={onSeen}>Show more</Button>
    </div>
  );
}

/** The label of each action of the contract. */
const WORDS: Readonly<Record<string, readonly [IconName, string]>> = {
  login: ['lock', 'Signed in'],
  login_failed: ['alert', 'Sign-in refused'],
  logout: ['signOut', 'Signed out'],
  retry: ['again', 'Retried'],
  release: ['play', 'Released'],
  discard: ['discarded', 'Discarded'],
  restore: ['back', 'Restored'],
  undo: ['back', 'Undid'],
  open: ['file', 'Opened the content'],
  download: ['download', 'Downloaded'],
  export: ['download', 'Exported'],
  ingest: ['messages', 'Ingested'],
  erase: ['discarded', 'Erased'],
  backup: ['download', 'Made a backup'],
  reload: ['configuration', 'Reloaded the configuration'],
  test_message: ['send', 'Sent a test message'],
  try: ['again', 'Tried a shop'],
  ticket_reply: ['send', 'Replied to a customer'],
  ticket_note: ['lock', 'Added a note'],
  ticket_assign: ['person', 'Assigned a ticket'],
  ticket_complete: ['ok', 'Completed a ticket'],
  ticket_reopen: ['again', 'Reopened a ticket'],
  ticket_hand_back: ['back', 'Handed a ticket back'],
  reply_send_again: ['again', 'Sent a reply again'],
  reply_send_by: ['send', 'Sent a reply on another channel'],
  reply_dismiss: ['ok', 'Marked a reply as done'],
  token_create: ['lock', 'Created an API token'],
  token_revoke: ['lock', 'Revoked an API token'],
};

const wordsOf = (action: string): readonly [icon: IconName, words: string] =>
  WORDS[action] ?? ['info', action.replaceAll('_', ' ')];
