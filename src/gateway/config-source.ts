import { configFileOf } from '../config/environment.ts';
import { type Loaded, loadConfig, type LoadOptions } from '../config/load.ts';

/** The source of the configuration: the same files and environment as at the start. */
export interface ConfigSource {
  /** The file that overrides the defaults. */
  readonly file?: string;
  /** Reads the current configuration. */
  load(): Loaded;
  /** Reads the defaults alone, without file and environment. */
  defaults(): Loaded;
}

export function configSource(options: LoadOptions): ConfigSource {
  const file = options.file ?? configFileOf(options.env);
  return {
    ...(file !== undefined && file !== '' && { file }),
    load: () => loadConfig({ ...options, regularFileOnly: true }),
    // An empty name means no file.
    defaults: () => loadConfig({ ...options, env: {}, file: '' }),
  };
}

/** For a gateway that was given its configuration as an object. */
export const NO_SOURCE: ConfigSource = {
  load: () => ({
    ok: false,
    mistakes: [{ path: '', expected: 'a gateway that was started with a file', found: 'no file' }],
  }),
  defaults: () => ({ ok: false, mistakes: [] }),
};
