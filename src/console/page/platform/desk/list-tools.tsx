import { useState } from 'preact/hooks';
import { session } from '../../api.ts';
import { SearchInput, Select } from '../../ui/field.tsx';
import { type Listed, type Order, ORDERS, type Shown, shownOf, WHOSE } from './shown.ts';

/** A search, whose tickets, and the order, above a list. */
export function useListTools<Row extends Listed>(
  rows: readonly Row[],
  words: { readonly search: string; readonly orders: Readonly<Record<Order, string>> },
  hasAssignees = false,
) {
  const [shown, setShown] = useState<Shown>({ text: '', whose: '', order: 'listed' });
  const tools = (
    <div class="filters">
      <div class="filter-line">
        <SearchInput
          label={words.search}
          placeholder="Customer, subject, text, shop or number"
          value={shown.text}
          maxLength={200}
          onInput={({ currentTarget: { value: text } }) => setShown({ ...shown, text })}
        />
      </div>
      <div class="filter-fields">
        {hasAssignees && (
          <Select
            label="Whose"
            value={shown.whose}
            options={WHOSE}
            onChoose={(value) =>
              setShown({ ...shown, whose: WHOSE.find((each) => each.value === value)?.value ?? '' })
            }
          />
        )}
        <Select
          label="Order"
          value={shown.order}
          options={ORDERS.map((value) => ({ value, label: words.orders[value] }))}
          onChoose={(value) =>
            setShown({ ...shown, order: ORDERS.find((each) => each === value) ?? 'listed' })
          }
        />
      </div>
    </div>
  );
  return { tools, shown: shownOf(rows, shown, session.value?.operator) };
}
