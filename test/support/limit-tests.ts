import { expect, test } from 'vitest';
import {
  bundle,
  type DocumentedOperation,
  type Parameter,
} from '../../client/conformance/contract/documented.ts';
import { type LimitCase, limitCases } from '../../client/conformance/limits/limit-cases.ts';
import { limitSeeds } from '../../client/conformance/limits/limit-seeds.ts';
import { type Answer, jsonOf, type Target } from '../../client/conformance/wire/answer.ts';
import { type Variation, written } from '../../client/conformance/wire/exchange.ts';
import type { Json, JsonObject } from '../../openapi/tools/document.ts';
import { exchange } from './exchange.ts';
import { checked, fieldsOf } from './expectations.ts';

/** Refusals that come from behind the contract: what holds for the model or the owner alone. */
const rulesOfModels = [
  /is not a voice of/,
  /makes no voices for/,
  /there is no (asset|group|(Seedance )?task)/,
  /gives mp3, wav, pcm, opus without streaming/,
  /speed: must be from 0\.5 to 2 for this model/,
  /takes audio only together with an image or a video/,
  // Reference videos take of the 30 seconds.
  /must be at most \d+ here: input video and output/,
  /extend needs a source video/,
  // The smallest time is long past.
  /expired_time: must be in the future/,
  // An eta video has the length -1 only when it is an edit.
  /(seconds|duration): must be 1 to 15/,
];

interface RequestCase extends Omit<LimitCase, 'at' | 'beyond'> {
  in: 'body' | Parameter['in'];
  at: Variation;
  beyond: Variation;
}

/** Schemas whose limits belong to an operation already: what several operations share is tried with the first. */
const taken = new Set<JsonObject>();

const found = new Map<string, ReturnType<typeof casesOf>>();

interface LimitOptions {
  /** Sends no request that would be taken for what is in its path: there the smallest number is the operator's own. */
  sparesPaths?: boolean;
}

/**
 * Tests that each limit of an operation's requests is where the contract says: a value at it is taken, one beyond it
 * is refused with the field's name.
 */
export function testLimits(
  target: Target,
  operation: DocumentedOperation,
  { sparesPaths = false }: LimitOptions = {},
): void {
  // Before any connection is open: looking for the values takes longer than a server keeps an idle one.
  const { cases, missing } = found.getOrInsertComputed(operation.id, () => casesOf(operation));
  test('takes a value at each limit and refuses one beyond', async () => {
    expect(missing, 'limits that no example comes near').toEqual([]);
    const send = async (variation: Variation) =>
      checked(await exchange(target, operation, variation), operation);
    const problems = await inLanes(cases, async ({ in: place, field, keyword, limit, at, beyond }) => {
      const name = `${field} ${keyword} ${JSON.stringify(limit)}`;
      const spared = sparesPaths && place === 'path';
      const taken = spared ? undefined : takenProblem(await send(at));
      const refused = refusedProblem(await send(beyond), field);
      return [
        ...(taken === undefined ? [] : [`at ${name}: ${taken}`]),
        ...(refused === undefined ? [] : [`beyond ${name}: ${refused}`]),
      ];
    });
    expect(problems).toEqual([]);
  });
}

// An id of the greatest length is nobody's, a key without quota may start nothing, and a socket wants to be one.
const behindTheContract = [200, 204, 403, 404, 426];

/** Why a request at a limit was not taken; undefined when it was. */
function takenProblem(answer: Answer): string | undefined {
  if (behindTheContract.includes(answer.status)) return undefined;
  const message = messageOf(answer);
  const isRule = answer.status === 400 && rulesOfModels.some((rule) => rule.test(message));
  return isRule ? undefined : `${answer.status} ${message}`;
}

/** Why a request beyond a limit was not refused as it must be; undefined when it was. */
function refusedProblem(answer: Answer, field: string): string | undefined {
  if (answer.status !== 400) return `answered ${answer.status}`;
  const message = messageOf(answer);
  // Of a union the message may name the whole, or what stands in it.
  const isNamed = fieldsOf(message).some(
    (one) =>
      `${plain(field)}.`.startsWith(`${plain(one)}.`) || `${plain(one)}.`.startsWith(`${plain(field)}.`),
  );
  return isNamed ? undefined : `does not name ${field}: ${message}`;
}

/** The parts of a form are named like the fields that they mean, headers in lower case, and the whole `body`. */
const plain = (field: string) =>
  (field === '' ? 'body' : field).toLowerCase().replaceAll('[]', '').replaceAll('[', '.').replaceAll(']', '');

function messageOf(answer: Answer): string {
  const { error, message } = jsonOf(answer) as { error?: { message: string }; message?: string };
  return error?.message ?? message ?? '';
}

function casesOf(operation: DocumentedOperation): { cases: RequestCase[]; missing: string[] } {
  const inBodies = operation.requests.map(({ mediaType, pointer, examples }) => {
    const seeds = limitSeeds[`${operation.id} ${mediaType}`] ?? [];
    const values = [...seeds, ...examples.map(({ value }) => value)];
    const { cases, missing } = limitCases(bundle, pointer, values, taken);
    const body = (value: Json): Variation => ({ body: value, mediaType });
    return {
      missing,
      cases: cases.map((one) => ({
        ...one,
        in: 'body' as const,
        at: body(one.at),
        beyond: body(one.beyond),
      })),
    };
  });
  const inParameters = operation.parameters.map((parameter) => {
    const { cases, missing } = limitCases(bundle, parameter.pointer, [...parameter.examples, null], taken);
    // An empty path parameter makes another path.
    const reachable = cases.filter(({ beyond }) => parameter.in !== 'path' || beyond !== '');
    return { missing, cases: reachable.map((one) => inParameter(parameter, one)) };
  });
  const all = [...inBodies, ...inParameters];
  return { cases: all.flatMap(({ cases }) => cases), missing: all.flatMap(({ missing }) => missing) };
}

function inParameter({ name, in: place }: Parameter, { at, beyond, ...one }: LimitCase): RequestCase {
  const sent = (value: Json): Variation => {
    if (place === 'query')
      return { query: { [name]: Array.isArray(value) ? value.map(written) : written(value) } };
    return place === 'path' ? { path: { [name]: written(value) } } : { headers: { [name]: written(value) } };
  };
  return {
    ...one,
    in: place,
    field: [name, ...one.field.split('.').filter(Boolean)].join('.'),
    at: sent(at),
    beyond: sent(beyond),
  };
}

/** A few requests at a time, so that neither side waits for the other. */
async function inLanes<T, R>(items: readonly T[], work: (item: T) => Promise<R[]>): Promise<R[]> {
  const waiting = [...items];
  const results: R[] = [];
  const lane = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift())
      results.push(...(await work(item)));
  };
  await Promise.all(Array.from({ length: 4 }, lane));
  return results;
}
