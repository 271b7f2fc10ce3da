import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { components } from '../../../generated/http.ts';
import { UnigateError } from '../../errors.ts';
import { UsageError } from '../usage-error.ts';
import { command } from './command.ts';
import { csvRows } from './csv-rows.ts';
import { parseTime } from './options.ts';

type Entry = components['schemas']['ExportedEntry'];

/** The names of the columns of a bill. */
interface BillColumns {
  id: string;
  amount: string;
  units?: string;
}

interface BilledItem {
  amount: number;
  units: number | undefined;
}

interface Difference {
  problem: 'missing in log' | 'missing in bill' | 'other amount' | 'other units';
  /** The provider's id of the task or request. */
  id: string;
  request: string;
  bill: number | undefined;
  log: number | undefined;
}

/** Listed differences of each kind. All are counted. */
const maxListed = 1_000;
/** Sums of fractional amounts have rounding errors below this. */
const tolerance = 1e-6;

/** `reconcile`: compares a provider's bill with the log. Fails if they differ. */
export const reconcileCommand = command({
  description: 'compare the bill of a provider, a CSV file, with the costs in the log',
  argument: 'FILE',
  options: {
    columns: {
      argument: 'NAMES',
      description: 'columns of the bill: id=NAME,amount=NAME and optionally units=NAME',
      parse: readColumns,
    },
    channel: { argument: 'CHANNEL', description: 'only calls that this channel served' },
    since: {
      argument: 'TIME',
      description: 'start of the log: a date or an age such as 31d',
      parse: parseTime,
    },
    until: { argument: 'TIME', description: 'end of the log: a date or an age', parse: parseTime },
    'quota-per-amount': {
      argument: 'NUMBER',
      description: 'quota for one of the amounts of the bill; default: 1',
      parse: readPositive,
    },
  },
  examples: [
    'reconcile bill.csv --columns id=task_id,amount=fee --channel seedance-eu --since 2026-11-01',
    'reconcile bill.csv --columns id=request,amount=usd,units=tokens --quota-per-amount 500000',
  ],
  async run({ client, text: file, options, output, signal }) {
    const { columns, channel, since, until, 'quota-per-amount': rate = 1 } = options;
    if (columns === undefined) throw new UsageError('--columns is required: id=NAME,amount=NAME.');
    const billed = await readBill(file, columns, rate);
    const query = { format: 'jsonl' as const, channel, since, until };
    const lines = await client.admin.logs.export(query, { signal });
    const found = await compare(billed, Readable.from(lines));
    output.table(
      found.differences,
      {
        problem: ({ problem }) => problem,
        id: ({ id }) => id,
        request: ({ request }) => request,
        bill: ({ bill }) => bill,
        log: ({ log }) => log,
      },
      found,
    );
    output.note(
      `bill ${found.billed}, log ${found.logged}, ${found.equal} equal, ${found.different} different`,
    );
    if (found.different > 0) throw new UnigateError('The bill differs from the log.');
  },
});

function readColumns(text: string, name: string): BillColumns {
  const pairs = Object.fromEntries(text.split(',').map((pair) => pair.split('=', 2)));
  const { id, amount, units, ...others } = pairs as Record<string, string | undefined>;
  if (!id || !amount || units === '' || Object.keys(others).length > 0)
    throw new UsageError(`${name} must be id=NAME,amount=NAME and optionally units=NAME.`);
  return { id, amount, ...(units !== undefined && { units }) };
}

function readPositive(text: string, name: string): number {
  const value = Number(text);
  if (text !== '' && Number.isFinite(value) && value > 0) return value;
  throw new UsageError(`${name} must be a number above 0.`);
}

/** Sums the rows of a bill by id. A provider may bill one task in several rows. */
async function readBill(file: string, columns: BillColumns, rate: number): Promise<Map<string, BilledItem>> {
  const items = new Map<string, BilledItem>();
  let places: Record<keyof BillColumns, number> | undefined;
  let line = 0;
  for await (const row of csvRows(createReadStream(file, 'utf8'))) {
    line += 1;
    if (places === undefined) {
      places = placesOf(row, columns);
      continue;
    }
    const id = row[places.id] ?? '';
    const amount = readNumber(row[places.amount], columns.amount, line) * rate;
    const units =
      columns.units === undefined ? undefined : readNumber(row[places.units], columns.units, line);
    const before = items.get(id);
    items.set(id, {
      amount: amount + (before?.amount ?? 0),
      units: units === undefined ? undefined : units + (before?.units ?? 0),
    });
  }
  if (places === undefined) throw new UsageError(`${file} is empty.`);
  return items;
}

function placesOf(header: readonly string[], columns: BillColumns): Record<keyof BillColumns, number> {
  const place = (name: string) => {
    const index = header.indexOf(name);
    if (index < 0) throw new UsageError(`the bill has no column ${name}; it has ${header.join(', ')}.`);
    return index;
  };
  const { id, amount, units } = columns;
  return { id: place(id), amount: place(amount), units: units === undefined ? -1 : place(units) };
}

function readNumber(text: string | undefined, column: string, line: number): number {
  const value = Number(text);
  if (text !== undefined && text.trim() !== '' && Number.isFinite(value)) return value;
  throw new UsageError(`row ${line} of the bill has no number in the column ${column}.`);
}

async function compare(billed: Map<string, BilledItem>, log: Readable) {
  const sums = { billed: 0, logged: 0, equal: 0, different: 0 };
  const listed = new Map<Difference['problem'], Difference[]>();
  const add = (difference: Difference) => {
    sums.different += 1;
    const list = listed.get(difference.problem) ?? [];
    if (list.length < maxListed) list.push(difference);
    listed.set(difference.problem, list);
  };
  for (const { amount } of billed.values()) sums.billed += amount;
  for await (const line of createInterface({ input: log })) {
    const entry = JSON.parse(line) as Entry;
    const { upstream_id: id, request_id: request, cost } = entry;
    if (id === null) continue;
    sums.logged += cost ?? 0;
    const item = billed.get(id);
    billed.delete(id);
    if (item === undefined) {
      // A failed call costs nothing.
      if ((cost ?? 0) > 0) add({ problem: 'missing in bill', id, request, bill: undefined, log: cost ?? 0 });
      continue;
    }
    // The gateway rounds each cost up.
    const isEqual = Math.ceil(item.amount - tolerance) === (cost ?? 0);
    if (!isEqual) add({ problem: 'other amount', id, request, bill: item.amount, log: cost ?? 0 });
    const units =
      entry.unit === 'seconds' && entry.completion_tokens > 0 ? entry.completion_tokens : entry.units;
    const hasUnits = item.units === undefined || Math.abs(item.units - units) < tolerance;
    if (!hasUnits) add({ problem: 'other units', id, request, bill: item.units, log: units });
    if (isEqual && hasUnits) sums.equal += 1;
  }
  for (const [id, { amount }] of billed)
    add({ problem: 'missing in log', id, request: '', bill: amount, log: undefined });
  return { ...sums, differences: [...listed.values()].flat() };
}
