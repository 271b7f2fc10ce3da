import { readFile } from 'node:fs/promises';
import { addAbortSignal } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import type { ExplainPriceRequest, PriceExplanation } from '../../admin/prices.ts';
import { formatAmount } from '../../format-amount.ts';
import type { Terminal } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';
import { command } from './command.ts';
import { parseInteger } from './options.ts';

type Calculation = PriceExplanation['reservation'];

/** `prices explain`: shows what a request would cost. */
export const explainPriceCommand = command({
  description: 'show what a request would cost, without sending it',
  options: {
    body: { argument: 'FILE', description: 'JSON body of the request; -: standard input', required: true },
    model: { argument: 'MODEL', description: 'model, in place of the one in the body' },
    operation: {
      argument: 'OPERATION',
      description:
        'id or path of the operation, such as createVideo; default: the first that accepts the body',
    },
    user: {
      argument: 'ID',
      description: 'user who sends the request; default: your own',
      parse: parseInteger,
    },
    token: { argument: 'ID', description: 'key that sends the request', parse: parseInteger },
    group: { argument: 'GROUP', description: 'group whose prices apply' },
    usage: {
      argument: 'FIGURES',
      description: 'usage to settle, such as seconds=5,completion_tokens=108000',
      parse: parseUsage,
    },
    reported: {
      argument: 'FIELDS',
      description:
        'fields that the provider of a video reports, such as resolution=1080p,ratio=9:16,audio=false',
      parse: parseReported,
    },
  },
  examples: [
    'prices explain --model gamma3.0-video --body video.json',
    'prices explain --model gamma3.0-video --body video.json --usage seconds=6 --reported resolution=1080p',
    'prices explain --body message.json --group trial --usage input_tokens=200,output_tokens=90',
  ],
  async run({ client, options, output, terminal, signal }) {
    const { body: file, model, operation, user: user_id, token: token_id, group, usage, reported } = options;
    const body = await readBody(file, terminal, signal);
    const request = { body, model, operation, user_id, token_id, group, usage, reported };
    const price = await client.admin.prices.explain(request, { signal });
    const { display, fields, ignored } = price;
    const amount = (calculation: Calculation | null) =>
      calculation === null ? 'unknown' : amountText(calculation.quota, display);
    output.fields(
      {
        operation: price.operation,
        model: price.model,
        unit: price.unit,
        group: price.group,
        revision: price.revision,
        ...Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)])),
        reservation: amount(price.reservation),
        settlement: price.settlement ? amount(price.settlement) : undefined,
        ignored: ignored.length > 0 ? ignored.join(', ') : undefined,
      },
      price,
    );
    output.lines(calculationLines('reservation', price.reservation));
    output.lines(calculationLines('settlement', price.settlement));
    for (const { channel, reservation, settlement } of price.costs) {
      if (reservation === null) output.lines([`cost at ${channel}: unknown`]);
      output.lines(calculationLines(`cost at ${channel}, at most`, reservation));
      output.lines(calculationLines(`cost at ${channel}`, settlement));
    }
  },
});

/** Returns the steps of a calculation, each after a title. */
function calculationLines(title: string, calculation: Calculation | null): string[] {
  if (calculation === null) return [];
  const { explanation, replaced } = calculation;
  const steps = [...explanation];
  if (replaced.length > 0) steps.push(`not plausible, so charged as the upper bound: ${replaced.join(', ')}`);
  return steps.map((step) => `${title}: ${step}`);
}

function amountText(quota: number, display: PriceExplanation['display']): string {
  return display ? `${quota} (${formatAmount(quota, display, 'en')})` : String(quota);
}

async function readBody(
  file: string,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const json =
    file === '-' ? await readText(addAbortSignal(signal, terminal.stdin)) : await readFile(file, 'utf8');
  try {
    const body: unknown = JSON.parse(json);
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return { ...body };
  } catch {
    // Reported below.
  }
  throw new UsageError('--body must be a JSON object.');
}

/** Parses the figures of a usage. The gateway checks their names. */
function parseUsage(text: string, name: string): NonNullable<ExplainPriceRequest['usage']> {
  const figures = text.split(',').map((part): [string, number] => {
    const [, figure = '', value = ''] = /^\s*([a-z_]+)=(\d+(?:\.\d+)?)\s*$/.exec(part) ?? [];
    if (figure === '')
      throw new UsageError(`${name} must be figures, such as seconds=5,completion_tokens=108000.`);
    return [figure, Number(value)];
  });
  return Object.fromEntries(figures);
}

/** Parses the fields of a report. The gateway checks their values. */
function parseReported(text: string, name: string): NonNullable<ExplainPriceRequest['reported']> {
  const reported: NonNullable<ExplainPriceRequest['reported']> = {};
  for (const part of text.split(',')) {
    const [, field = '', value = ''] = /^\s*([a-z]+)=(\S+)\s*$/.exec(part) ?? [];
    if (field === 'resolution' || field === 'ratio') reported[field] = value;
    else if (field === 'audio' && (value === 'true' || value === 'false')) reported.audio = value === 'true';
    else throw new UsageError(`${name} must be fields, such as resolution=1080p,ratio=9:16,audio=false.`);
  }
  return reported;
}
