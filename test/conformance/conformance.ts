import { dialogueChecks } from './checks/dialogues.ts';
import { inferenceLimitProblems, realtimeLimitProblems } from './checks/event-limits.ts';
import { foreignTaskChecks } from './checks/foreign-tasks.ts';
import { limitRequests, sendAll, shapeRequests } from './checks/limits.ts';
import { longChecks, type StartedChecks, startLongChecks } from './checks/long-checks.ts';
import { pageChecks } from './checks/pages.ts';
import { checkRandomRequests, randomRequests } from './checks/random-requests.ts';
import { checkUnknownRoute, unknownRouteCases } from './checks/unknown-routes.ts';
import { webChecks } from './checks/web-requests.ts';
import { NoResponseError } from './context/caller.ts';
import { factsOf } from './context/coverage.ts';
import { createRunContext, type RunOptions } from './context/create-context.ts';
import { quotaSince } from './context/quota.ts';
import type { RunContext } from './context/run-context.ts';
import { Unavailable } from './context/unavailable.ts';
import { bundle, type DocumentedOperation, documentedOperations } from './contract/documented.ts';
import { errorCells, eventCells, responseCells } from './report/coverage-cells.ts';
import { Heartbeat, type HeartbeatOptions } from './report/heartbeat.ts';
import { printable, withoutBytes } from './report/printable.ts';
import type { Check, Report } from './report/report.ts';
import type { Secrets } from './report/secrets.ts';
import { commonErrorScenarios } from './scenarios/common-errors.ts';
import { documentedErrorScenarios } from './scenarios/documented-errors.ts';
import { rateLimitScenarios } from './scenarios/rate-limit.ts';
import { type CheckOutcome, runScenario, type Scenario } from './scenarios/scenario.ts';
import { successScenarios } from './scenarios/successes.ts';
import { triggeredFailures } from './scenarios/triggered-failures.ts';
import type { Variation } from './wire/exchange.ts';

export interface ConformanceOptions extends RunOptions, HeartbeatOptions {
  /** Ids of operations or areas. Empty: all. */
  only: readonly string[];
  /** Whether a check with this name runs. Default: every check. */
  selects?: ((name: string) => boolean) | undefined;
  /** Additional scenarios for an operation, for a caller that controls the server. */
  additionalScenarios?:
    | ((operation: DocumentedOperation, context: RunContext) => readonly Scenario[])
    | undefined;
  /** Called when the server has accepted the key, before the first check. */
  onStart?: ((start: RunStart) => void) | undefined;
  /** Called after each check. */
  onCheck?: ((check: Check) => void) | undefined;
  /** Called after the checks of an operation. */
  onOperation?: ((operation: DocumentedOperation, checks: readonly Check[]) => void) | undefined;
}

/** The start of a run. */
interface RunStart {
  baseUrl: string;
  /** Version of the contract. */
  contract: string;
  /** In the order in which they are tested. */
  operations: readonly DocumentedOperation[];
}

const contractVersion = (bundle.info as { version: string }).version;

/** Returns the operations that `only` names, with their aliases. */
export function selectedOperations(only: readonly string[]): DocumentedOperation[] {
  const all = [...documentedOperations.values()].filter(
    (operation) =>
      only.length === 0 ||
      only.includes(factsOf(operation).area) ||
      only.includes(operation.id) ||
      only.includes(operation.aliasOf ?? ''),
  );
  // Sockets come last, so that their idle timeouts have expired by then.
  const isSocket = ({ responses }: DocumentedOperation) => responses.some(({ status }) => status === 101);
  return [...all.filter((one) => !isSocket(one)), ...all.filter(isSocket)];
}

/**
 * Tests a server against the contract: valid and invalid requests for every operation, and every response.
 *
 * @throws SetupError when the server cannot be reached or rejects the key
 */
export async function runConformance(options: ConformanceOptions): Promise<Report> {
  const startedAt = new Date();
  const { context, cleanUp } = await createRunContext(options);
  const checks: Check[] = [];
  const operations = selectedOperations(options.only);
  const baseUrl = context.secrets.mask(context.target.url);
  options.onStart?.({ baseUrl, contract: contractVersion, operations });
  const startedChecks = startLongChecks(operations, context, options.selects);
  const heartbeat = new Heartbeat(options);
  for (const operation of operations) {
    if (options.signal?.aborted === true) break;
    const own = await checksOf(operation, context, { ...options, startedChecks, heartbeat });
    checks.push(...own);
    options.onOperation?.(operation, own);
  }
  heartbeat.start('', 'the clean-up');
  const leftovers = await cleanUp.finish();
  heartbeat.stop();
  await context.receiver?.close();
  const skippedOf = (id: string, status: number) =>
    checks.find(
      (check) =>
        check.operation === id && check.outcome === 'skipped' && check.name.startsWith(String(status)),
    )?.problems[0];
  const count = (outcome: Check['outcome']) => checks.filter((one) => one.outcome === outcome).length;
  return {
    baseUrl,
    contract: contractVersion,
    seed: options.seed,
    runs: options.runs,
    startedAt: startedAt.toISOString(),
    seconds: Math.round((Date.now() - startedAt.getTime()) / 100) / 10,
    triggers: context.triggers,
    quota: await quotaSince(context, startedAt),
    passed: count('passed'),
    failed: count('failed'),
    skipped: count('skipped'),
    checks,
    responses: responseCells(context.coverage, new Set(operations.map(({ id }) => id)), skippedOf),
    events: eventCells(context.coverage),
    errors: errorCells(context.coverage),
    leftovers: leftovers.map((text) => printable(context.secrets.mask(text))),
  };
}

/** Runs the checks of one operation. Long checks may have been started before. */
export async function checksOf(
  operation: DocumentedOperation,
  context: RunContext,
  {
    additionalScenarios,
    selects = () => true,
    onCheck,
    startedChecks,
    heartbeat,
  }: Pick<ConformanceOptions, 'additionalScenarios' | 'selects' | 'onCheck'> & {
    startedChecks?: StartedChecks;
    heartbeat?: Heartbeat;
  },
): Promise<Check[]> {
  const checks: Check[] = [];
  const check = async (name: string, run: () => Promise<CheckOutcome>) => {
    if (!selects(name) || context.signal?.aborted === true) return;
    heartbeat?.start(operation.id, name);
    const result = await Promise.race([runCheck(operation, context.secrets, name, run), context.stopped]);
    heartbeat?.stop();
    if (result === undefined) return;
    checks.push(result);
    onCheck?.(result);
  };
  const { role } = factsOf(operation);
  const scenarios = [
    ...commonErrorScenarios(operation, context),
    ...(operation.aliasOf === undefined ? documentedErrorScenarios(operation, context) : []),
    ...successScenarios(operation, context),
    ...triggeredFailures(operation, context),
    ...(operation.aliasOf === undefined ? rateLimitScenarios(operation, context) : []),
    ...(additionalScenarios?.(operation, context) ?? []),
  ];
  for (const scenario of scenarios)
    await check(scenario.name, () => runScenario(context, operation, scenario));
  for (const { name, run } of socketChecks(operation, context)) await check(name, run);
  const long = startedChecks?.get(operation.id) ?? longChecks(operation, context);
  for (const { name, run } of long) await check(name, run);
  const others = [
    ...webChecks(operation, context),
    ...pageChecks(operation, context),
    ...foreignTaskChecks(operation, context),
  ];
  for (const { name, run } of others) await check(name, run);
  for (const one of unknownRouteCases(operation))
    await check(one.name, () => checkUnknownRoute(context, operation, one));
  if (operation.aliasOf !== undefined || (role !== undefined && !context.isAdmin)) return checks;
  // A request with a key without quota is validated but starts no run.
  const sender = async () => (role === undefined ? context.keys.as('noQuota') : context.target);
  const limits = limitRequests(operation, context.checkedSchemas);
  if (limits.missing.length > 0)
    await check('limits without a request', async () => {
      throw new Unavailable(`no example reaches the limits ${limits.missing.join(', ')}`);
    });
  // Its valid requests start other runs.
  const startsRuns = operation.id === 'testConformance';
  const groups = [
    ['limits', limits.requests],
    ['shapes', shapeRequests(operation)],
  ] as const;
  for (const [name, requests] of groups) {
    const all = requests.filter(
      (one) => ((role === undefined || context.admin) && !startsRuns) || !one.name.startsWith('at '),
    );
    if (all.length === 0) continue;
    await check(`${name}: ${all.length} requests`, async () => {
      const target = await sender();
      const failed = await sendAll(all, (variation) => context.caller.send(target, operation, variation));
      const problems = failed.flatMap((one) =>
        one.problems.map((problem) => `${one.name} ${problem}\n  ${one.curl}`),
      );
      return { problems, curl: failed[0]?.curl ?? '' };
    });
  }
  if ((role === undefined || context.admin) && !startsRuns && context.runs > 0)
    for (const random of await randomRequests(operation))
      await check(`${context.runs} random ${random.name}`, async () => {
        const target = await sender();
        const send = (variation: Variation) => context.caller.send(target, operation, variation);
        return (await checkRandomRequests(random, context, send)) ?? { problems: [], curl: '' };
      });
  return checks;
}

/** The documented dialogues of a socket, and events at and beyond their limits. */
function socketChecks(operation: DocumentedOperation, context: RunContext) {
  const { target, timeoutMs, coverage } = context;
  const limits = {
    openRealtimeSocket: realtimeLimitProblems,
    openInferenceSocket: inferenceLimitProblems,
  }[operation.id];
  return [
    ...dialogueChecks(operation, context),
    ...(limits === undefined
      ? []
      : [
          {
            name: 'events at and beyond each limit',
            run: async () => ({ problems: await limits(target, timeoutMs, coverage), curl: '' }),
          },
        ]),
  ];
}

/** Runs a check. Its result contains no secrets and no bytes. */
async function runCheck(
  operation: DocumentedOperation,
  secrets: Secrets,
  name: string,
  run: () => Promise<CheckOutcome>,
): Promise<Check> {
  const { area } = factsOf(operation);
  const started = performance.now();
  const of = (outcome: Check['outcome'], problems: readonly string[], curl?: string): Check => ({
    operation: operation.id,
    area,
    name,
    outcome,
    problems: problems.map((text) => printable(secrets.mask(text))),
    ...(curl && { curl: withoutBytes(secrets.mask(curl)) }),
    ms: Math.round(performance.now() - started),
  });
  try {
    const { problems, curl } = await run();
    return problems.length === 0 ? of('passed', []) : of('failed', problems, curl);
  } catch (error) {
    if (error instanceof Unavailable) return of('skipped', [error.message]);
    if (error instanceof NoResponseError) return of('failed', [error.message], error.curl);
    return of('failed', [error instanceof Error ? error.message : String(error)]);
  }
}
