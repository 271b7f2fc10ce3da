import type { OperationId } from '../../../generated/operations.ts';
import { factsOf } from '../context/coverage.ts';
import type { RunContext } from '../context/run-context.ts';
import { Unavailable } from '../context/unavailable.ts';
import type { DocumentedOperation } from '../contract/documented.ts';
import { adminScenarios } from './admin.ts';
import { fileScenarios } from './files.ts';
import { resourceScenarios } from './resources.ts';
import type { Scenario } from './scenario.ts';
import { speechScenarios } from './speech.ts';
import { textScenarios } from './text.ts';
import { validRequest } from './valid-request.ts';
import { voiceScenarios } from './voices.ts';

/**
 * Documented requests that refer to files on the web, or to voices, songs, jobs and assets by their documented ids.
 * A server without these resources may return an error.
 */
export const examplesWithExternalData: Readonly<Record<string, readonly string[]>> = {
  customizeVoice: ['clone', 'query', 'update', 'delete', 'alpha_clone', 'alpha_query', 'alpha_delete'],
  createVideo: ['seedance_references'],
  createGenericVideo: ['seedance_references'],
  createOfficialVideo: ['references'],
  submitMusic: ['continuation', 'stems'],
  submitImagine: ['reference'],
  submitImageAction: ['upscale', 'inpaint'],
  submitImageModal: ['inpaint', 'custom_zoom'],
  updateEndpoint: ['disabled', 'moved'],
  updateMyMember: ['developer'],
};

/** Documented requests that only a user with a wallet may send, on its own sub-accounts. */
const requestsOfCustomers: ReadonlySet<string> = new Set<OperationId>([
  'createMyAccount',
  'updateMyAccount',
  'createMyAccountToken',
  'updateMyAccountToken',
]);

const byOperation: Partial<Record<OperationId, (context: RunContext) => Scenario[]>> = {
  ...speechScenarios,
  ...voiceScenarios,
  ...textScenarios,
  ...resourceScenarios,
  ...fileScenarios,
  ...adminScenarios,
  createSession: ({ target }) => [
    {
      name: '401 an assertion that is not valid',
      status: 401,
      expected: { code: 'invalid_user_assertion' },
      variation: async () => {
        const { status } = await fetch(`${target.url}/api/session`, { method: 'POST' });
        if (status === 404) throw new Unavailable('the server accepts no user assertions');
        return {};
      },
    },
  ],
  downloadVideoContent: (context) => [
    ...(fileScenarios.downloadVideoContent?.(context) ?? []),
    ...(resourceScenarios.downloadVideoContent?.(context) ?? []),
  ],
};

/** Every documented request, and requests that lead to the other documented successful responses. */
export function successScenarios(operation: DocumentedOperation, context: RunContext): Scenario[] {
  const id = (operation.aliasOf ?? operation.id) as OperationId;
  const { role, path } = factsOf(operation);
  if (role !== undefined)
    return (byOperation[id]?.(context) ?? []).map((scenario) => requireAdmin(scenario, context));
  const scenarios = [...documentedRequests(operation), ...(byOperation[id]?.(context) ?? [])];
  if (scenarios.length > 0) return scenarios;
  const good = operation.responses.find(({ status }) => status >= 101 && status < 300)?.status ?? 200;
  if (good === 101) return [{ name: '101 a handshake', status: 101, mode: 'handshake' }];
  return path.includes('{')
    ? []
    : [{ name: `${good} a valid request`, status: good, variation: validRequest(operation) }];
}

function documentedRequests(operation: DocumentedOperation): Scenario[] {
  const id = operation.aliasOf ?? operation.id;
  const external = examplesWithExternalData[id] ?? [];
  return operation.requests.flatMap(({ mediaType, examples }) =>
    examples.map(({ name: example }): Scenario => {
      const variation = { example, mediaType };
      const name = `the documented request ${example} (${mediaType})`;
      if (requestsOfCustomers.has(id))
        return { name: `responds to ${name}`, status: [200, 403, 404], variation };
      return external.includes(example)
        ? { name: `responds to ${name}`, status: [200, 400, 404], variation, allowsProviderError: true }
        : { name: `accepts ${name}`, status: 200, variation };
    }),
  );
}

/** Skips the scenario without an admin key. */
const requireAdmin = (scenario: Scenario, { isAdmin }: RunContext): Scenario => ({
  ...scenario,
  variation: async () => {
    if (!isAdmin) throw new Unavailable('the key is not an admin key');
    return typeof scenario.variation === 'function' ? await scenario.variation() : (scenario.variation ?? {});
  },
});
