import { oneLine, printJson, printTable, type Terminal } from '../terminal.ts';
import type { paging, Values } from './options.ts';

export interface Page<Item> {
  items: Item[];
  total: number;
}

/** What stands in a table; what is missing is empty. */
export type Cell = string | number | boolean | null | undefined;

/** How one column of a table is made of an entry. */
export type Columns<Item> = Readonly<Record<string, (item: Item) => Cell>>;

/** Where a command prints: columns for people, or JSON. */
export class Output {
  readonly #terminal: Terminal;
  readonly #json: boolean;
  readonly #quiet: boolean;

  constructor(terminal: Terminal, { json = false, quiet = false }: { json?: boolean; quiet?: boolean }) {
    this.#terminal = terminal;
    this.#json = json;
    this.#quiet = quiet;
  }

  /** A table with a head, or the data. */
  table<Item>(items: readonly Item[], columns: Columns<Item>, data: unknown = items): void {
    const readers = Object.values(columns);
    const rows = items.map((item) => readers.map((read) => shown(read(item))));
    const table = items.length > 0 ? [Object.keys(columns), ...rows] : [];
    printTable(this.#terminal, { json: this.#json }, table, data);
  }

  /** A table below what was printed; nothing with `--json`, where it is part of the data. */
  below<Item>(items: readonly Item[], columns: Columns<Item>): void {
    if (!this.#json && items.length > 0) this.table(items, columns);
  }

  /** A page of a list, and on standard error how to see more. */
  page<Item>(page: Page<Item>, columns: Columns<Item>, options: Values<typeof paging>): void {
    this.table(page.items, columns, page);
    const { page: number = 1, 'page-size': size = 20 } = options;
    const before = (number - 1) * size;
    const until = before + page.items.length;
    if (page.total === 0) this.tell('There are none.');
    else if (page.items.length === 0) this.tell(`There are only ${page.total}.`);
    else if (page.total > page.items.length) {
      const more = until < page.total ? `; --page ${number + 1} shows more` : '';
      this.tell(`${before + 1} to ${until} of ${page.total}${more}`);
    }
  }

  /** The facts of one thing, one a line, or the data. */
  facts(facts: Readonly<Record<string, Cell>>, data: unknown = facts): void {
    const rows = Object.entries(facts).filter(([, value]) => value !== undefined && value !== '');
    printTable(
      this.#terminal,
      { json: this.#json },
      rows.map(([name, value]) => [name, shown(value)]),
      data,
    );
  }

  /** Prints lines of text below what was printed; nothing with `--json`, where they are part of the data. */
  lines(lines: readonly string[]): void {
    if (!this.#json) for (const line of lines) this.#terminal.stdout.write(`${oneLine(line)}\n`);
  }

  /** What scripts take, alone on its line, or with `--json` the data. */
  value(text: string, data: unknown): void {
    if (this.#json) printJson(this.#terminal, data);
    else this.#terminal.stdout.write(`${oneLine(text)}\n`);
  }

  /** A line for people on standard error. */
  tell(line: string): void {
    if (!this.#json && !this.#quiet) this.#terminal.stderr.write(`${oneLine(line)}\n`);
  }
}

function shown(value: Cell): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value);
}

/** A moment as people write it, in UTC. */
export function time(seconds: number | null | undefined): string {
  if (seconds === undefined || seconds === null) return '';
  if (seconds < 0) return 'never';
  const date = new Date(seconds * 1_000);
  return Number.isNaN(date.getTime())
    ? String(seconds)
    : `${date.toISOString().slice(0, 19).replace('T', ' ')}Z`;
}
