import type { Unigate } from '../../unigate.ts';
import { inQuota, readAmountFormat } from '../amounts.ts';
import type { Values } from '../option.ts';
import { oneLine, printJson, printTable, type Terminal } from '../terminal.ts';
import type { paging } from './options.ts';

export interface Page<Item> {
  items: Item[];
  total: number;
}

/** An amount of quota in a table, which is shown in the currency of the user. */
interface Amount {
  quota: number;
}

/** Value of a table cell. */
export type Cell = string | number | boolean | Amount | null | undefined;

/** Functions that read the columns of an entry. */
export type Columns<Item> = Readonly<Record<string, (item: Item) => Cell>>;

/** Prints the results of a command as tables or JSON. */
export class Output {
  readonly #terminal: Terminal;
  readonly #json: boolean;
  readonly #quiet: boolean;
  #formatAmount = inQuota;

  constructor(terminal: Terminal, { json = false, quiet = false }: { json?: boolean; quiet?: boolean }) {
    this.#terminal = terminal;
    this.#json = json;
    this.#quiet = quiet;
  }

  /** Reads the currency in which tables show amounts. Without this call, and in JSON, they are in quota. */
  async readCurrency(client: Unigate, signal: AbortSignal): Promise<void> {
    if (!this.#json) this.#formatAmount = await readAmountFormat(client, signal);
  }

  /** Formats an amount of quota within a text. */
  readonly amount = (quota: number): string => this.#formatAmount(quota);

  /** Prints a table with a header, or the data as JSON. */
  table<Item>(items: readonly Item[], columns: Columns<Item>, data: unknown = items): void {
    const columnReaders = Object.values(columns);
    const rows = items.map((item) => columnReaders.map((read) => this.#formatCell(read(item))));
    const table = items.length > 0 ? [Object.keys(columns), ...rows] : [];
    printTable(this.#terminal, { json: this.#json }, table, data);
  }

  /** Prints another table. With `--json` it prints nothing, because the data contains it. */
  additionalTable<Item>(items: readonly Item[], columns: Columns<Item>): void {
    if (!this.#json && items.length > 0) this.table(items, columns);
  }

  /** Prints a page of a list, and on standard error how to get the next page. */
  page<Item>(page: Page<Item>, columns: Columns<Item>, options: Values<typeof paging>): void {
    this.table(page.items, columns, page);
    const { page: number = 1, 'page-size': size = 20 } = options;
    const before = (number - 1) * size;
    const last = before + page.items.length;
    if (page.total === 0) this.note('No entries.');
    else if (page.items.length === 0) this.note(`No entries on this page; there are ${page.total} in total.`);
    else if (page.total > page.items.length) {
      const more = last < page.total ? `; next page: --page ${number + 1}` : '';
      this.note(`${before + 1} to ${last} of ${page.total}${more}`);
    }
  }

  /** Prints the fields of one entry, one per line, or the data as JSON. */
  fields(fields: Readonly<Record<string, Cell>>, data: unknown = fields): void {
    const rows = Object.entries(fields).filter(([, value]) => value !== undefined && value !== '');
    printTable(
      this.#terminal,
      { json: this.#json },
      rows.map(([name, value]) => [name, this.#formatCell(value)]),
      data,
    );
  }

  /** Prints lines of text. With `--json` it prints nothing, because the data contains them. */
  lines(lines: readonly string[]): void {
    if (!this.#json) for (const line of lines) this.#terminal.stdout.write(`${oneLine(line)}\n`);
  }

  /** Prints a value for scripts on its own line, or the data as JSON. */
  value(text: string, data: unknown): void {
    if (this.#json) printJson(this.#terminal, data);
    else this.#terminal.stdout.write(`${oneLine(text)}\n`);
  }

  /** Prints a note on standard error. */
  note(line: string): void {
    if (!this.#json && !this.#quiet) this.#terminal.stderr.write(`${oneLine(line)}\n`);
  }

  #formatCell(value: Cell): string {
    if (value === undefined || value === null) return '';
    if (typeof value === 'object') return this.#formatAmount(value.quota);
    return typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value);
  }
}

/** Marks a number as an amount of quota. */
export function amountOf(quota: number | null | undefined): Amount | null | undefined {
  return typeof quota === 'number' ? { quota } : quota;
}

/** Formats Unix seconds in UTC. */
export function time(seconds: number | null | undefined): string {
  if (seconds === undefined || seconds === null) return '';
  if (seconds < 0) return 'never';
  const date = new Date(seconds * 1_000);
  return Number.isNaN(date.getTime())
    ? String(seconds)
    : `${date.toISOString().slice(0, 19).replace('T', ' ')}Z`;
}
