import type { EntryDetail } from '../../contract.ts';
import { duration, span } from '../formats.ts';
import { now } from '../now.ts';
import { attemptsOf, explainState } from './message-words.ts';
import { isStopped } from '../overview/stop-notes.tsx';
import { Card, ClockTime } from '../ui/page-parts.tsx';
import { type TimelineGroup, timelineGroups, type TimelineLine } from './timeline.ts';

/** Shorter waits are not shown. */
const SHOWN_WAIT_MS = 1_000;

/** Every step with its time. Steps of one attempt are grouped, with a bar for their durations. */
export function TimelineCard({ entry }: { readonly entry: EntryDetail }) {
  const groups = timelineGroups(entry.timeline);
  const last = groups.at(-1);
  return (
    <Card title="Timeline">
      <ol class="timeline">
        {groups.map((group, index) => (
          <Group key={index} {...{ group }} reason={group === last ? reasonOf(entry) : undefined} />
        ))}
        {entry.state === 'queued' && entry.nextAttemptAt !== undefined && (
          <Next
            at={entry.nextAttemptAt}
            number={attemptsOf(entry) + 1}
            isStopped={isStopped(entry.shop)}
          />
        )}
        {entry.state === 'delivering' && (
          <li class="group next">
            <p class="line">
              <b>Attempt in progress</b>
              <span class="muted">its steps appear when it ends</span>
            </p>
          </li>
        )}
      </ol>
    </Card>
  );
}

/** What the platform says, or else the stored reason. */
const reasonOf = (entry: EntryDetail): string | undefined =>
  explainState(entry).platformWords ?? entry.reason;

function Group({ group, reason }: { group: TimelineGroup; reason: string | undefined }) {
  const waited = group.waitedMs >= SHOWN_WAIT_MS && (
    <p class="waited muted small">{duration(group.waitedMs)} later</p>
  );
  if (group.kind === 'event') {
    return (
      <li class={`group event ${group.line.tone}`}>
        {waited}
        <Line line={group.line} hasBar={false} />
      </li>
    );
  }
  const end = group.lines.at(-1);
  return (
    <li class={`group attempt ${end?.tone ?? 'plain'}`}>
      {waited}
      <p class="attempt-head">
        <b>Attempt {group.number}</b>
        <span class="muted">took {duration(group.tookMs)}</span>
      </p>
      <ol class="rows">
        {group.lines.map((line, index) => (
          <li key={index}>
            <Line {...{ line }} hasBar />
          </li>
        ))}
      </ol>
      {reason !== undefined && isWorthQuoting(reason, end) && <p class="because">{reason}</p>}
    </li>
  );
}

/** Omits a reason that the last line already shows. */
const isWorthQuoting = (reason: string, end: TimelineLine | undefined): boolean =>
  reason !== '' && end?.step !== 'delivered' && end?.more !== reason;

const Line = ({ line, hasBar }: { readonly line: TimelineLine; readonly hasBar: boolean }) => (
  <div class={`line ${line.tone}`}>
    <span class="line-words">
      <b>{line.title}</b>
      {line.more !== undefined && <span class="muted">{line.more}</span>}
    </span>
    {hasBar && (
      <span class="took">
        <span class="bar" aria-hidden="true">
          <i style={{ inlineSize: `${Math.max(2, line.share * 100)}%` }} />
        </span>
        <span class="muted">{duration(line.tookMs)}</span>
      </span>
    )}
    <ClockTime at={line.at} />
  </div>
);

function Next(props: {
  readonly at: number;
  readonly number: number;
  readonly isStopped: boolean;
}) {
  const { at, number } = props;
  const left = at - now.value;
  return (
    <li class="group next">
      <p class="line">
        <span class="line-words">
          <b>Attempt {number}</b>
          <span class="muted">{nextWords(left, props.isStopped)}</span>
        </span>
        {!props.isStopped && <ClockTime {...{ at }} />}
      </p>
    </li>
  );
}

function nextWords(leftMs: number, isStopped: boolean): string {
  if (isStopped) return 'once deliveries go on';
  return leftMs <= 0
    ? 'due; starts after earlier messages of its lane'
    : `in ${span(leftMs + 999)}`;
}
