import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { AuditLine } from '../../contract.ts';
import { exact, relative } from '../formats.ts';
import { now } from '../now.ts';
import { Button } from '../ui/button.tsx';
import { Icon, type IconName } from '../ui/icon.tsx';
import { Empty, Failure, PageTitle, Skeleton } from '../ui/page-parts.tsx';
import { api, asRefusal } from '../api.ts';
import type { Refusal } from '../refusal.ts';
import './audit.css';

/** Operators' actions, the newest first. */
export function AuditPage() {
  const { lines, isLoading, isAtEnd, failure, more, restart } = useAudit();
  return (
    <>
      <PageTitle title="Audit">
        <Button icon="again" busy={isLoading && lines.length > 0} onClick={restart}>
          Newest
        </Button>
      </PageTitle>
      {lines.length > 0 && (
        <div class="card audit">
          <table class="table">
            <thead>
              <tr>
                <th scope="col">Time</th>
                <th scope="col">Operator</th>
                <th scope="col">Action</th>
                <th scope="col">Target</th>
                <th scope="col">Outcome</th>
              </tr>
            </thead>
            <tbody>
              {lines.map((line) => (
                <Line key={line.no} line={line} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {failure !== undefined && (
        <Failure refusal={failure} onRetry={lines.length === 0 ? restart : more} />
      )}
      {isLoading && lines.length === 0 && <Skeleton lines={8} height={24} />}
      {isAtEnd && lines.length === 0 && (
        <Empty icon="audit" title="No actions yet">
          Sign-ins, retries, reloads and other actions of operators are listed here.
        </Empty>
      )}
      {lines.length > 0 && !isAtEnd && failure === undefined && <More onSeen={more} />}
      {lines.length > 0 && isAtEnd && <p class="audit-end muted">End of the audit log.</p>}
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
      <td class="audit-target">
        {isEntry(line.target) ? (
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
};

const wordsOf = (action: string): readonly [icon: IconName, words: string] =>
  WORDS[action] ?? ['info', action.replaceAll('_', ' ')];

/** Entry ids are UUIDs. */
const isEntry = (target: string): boolean =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(target);

const PAGE = 100;

interface AuditLines {
  readonly lines: readonly AuditLine[];
  readonly isLoading: boolean;
  readonly isAtEnd: boolean;
  readonly failure: Refusal | undefined;
  readonly more: () => void;
  /** Reloads from the newest line. */
  readonly restart: () => void;
}

/** Loads the audit page by page, the newest line first. */
function useAudit(): AuditLines {
  const [lines, setLines] = useState<readonly AuditLine[]>([]);
  const [isLoading, setLoading] = useState(false);
  const [isAtEnd, setAtEnd] = useState(false);
  const [failure, setFailure] = useState<Refusal | undefined>();
  const next = useRef<number | undefined>(undefined);
  const request = useRef<AbortController | undefined>(undefined);

  const load = useCallback((isFirst: boolean) => {
    if (request.current !== undefined && !isFirst) return;
    request.current?.abort();
    const abort = new AbortController();
    request.current = abort;
    setLoading(true);
    setFailure(undefined);
    const before = isFirst ? undefined : next.current;
    api
      .audit({ before, limit: PAGE }, abort.signal)
      .then((page) => {
        if (abort.signal.aborted) return;
        next.current = page.next;
        setLines((all) => (isFirst ? page.lines : [...all, ...page.lines]));
        setAtEnd(page.next === undefined);
      })
      .catch((error: unknown) => {
        if (!abort.signal.aborted) setFailure(asRefusal(error));
      })
      .finally(() => {
        if (request.current !== abort) return;
        request.current = undefined;
        setLoading(false);
      });
  }, []);
  useEffect(() => {
    load(true);
    return () => request.current?.abort();
  }, [load]);
  const more = useCallback(() => load(false), [load]);
  const restart = useCallback(() => load(true), [load]);
  return { lines, isLoading, isAtEnd, failure, more, restart };
}
