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

/** What every operator did: who, when, what, on what. */
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
                <th scope="col">When</th>
                <th scope="col">Who</th>
                <th scope="col">What</th>
                <th scope="col">On what</th>
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
        <Empty icon="audit" title="Nobody has done anything yet">
          Sign-ins, retries, reloads and whatever else operators do are listed here.
        </Empty>
      )}
      {lines.length > 0 && !isAtEnd && failure === undefined && <More onSeen={more} />}
      {lines.length > 0 && isAtEnd && <p class="audit-end muted">That is all there is.</p>}
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

/** Asks for more as soon as it can be seen; a button for whoever does not scroll. */
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

/** Each action of the contract, in words. */
const WORDS: Readonly<Record<string, readonly [IconName, string]>> = {
  login: ['lock', 'Signed in'],
  login_failed: ['alert', 'Sign-in refused'],
  logout: ['signOut', 'Signed out'],
  retry: ['again', 'Retried'],
  release: ['play', 'Released'],
  discard: ['discarded', 'Discarded'],
  restore: ['back', 'Restored'],
  undo: ['back', 'Took back'],
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

/** Ids of entries are UUIDs. */
const isEntry = (target: string): boolean =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(target);

const PAGE = 100;

interface AuditLines {
  readonly lines: readonly AuditLine[];
  readonly isLoading: boolean;
  readonly isAtEnd: boolean;
  readonly failure: Refusal | undefined;
  readonly more: () => void;
  /** From the newest again. */
  readonly restart: () => void;
}

/** The audit, page by page, the newest first. */
function useAudit(): AuditLines {
  const [lines, setLines] = useState<readonly AuditLine[]>([]);
  const [isLoading, setLoading] = useState(false);
  const [isAtEnd, setAtEnd] = useState(false);
  const [failure, setFailure] = useState<Refusal | undefined>();
  const next = useRef<number | undefined>(undefined);
  const asking = useRef<AbortController | undefined>(undefined);

  const load = useCallback((isFirst: boolean) => {
    if (asking.current !== undefined && !isFirst) return;
    asking.current?.abort();
    const abort = new AbortController();
    asking.current = abort;
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
        if (asking.current !== abort) return;
        asking.current = undefined;
        setLoading(false);
      });
  }, []);
  useEffect(() => {
    load(true);
    return () => asking.current?.abort();
  }, [load]);
  const more = useCallback(() => load(false), [load]);
  const restart = useCallback(() => load(true), [load]);
  return { lines, isLoading, isAtEnd, failure, more, restart };
}
