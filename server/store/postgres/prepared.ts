import { createHash } from 'node:crypto';
import pg from 'pg';
import { keptPlan } from '../statement.ts';

/** Statements that a connection keeps the plans of at the most; there are fewer in the code. */
const mostNames = 100;

/** There is no such statement, or there is one already: connections are lent by a pooler, for a transaction each. */
const lent = new Set(['26000', '42P05']);
/** What it gives is not what it was when it was prepared: a table has changed. */
const outdated = '0A000';

/** The names of prepared statements on the connections of a store. */
export class PreparedStatements {
  readonly #names = new Map<string, string>();
  /** Part of the names, so that a statement is prepared anew. */
  #generation = 0;
  #lent = false;

  /** Undefined: the statement goes without. */
  nameOf(text: string): string | undefined {
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    if (this.#lent || !text.endsWith(keptPlan) || this.#names.size >= mostNames) return undefined;
    // By its text: a pooler may lend a connection on which another gateway has prepared something.
    const hash = createHash('sha256').update(text).digest('base64url').slice(0, 32);
    const name = `unigate_${hash}_${this.#generation}`;
    this.#names.set(text, name);
    return name;
  }

  /** Whether a named statement failed for its name alone; the next time it goes without, or with another one. */
  failed(name: string, error: unknown): boolean {
    const code = error instanceof pg.DatabaseError ? error.code : undefined;
    if (code === outdated) {
      if (name.endsWith(`_${this.#generation}`)) this.#generation += 1;
    } else if (code !== undefined && lent.has(code)) this.#lent = true;
    else return false;
    this.#names.clear();
    return true;
  }
}
