import { type Ask, carryOut, type Outcome } from './asks/ask.ts';
import { overRate } from './asks/rate.ts';
import { refusals } from './asks/refusals.ts';
import { shownRefusals } from './asks/shown-codes.ts';
import { successes } from './asks/successes.ts';
import { triggered } from './asks/triggered.ts';
import { dialogueChecks } from './checks/dialogues.ts';
import { type Begun, beginLongChecks, longChecks } from './checks/early.ts';
import { inferenceLimitProblems, realtimeLimitProblems } from './checks/event-limits.ts';
import { boundedRequests, misshapenRequests, tryAll } from './checks/limits.ts';
import { carryOutside, outsideOf } from './checks/outside.ts';
import { spreadsOf, trySpread } from './checks/spread.ts';
import { bundle, type DocumentedOperation, documentedOperations } from './contract/documented.ts';
import { answerCells, errorCells, eventCells } from './report/coverage.ts';
import type { Check, Report } from './report/results.ts';
import { NoAnswer } from './subject/caller.ts';
import { openWorld, type WorldOptions } from './subject/open-world.ts';
import { quotaSince } from './subject/quota.ts';
import { factsOf } from './subject/seen.ts';
import { Unavailable } from './subject/unavailable.ts';
import type { World } from './subject/world.ts';
import type { Variation } from './wire/exchange.ts';

export interface ConformanceOptions extends WorldOptions {
  /** Ids of operations, or areas; all when empty. */
  only: readonly string[];
  /** More to ask of an operation: what a host that runs the server itself can bring it to. */
  more?: ((operation: DocumentedOperation, world: World) => readonly Ask[]) | undefined;
  /** Told when the checks of an operation are done. */
  onOperation?: ((operation: DocumentedOperation, checks: readonly Check[]) => void) | undefined;
}

/** What `only` names, with the operations that repeat it under other prefixes. */
export function selected(only: readonly string[]): DocumentedOperation[] {
  const all = [...documentedOperations.values()].filter(
    (operation) =>
      only.length === 0 ||
      only.includes(factsOf(operation).area) ||
      only.includes(operation.id) ||
      only.includes(operation.aliasOf ?? ''),
  );
  // A silence on a socket has lasted long enough when it is their turn.
  const isSocket = ({ responses }: DocumentedOperation) => responses.some(({ status }) => status === 101);
  return [...all.filter((one) => !isSocket(one)), ...all.filter(isSocket)];
}

/**
 * Holds a server to the contract: every operation, what it takes and what it refuses, and every answer on the wire.
 *
 * @throws Unfit when the server cannot be reached, or does not take the key
 */
export async function runConformance(options: ConformanceOptions): Promise<Report> {
  const startedAt = new Date();
  const { world, cleanUp } = await openWorld(options);
  const checks: Check[] = [];
  const operations = selected(options.only);
  const begun = beginLongChecks(operations, world);
  for (const operation of operations) {
    if (options.signal?.aborted === true) break;
    const own = await checksOf(operation, world, { ...options, begun });
    checks.push(...own);
    options.onOperation?.(operation, own);
  }
  const leftovers = await cleanUp.finish();
  await world.receiver?.close();
  const skippedOf = (id: string, status: number) =>
    checks.find(
      (check) =>
        check.operation === id && check.outcome === 'skipped' && check.name.startsWith(String(status)),
    )?.problems[0];
  const count = (outcome: Check['outcome']) => checks.filter((one) => one.outcome === outcome).length;
  return {
    baseUrl: world.target.url,
    contract: (bundle.info as { version: string }).version,
    seed: options.seed,
    runs: options.runs,
    startedAt: startedAt.toISOString(),
    seconds: Math.round((Date.now() - startedAt.getTime()) / 100) / 10,
    triggers: world.triggers,
    quota: await quotaSince(world, startedAt),
    passed: count('passed'),
    failed: count('failed'),
    skipped: count('skipped'),
    checks,
    answers: answerCells(world.seen, new Set(operations.map(({ id }) => id)), skippedOf),
    events: eventCells(world.seen),
    errors: errorCells(world.seen),
    leftovers,
  };
}

/** The checks of one operation; those that take long may have begun. */
export async function checksOf(
  operation: DocumentedOperation,
  world: World,
  { more, begun }: Pick<ConformanceOptions, 'more'> & { begun?: Begun },
): Promise<Check[]> {
  const checks: Check[] = [];
  const check = async (name: string, work: () => Promise<Outcome>) => {
    checks.push(await carriedOut(operation, name, work));
  };
  const { role } = factsOf(operation);
  const asks = [
    ...refusals(operation, world),
    ...(operation.aliasOf === undefined ? shownRefusals(operation, world) : []),
    ...successes(operation, world),
    ...triggered(operation, world),
    ...(operation.aliasOf === undefined ? overRate(operation, world) : []),
    ...(more?.(operation, world) ?? []),
  ];
  for (const ask of asks) await check(ask.name, () => carryOut(world, operation, ask));
  for (const { name, work } of socketChecks(operation, world)) await check(name, work);
  const long = begun?.get(operation.id) ?? longChecks(operation, world);
  for (const { name, work } of long) await check(name, work);
  for (const one of outsideOf(operation)) await check(one.name, () => carryOutside(world, operation, one));
  if (operation.aliasOf !== undefined || (role !== undefined && !world.isAdmin)) return checks;
  // A key without quota gets past every check and starts nothing.
  const sender = async () => (role === undefined ? world.keys.as('penniless') : world.target);
  const bounded = boundedRequests(operation, world.taken);
  if (bounded.missing.length > 0)
    await check('limits out of reach', async () => {
      throw new Unavailable(`no example comes near ${bounded.missing.join(', ')}`);
    });
  const groups = [
    ['limits', bounded.requests],
    ['shapes', misshapenRequests(operation)],
  ] as const;
  for (const [name, requests] of groups) {
    const all = requests.filter((one) => role === undefined || world.admin || !one.name.startsWith('at '));
    if (all.length === 0) continue;
    await check(`${name}: ${all.length} requests`, async () => {
      const target = await sender();
      const failed = await tryAll(all, (variation) => world.caller.send(target, operation, variation));
      const problems = failed.flatMap((one) =>
        one.problems.map((problem) => `${one.name} ${problem}\n  ${one.curl}`),
      );
      return { problems, curl: failed[0]?.curl ?? '' };
    });
  }
  if ((role === undefined || world.admin) && world.runs > 0)
    for (const spread of await spreadsOf(operation))
      await check(`spread: ${world.runs} random ${spread.name}`, async () => {
        const target = await sender();
        const send = (variation: Variation) => world.caller.send(target, operation, variation);
        return (await trySpread(spread, world, send)) ?? { problems: [], curl: '' };
      });
  return checks;
}

/** The documented dialogues of a socket, and what it does with events at their limits. */
function socketChecks(operation: DocumentedOperation, world: World) {
  const { target, timeoutMs, seen } = world;
  const limits = {
    openRealtimeSocket: realtimeLimitProblems,
    openInferenceSocket: inferenceLimitProblems,
  }[operation.id];
  return [
    ...dialogueChecks(operation, world),
    ...(limits === undefined
      ? []
      : [
          {
            name: 'events at each limit and beyond',
            work: async () => ({ problems: await limits(target, timeoutMs, seen), curl: '' }),
          },
        ]),
  ];
}

async function carriedOut(
  operation: DocumentedOperation,
  name: string,
  work: () => Promise<Outcome>,
): Promise<Check> {
  const { area } = factsOf(operation);
  const started = performance.now();
  const of = (outcome: Check['outcome'], problems: readonly string[], curl?: string): Check => ({
    operation: operation.id,
    area,
    name,
    outcome,
    problems,
    ...(curl && { curl }),
    ms: Math.round(performance.now() - started),
  });
  try {
    const { problems, curl } = await work();
    return problems.length === 0 ? of('passed', []) : of('failed', problems, curl);
  } catch (error) {
    if (error instanceof Unavailable) return of('skipped', [error.message]);
    if (error instanceof NoAnswer) return of('failed', [error.message], error.curl);
    return of('failed', [error instanceof Error ? error.message : String(error)]);
  }
}
