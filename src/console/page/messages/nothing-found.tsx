import { STATE_MEANING } from './reasons.ts';
import { Button, ButtonLink } from '../ui/button.tsx';
import { Empty } from '../ui/states.tsx';
import { isFiltered } from './filters.ts';
import { list } from './list-state.ts';
import type { FilterState } from './use-filters.ts';

/** Why there is nothing, and what to do. */
export function NothingFound({ state }: { readonly state: FilterState }) {
  const { filters, clear, choose } = state;
  if (!isFiltered(filters)) {
    return (
      <Empty icon="messages" title="No messages yet">
        <p>They appear here the moment they arrive.</p>
        <p class="empty-actions">
          <ButtonLink href="/configuration" look="primary" icon="send">
            Send a test message
          </ButtonLink>
        </p>
      </Empty>
    );
  }
  const [only, ...others] = filters.states;
  const isOnlyState = only !== undefined && others.length === 0 && isOnly(filters.text, filters);
  if (isOnlyState && (only === 'dead' || only === 'held')) {
    return (
      <Empty icon="ok" title={only === 'dead' ? 'No dead messages' : 'No messages are held'}>
        <p>
          {only === 'dead' ? 'Every message went through or is on its way.' : STATE_MEANING.held}
        </p>
        <p class="empty-actions">
          <Button onClick={clear}>Show all messages</Button>
        </p>
      </Empty>
    );
  }
  return (
    <Empty icon="search" title="Nothing found">
      <p>
        {list.searchIsComplete.value
          ? 'Search finds words, and beginnings of words, of sender, recipient, subject, address, number and id; all of them must fit. It does not look into texts.'
          : 'The search index still catches up. Try again in a moment.'}
      </p>
      <p class="empty-actions">
        {filters.time.kind !== 'any' && (
          <Button onClick={() => choose({ time: { kind: 'any' } })}>Look at any time</Button>
        )}
        <Button onClick={clear}>Clear all filters</Button>
      </p>
    </Empty>
  );
}

const isOnly = (text: string, filters: FilterState['filters']): boolean =>
  text === '' && filters.reason === '' && filters.time.kind === 'any';
