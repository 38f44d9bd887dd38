import { useState } from 'preact/hooks';
import type { ConfigurationView } from '../../contract.ts';
import { plural } from '../formats.ts';
import { Card } from '../ui/card.tsx';
import { SearchInput } from '../ui/field.tsx';
import { Icon } from '../ui/icon.tsx';
import { Button } from '../ui/button.tsx';
import { type ConfigurationValue, sectionsOf } from './sections.ts';

/** Every effective value, by section. */
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
          placeholder="Search, such as smtp or timeout"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <label class="check">
          <input
            type="checkbox"
            checked={onlyChanged}
            onChange={(event) => setOnlyChanged(event.currentTarget.checked)}
          />
          Only what is not the default
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
          Nothing is called so.{' '}
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
  value: { path, value, secret, isDefault },
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
      {secret && value !== '' && <span class="sr">a secret that is set</span>}
      {!isDefault && <span class="own">set</span>}
    </dd>
  </div>
);
