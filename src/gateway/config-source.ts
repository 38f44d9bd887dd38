import { configFileOf } from '../config/environment.ts';
import { type Loaded, loadConfig, type LoadOptions } from '../config/load.ts';

/** Where the configuration comes from: the same files and the same environment as at the start. */
export interface ConfigSource {
  /** The file that is laid over the defaults. */
  readonly file?: string;
  /** Reads it as it is now. */
  load(): Loaded;
  /** The defaults alone. */
  defaults(): Loaded;
}

export function configSource(options: LoadOptions): ConfigSource {
  const file = options.file ?? configFileOf(options.env);
  return {
    ...(file !== undefined && file !== '' && { file }),
    load: () => loadConfig({ ...options, regularFileOnly: true }),
    // The empty name is no file.
    defaults: () => loadConfig({ ...options, file: '' }),
  };
}

/** Of a gateway that was given its configuration instead of a file. */
export const NO_SOURCE: ConfigSource = {
  load: () => ({
    ok: false,
    mistakes: [{ path: '', expected: 'a gateway that was started from a file', came: 'none' }],
  }),
  defaults: () => ({ ok: false, mistakes: [] }),
};
