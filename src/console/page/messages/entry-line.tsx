import type { EntryRow } from '../../contract.ts';
import { CHANNEL_NAMES, plural } from '../formats.ts';
import { StateBadge, Time } from '../ui/page-parts.tsx';
import { Icon } from '../ui/icon.tsx';
import type { ListedRow } from './entry-pages.ts';
import { isCaveat, shortReason } from './reasons.ts';

/** The sender, or a placeholder when it is unknown. */
export function senderOf({ from, kind }: EntryRow): string {
  if (from !== '') return from;
  if (kind === 'event') return 'Note on a contact';
  return 'Unknown sender';
}

/** Shown in place of an empty subject; SMS and chat messages have none. */
const insteadOfSubject = ({ kind, channel, to }: EntryRow): string => {
  if (kind === 'event') return 'Note on a contact';
  if (channel === 'email') return '(no subject)';
  return to === '' ? `(${CHANNEL_NAMES[channel].toLowerCase()})` : `to ${to}`;
};

/** The name of a sender who gave one, and their address; of several messages in a row, once. */
function Sender({ row, isAgain }: { readonly row: EntryRow; readonly isAgain: boolean }) {
  if (isAgain)
    return (
      <span class="muted again" title={row.from}>
        {senderOf(row)}
      </span>
    );
  const [, name, address] = /^(.+) <([^<>]+)>$/.exec(row.from) ?? [];
  return (
    <bdi class={row.from === '' ? 'muted' : undefined} title={row.from || undefined}>
      {name ?? senderOf(row)}
      {address !== undefined && <span class="address muted"> {address}</span>}
    </bdi>
  );
}

/** One row of the list. Its link covers the whole row except the checkbox. */
export function EntryLine(props: {
  readonly listed: ListedRow;
  readonly index: number;
  readonly top: number;
  readonly isSelected: boolean;
  readonly isCurrent: boolean;
  readonly hasShop: boolean;
  /** The row above is of the same sender. */
  readonly isAgain: boolean;
  readonly onPick: (extend: boolean) => void;
}) {
  const { listed, index, top, isSelected, isCurrent, onPick } = props;
  const { row, noLongerMatches } = listed;
  const sender = senderOf(row);
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      class={`entry${isSelected ? ' picked' : ''}${isCurrent ? ' current' : ''}${noLongerMatches ? ' left' : ''}${props.isAgain ? ' of-same' : ''}`}
      style={{ transform: `translateY(${top}px)` }}
      data-id={row.id}
    >
      <div role="cell" class="pick">
        <label>
          <input
            type="checkbox"
            checked={isSelected}
            tabIndex={-1}
            aria-label={`Select the message from ${sender}`}
            onClick={(event) => onPick(event.shiftKey)}
          />
        </label>
      </div>
      <div role="cell" class="by">
        <Icon name={row.channel} />
        <span class="sr">{CHANNEL_NAMES[row.channel]}</span>
      </div>
      <div role="cell" class="from">
        <a href={`/messages/${row.id}`}>
          <Sender row={row} isAgain={props.isAgain} />
        </a>
      </div>
      {props.hasShop && (
        <div role="cell" class="shop muted">
          {row.shop}
        </div>
      )}
      <div role="cell" class="subject">
        {row.snippet !== undefined ? (
          <bdi class="snippet">{row.snippet}</bdi>
        ) : row.subject === '' ? (
          <span class="muted">{insteadOfSubject(row)}</span>
        ) : (
          <bdi>{row.subject}</bdi>
        )}
      </div>
      <div role="cell" class="state">
        <StateBadge state={row.state} />
        {row.reason !== undefined && (row.state !== 'delivered' || isCaveat(row)) && (
          <span class="reason muted ellipsis" title={row.reason}>
            {shortReason(row)}
          </span>
        )}
      </div>
      <div role="cell" class="tries number">
        {row.failures > 0 && (
          <span title={plural(row.failures, 'failed attempt')}>{row.failures}×</span>
        )}
      </div>
      <div role="cell" class="age">
        <Time at={row.receivedAt} />
      </div>
    </div>
  );
}
