import type { ConfigurationView } from '../../contract.ts';

export type ConfigurationValue = ConfigurationView['values'][number];

export interface Section {
  readonly name: string;
  readonly values: readonly ConfigurationValue[];
}

/** `shops.0.name` and `shops[0].name` belong to `shops`; a value of its own at the top to `general`. */
const sectionOf = (path: string): string => {
  const [first = ''] = path.split(/[.[]/, 1);
  return first === path ? 'general' : first;
};

/**
 * Values by the first word of their paths, in the order in which they come.
 * @param text words that all occur in a path or its value; a secret has no value to search
 */
export function sectionsOf(
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
