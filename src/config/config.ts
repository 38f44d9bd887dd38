import type { z } from 'zod';
import type { configSchema } from './schema.ts';
import type { Secret } from './secret.ts';

type DeepReadonly<T> = T extends string | number | boolean | Secret
  ? T
  : T extends readonly (infer Item)[]
    ? readonly DeepReadonly<Item>[]
    : { readonly [Key in keyof T]: DeepReadonly<T[Key]> };

/** The configuration after it has been checked: durations in milliseconds, sizes in bytes. */
export type Config = DeepReadonly<z.output<typeof configSchema>>;
export type ShopConfig = Config['shops'][number];
