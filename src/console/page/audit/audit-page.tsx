import { useEffect, useRef } from 'preact/hooks';
import type { AuditLine } from '../../contract.ts';
import { exact, relative } from '../formats.ts';
import { now } from '../now.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import { Empty, Failure, Skeleton } from '../ui/states.tsx';
import './audit.css';
import { useAudit } from './audit-pages.ts';
import { isEntry, wordsOf } from './audit-words.ts';

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
