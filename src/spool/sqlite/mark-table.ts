import type { Db } from './database.ts';

/** Times that outlive the process, by name. */
export class MarkTable {
  readonly #sql;

  constructor(db: Db) {
    this.#sql = {
      get: db.prepare<[string], { at: number }>(`SELECT at FROM marks WHERE name = ?`),
      set: db.prepare(
        `INSERT INTO marks (name, at) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET at = excluded.at`,
      ),
    };
  }

  get(name: string): number | undefined {
    return this.#sql.get.get(name)?.at;
  }

  set(name: string, at: number): void {
    this.#sql.set.run(name, at);
  }
}
