import { useEffect, useRef } from 'preact/hooks';
import type { AuditLine } from '../../contract.ts';
import { exact, relative } from '../formats.ts';
import { usePages } from '../loading.ts';
import { completeId } from '../messages/filters.ts';
import { now } from '../now.ts';
import { Button } from '../ui/button.tsx';
import { Icon, type IconName } from '../ui/icon.tsx';
import { Empty, Failure, NotLoaded, PageTitle, TableCard } from '../ui/page-parts.tsx';
import { api } from '../api.ts';
import './audit.css';

const COLUMNS = ['Time', 'Operator', 'Action', 'Target', 'Outcome'];
const PAGE = 100;

/** Operators' actions, the newest first. */
export function AuditPage() {
  const pages = usePages(async (before: number | undefined, signal) => {
    const { lines, next } = await api.audit({ before, limit: PAGE }, signal);
    return { items: lines, next };
  });
  const { items: lines, hasMore, failure, loading, more, reload } = pages;
  const hasLines = lines !== undefined && lines.length > 0;
  return (
    <>
      <PageTitle title="Audit">
        <Button icon="again" busy={loading && hasLines} onClick={reload}>
          Newest
        </Button>
      </PageTitle>
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
        <Empty icon="audit" title="No actions yet">
          Sign-ins, retries, reloads and other actions of operators are listed here.
        </Empty>
      )}
      {hasLines && hasMore && failure === undefined && <More onSeen={more} />}
      {hasLines && !hasMore && <p class="audit-end muted">End of the audit log.</p>}
    </>
  );
}

function Line({ line }: { readonly line: AuditLine }) {
  const [icon, words] = wordsOf(line.action);
  const isRefused = line.outcome !== 'ok' && line.outcome !== '';
  return (
    <tr>
      <td class="audit-when">
        <time dateTime={new Date(line.at).toISOString()} title={relative(line.at, now.value)}>
          {exact(line.at)}
        </time>
      </td>
      <th scope="row">{line.who}</th>
      <td>
        <span class={`audit-what${line.action === 'login_failed' ? ' danger' : ''}`}>
          <Icon name={icon} />
          {words}
        </span>
      </td>
      <td class="audit-target break">
        {completeId(line.target) !== undefined ? (
          <a class="mono" href={`/messages/${line.target}`}>
            {line.target}
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
  reload: ['configuration', 'Reloaded the configuration'],
  test_message: ['send', 'Sent a test message'],
  try: ['again', 'Tried a shop'],
  token_create: ['lock', 'Created an API token'],
  token_revoke: ['lock', 'Revoked an API token'],
};

const wordsOf = (action: string): readonly [icon: IconName, words: string] =>
  WORDS[action] ?? ['info', action.replaceAll('_', ' ')];
