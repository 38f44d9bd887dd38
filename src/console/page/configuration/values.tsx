import { useState } from 'preact/hooks';
import type { ConfigurationView } from '../../contract.ts';
import { plural } from '../formats.ts';
import { Card } from '../ui/page-parts.tsx';
import { SearchInput } from '../ui/field.tsx';
import { Icon } from '../ui/icon.tsx';
import { Button } from '../ui/button.tsx';

/** All effective values, grouped by section. */
export function Values({ values }: { readonly values: ConfigurationView['values'] }) {
  const [text, setText] = useState('');
  const [onlyChanged, setOnlyChanged] = useState(false);
  const sections = sectionsOf(values, text, onlyChanged);
  const found = sections.reduce((sum, section) => sum + section.values.length, 0);
  return (
    <Card
      title="Effective values"
      tools={
        <span class="muted small" role="status">
          {plural(found, 'value')}
        </span>
      }
    >
      <div class="values-tools">
        <SearchInput
          label="Search the configuration"
          placeholder="Search, for example smtp or timeout"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <label class="check">
          <input
            type="checkbox"
            checked={onlyChanged}
            onChange={(event) => setOnlyChanged(event.currentTarget.checked)}
          />
          Only non-default values
        </label>
      </div>
      {sections.map((section) => (
        <section key={section.name} class="values" aria-label={section.name}>
          <h3>{section.name}</h3>
          <dl>
            {section.values.map((value) => (
              <Value key={value.path} value={value} />
            ))}
          </dl>
        </section>
      ))}
      {sections.length === 0 && (
        <p class="muted values-none">
          No matching values.{' '}
          <Button
            size="small"
            onClick={() => {
              setText('');
              setOnlyChanged(false);
            }}
          >
            Show all
          </Button>
        </p>
      )}
    </Card>
  );
}

const Value = ({
  value: { path, value, secret, isDefault, variable },
}: {
  readonly value: ConfigurationValue;
}) => (
  <div>
    <dt>{path}</dt>
    <dd>
      {secret && <Icon name="lock" />}
      <span class={value === '' ? 'muted' : isDefault ? 'mono' : 'mono changed'}>
        {value === '' ? 'not set' : value}
      </span>
      {secret && value !== '' && <span class="sr">secret</span>}
      {!isDefault && (
        <span class="own">{variable === undefined ? 'set' : `set by ${variable}`}</span>
      )}
    </dd>
  </div>
);

type ConfigurationValue = ConfigurationView['values'][number];

interface Section {
  readonly name: string;
  readonly values: readonly ConfigurationValue[];
}

/** `shops.0.name` and `shops[0].name` belong to `shops`; top-level values belong to `general`. */
const sectionOf = (path: string): string => {
  const [first = ''] = path.split(/[.[]/, 1);
  return first === path ? 'general' : first;
};

/**
 * Groups values by the first segment of their paths, in their given order.
 * @param text words that must all occur in the path or the value; secrets are searched by path only
 */
function sectionsOf(
  values: readonly ConfigurationValue[],
  text: string,
  onlyChanged: boolean,
): readonly Section[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const sections = new Map<string, ConfigurationValue[]>();
  for (const value of values) {
    if (onlyChanged && value.isDefault) continue;
    const searched = `${value.path} ${value.secret ? '' : value.value}`.toLowerCase();
    if (!words.every((word) => searched.includes(word))) continue;
    const name = sectionOf(value.path);
    const section = sections.get(name);
    if (section === undefined) sections.set(name, [value]);
    else section.push(value);
  }
  return [...sections].map(([name, found]) => ({ name, values: found }));
}
