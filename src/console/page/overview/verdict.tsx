import type { Overview } from '../../contract.ts';
import { count, listed, plural, relative, span } from '../formats.ts';
import { now } from '../now.ts';
import { connection, lastSeenAt } from '../stream.ts';
import { ButtonLink } from '../ui/button.tsx';
import { Icon, type IconName } from '../ui/icon.tsx';
import { Prose, Time } from '../ui/page-parts.tsx';
import { type Issue, issuesOf } from './issues.ts';
import { TryButton } from './try-button.tsx';

interface Headline {
  readonly tone: 'ok' | 'warning' | 'danger' | 'neutral';
  readonly icon: IconName;
  readonly title: string;
  readonly detail: string;
}

/** The state of the gateway in one line, and the list of issues. */
export function Verdict({ overview }: { readonly overview: Overview }) {
  const issues = issuesOf(overview, now.value);
  const headline = headlineOf(overview, issues);
  const isLost = connection.value === 'lost';
  const [first] = issues;
  return (
    <section class={`verdict ${headline.tone}`} aria-label="Status">
      <div class="verdict-line">
        <span class="verdict-mark">
          <Icon name={headline.icon} />
        </span>
        <div class="verdict-words">
          <p class="verdict-title" role="status">
            {headline.title}
          </p>
          <p class="muted">
            <Prose text={headline.detail} />
            {!isLost && first && <ReasonAndStart issue={first} />}
          </p>
        </div>
        {!isLost && first && <IssueTools issue={first} />}
      </div>
      {issues.length > (isLost ? 0 : 1) && (
        <ul class="issues rows">
          {issues.slice(isLost ? 0 : 1).map((issue) => (
            <IssueRow key={issue.key} issue={issue} />
          ))}
        </ul>
      )}
    </section>
  );
}

const IssueRow = ({ issue }: { readonly issue: Issue }) => (
  <li class={issue.tone}>
    <Icon name={issue.tone === 'danger' ? 'alert' : 'warning'} />
    <div>
      <b>{issue.title}</b>
      <p class="muted">
        <Prose text={issue.todo} />
        <ReasonAndStart {...{ issue }} />
      </p>
    </div>
    <IssueTools {...{ issue }} />
  </li>
);

const IssueTools = ({ issue: { link, tryShop } }: { readonly issue: Issue }) => (
  <div class="issue-tools">
    {tryShop !== undefined && <TryButton shop={tryShop} />}
    {link && (
      <ButtonLink size="small" href={link.href}>
        {link.label}
      </ButtonLink>
    )}
  </div>
);

/** The platform's message, shown as plain text, and the time of the first one. */
const ReasonAndStart = ({ issue: { words, since } }: { readonly issue: Issue }) => (
  <>
    {words !== undefined && (
      <>
        {' '}
        The platform says: <q>{words}</q>.
      </>
    )}
    {since !== undefined && (
      <>
        {' '}
        Started <Time at={since} />.
      </>
    )}
  </>
);

function headlineOf(overview: Overview, issues: readonly Issue[]): Headline {
  if (connection.value === 'lost') {
    const seen = lastSeenAt.value ?? overview.at;
    return {
      tone: 'neutral',
      icon: 'alert',
      title: 'Connection to the gateway lost',
      detail: `Last update ${span(now.value - seen)} ago. The current state is unknown.`,
    };
  }
  const [first] = issues;
  if (first !== undefined) {
    const { tone, title, todo, isPause } = first;
    const icon = isPause ? 'pause' : tone === 'danger' ? 'alert' : 'warning';
    return { tone, icon, title, detail: todo };
  }
  if (isUnused(overview)) {
    return {
      tone: 'neutral',
      icon: 'info',
      title: 'Ready for the first message',
      detail: 'The gateway is running. No message has arrived yet.',
    };
  }
  return {
    tone: 'ok',
    icon: 'ok',
    title: 'All messages are being delivered',
    detail: flowOf(overview),
  };
}

/** Whether the gateway has never accepted a message. */
export const isUnused = ({ channels, queue, shops }: Overview): boolean =>
  channels.every(({ accepted }) => accepted === 0) &&
  shops.every(({ lastDeliveredAt }) => lastDeliveredAt === undefined) &&
  queue.queued + queue.delivering + queue.dead + queue.held + queue.suppressed === 0;

function flowOf({ channels, queue, shops }: Overview): string {
  const accepted = channels.reduce((sum, each) => sum + each.acceptedPerMinute, 0);
  const last = Math.max(0, ...shops.map(({ lastDeliveredAt }) => lastDeliveredAt ?? 0));
  const waiting = queue.queued + queue.delivering;
  const parts = listed(
    `${plural(accepted, 'message')} in the last minute`,
    last > 0 && `last delivery ${relative(last, now.value)}`,
    `${waiting > 0 ? count(waiting) : 'none'} in the queue`,
  );
  return `${parts.join(', ')}.`;
}
