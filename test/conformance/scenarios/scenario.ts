import type { SendMode } from '../context/caller.ts';
import type { KeyVariant } from '../context/keys.ts';
import type { RunContext } from '../context/run-context.ts';
import type { DocumentedOperation } from '../contract/documented.ts';
import { type ExpectedError, expectedErrorProblems } from '../wire/error.ts';
import type { Variation } from '../wire/exchange.ts';
import type { HttpResponse, Target } from '../wire/http-response.ts';
import { excerpt, mediaTypeOf } from '../wire/wire.ts';

/** A request and its expected response. Every response is also checked against the contract. */
export interface Scenario {
  name: string;
  /** Allowed statuses. */
  status: number | readonly number[];
  /** Expected media type. An error with one is a page, without the fields of an error. */
  mediaType?: string;
  /** Expected content of an error. */
  expected?: ExpectedError;
  /** Default: the first request that the contract documents. */
  variation?: Variation | (() => Promise<Variation>);
  mode?: SendMode;
  /** The key to use. Default: the key of the run. */
  as?: KeyVariant | (() => Promise<Target>);
  /** Whether the error code may be the provider's own. */
  allowsProviderError?: boolean;
  /** Further checks. Returns the problems found. */
  verify?: (response: HttpResponse) => readonly string[] | Promise<readonly string[]>;
}

/** The result of a check. Empty `problems` mean that it passed. */
export interface CheckOutcome {
  problems: string[];
  curl: string;
}

/**
 * Sends the request of a scenario and checks the response.
 *
 * @throws NoResponseError when the server sends no response
 * @throws Unavailable when the server lacks something that the scenario needs
 */
export async function runScenario(
  context: RunContext,
  operation: DocumentedOperation,
  scenario: Scenario,
): Promise<CheckOutcome> {
  const { caller, keys } = context;
  const { as, mode, allowsProviderError } = scenario;
  // The variation creates its fixtures, so it comes before `as`, which may set a fault.
  const variation =
    typeof scenario.variation === 'function' ? await scenario.variation() : scenario.variation;
  const target = as === undefined ? context.target : await (typeof as === 'string' ? keys.as(as) : as());
  const { response, problems, curl } = await caller.send(
    target,
    operation,
    variation,
    mode,
    allowsProviderError,
  );
  const mismatches = problems.length > 0 ? [] : await scenarioProblems(scenario, response);
  return { problems: [...problems, ...mismatches], curl };
}

async function scenarioProblems(
  { status, mediaType, expected, verify }: Scenario,
  response: HttpResponse,
): Promise<string[]> {
  const statuses = typeof status === 'number' ? [status] : status;
  if (statuses.every((one) => one >= 400) && mediaType === undefined) {
    const problems = expectedErrorProblems(response, statuses, expected);
    return problems.length > 0 || verify === undefined ? problems : [...(await verify(response))];
  }
  if (!statuses.includes(response.status))
    return [`status ${response.status} instead of ${statuses.join(' or ')}: ${excerpt(response)}`];
  if (mediaType !== undefined && mediaTypeOf(response) !== mediaType)
    return [`content type ${mediaTypeOf(response)} instead of ${mediaType}`];
  return verify === undefined ? [] : [...(await verify(response))];
}
