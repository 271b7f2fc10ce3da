import { createHash } from 'node:crypto';
import pg from 'pg';

/** Prepared statements of a connection. The code has fewer. */
const maxNames = 100;

/** The statement does not exist, or exists already: a connection pooler lends connections for one transaction each. */
const lentCodes = new Set(['26000', '42P05']);
/** The result type of a statement has changed with a table. */
const outdatedCode = '0A000';

/** The names of prepared statements on the connections of a pool. */
export class PreparedStatements {
  readonly #names = new Map<string, string>();
  /** Part of the names, so that a statement can be prepared again. */
  #generation = 0;
  #isLent = false;

  /** Name of the prepared statement for a text. Undefined if the text must not be prepared. */
  nameOf(text: string): string | undefined {
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    if (this.#isLent || this.#names.size >= maxNames) return undefined;
    // A hash of the text, since on a lent connection another gateway may have prepared other statements.
    const hash = createHash('sha256').update(text).digest('base64url').slice(0, 32);
    const name = `unigate_${hash}_${this.#generation}`;
    this.#names.set(text, name);
    return name;
  }

  /** Handles the failure of a named statement. Returns whether it failed for its name only, so that it can run again. */
  failed(name: string, error: unknown): boolean {
    const code = error instanceof pg.DatabaseError ? error.code : undefined;
    if (code === outdatedCode) {
      if (name.endsWith(`_${this.#generation}`)) this.#generation += 1;
    } else if (code !== undefined && lentCodes.has(code)) this.#isLent = true;
    else return false;
    this.#names.clear();
    return true;
  }
}
